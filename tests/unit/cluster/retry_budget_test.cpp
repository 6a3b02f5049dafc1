#include "ha/retry_budget.hpp"

#include <gtest/gtest.h>

namespace tenon::cluster {
namespace {

using std::chrono::milliseconds;

constexpr TimePoint start{std::chrono::hours(7)};

TEST(RetryBudget, RetriesStayBelowAFifthOfTheCallsPlusTenASecond) {
  for (const int calls_per_second : {1, 7, 100, 1000, 20000}) {
    RetryBudget budget(20, 10, start);
    std::int64_t calls = 0;
    std::int64_t retries = 0;
    constexpr int seconds = 10;
    for (int call = 0; call < calls_per_second * seconds; ++call) {
      const TimePoint now = start + Duration(std::chrono::seconds(1)) * call / calls_per_second;
      budget.deposit(now);
      ++calls;
      for (int retry = 0; retry < 3; ++retry) retries += budget.spend(now) ? 1 : 0;
    }
    EXPECT_LE(retries, calls / 5 + 10 * seconds) << calls_per_second;
    EXPECT_GE(retries, std::min(calls * 3, calls / 5 + 10 * (seconds - 1))) << calls_per_second;
  }
}

TEST(RetryBudget, RareCallsMayBeRetried) {
  RetryBudget budget(20, 10, start);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(budget.spend(start));
  EXPECT_FALSE(budget.spend(start));
  EXPECT_TRUE(budget.spend(start + milliseconds(1001)));
}

TEST(RetryBudget, AQuietHourDoesNotPayForAStorm) {
  RetryBudget budget(20, 0, start);
  for (int i = 0; i < 100000; ++i) budget.deposit(start);
  EXPECT_TRUE(budget.spend(start));
  EXPECT_FALSE(budget.spend(start + std::chrono::hours(1)));
}

TEST(RetryBudget, ZeroMeansNone) {
  RetryBudget budget(0, 0, start);
  for (int i = 0; i < 1000; ++i) budget.deposit(start);
  EXPECT_FALSE(budget.spend(start));
}

}  // namespace
}  // namespace tenon::cluster
