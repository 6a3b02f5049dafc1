#include "tenon/task.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>

#include "tenon/result.hpp"

namespace tenon {
namespace {

/// Suspends until somebody calls fire().
struct Event {
  std::coroutine_handle<> waiter;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) noexcept { waiter = h; }
  void await_resume() const noexcept {}
  void fire() { std::exchange(waiter, {}).resume(); }
};

Task<int> number(int n) { co_return n; }
Task<int> one_more(int n) {
  const int inner = co_await number(n);
  co_return inner + 1;
}
Task<long> sum_sync(long times) {
  long sum = 0;
  for (long i = 0; i < times; ++i) sum += co_await one_more(1);
  co_return sum;
}
Task<long> sum_after(Event& event, long times) {
  co_await event;
  co_return co_await sum_sync(times);
}
Task<int> throws() {
  throw std::runtime_error("boom");
  co_return 0;
}
Task<std::string> catches() {
  try {
    co_await throws();
  } catch (const std::runtime_error& e) {
    co_return e.what();
  }
  co_return "nothing";
}

template <class T>
T run_now(Task<T> task) {
  const bool finished = task.start([](void*) { FAIL() << "must finish during start"; }, nullptr);
  EXPECT_TRUE(finished);
  return task.take();
}

TEST(Task, IsLazy) {
  bool ran = false;
  auto body = [](bool& flag) -> Task<void> {
    flag = true;
    co_return;
  };
  {
    Task<void> never_started = body(ran);
    EXPECT_FALSE(ran);
  }
  EXPECT_FALSE(ran);
  run_now(body(ran));
  EXPECT_TRUE(ran);
}

TEST(Task, MillionSynchronousAwaitsDoNotGrowTheStack) { EXPECT_EQ(run_now(sum_sync(1'000'000)), 2'000'000); }

TEST(Task, MillionSynchronousAwaitsAfterASuspension) {
  Event event;
  Task<long> task = sum_after(event, 1'000'000);
  bool done = false;
  ASSERT_FALSE(task.start([](void* flag) { *static_cast<bool*>(flag) = true; }, &done));
  EXPECT_FALSE(done);
  event.fire();
  EXPECT_TRUE(done);
  EXPECT_EQ(task.take(), 2'000'000);
}

TEST(Task, CompletesOnAnotherThread) {
  Event event;
  Task<long> task = sum_after(event, 100'000);
  bool done = false;
  ASSERT_FALSE(task.start([](void* flag) { *static_cast<bool*>(flag) = true; }, &done));
  std::thread([&] { event.fire(); }).join();
  EXPECT_TRUE(done);
  EXPECT_EQ(task.take(), 200'000);
}

// The child is resumed by another task's start, in the middle of that start: its end must not be taken for a
// synchronous end of the other.
Task<void> fire_inside(Event& event) {
  event.fire();
  co_return;
}
Task<int> wait_then(Event& event, int value) {
  co_await event;
  co_return value;
}
TEST(Task, ResumedInsideAnotherTasksStart) {
  Event event;
  Task<int> waiting = wait_then(event, 7);
  bool done = false;
  ASSERT_FALSE(waiting.start([](void* flag) { *static_cast<bool*>(flag) = true; }, &done));
  run_now(fire_inside(event));
  EXPECT_TRUE(done);
  EXPECT_EQ(waiting.take(), 7);
}

TEST(Task, ExceptionsReachTheAwaiter) {
  EXPECT_EQ(run_now(catches()), "boom");
  Task<int> task = throws();
  EXPECT_TRUE(task.start([](void*) {}, nullptr));
  EXPECT_THROW(task.take(), std::runtime_error);
}

TEST(Task, ReadyHoldsMoveOnlyValues) {
  Task<Result<std::unique_ptr<int>>> task = ready<Result<std::unique_ptr<int>>>(std::make_unique<int>(3));
  EXPECT_EQ(**run_now(std::move(task)), 3);
}

TEST(Result, KeepsValuesAndErrors) {
  Result<std::string> value = std::string("x");
  EXPECT_TRUE(value.ok());
  Result<std::string> moved = std::move(value);
  EXPECT_EQ(*moved, "x");
  moved = Error(Errc::not_found, "no x", Delivery::not_run, Advice::never);
  ASSERT_FALSE(moved.ok());
  EXPECT_EQ(moved.error().code(), Errc::not_found);
  EXPECT_EQ(moved.error().delivery(), Delivery::not_run);
  Error copy = moved.error();
  copy.prefix("here").foreign("motan", 10001);
  EXPECT_EQ(copy.text(), "here: no x");
  EXPECT_EQ(moved.error().text(), "no x");
  EXPECT_EQ(copy.foreign_code(), 10001);
}

}  // namespace
}  // namespace tenon
