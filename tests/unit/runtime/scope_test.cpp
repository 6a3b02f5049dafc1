#include "tenon/scope.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "loop/timer_wheel.hpp"

namespace tenon {
namespace {

/// A clock that stands still until it is told.
class ManualClock final : public Clock {
 public:
  TimePoint now() const noexcept override { return now_; }
  void arm(Alarm& alarm, TimePoint at) noexcept override { wheel_.arm(alarm, at); }
  void cancel(Alarm& alarm) noexcept override { wheel_.cancel(alarm); }
  void go(Duration by) {
    now_ += by;
    wheel_.advance(now_);
  }

 private:
  TimePoint now_{};
  TimerWheel wheel_{now_};
};

Task<int> after(ManualClock& clock, int ms, int value, Cancellation* cancel = nullptr) {
  sleep_until sleep(clock, clock.now() + std::chrono::milliseconds(ms), cancel);
  const bool in_time = co_await sleep;
  co_return in_time ? value : -value;
}
Task<void> append(ManualClock& clock, int ms, std::vector<int>& out) {
  out.push_back(co_await after(clock, ms, ms));
}
Task<int> immediate(int value) { co_return value; }

TEST(Sleep, WakesAtItsTimeOrWhenCancelled) {
  ManualClock clock;
  Cancellation cancel;
  Task<int> sleeping = after(clock, 100, 1);
  Task<int> cancelled = after(clock, 100, 2, &cancel);
  int done = 0;
  auto count = [](void* n) { ++*static_cast<int*>(n); };
  ASSERT_FALSE(sleeping.start(count, &done));
  ASSERT_FALSE(cancelled.start(count, &done));
  clock.go(std::chrono::milliseconds(50));
  EXPECT_EQ(done, 0);
  cancel.cancel();
  EXPECT_EQ(done, 1);
  EXPECT_EQ(cancelled.take(), -2);
  clock.go(std::chrono::milliseconds(60));
  EXPECT_EQ(done, 2);
  EXPECT_EQ(sleeping.take(), 1);
}

Task<std::vector<int>> gather(ManualClock& clock) {
  std::vector<Task<int>> tasks;
  tasks.push_back(after(clock, 30, 1));
  tasks.push_back(immediate(2));
  tasks.push_back(after(clock, 10, 3));
  co_return co_await all(std::move(tasks));
}

TEST(All, KeepsTheOrder) {
  ManualClock clock;
  Task<std::vector<int>> task = gather(clock);
  bool done = false;
  ASSERT_FALSE(task.start([](void* d) { *static_cast<bool*>(d) = true; }, &done));
  clock.go(std::chrono::milliseconds(20));
  EXPECT_FALSE(done);
  clock.go(std::chrono::milliseconds(20));
  ASSERT_TRUE(done);
  EXPECT_EQ(task.take(), (std::vector<int>{1, 2, 3}));
}

Task<int> compete(ManualClock& clock) {
  Cancellation losers;
  std::vector<Task<int>> tasks;
  tasks.push_back(after(clock, 1000, 1, &losers));
  tasks.push_back(after(clock, 10, 2, &losers));
  co_return co_await race(std::move(tasks), losers);
}

TEST(Race, TheFirstWinsAndTheOthersAreTold) {
  ManualClock clock;
  Task<int> task = compete(clock);
  bool done = false;
  ASSERT_FALSE(task.start([](void* d) { *static_cast<bool*>(d) = true; }, &done));
  clock.go(std::chrono::milliseconds(20));
  ASSERT_TRUE(done);
  EXPECT_EQ(task.take(), 2);
}

Task<void> own(ManualClock& clock, std::vector<int>& out) {
  Scope scope;
  scope.spawn(append(clock, 20, out));
  scope.spawn(append(clock, 10, out));
  co_await scope.join();
  out.push_back(0);
}

TEST(Scope, JoinWaitsForEverything) {
  ManualClock clock;
  std::vector<int> out;
  Task<void> task = own(clock, out);
  bool done = false;
  ASSERT_FALSE(task.start([](void* d) { *static_cast<bool*>(d) = true; }, &done));
  clock.go(std::chrono::milliseconds(15));
  EXPECT_EQ(out, std::vector<int>{10});
  clock.go(std::chrono::milliseconds(15));
  EXPECT_TRUE(done);
  EXPECT_EQ(out, (std::vector<int>{10, 20, 0}));
}

}  // namespace
}  // namespace tenon
