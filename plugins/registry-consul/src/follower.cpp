#include "follower.hpp"

#include <algorithm>
#include <utility>

#include "detached.hpp"

namespace tenon::consul {

namespace {

constexpr Duration first_pause = std::chrono::milliseconds(50);
constexpr Duration longest_pause = std::chrono::seconds(5);
constexpr Duration without_index = std::chrono::seconds(1);
constexpr Duration between_warnings = std::chrono::seconds(10);
// What changes all the time is read a third of the time.
constexpr Duration shortest_rest = std::chrono::milliseconds(2);
constexpr Duration longest_rest = std::chrono::milliseconds(500);

std::string seconds_text(Duration wait) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(wait).count()) + "ms";
}

}  // namespace

Follower::Follower(std::shared_ptr<Agent> agent, std::string path, std::string query, std::string what)
    : agent_(std::move(agent)),
      path_(std::move(path)),
      query_(std::move(query)),
      what_(std::move(what)),
      connection_(agent_->connect()),
      alarm_(agent_->clock()),
      random_(std::random_device{}()) {
  agent_->attach(*this);
}

Follower::~Follower() { agent_->detach(*this); }

void Follower::begin() {
  struct Begin : Work {
    std::shared_ptr<Follower> follower;
  };
  auto* begin = new Begin;
  begin->follower = shared_from_this();
  begin->run = [](Work* work) noexcept {
    const std::unique_ptr<Begin> self(static_cast<Begin*>(work));
    run_detached(Follower::run(self->follower));
  };
  agent_->executor().post(*begin);
}

void Follower::end() noexcept {
  if (std::exchange(ended_, true)) return;
  const std::shared_ptr<Follower> self = shared_from_this();
  connection_->abort(Error(Errc::cancelled, "nobody wants to know any more"));
  alarm_.ring();
}

// A blocking query is patient: it would not notice for minutes.
void Follower::on_change() {
  const std::shared_ptr<Follower> self = shared_from_this();
  if (!agent_->open()) connection_->abort(agent_->trouble());
  alarm_.ring();
}

Duration Follower::next_wait() {
  return Duration(agent_->options().wait) * std::uniform_int_distribution<int>(90, 110)(random_) / 100;
}

// One query. Consul answers at most a sixteenth later than asked.
Task<Result<void>> Follower::turn() {
  std::string query = query_;
  Duration limit = agent_->request_limit();
  if (index_ != 0) {
    const Duration wait = next_wait();
    query += (query.empty() ? "index=" : "&index=") + std::to_string(index_) + "&wait=" + seconds_text(wait);
    limit += wait + wait / 8;
  }
  const Request request{Verb::get, agent_->global(path_, query), {}, limit};
  auto exchange = connection_->ask(request);
  const Result<Answer> answer = co_await exchange;
  if (over()) co_return Result<void>();
  if (!answer.ok()) {
    if (answer.error().code() != Errc::too_large) agent_->doubt();
    co_return answer.error();
  }
  // What is not there has an index, too, or it is not Consul that says so.
  const bool nothing = answer->status == 404 && answer->index != 0;
  if (answer->status != 200 && !nothing) co_return agent_->refusal("cannot read " + what_, *answer);
  const TimePoint came = std::chrono::steady_clock::now();
  const bool backwards = answer->index < index_;
  const bool unchanged = index_ != 0 && answer->index == index_ && !stale_;
  if (!unchanged) {
    Task<Result<void>> learning = learn(*answer, anew_ || backwards);
    Result<void> learned = co_await learning;
    if (over() || !learned.ok()) co_return learned;
  }
  anew_ = false;
  stale_ = false;
  failing_since_ = never;
  index_ = backwards ? 0 : answer->index;
  const TimePoint now = std::chrono::steady_clock::now();
  Duration rest = std::clamp<Duration>((now - came) * 2, shortest_rest, longest_rest);
  if (index_ == 0) rest = without_index;
  const TimePoint until = agent_->clock().now() + rest;
  while (!over() && agent_->clock().now() < until) (void)co_await alarm_.wait(until);
  co_return Result<void>();
}

void Follower::failed(const Error& why) {
  index_ = 0;
  anew_ = true;
  const TimePoint now = agent_->clock().now();
  if (failing_since_ == never) failing_since_ = now;
  if (agent_->open() && now >= next_warning_) {
    next_warning_ = now + between_warnings;
    agent_->log().warn("consul-follow", what_ + " cannot be followed now: " + why.text() + "; trying again");
  }
}

Task<void> Follower::run(std::shared_ptr<Follower> self) {
  Backoff backoff(first_pause, longest_pause);
  const std::shared_ptr<Agent> agent = self->agent_;
  while (!self->over()) {
    Error why;
    TimePoint again = never;
    if (agent->open()) {
      Task<Result<void>> asking = self->turn();
      Result<void> asked = co_await asking;
      if (self->over()) break;
      if (asked.ok()) {
        backoff.reset();
        continue;
      }
      why = std::move(asked).error();
      self->failed(why);
      again = agent->clock().now() + backoff.next();
    } else {
      self->index_ = 0;
      self->anew_ = true;
      why = agent->trouble();
    }
    // Said when it has lasted for long, or when it will not change by itself.
    while (!self->over()) {
      const TimePoint now = agent->clock().now();
      TimePoint hopeless = agent->hopeless_at();
      if (self->failing_since_ != never)
        hopeless = std::min<TimePoint>(hopeless, self->failing_since_ + agent->options().connect_timeout);
      const bool final = why.code() == Errc::permission_denied || why.code() == Errc::too_large;
      if ((final || now >= hopeless) && !std::exchange(self->stale_, true)) self->on_stale(why);
      if (self->over() || now >= again || (again == never && agent->open())) break;
      (void)co_await self->alarm_.wait(self->stale_ ? again : std::min(again, hopeless));
    }
  }
}

}  // namespace tenon::consul
