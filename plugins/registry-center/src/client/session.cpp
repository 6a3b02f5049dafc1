#include "session.hpp"

#include <algorithm>
#include <cstdio>
#include <random>
#include <utility>

#include "backoff.hpp"
#include "detached.hpp"

namespace tenon::center {

namespace {

constexpr Duration call_limit = std::chrono::seconds(2);
constexpr Duration first_pause = std::chrono::milliseconds(100);
constexpr Duration longest_pause = std::chrono::seconds(2);  // until a center has said what its lease is
constexpr Duration longest_spread = std::chrono::seconds(3);
constexpr Duration first_pause_when_refused = std::chrono::seconds(1);
constexpr Duration longest_pause_when_refused = std::chrono::seconds(30);
constexpr Duration shortest_beat = std::chrono::milliseconds(20);
constexpr Duration between_complaints = std::chrono::seconds(10);

// 128 bits of the system's random numbers.
std::string random_text() {
  std::random_device random;
  std::string text;
  for (int word = 0; word < 4; ++word) {
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08x", random());
    text += digits;
  }
  return text;
}

// The center is there and does not want us: it will say so again until somebody changes something.
bool is_refusal(Errc code) noexcept {
  return code == Errc::permission_denied || code == Errc::unauthenticated || code == Errc::invalid_argument;
}

}  // namespace

Session::Session(std::shared_ptr<Reference> center, std::string application, std::string token, Duration patience,
                 Environment environment)
    : environment_(environment),
      patience_(patience),
      calls_(center),
      opening_{{random_text(), random_text()}, std::move(application), std::move(token)},
      closed_since_(environment.clock.now()),
      bell_(environment.clock),
      alarm_(environment.clock) {}

void Session::start() {
  if (std::exchange(started_, true)) return;
  struct Begin : Work {
    std::shared_ptr<Session> session;
  };
  auto* begin = new Begin;
  begin->session = shared_from_this();
  begin->run = [](Work* work) noexcept {
    const std::unique_ptr<Begin> self(static_cast<Begin*>(work));
    run_detached(Session::run(self->session));
  };
  environment_.executor.post(*begin);
}

void Session::stop() noexcept {
  const auto self = shared_from_this();
  // Sent before it is given up, one line below: without it what is announced stays until its lease ends.
  if (open_ && held_ > 0) run_detached(say_goodbye(self));
  give_up_.cancel();
  stopped_ = true;
  open_ = false;
  alarm_.ring();
  bell_.ring();
}

CallOptions Session::limits() noexcept {
  CallOptions options;
  options.timeout = call_limit;
  options.cancel = &give_up_;
  return options;
}

Task<void> Session::say_goodbye(std::shared_ptr<Session> self) {
  const CallOptions options = self->limits();
  Task<Result<Void>> closing = self->calls_.close.call(options, self->opening_.key, use_task);
  (void)co_await closing;
}

Error Session::trouble() const {
  if (stopped_) return Error(Errc::unavailable, "the registry has ended", Delivery::not_run, Advice::never);
  if (trouble_) return trouble_;
  return Error(Errc::unavailable, "the registry center has not answered yet", Delivery::not_run);
}

void Session::doubt() noexcept {
  doubted_ = true;
  alarm_.ring();
}

Task<bool> Session::wait_open(std::shared_ptr<Session> session, TimePoint until) {
  while (!session->open_ && !session->stopped_) {
    if (session->clock().now() >= until) co_return false;
    (void)co_await session->bell_.wait(until);
  }
  co_return session->open_;
}

void Session::set_open(bool open) noexcept {
  if (open_ && !open) closed_since_ = clock().now();
  open_ = open;
  bell_.ring();
}

// What somebody must change is said once; what may pass is said again as long as it lasts.
void Session::complain(const Error& error) {
  trouble_ = error;
  const bool refused = is_refusal(error.code());
  if (clock().now() < next_complaint_ || (refused && error.text() == complained_)) return;
  next_complaint_ = clock().now() + between_complaints;
  complained_ = error.text();
  if (!refused)
    return log().warn("center", "the registry center does not answer: " + error.text() +
                                    "; what is known stays in use, trying again");
  log().error("center", "the registry center refuses this application: " + error.text() +
                            (error.code() == Errc::invalid_argument
                                 ? std::string()
                                 : "; set the registry's option token to the center's, which whoever runs the center "
                                   "knows") +
                            "; what is known stays in use, asking again within 30 s");
}

Task<Result<Opened>> Session::reopen() {
  const CallOptions options = limits();
  Task<Result<Opened>> opening = calls_.open.call(options, opening_, use_task);
  co_return co_await opening;
}

// Beats until the center does not answer or does not know us. False: stopped.
Task<bool> Session::live(Duration between) {
  while (!stopped_) {
    doubted_ = false;
    (void)co_await alarm_.wait(clock().now() + between);
    if (stopped_) co_return false;
    const bool was_quiet = busy_ == 0;
    const std::int64_t expected = held_;
    const CallOptions options = limits();
    Task<Result<Beaten>> beating = calls_.beat.call(options, opening_.key, use_task);
    const Result<Beaten> beaten = co_await beating;
    if (stopped_) co_return false;
    if (!beaten.ok()) {
      trouble_ = beaten.error();
      co_return true;
    }
    if (beaten->epoch != epoch_) co_return true;
    const bool comparable = was_quiet && busy_ == 0 && held_ == expected;
    if (comparable && beaten->instances != expected) {
      log().warn("center", "the registry center has " + std::to_string(beaten->instances) + " of our " +
                               std::to_string(expected) + " instances; they are announced again");
      ++generation_;
      bell_.ring();
    }
  }
  co_return false;
}

Task<void> Session::run(std::shared_ptr<Session> self) {
  Backoff backoff(first_pause, longest_pause);
  Backoff refused(first_pause_when_refused, longest_pause_when_refused);
  while (!self->stopped_) {
    Task<Result<Opened>> opening = self->reopen();
    const Result<Opened> opened = co_await opening;
    if (self->stopped_) break;
    if (!opened.ok()) {
      if (self->open_) self->set_open(false);
      self->complain(opened.error());
      const bool is_refused = is_refusal(opened.error().code());
      (is_refused ? backoff : refused).reset();
      (void)co_await self->alarm_.wait(self->clock().now() + (is_refused ? refused : backoff).next());
      continue;
    }
    backoff.reset();
    refused.reset();
    // Hundreds should come back one after the other, and all of them well within a lease: then lists are whole.
    backoff.set_longest(std::clamp<Duration>(opened->lease / 5, first_pause, longest_spread));
    if (self->trouble_ && self->generation_ > 0) self->log().info("center", "the registry center answers again");
    self->trouble_ = Error();
    self->next_complaint_ = {};
    self->complained_.clear();
    if (opened->epoch != self->epoch_ || !opened->known || self->generation_ == 0) ++self->generation_;
    self->epoch_ = opened->epoch;
    self->set_open(true);
    Task<bool> living = self->live(std::max<Duration>(shortest_beat, opened->beat_every));
    if (!co_await living) break;
  }
}

}  // namespace tenon::center
