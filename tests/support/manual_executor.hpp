#pragma once
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stdexcept>

#include "tenon/executor.hpp"
#include "tenon/task.hpp"
#include "virtual_clock.hpp"

namespace tenon::test {

/// An executor the test drives by hand, with virtual time. Belongs to the thread that made it; posts come from any.
class ManualExecutor final : public Executor {
 public:
  ManualExecutor() : current_(*this) {}

  void post(Work& work) noexcept override {
    const std::lock_guard lock(mutex_);
    posted_.push_back(&work);
    arrived_.notify_one();
  }
  bool here() const noexcept override { return Executor::current() == this; }
  VirtualClock& clock() noexcept override { return clock_; }
  boost::asio::io_context& context() noexcept override { return context_; }

  /// Runs what is posted, and what that posts.
  void run() {
    while (Work* work = take()) work->run(work);
  }
  /// Runs posts until `done`, waiting for other threads' at most `limit` of real time; false: not done by then.
  bool run_until(const std::function<bool()>& done, std::chrono::milliseconds limit = std::chrono::seconds(10)) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (!done()) {
      if (Work* work = take()) {
        work->run(work);
        continue;
      }
      std::unique_lock lock(mutex_);
      if (!arrived_.wait_until(lock, until, [this] { return !posted_.empty(); })) return done();
    }
    return true;
  }
  /// Runs posts and moves time on.
  void go(Duration by) {
    const TimePoint to = clock_.now() + by;
    run();
    while (clock_.next() <= to && clock_.next() != never) {
      clock_.go_to(clock_.next());
      run();
    }
    clock_.go_to(to);
  }
  /// Runs `task` to its end, moving time from alarm to alarm. Throws when it waits for something else.
  template <class T>
  T finish(Task<T> task) {
    bool done = false;
    if (task.start([](void* flag) { *static_cast<bool*>(flag) = true; }, &done)) return task.take();
    run();
    while (!done) {
      if (clock_.next() == never) throw std::logic_error("the task waits for something that is not going to happen");
      clock_.go_to(clock_.next());
      run();
    }
    return task.take();
  }

 private:
  Work* take() {
    const std::lock_guard lock(mutex_);
    if (posted_.empty()) return nullptr;
    Work* work = posted_.front();
    posted_.pop_front();
    return work;
  }

  VirtualClock clock_;
  boost::asio::io_context context_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Work*> posted_;
  Executor::Current current_;
};

}  // namespace tenon::test
