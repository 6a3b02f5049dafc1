// How often watchers are told.
#include "known_clients.hpp"

namespace tenon::center {
namespace {

using std::chrono::milliseconds;

class CenterPushes : public TableFixture {
 protected:
  void SetUp() override {
    TableFixture::SetUp();
    open(1);
    open(2);
  }
  /// Real time, of which leases know nothing, goes on in steps of 1 ms; pushes as the control thread would do them.
  void pass(Duration by) {
    for (const TimePoint to = real + by; real < to; real += milliseconds(1))
      if (table->pushes().take_news() || next <= real) next = table->advance_pushes(real);
  }
  TimePoint real{std::chrono::hours(1)};
  TimePoint next = never;
};

TEST_F(CenterPushes, TheFirstChangeIsToldAtOnceTheNextTogether) {
  CountingWatcher watcher;
  ASSERT_TRUE(table->watch(key(2), greeter, watcher, now).ok());
  ASSERT_TRUE(announce(1, instance("a")).ok());
  EXPECT_EQ(watcher.changes, 1);
  EXPECT_TRUE(table->pushes().take_news());
  next = table->advance_pushes(real);
  EXPECT_EQ(next - real, Pushes::pause_after(1));
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(announce(1, instance(std::to_string(i))).ok());
  }
  EXPECT_EQ(watcher.changes, 1);
  EXPECT_FALSE(table->pushes().take_news());
  pass(Pushes::pause_after(1) + milliseconds(1));
  EXPECT_EQ(watcher.changes, 2);
  pass(milliseconds(200));
  EXPECT_EQ(watcher.changes, 2);
  EXPECT_EQ(next, never);
  ASSERT_TRUE(announce(1, instance("late")).ok());
  EXPECT_EQ(watcher.changes, 3) << "after a while it is a first change again";
  table->leave(watcher);
}

TEST_F(CenterPushes, AThousandAnnouncementsAreFewLists) {
  CountingWatcher watcher;
  ASSERT_TRUE(table->watch(key(2), greeter, watcher, now).ok());
  for (int i = 0; i < 1000; ++i) {  // one a millisecond
    ASSERT_TRUE(announce(1, instance(std::to_string(i))).ok());
    pass(milliseconds(1));
  }
  EXPECT_LT(watcher.changes, 40);
  EXPECT_GT(watcher.changes, 10) << "at least one in 100 ms";
  pass(Pushes::longest + milliseconds(1));
  const int told = watcher.changes;
  pass(milliseconds(500));
  EXPECT_EQ(watcher.changes, told);
  EXPECT_EQ(table->list(*watcher.service)->instances.size(), 1000u);
  table->leave(watcher);
}

TEST_F(CenterPushes, PausesGrowWithTheListUpToALimit) {
  EXPECT_LT(Pushes::pause_after(1), milliseconds(10));
  EXPECT_LT(Pushes::pause_after(10), Pushes::pause_after(100));
  EXPECT_EQ(Pushes::pause_after(1000), Pushes::longest);
  EXPECT_EQ(Pushes::pause_after(1u << 31), Pushes::longest);
}

TEST_F(CenterPushes, AServiceThatIsForgottenDuringItsPause) {
  CountingWatcher watcher;
  ASSERT_TRUE(table->watch(key(2), greeter, watcher, now).ok());
  ASSERT_TRUE(announce(1, instance("a")).ok());
  table->leave(watcher);
  go(std::chrono::seconds(60));  // nothing is left of it but the pause
  EXPECT_TRUE(table->services().empty());
  pass(milliseconds(200));
  EXPECT_EQ(next, never);
  // Nobody watches: nothing to pace.
  open(1);
  ASSERT_TRUE(announce(1, instance("a")).ok());
  EXPECT_FALSE(table->pushes().take_news());
}

}  // namespace
}  // namespace tenon::center
