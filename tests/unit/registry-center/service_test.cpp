// The service by itself, with virtual time: timers, streams that outlive it, changes that wait for the store.
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "center.hpp"
#include "known_clients.hpp"
#include "support/direct_calls.hpp"
#include "support/recording_log.hpp"

namespace tenon::center {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// The executor's clock, but for what the process has missed.
class LateClock final : public Clock {
 public:
  explicit LateClock(Clock& base) noexcept : base_(base) {}
  TimePoint now() const noexcept override { return base_.now() + late; }
  void arm(Alarm& alarm, TimePoint at) noexcept override { base_.arm(alarm, at - late); }
  void cancel(Alarm& alarm) noexcept override { base_.cancel(alarm); }
  Duration late{0};

 private:
  Clock& base_;
};

class CenterService : public testing::Test {
 protected:
  void make(CenterOptions options = {}) {
    auto made = Center::create(options, Environment{executor, log, clock});
    ASSERT_TRUE(made.ok()) << made.error().text();
    center = std::move(*made);
    executor.run();
  }
  void TearDown() override {
    center.reset();
    executor.run();
  }
  template <class Out, class... A>
  Result<Out> call(std::string_view method, const A&... arguments) {
    return test::call_directly<Out>(*center, executor, method, arguments...);
  }
  State state() { return *call<State>("state"); }
  /// A stream that has been started.
  template <class... A>
  std::unique_ptr<test::DirectCall> stream(std::string_view method, const A&... arguments) {
    auto call = std::make_unique<test::DirectCall>(*center, method, executor);
    const Arguments<A...> in{{arguments...}};
    call->request().payload = Payload::borrow(message_type<Arguments<A...>>(), &in);
    call->start();
    executor.run();
    return call;
  }
  std::unique_ptr<test::DirectCall> watch(unsigned n) { return stream("watch", key(n), greeter, std::string("shop")); }
  std::optional<List> next(test::DirectCall& lists) {
    lists.ask();
    executor.run();
    return lists.take<List>();
  }

  test::ManualExecutor executor;
  LateClock clock{executor.clock()};
  test::RecordingLog log;
  std::unique_ptr<Center> center;
};

TEST_F(CenterService, ListsComeWhenTheyAreWantedAndOnlyTheNewest) {
  make();
  ASSERT_TRUE(call<Opened>("open", opening(1)).ok());
  const auto lists = watch(1);
  ASSERT_TRUE(lists->answered_yet());
  EXPECT_TRUE(next(*lists)->instances.empty());
  EXPECT_FALSE(next(*lists).has_value()) << "nothing new";
  EXPECT_TRUE(lists->asking());
  ASSERT_TRUE(call<Void>("announce", key(1), greeter, instance("a")).ok());
  executor.run();
  EXPECT_EQ(lists->take<List>()->instances.size(), 1u) << "at once";
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(call<Void>("announce", key(1), greeter, instance(std::to_string(i))).ok());
  }
  executor.go(Pushes::longest);
  const auto newest = next(*lists);
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->instances.size(), 11u) << "one that asks late gets the newest, and only that";
  EXPECT_FALSE(next(*lists).has_value());
  executor.go(Pushes::longest);
  ASSERT_TRUE(call<Void>("announce", key(1), greeter, instance("b")).ok());
  EXPECT_TRUE(next(*lists)) << "at once again";
  EXPECT_FALSE(next(*lists));
  ASSERT_TRUE(call<Void>("announce", key(1), greeter, instance("c")).ok());
  executor.run();
  EXPECT_FALSE(lists->take<List>().has_value()) << "who waits is told after a pause";
  executor.go(Pushes::longest);
  const auto last = lists->take<List>();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->instances.size(), 13u);
  lists->end();
  EXPECT_EQ(state().subscriptions, 0u);
}

