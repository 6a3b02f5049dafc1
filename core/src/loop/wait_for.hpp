#pragma once
#include <future>
#include <utility>

#include "tenon/executor.hpp"
#include "tenon/task.hpp"

namespace tenon {

/// Runs `make()` (which returns a Task<T>) on the executor to its end and returns its result: for starting and
/// stopping, never on the call path.
/// Threads: foreign ones. Blocking: yes.
template <class F>
auto wait_for(Executor& executor, F make) {
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
  return done.get();
}

}  // namespace tenon
