// What silence brings: one by one, many at once, and when it was the center that stood still.
#include "known_clients.hpp"
#include "lease_clock.hpp"
#include "secret.hpp"

namespace tenon::center {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class CenterLeases : public TableFixture {
 protected:
  /// Clients 1 … n with one instance each, a minute after the start.
  void fill(unsigned n) {
    go(seconds(60));
    for (unsigned i = 1; i <= n; ++i) {
      open(i, "app" + std::to_string(i));
      ASSERT_TRUE(announce(i, instance(std::to_string(i))).ok());
    }
    rounds.clear();
    last_beat = now;
  }
  State state() const { return table->state(now); }
};

TEST_F(CenterLeases, SilenceDropsEverythingOfAClientAfterALease) {
  fill(2);
  CountingWatcher watcher;
  ASSERT_TRUE(table->watch(key(2), greeter, watcher, now).ok());
  ASSERT_TRUE(announce(2, instance("2b"), {"demo.Other", "", ""}).ok());
  const TimePoint silent_since = now;
  while (lost() == 0 && now - silent_since < seconds(60)) go(milliseconds(1), 1);
  EXPECT_GE(now - silent_since, seconds(15));
  EXPECT_LE(now - silent_since, seconds(17));
  ASSERT_EQ(lost(), 1u);
  const Round& last = rounds.back();
  EXPECT_EQ(last.lost[0].name, "app2");
  EXPECT_EQ(last.lost[0].instances, 2u);
  EXPECT_EQ(last.lost[0].subscriptions, 1u);
  EXPECT_EQ(ids(), std::vector<std::string>{"1"});
  EXPECT_EQ(watcher.ends, 1);
  EXPECT_EQ(watcher.why.code(), Errc::not_found);
  EXPECT_EQ(table->beat(key(2), now).error().code(), Errc::not_found);
  EXPECT_EQ(state().instances, 1u);
  EXPECT_EQ(state().subscriptions, 0u);
  EXPECT_EQ(state().clients, 1u);
  EXPECT_EQ(state().services, 1u);
}

TEST_F(CenterLeases, WhoBeatsIsNeverDropped) {
  fill(20);
  go(std::chrono::minutes(10), 20);
  EXPECT_EQ(lost(), 0u);
  EXPECT_EQ(ids().size(), 20u);
}

TEST_F(CenterLeases, SilentSubscribersAreForgotten) {
  fill(0);
  open(1);
  CountingWatcher watcher;
  ASSERT_TRUE(table->watch_document(key(1), "command", "blue", watcher, now).ok());
  go(seconds(20));
  EXPECT_EQ(watcher.ends, 1);
  EXPECT_EQ(state().subscriptions, 0u);
  EXPECT_EQ(state().clients, 0u);
}

TEST_F(CenterLeases, ManyAtOnceAreKept) {
  fill(20);
  go(seconds(40), 5);  // 15 of 20 are cut off
  EXPECT_EQ(lost(), 0u);
  EXPECT_TRUE(state().preserving);
  EXPECT_EQ(state().instances, 20u);
  EXPECT_EQ(state().clients, 5u);
  EXPECT_EQ(seen(Preservation::Change::began), 1);
  go(seconds(10), 20);  // they are back
  EXPECT_FALSE(state().preserving);
  EXPECT_EQ(seen(Preservation::Change::healed), 1);
  go(seconds(60), 20);
  EXPECT_EQ(lost(), 0u);
}

TEST_F(CenterLeases, WhoFallsSilentWithinOneBeatCountsTogether) {
  go(seconds(60));
  for (unsigned i = 1; i <= 20; ++i) {  // spread over one beat
    open(i);
    ASSERT_TRUE(announce(i, instance(std::to_string(i))).ok());
    if (i % 4 == 0) go(milliseconds(900));
  }
  rounds.clear();
  go(seconds(40));
  EXPECT_EQ(lost(), 0u);
  EXPECT_TRUE(state().preserving);
}

TEST_F(CenterLeases, PreservationEndsAfterThreeLeases) {
  fill(20);
  const TimePoint cut = now;
  while (lost() == 0 && now - cut < std::chrono::minutes(5)) go(milliseconds(1), 5);
  EXPECT_EQ(seen(Preservation::Change::gave_up), 1);
  EXPECT_EQ(lost(), 15u);
  EXPECT_EQ(ids().size(), 5u);
  EXPECT_GE(now - cut, seconds(60));
  EXPECT_LE(now - cut, seconds(65));
  go(seconds(60), 5);
  EXPECT_EQ(lost(), 15u);
  EXPECT_FALSE(state().preserving);
  // Against what there is now, not what there was: another loss of one in five is preserved again.
  for (unsigned i = 21; i <= 35; ++i) {
    open(i);
    ASSERT_TRUE(announce(i, instance(std::to_string(i))).ok());
  }
  rounds.clear();
  go(seconds(30), 5);
  EXPECT_EQ(lost(), 0u);
  EXPECT_TRUE(state().preserving);
}

TEST_F(CenterLeases, FewAreBelieved) {
  fill(2);
  go(seconds(20));  // all two of them
  EXPECT_EQ(lost(), 2u);
  EXPECT_EQ(seen(Preservation::Change::began), 0);
  restart(small());
  fill(20);
  go(seconds(20), 17);  // 3 of 20 are 15 %
  EXPECT_EQ(lost(), 3u);
}

TEST_F(CenterLeases, PreservationCanBeSwitchedOff) {
  CenterOptions options = small();
  options.preserve_percent = 100;
  restart(options);
  fill(20);
  go(seconds(20));
  EXPECT_EQ(lost(), 20u);
}

TEST_F(CenterLeases, WithdrawalsActEvenWhilePreserving) {
  fill(20);
  go(seconds(40), 5);
  ASSERT_TRUE(state().preserving);
  EXPECT_TRUE(table->withdraw(key(3), greeter, "3", now).ok());
  EXPECT_TRUE(table->close(key(4), now).ok());
  EXPECT_EQ(ids().size(), 18u);
}

TEST_F(CenterLeases, AfterTheStartAListIsNotWholeForALease) {
  open(1);
  CountingWatcher watcher;
  ASSERT_TRUE(table->watch(key(1), greeter, watcher, now).ok());
  EXPECT_FALSE(table->list(*watcher.service)->whole);
  EXPECT_TRUE(table->list(*watcher.service)->instances.empty());
  const std::uint64_t before = table->list(*watcher.service)->revision;
  go(seconds(14), 1);
  EXPECT_FALSE(state().whole);
  EXPECT_EQ(watcher.changes, 0);
  go(seconds(3), 1);
  EXPECT_TRUE(state().whole);
  EXPECT_EQ(watcher.changes, 1) << "it is told, although no instance has changed";
  EXPECT_TRUE(table->list(*watcher.service)->whole);
  EXPECT_GT(table->list(*watcher.service)->revision, before);
  table->leave(watcher);
}

TEST_F(CenterLeases, TheLastToComeBackHaveTimeToFollowTheOthers) {
  fill(20);
  go(seconds(30), 5);  // 15 of 20 are cut off
  ASSERT_TRUE(state().preserving);
  go(seconds(10), 18);  // two are not back yet
  EXPECT_EQ(lost(), 0u);
  EXPECT_TRUE(state().preserving);
  go(seconds(6), 20);
  EXPECT_EQ(lost(), 0u);
  EXPECT_FALSE(state().preserving);
  go(seconds(30), 5);
  ASSERT_TRUE(state().preserving);
  go(seconds(20), 18);  // these two stay away
  EXPECT_EQ(lost(), 2u);
  EXPECT_FALSE(state().preserving);
}

TEST_F(CenterLeases, WhenItHasStoodStillClientsHaveTimeToConnectAgain) {
  CenterOptions options = small();
  options.settle = seconds(40);
  restart(options);
  fill(2);
  table->stood_still(now);
  go(seconds(39));
  EXPECT_EQ(lost(), 0u);
  go(seconds(3));
  EXPECT_EQ(lost(), 2u);
}

TEST_F(CenterLeases, HoweverShortTheLeaseClientsHaveTimeToComeBackAfterTheStart) {
  CenterOptions options = small();
  options.settle = seconds(40);
  restart(options);
  open(1);
  go(seconds(39), 1);
  EXPECT_FALSE(state().whole);
  go(seconds(2), 1);
  EXPECT_TRUE(state().whole);
}

TEST(CenterLeaseClock, StandsStillWhileTheProcessDoes) {
  LeaseClock clock{seconds(1)};
  TimePoint real{std::chrono::hours(5)};
  EXPECT_EQ(clock.tick(real), Duration{0});
  EXPECT_EQ(clock.now(), TimePoint{});
  EXPECT_EQ(clock.tick(real += seconds(1)), Duration{0});
  EXPECT_EQ(clock.tick(real += milliseconds(2500)), Duration{0}) << "a little late";
  EXPECT_EQ(clock.now() - TimePoint{}, milliseconds(3500));
  EXPECT_EQ(clock.tick(real += seconds(60)), seconds(59)) << "stopped";
  EXPECT_EQ(clock.now() - TimePoint{}, milliseconds(4500));
  EXPECT_EQ(clock.tick(real), Duration{0});
  EXPECT_EQ(clock.tick(real - seconds(1)), Duration{0}) << "it never goes back";
  EXPECT_EQ(clock.now() - TimePoint{}, milliseconds(4500));
}

TEST(CenterSecret, IsTheSameOrNot) {
  EXPECT_TRUE(same_secret("", ""));
  EXPECT_TRUE(same_secret("secret", "secret"));
  for (const char* other : {"", "s", "secres", "Secret", "secretsecret", "secret "})
    EXPECT_FALSE(same_secret(other, "secret")) << other;
  EXPECT_FALSE(same_secret("a", ""));
  EXPECT_FALSE(same_secret(std::string_view("\0", 1), ""));
}

}  // namespace
}  // namespace tenon::center
