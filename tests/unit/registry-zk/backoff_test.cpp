#include "backoff.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tenon::zk {
namespace {

using std::chrono::milliseconds;

TEST(BackoffTest, GrowsToItsLimitAndStaysThere) {
  Backoff backoff(milliseconds(100), milliseconds(4000));
  Duration expected = milliseconds(100);
  for (int i = 0; i < 10'000; ++i) {
    const Duration pause = backoff.next();
    EXPECT_GE(pause, expected * 8 / 10) << i;
    EXPECT_LE(pause, expected * 12 / 10) << i;
    expected = std::min<Duration>(milliseconds(4000), expected * 8 / 5);
  }
  backoff.reset();
  EXPECT_LE(backoff.next(), milliseconds(120));
}

TEST(BackoffTest, ProcessesDoNotComeBackTogether) {
  std::set<Duration> pauses;
  for (int i = 0; i < 50; ++i) pauses.insert(Backoff(std::chrono::seconds(4), std::chrono::seconds(4)).next());
  EXPECT_GT(pauses.size(), 10u);
}

}  // namespace
}  // namespace tenon::zk
