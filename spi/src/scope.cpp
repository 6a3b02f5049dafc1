#include "tenon/scope.hpp"

#include <cassert>

namespace tenon {

Scope::~Scope() { assert(empty() && "co_await join() before a Scope is destroyed"); }

void Scope::spawn(Task<void> task) {
  sweep();
  Running& running = tasks_.emplace_back(Running{this, std::move(task)});
  ++running_;
  if (running.task.start(&Scope::ended, &running)) {
    --running_;
    running.task.take();
    running.ended = true;
  }
}

void Scope::ended(void* argument) {
  auto* running = static_cast<Running*>(argument);
  Scope& scope = *running->scope;
  running->task.take();
  running->ended = true;
  if (--scope.running_ == 0 && scope.joiner_) std::exchange(scope.joiner_, {}).resume();
}

void Scope::sweep() noexcept {
  std::erase_if(tasks_, [](const Running& running) { return running.ended; });
}

sleep_until::~sleep_until() {
  clock_.cancel(wake_);
  Cancellation::remove(stop_);
}

bool sleep_until::await_suspend(std::coroutine_handle<> caller) noexcept {
  caller_ = caller;
  wake_.sleeper = stop_.sleeper = this;
  stop_.fire = [](CancelHook* hook) noexcept {
    sleep_until* sleeper = static_cast<Stop*>(hook)->sleeper;
    sleeper->cancelled_ = true;
    sleeper->clock_.cancel(sleeper->wake_);
    sleeper->caller_.resume();
  };
  if (cancel_ && !cancel_->add(stop_)) {
    cancelled_ = true;
    return false;
  }
  wake_.fire = [](Alarm* alarm) {
    sleep_until* sleeper = static_cast<Wake*>(alarm)->sleeper;
    Cancellation::remove(sleeper->stop_);
    sleeper->caller_.resume();
  };
  clock_.arm(wake_, at_);
  return true;
}

}  // namespace tenon
