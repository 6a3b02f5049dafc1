#pragma once
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tenon/clock.hpp"
#include "tenon/executor.hpp"
#include "tenon/task.hpp"

namespace tenon::test {

/// A plain executor on its own thread, for tests of what stands below core's loop: an io_context, a list of alarms and
/// real time.
class TestExecutor final : public Executor, private Clock {
 public:
  static constexpr auto patience = std::chrono::seconds(40);

  TestExecutor() : guard_(context_.get_executor()), timer_(context_), thread_([this] { work(); }) {}
  ~TestExecutor() override {
    boost::asio::post(context_, [this] { guard_.reset(); timer_.cancel(); stopping_ = true; });
    thread_.join();
    drain();
  }

  void post(Work& work) noexcept override {
    {
      const std::lock_guard lock(mutex_);
      work.next = nullptr;
      *last_ = &work;
      last_ = &work.next;
    }
    boost::asio::post(context_, [this] { drain(); });
  }
  bool here() const noexcept override { return Executor::current() == this; }
  Clock& clock() noexcept override { return *this; }
  boost::asio::io_context& context() noexcept override { return context_; }

  /// Runs function() on the executor's thread and waits for its result.
  template <class F>
  auto call(F function) {
    std::packaged_task<std::invoke_result_t<F&>()> task(std::move(function));
    auto result = task.get_future();
    boost::asio::post(context_, [&task] { task(); });
    return result.get();
  }

  /// Runs the task made by make() on the executor's thread to its end. Throws when it takes longer than `patience`
  /// (the task is leaked then: it is still suspended).
  template <class F>
  auto run(F make) {
    using T = typename decltype(make())::value_type;
    struct Job {
      explicit Job(F f) : make(std::move(f)) {}
      F make;
      Task<T> task;
      std::promise<T> promise;
      void finish() {
        T value = task.take();
        promise.set_value(std::move(value));
        delete this;
      }
    };
    auto* job = new Job(std::move(make));
    auto done = job->promise.get_future();
    boost::asio::post(context_, [job] {
      job->task = job->make();
      if (job->task.start([](void* p) { static_cast<Job*>(p)->finish(); }, job)) job->finish();
    });
    if (done.wait_for(patience) != std::future_status::ready) throw std::runtime_error("the task does not end");
    return done.get();
  }

 private:
  TimePoint now() const noexcept override { return std::chrono::steady_clock::now(); }
  void arm(Alarm& alarm, TimePoint at) noexcept override {
    alarm.at = at;
    Alarm* after = head_.prev;
    while (after != &head_ && after->at > at) after = after->prev;
    alarm.prev = after;
    alarm.next = after->next;
    after->next->prev = &alarm;
    after->next = &alarm;
    if (head_.next == &alarm) set_timer();
  }
  void cancel(Alarm& alarm) noexcept override {
    if (!alarm.armed()) return;
    alarm.prev->next = alarm.next;
    alarm.next->prev = alarm.prev;
    alarm.prev = alarm.next = nullptr;
  }
  void set_timer() {
    if (head_.next == &head_ || stopping_) return;
    timer_.expires_at(head_.next->at);
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      while (head_.next != &head_ && head_.next->at <= now()) {
        Alarm* due = head_.next;
        cancel(*due);
        due->fire(due);
      }
      set_timer();
    });
  }
  void work() {
    const Current current(*this);
    context_.run();
  }
  void drain() {
    while (true) {
      Work* work = nullptr;
      {
        const std::lock_guard lock(mutex_);
        work = first_;
        if (!work) return;
        first_ = work->next;
        if (!first_) last_ = &first_;
      }
      work->run(work);
    }
  }

  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_;
  boost::asio::steady_timer timer_;
  Alarm head_{&head_, &head_, {}, nullptr};
  bool stopping_ = false;
  std::mutex mutex_;
  Work* first_ = nullptr;
  Work** last_ = &first_;
  std::thread thread_;
};

}  // namespace tenon::test