TEST_F(CenterService, StreamsEndWithTheServiceAndOutliveIt) {
  make();
  ASSERT_TRUE(call<Opened>("open", opening(1)).ok());
  const auto waiting = watch(1);
  const auto unread = watch(1);
  const auto document = stream("watch_document", key(1), std::string("command"), std::string("blue"));
  next(*waiting);
  next(*waiting);
  ASSERT_TRUE(waiting->asking());
  center.reset();
  executor.run();
  EXPECT_TRUE(waiting->over());
  EXPECT_EQ(waiting->why().code(), Errc::unavailable);
  while (!unread->over()) next(*unread);
  EXPECT_EQ(unread->why().code(), Errc::unavailable);
  while (!document->over()) {
    document->ask();
    executor.run();
    document->take<Document>();
  }
  EXPECT_EQ(document->why().code(), Errc::unavailable);
}

TEST_F(CenterService, TimersGoOnAndEnd) {
  make();
  ASSERT_TRUE(call<Opened>("open", opening(1)).ok());
  ASSERT_TRUE(call<Void>("announce", key(1), greeter, instance("a")).ok());
  executor.go(seconds(14));
  EXPECT_EQ(state().instances, 1u);
  EXPECT_FALSE(state().whole);
  executor.go(seconds(4));
  EXPECT_EQ(state().instances, 0u);
  EXPECT_TRUE(state().whole);
  EXPECT_EQ(log.count("center-lost: client \"shop\" was silent"), 1u);
  center.reset();
  executor.run();
  EXPECT_EQ(executor.clock().next(), never) << "no timer is left";
}

TEST_F(CenterService, ItsOwnPauseCostsNobodyHisLease) {
  make();
  executor.go(seconds(20));
  ASSERT_TRUE(call<Opened>("open", opening(1)).ok());
  ASSERT_TRUE(call<Void>("announce", key(1), greeter, instance("a")).ok());
  executor.go(seconds(10));
  clock.late += seconds(60);  // the process stands still: the next tick is that late
  executor.go(seconds(1));
  EXPECT_EQ(state().instances, 1u);
  EXPECT_EQ(log.count("center-paused"), 1u);
  executor.go(seconds(3));
  EXPECT_EQ(state().instances, 1u) << "14 of its 15 seconds are over";
  executor.go(seconds(4));
  EXPECT_EQ(state().instances, 0u);
}

TEST_F(CenterService, ChangesAreAnsweredByTheStore) {
  const auto folder = std::filesystem::temp_directory_path() / ("tenon-center-service-" + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  CenterOptions options;
  options.store = folder.string();
  make(options);
  ASSERT_TRUE(call<Opened>("open", opening(1)).ok());
  ASSERT_TRUE(call<Void>("announce", key(1), greeter, instance("a")).ok());
  ASSERT_TRUE(call<Void>("write", Document{"command", "blue", "text", 0}).ok());
  EXPECT_EQ(call<Void>("write", Document{"command", "blue", "text", 0}).error().code(), Errc::already_exists);
  ASSERT_TRUE(call<Void>("set_weight", greeter, std::string("a"), 0u).ok());
  // Several at a time: each one is compared with what the one before left.
  std::vector<std::unique_ptr<test::DirectCall>> writes;
  for (int i = 0; i < 5; ++i) writes.push_back(stream("write", Document{"rule", "", std::to_string(i), 0}));
  const auto done = [&] { return std::ranges::all_of(writes, [](const auto& each) { return each->answered_yet(); }); };
  ASSERT_TRUE(executor.run_until(done));
  EXPECT_EQ(std::ranges::count_if(writes, [](const auto& each) { return each->answer().ok(); }), 1);
  center.reset();
  executor.run();
  make(options);
  EXPECT_EQ(log.count("center.db: 2 documents, 1 instances' settings"), 1u);
  EXPECT_EQ(call<Document>("read", std::string("command"), std::string("blue"))->text, "text");
  // A provider that changes what it says takes it out of the store, too.
  ASSERT_TRUE(call<Opened>("open", opening(1)).ok());
  ASSERT_TRUE(call<Void>("announce", key(1), greeter, instance("a")).ok());
  EXPECT_EQ(call<std::vector<Instance>>("instances", greeter)->at(0).weight, 0u);
  ASSERT_TRUE(call<Void>("update", key(1), greeter, instance("a")).ok());
  center.reset();
  executor.run();
  make(options);
  EXPECT_EQ(log.count("center.db: 2 documents, 0 instances' settings"), 1u);
  center.reset();
  executor.run();
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tenon::center
