#include "loop/timer_wheel.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tenon {
namespace {

using std::chrono::milliseconds;

struct Probe : Alarm {
  std::vector<int>* fired = nullptr;
  int id = 0;
};

class TimerWheelTest : public testing::Test {
 protected:
  TimePoint start{std::chrono::seconds(1000)};
  TimerWheel wheel{start};
  std::vector<int> fired;
  Probe make(int id) {
    Probe probe;
    probe.fired = &fired;
    probe.id = id;
    probe.fire = [](Alarm* alarm) { static_cast<Probe*>(alarm)->fired->push_back(static_cast<Probe*>(alarm)->id); };
    return probe;
  }
};

TEST_F(TimerWheelTest, FiresNeverEarlyAndAtMostATickLate) {
  std::mt19937 random(1);
  TimePoint now = start;
  for (int round = 0; round < 2000; ++round) {
    Probe probe = make(round);
    now += milliseconds(3);
    const TimePoint base = now;
    wheel.advance(base);
    const TimePoint at = base + std::chrono::microseconds(random() % 20000);
    wheel.arm(probe, at);
    fired.clear();
    while (fired.empty()) {
      now += milliseconds(1);
      wheel.advance(now);
      ASSERT_LT(now, at + milliseconds(6));
    }
    ASSERT_GE(now, at);
    ASSERT_FALSE(probe.armed());
  }
}

TEST_F(TimerWheelTest, LongAlarmsWaitManyRevolutions) {
  Probe probe = make(1);
  wheel.arm(probe, start + std::chrono::seconds(61));
  for (int second = 1; second <= 60; ++second) {
    wheel.advance(start + std::chrono::seconds(second));
    ASSERT_TRUE(fired.empty()) << second;
  }
  wheel.advance(start + std::chrono::milliseconds(61'005));
  EXPECT_EQ(fired, std::vector<int>{1});
}

TEST_F(TimerWheelTest, APauseFiresEverythingOnce) {
  std::vector<Probe> probes;
  for (int i = 0; i < 1000; ++i) probes.push_back(make(i));
  for (int i = 0; i < 1000; ++i) wheel.arm(probes[i], start + milliseconds(i * 7));
  wheel.advance(start + std::chrono::seconds(30));
  EXPECT_EQ(fired.size(), 1000u);
  EXPECT_EQ(wheel.next(), never);
}

TEST_F(TimerWheelTest, CancelledAlarmsDoNotFire) {
  Probe a = make(1);
  Probe b = make(2);
  wheel.arm(a, start + milliseconds(10));
  wheel.arm(b, start + milliseconds(10));
  wheel.cancel(a);
  wheel.cancel(a);
  wheel.advance(start + milliseconds(20));
  EXPECT_EQ(fired, std::vector<int>{2});
}

TEST_F(TimerWheelTest, FiringMayArmAndCancelOthers) {
  struct Chain : Alarm {
    TimerWheel* wheel = nullptr;
    Alarm* victim = nullptr;
    TimePoint again{};
    int count = 0;
  } chain;
  Probe victim = make(9);
  chain.wheel = &wheel;
  chain.victim = &victim;
  chain.again = start + milliseconds(40);
  chain.fire = [](Alarm* alarm) {
    auto* self = static_cast<Chain*>(alarm);
    self->wheel->cancel(*self->victim);
    if (++self->count < 2) self->wheel->arm(*self, self->again);
  };
  wheel.arm(chain, start + milliseconds(12));
  wheel.arm(victim, start + milliseconds(12));
  wheel.advance(start + milliseconds(16));
  wheel.advance(start + milliseconds(50));
  EXPECT_EQ(chain.count, 2);
  EXPECT_TRUE(fired.empty());
}

TEST_F(TimerWheelTest, NextIsNeverTooLate) {
  Probe probe = make(1);
  wheel.arm(probe, start + milliseconds(100));
  EXPECT_LE(wheel.next(), start + milliseconds(104));
  EXPECT_GE(wheel.next(), start + milliseconds(4));
}

}  // namespace
}  // namespace tenon
