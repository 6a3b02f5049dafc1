#include "bell.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "support/manual_executor.hpp"
#include "tenon/task.hpp"

namespace tenon::zk {
namespace {

using std::chrono::milliseconds;

Task<bool> wait_at(Bell& bell, TimePoint until) {
  const bool rang = co_await bell.wait(until);
  co_return rang;
}

class BellTest : public testing::Test {
 protected:
  struct Waiter {
    Task<bool> task;
    bool done = false;
  };
  Waiter& wait(Bell& bell, TimePoint until) {
    waiters_.push_back(std::make_unique<Waiter>());
    Waiter& waiter = *waiters_.back();
    waiter.task = wait_at(bell, until);
    EXPECT_FALSE(waiter.task.start([](void* at) { static_cast<Waiter*>(at)->done = true; }, &waiter));
    return waiter;
  }
  test::ManualExecutor executor;

 private:
  std::vector<std::unique_ptr<Waiter>> waiters_;
};

TEST_F(BellTest, WakesEverybodyWhoWaitsAndNobodyWhoComesLater) {
  Bell bell(executor.clock());
  Waiter& first = wait(bell, never);
  Waiter& second = wait(bell, executor.clock().now() + milliseconds(10));
  bell.ring();
  ASSERT_TRUE(first.done && second.done);
  EXPECT_TRUE(first.task.take());
  EXPECT_TRUE(second.task.take());
  Waiter& third = wait(bell, never);
  executor.go(milliseconds(20));
  EXPECT_FALSE(third.done);
  bell.ring();
  EXPECT_TRUE(third.done);
}

TEST_F(BellTest, EachHasATimeOfItsOwn) {
  Bell bell(executor.clock());
  const TimePoint begin = executor.clock().now();
  Waiter& late = wait(bell, begin + milliseconds(30));
  Waiter& early = wait(bell, begin + milliseconds(10));
  executor.go(milliseconds(15));
  ASSERT_TRUE(early.done);
  EXPECT_FALSE(early.task.take());
  EXPECT_FALSE(late.done);
  bell.ring();
  ASSERT_TRUE(late.done);
  EXPECT_TRUE(late.task.take());
  executor.go(milliseconds(50));
}

TEST_F(BellTest, ItsEndRings) {
  auto bell = std::make_unique<Bell>(executor.clock());
  Waiter& waiter = wait(*bell, never);
  bell.reset();
  EXPECT_TRUE(waiter.done);
}

}  // namespace
}  // namespace tenon::zk
