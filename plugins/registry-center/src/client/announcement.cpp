#include "announcement.hpp"

#include <utility>

#include "backoff.hpp"
#include "detached.hpp"

namespace tenon::center {

namespace {

constexpr Duration first_pause = std::chrono::milliseconds(50);
constexpr Duration longest_pause = std::chrono::seconds(2);
constexpr Duration patience_without_center = std::chrono::seconds(1);

// What the center will say again, however often it is asked.
bool is_final(Errc code) noexcept {
  return code == Errc::permission_denied || code == Errc::invalid_argument || code == Errc::too_large ||
         code == Errc::unauthenticated;
}

/// Counts a call that changes what the center has from us.
class Busy {
 public:
  explicit Busy(Session& session) : session_(session) { session_.busy(+1); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  ~Busy() { session_.busy(-1); }

 private:
  Session& session_;
};

}  // namespace

Announcement::Announcement(std::shared_ptr<Session> session, ServiceName service, Instance instance)
    : session_(std::move(session)),
      service_(std::move(service)),
      instance_(std::move(instance)),
      bell_(session_->clock()) {}

void Announcement::begin() { run_detached(run(shared_from_this())); }

void Announcement::update(Instance instance) {
  if (withdrawn_) return;
  instance.id = instance_.id;  // it stays the same instance
  instance_ = std::move(instance);
  changed_ = true;
  refusal_ = Error();
  ++wished_;
  session_->bell().ring();
}

void Announcement::withdraw() {
  if (std::exchange(withdrawn_, true)) return;
  refusal_ = Error();
  ++wished_;
  session_->bell().ring();
}

Error Announcement::trouble() const {
  if (refusal_) return refusal_;
  return session_->open() && trouble_ ? trouble_ : session_->trouble();
}

Task<Result<void>> Announcement::put_up() {
  const CallOptions options = session_->limits();
  const auto& function = changed_ ? session_->calls().update : session_->calls().announce;
  Task<Result<Void>> calling = function.call(options, session_->key(), service_, instance_, use_task);
  Result<Void> answer = co_await calling;
  if (!answer.ok()) co_return std::move(answer).error();
  co_return Result<void>();
}

Task<Result<void>> Announcement::take_down() {
  const CallOptions options = session_->limits();
  Task<Result<Void>> calling =
      session_->calls().withdraw.call(options, session_->key(), service_, instance_.id, use_task);
  Result<Void> answer = co_await calling;
  // One that is not there has left.
  if (!answer.ok() && answer.error().code() != Errc::not_found) co_return std::move(answer).error();
  co_return Result<void>();
}

void Announcement::settle(const Result<void>& result, std::uint64_t wish, bool withdrawn, std::uint64_t generation) {
  if (result.ok()) {
    if (announced_in_ == 0 && !withdrawn) session_->holds(+1);
    if (announced_in_ != 0 && withdrawn) session_->holds(-1);
    announced_in_ = withdrawn ? 0 : generation;
    if (wish == wished_) changed_ = false;
    fulfilled_ = wish;
    trouble_ = Error();
    bell_.ring();
    return;
  }
  trouble_ = result.error();
  if (is_final(trouble_.code())) {
    if (announced_in_ != 0 && announced_in_ != generation) {  // it was put up anew, in vain
      session_->holds(-1);
      announced_in_ = 0;
    }
    fulfilled_ = wish;
    if (wish == wished_) refusal_ = trouble_;
    session_->log().error("center", who() + " is refused: " + trouble_.text());
  } else {
    session_->doubt();
  }
  bell_.ring();
}

Task<void> Announcement::run(std::shared_ptr<Announcement> self) {
  const std::shared_ptr<Session> session = self->session_;
  Backoff backoff(first_pause, longest_pause);
  while (!session->stopped()) {
    const bool withdrawn = self->withdrawn_;
    const std::uint64_t generation = session->generation();
    const bool there = self->announced_in_ == generation && generation != 0;
    const bool news = self->fulfilled_ != self->wished_ || (!withdrawn && !there && !self->refusal_);
    if (!news && withdrawn) break;
    if (!news || !session->open()) {
      (void)co_await session->bell().wait(never);
      self->bell_.ring();  // who waits for this one looks at the session, too
      continue;
    }
    if (withdrawn && self->announced_in_ == 0) {  // the center never had it
      self->settle(Result<void>(), self->wished_, true, generation);
      continue;
    }
    const std::uint64_t wish = self->wished_;
    Result<void> result;
    {
      const Busy busy(*session);
      Task<Result<void>> doing = withdrawn ? self->take_down() : self->put_up();
      result = co_await doing;
    }
    if (session->stopped()) break;
    self->settle(result, wish, withdrawn, generation);
    if (result.ok() || self->refusal_ || wish != self->wished_) {
      backoff.reset();
    } else {
      (void)co_await session->bell().wait(session->clock().now() + backoff.next());
      self->bell_.ring();
    }
  }
  self->bell_.ring();
}

Task<Result<void>> finish(std::shared_ptr<Announcement> announcement, TimePoint deadline) {
  const Session& session = *announcement->session();
  TimePoint without = never;  // how long it may be without a center
  while (!announcement->done()) {
    const TimePoint now = session.clock().now();
    if (session.open())
      without = never;
    else if (without == never)
      without = now + patience_without_center;
    const TimePoint until = std::min(deadline, without);
    if (session.stopped() || now >= until)
      co_return announcement->trouble().prefix("the instance stays listed until its lease ends");
    (void)co_await announcement->bell().wait(until);
  }
  if (announcement->refusal()) co_return announcement->refusal();
  co_return Result<void>();
}

}  // namespace tenon::center
