#include "ha/parallel_attempts.hpp"

#include <cassert>
#include <exception>
#include <string>
#include <utility>

namespace tenon::cluster {

ParallelAttempts::Attempt::Attempt(ParallelAttempts& attempts, Request& original, Endpoint& at, std::uint32_t number)
    : endpoint(at), attempts_(attempts), began_(attempts.clock_.now()), request_(parallel_attempt(original)) {
  request_.cancel = &attempts.cancellation_;
  if (!original.info) return;
  info_ = *original.info;
  info_.peer = nullptr;
  info_.headers = &request_.headers;
  info_.attachment = &request_.attachment;
  info_.cancel = &attempts.cancellation_;
  info_.attempt = number;
  request_.info = &info_;
}

void ParallelAttempts::Attempt::finish() noexcept {
  const auto threw = [this](const char* what) {
    return Error(Errc::internal, request_.target->service->text() + ": an attempt filter threw: " + what,
                 Delivery::maybe_run);
  };
  try {
    result = task_.take();
  } catch (const std::exception& e) {
    result = threw(e.what());
  } catch (...) {
    result = threw("something that is not a std::exception");
  }
  took = attempts_.clock_.now() - began_;
  attempts_.ended(*this);
}

ParallelAttempts::ParallelAttempts(Request& request, Clock& clock) noexcept : request_(request), clock_(clock) {
  stop_.attempts = this;
  stop_.fire = [](CancelHook* hook) noexcept { static_cast<Stop*>(hook)->attempts->cancel(); };
  if (request.cancel && !request.cancel->add(stop_)) cancellation_.cancel();
}

ParallelAttempts::~ParallelAttempts() {
  assert(under_way_ == 0 && "attempts are read to their ends before their call ends");
  Cancellation::remove(stop_);
  while (ended_first_) delete std::exchange(ended_first_, ended_first_->next_);
}

void ParallelAttempts::start(Endpoint& endpoint, std::uint32_t number) {
  auto* attempt = new Attempt(*this, request_, endpoint, number);
  if (!replying_) {
    attempt->request_.reply = request_.reply;
    replying_ = attempt;
  }
  attempt->next_ = std::exchange(running_, attempt);
  ++under_way_;
  attempt->task_ = endpoint.call(attempt->request_);
  auto done = [](void* self) { static_cast<Attempt*>(self)->finish(); };
  if (attempt->task_.start(done, attempt)) attempt->finish();
}

bool ParallelAttempts::at(const Endpoint& endpoint) const noexcept {
  for (const Attempt* attempt = running_; attempt; attempt = attempt->next_)
    if (&attempt->endpoint == &endpoint) return true;
  return false;
}

void ParallelAttempts::ended(Attempt& attempt) noexcept {
  Attempt** link = &running_;
  while (*link != &attempt) link = &(*link)->next_;
  *link = std::exchange(attempt.next_, nullptr);
  (ended_first_ ? ended_last_->next_ : ended_first_) = &attempt;
  ended_last_ = &attempt;
  if (replying_ == &attempt && !attempt.result.ok()) replying_ = nullptr;
  --under_way_;
  ++unread_;
  if (Next* waiter = std::exchange(waiter_, nullptr)) waiter->wake();
}

void ParallelAttempts::Next::await_suspend(std::coroutine_handle<> caller) noexcept {
  caller_ = caller;
  attempts_.waiter_ = this;
  if (until_ == never) return;
  wake_.next = this;
  wake_.fire = [](Alarm* alarm) {
    Next* next = static_cast<Wake*>(alarm)->next;
    next->attempts_.waiter_ = nullptr;
    next->caller_.resume();
  };
  attempts_.clock_.arm(wake_, until_);
}

void ParallelAttempts::Next::wake() noexcept {
  attempts_.clock_.cancel(wake_);
  caller_.resume();
}

std::unique_ptr<ParallelAttempts::Attempt> ParallelAttempts::Next::await_resume() noexcept {
  Attempt* first = attempts_.ended_first_;
  if (!first) return nullptr;
  attempts_.ended_first_ = std::exchange(first->next_, nullptr);
  --attempts_.unread_;
  return std::unique_ptr<Attempt>(first);
}

}  // namespace tenon::cluster
