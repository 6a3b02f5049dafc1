#pragma once
// Several tasks at once: a Scope that owns them, all(), race(), sleep_until().

#include <cstddef>
#include <list>
#include <optional>
#include <utility>
#include <vector>

#include "tenon/cancel.hpp"
#include "tenon/clock.hpp"
#include "tenon/task.hpp"

namespace tenon {

/// Owns tasks that run on their own; ended by waiting for them. A task is never destroyed while it is suspended.
/// Threads: one executor's; the tasks must complete there.
/// Ownership: REQUIRES empty() at destruction: co_await join() first (asserted).
class TENON_SPI Scope {
 public:
  Scope() = default;
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope();

  /// Starts the task at once. Exceptions that escape it end the process: a spawned task handles its errors.
  void spawn(Task<void> task);
  bool empty() const noexcept { return running_ == 0; }
  /// Told to everything that listens to it; tasks end themselves.
  Cancellation& cancellation() noexcept { return cancellation_; }

  /// Completes when every task has ended. One join() at a time.
  auto join() noexcept {
    struct Awaiter {
      Scope& scope;
      bool await_ready() const noexcept { return scope.empty(); }
      void await_suspend(std::coroutine_handle<> caller) const noexcept { scope.joiner_ = caller; }
      void await_resume() const noexcept { scope.sweep(); }
    };
    return Awaiter{*this};
  }

 private:
  struct Running {
    Scope* scope;
    Task<void> task;
    bool ended = false;
  };
  static void ended(void* running);
  void sweep() noexcept;

  std::list<Running> tasks_;
  std::size_t running_ = 0;
  std::coroutine_handle<> joiner_;
  Cancellation cancellation_;
};

/// Suspends until `at` on `clock`, or until `cancel` fires. True: the time came.
class TENON_SPI sleep_until {
 public:
  sleep_until(Clock& clock, TimePoint at, Cancellation* cancel = nullptr) noexcept
      : clock_(clock), at_(at), cancel_(cancel) {}
  sleep_until(const sleep_until&) = delete;
  sleep_until& operator=(const sleep_until&) = delete;
  ~sleep_until();
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> caller) noexcept;
  bool await_resume() const noexcept { return !cancelled_; }

 private:
  struct Wake : Alarm {
    sleep_until* sleeper = nullptr;
  };
  struct Stop : CancelHook {
    sleep_until* sleeper = nullptr;
  };
  Clock& clock_;
  TimePoint at_;
  Cancellation* cancel_;
  std::coroutine_handle<> caller_;
  Wake wake_;
  Stop stop_;
  bool cancelled_ = false;
};

namespace detail {

/// Counts tasks down and resumes their awaiter after the last.
template <class T>
class Gathering {
 public:
  explicit Gathering(std::vector<Task<T>>& tasks) : tasks_(tasks) {}
  bool await_ready() const noexcept { return tasks_.empty(); }
  bool await_suspend(std::coroutine_handle<> caller) {
    caller_ = caller;
    left_ = tasks_.size() + 1;
    for (Task<T>& task : tasks_)
      if (task.start([](void* self) { static_cast<Gathering*>(self)->one_ended(true); }, this)) one_ended(false);
    return --left_ != 0;
  }
  void await_resume() const noexcept {}

 private:
  void one_ended(bool resume) {
    if (--left_ == 0 && resume) caller_.resume();
  }
  std::vector<Task<T>>& tasks_;
  std::coroutine_handle<> caller_;
  std::size_t left_ = 0;
};

/// Resumes its awaiter at the first end, and waits for the rest in the background of the caller's frame.
template <class T>
class Racing {
 public:
  explicit Racing(std::vector<Task<T>>& tasks, Cancellation& losers) : tasks_(tasks), losers_(losers) {}
  bool await_ready() const noexcept { return tasks_.empty(); }
  bool await_suspend(std::coroutine_handle<> caller) {
    caller_ = caller;
    left_ = tasks_.size() + 1;
    entries_.resize(tasks_.size());
    for (std::size_t index = 0; index < tasks_.size(); ++index) {
      entries_[index] = {this, index};
      auto ended = [](void* at) { static_cast<Entry*>(at)->racing->one_ended(static_cast<Entry*>(at)->index, true); };
      if (tasks_[index].start(ended, &entries_[index])) one_ended(index, false);
    }
    return --left_ != 0;
  }
  std::size_t await_resume() const noexcept { return *winner_; }

 private:
  struct Entry {
    Racing* racing;
    std::size_t index;
  };
  void one_ended(std::size_t index, bool resume) {
    if (!winner_) {
      winner_ = index;
      losers_.cancel();
    }
    if (--left_ == 0 && resume) caller_.resume();
  }
  std::vector<Task<T>>& tasks_;
  Cancellation& losers_;
  std::vector<Entry> entries_;
  std::coroutine_handle<> caller_;
  std::optional<std::size_t> winner_;
  std::size_t left_ = 0;
};

}  // namespace detail

/// Runs the tasks at once; their results in order.
/// Threads: all complete on the executor that awaits.
template <class T>
Task<std::vector<T>> all(std::vector<Task<T>> tasks) {
  detail::Gathering<T> gathering(tasks);
  co_await gathering;
  std::vector<T> results;
  results.reserve(tasks.size());
  for (Task<T>& task : tasks) results.push_back(task.take());
  co_return std::move(results);
}

/// Runs the tasks at once; the result of the first to end. `losers` is cancelled then, and the others are waited for
/// (a task is never destroyed while suspended), so they should listen to it.
/// REQUIRES: at least one task.
template <class T>
Task<T> race(std::vector<Task<T>> tasks, Cancellation& losers) {
  detail::Racing<T> racing(tasks, losers);
  const std::size_t winner = co_await racing;
  co_return tasks[winner].take();
}

}  // namespace tenon
