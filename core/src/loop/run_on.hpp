#pragma once
#include <future>
#include <type_traits>
#include <utility>

#include "tenon/executor.hpp"

namespace tenon {

/// Runs `function` on the executor's thread and waits for it: for building and taking apart, never on the call path.
/// Threads: foreign ones, or the executor's own (then inline). Blocking: yes.
template <class F>
auto run_on(Executor& executor, F function) {
  using Out = std::invoke_result_t<F&>;
  if (executor.here()) return function();
  struct Job : Work {
    explicit Job(F f) : task(std::move(f)) {}
    std::packaged_task<Out()> task;
  };
  auto* job = new Job(std::move(function));
  std::future<Out> done = job->task.get_future();
  job->run = [](Work* work) noexcept {
    auto* self = static_cast<Job*>(work);
    self->task();
    delete self;
  };
  executor.post(*job);
  return done.get();
}

}  // namespace tenon
