#pragma once
#include <chrono>
#include <future>
#include <optional>
#include <utility>

#include "tenon/executor.hpp"
#include "tenon/task.hpp"

namespace tenon {

/// Runs `make()` (which returns a Task<T>) on the executor to its end; the future has its result. `make` lives as long
/// as the task. Threads: any.
template <class F>
auto start_on(Executor& executor, F make) {
  using T = typename decltype(make())::value_type;
  struct Job : Work {
    explicit Job(F f) : make(std::move(f)) {}
    F make;
    Task<T> task;
    std::promise<T> promise;
    void finish() {
      try {
        promise.set_value(task.take());
      } catch (...) {
        promise.set_exception(std::current_exception());
      }
      delete this;
    }
  };
  auto* job = new Job(std::move(make));
  std::future<T> done = job->promise.get_future();
  job->run = [](Work* work) noexcept {
    auto* self = static_cast<Job*>(work);
    self->task = self->make();
    if (self->task.start([](void* p) { static_cast<Job*>(p)->finish(); }, self)) self->finish();
  };
  executor.post(*job);
  return done;
}

/// Runs `make()` on the executor to its end and returns its result: for starting and stopping, never on the call path.
/// Threads: foreign ones. Blocking: yes.
template <class F>
auto wait_for(Executor& executor, F make) {
  return start_on(executor, std::move(make)).get();
}

/// The same as long as `patient()` says so, which is asked every few milliseconds. Nothing: it was not, and the task
/// goes on by itself; what it uses must be kept by `make`, or live as long as the executor.
template <class P, class F>
auto wait_while(Executor& executor, P patient, F make) {
  auto done = start_on(executor, std::move(make));
  using T = decltype(done.get());
  while (done.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready)
    if (!patient()) return std::optional<T>();
  return std::optional<T>(done.get());
}

}  // namespace tenon
