// What happens to what is announced and watched when ZooKeeper, or the way to it, fails.

#include "fixture.hpp"
#include "support/fault_proxy.hpp"

namespace tenon::test {
namespace {

const ServiceName service{"demo.Greeter", "blue", "1.0"};
const std::string base = "/motan/blue/demo.Greeter";

class ZookeeperRecovery : public testing::Test {
 protected:
  std::unique_ptr<RegistryMember> member(const std::string& servers) {
    return std::make_unique<RegistryMember>(connect_to(zk_options(servers)));
  }
  std::unique_ptr<Watch> watch(RegistryMember& at, Ears<Snapshot>& ears) {
    return at.on([&] {
      auto made = at.registry->watch({service, "test"}, ears.observer());
      EXPECT_TRUE(made.ok()) << made.error().text();
      return std::move(*made);
    });
  }
  std::unique_ptr<Watch> watch_command(RegistryMember& at, Ears<Document>& ears) {
    return at.on([&] {
      auto made = at.registry->watch_document("command", "blue", ears.observer());
      EXPECT_TRUE(made.ok()) << made.error().text();
      return std::move(*made);
    });
  }
  void end(RegistryMember& at, std::unique_ptr<Watch>& watch) {
    at.on([&] { watch.reset(); });
  }
  std::unique_ptr<Lease> announce(RegistryMember& at, const Instance& instance) {
    auto lease = at.announce(service, instance);
    EXPECT_TRUE(lease.ok()) << lease.error().text();
    return lease.ok() ? std::move(*lease) : nullptr;
  }
  static std::string node(const Instance& instance) { return base + "/server/" + instance.address; }
};

// It does not say whether the session has expired until it is too late to wait for that.
TEST_F(ZookeeperRecovery, AServerThatSleptIsMetWithANewSession) {
  ZookeeperServer server;
  server.start();
  const auto both = member(server.address());
  Ears<Snapshot> ears;
  Ears<Document> commands;
  auto watching = watch(*both, ears);
  auto watching_command = watch_command(*both, commands);
  const Instance one = provider("10.0.0.1:4080");
  auto lease = announce(*both, one);
  ASSERT_TRUE(eventually([&] { return lists(ears, {one}); }));
  std::int64_t before = 0;
  {
    Hand hand(server.address());
    before = hand.owner(node(one));
    EXPECT_NE(before, 0);
  }

  server.pause();
  std::this_thread::sleep_for(milliseconds(2500));
  server.resume();
  Hand hand(server.address());
  EXPECT_TRUE(eventually([&] {
    const std::int64_t owner = hand.owner(node(one));
    return owner != 0 && owner != before;
  }));
  EXPECT_TRUE(eventually([&] { return lists(ears, {one}); }));
  // Watches live again.
  const Instance two = provider("10.0.0.2:4080", 5);
  auto second = announce(*both, two);
  EXPECT_TRUE(eventually([&] { return lists(ears, {one, two}); }));
  EXPECT_EQ(hand.create("/motan/blue/command", "hello"), ZOK);
  EXPECT_TRUE(eventually([&] { return commands.latest().text == "hello"; }));
  for (const Snapshot& snapshot : ears.all()) EXPECT_TRUE(snapshot.withdrawn.empty());
  both->drop(lease);
  both->drop(second);
  end(*both, watching);
  end(*both, watching_command);
}

TEST_F(ZookeeperRecovery, ARestartOnTheSameDataIsHardlyNoticed) {
  ZookeeperServer server;
  server.start();
  const auto both = member(server.address());
  Ears<Snapshot> ears;
  auto watching = watch(*both, ears);
  const Instance one = provider("10.0.0.1:4080");
  auto lease = announce(*both, one);
  ASSERT_TRUE(eventually([&] { return lists(ears, {one}); }));
  server.kill();
  std::this_thread::sleep_for(milliseconds(300));
  server.start();
  Hand hand(server.address());
  const Instance two = provider("10.0.0.2:4080");
  auto second = announce(*both, two);
  EXPECT_TRUE(eventually([&] { return lists(ears, {one, two}); }));
  for (const Snapshot& snapshot : ears.all())
    if (!snapshot.instances.empty()) {
      EXPECT_GE(snapshot.instances.size(), 1u);
      EXPECT_EQ(snapshot.instances.front(), one) << "it was never missing";
    }
  EXPECT_TRUE(eventually([&] { return hand.owner(node(one)) != 0; }));
  both->drop(lease);
  both->drop(second);
  end(*both, watching);
}

// The server forgets everything, and never tells the client that its session is over.
TEST_F(ZookeeperRecovery, ALostHistoryIsReplacedByANewSession) {
  ZookeeperServer server;
  server.start();
  const auto both = member(server.address());
  Ears<Snapshot> ears;
  Ears<Document> commands;
  auto watching = watch(*both, ears);
  auto watching_command = watch_command(*both, commands);
  const Instance one = provider("10.0.0.1:4080");
  auto lease = announce(*both, one);
  ASSERT_TRUE(eventually([&] { return lists(ears, {one}); }));
  server.kill();
  server.wipe();
  server.start();
  Hand hand(server.address());
  EXPECT_TRUE(eventually([&] { return hand.owner(node(one)) != 0; }));
  const Instance two = provider("10.0.0.2:4080");
  auto second = announce(*both, two);
  EXPECT_TRUE(eventually([&] { return lists(ears, {one, two}); }));
  EXPECT_EQ(hand.create("/motan/blue/command", "hello"), ZOK);
  EXPECT_TRUE(eventually([&] { return commands.latest().text == "hello"; }));
  both->drop(lease);
  both->drop(second);
  end(*both, watching);
  end(*both, watching_command);
}

TEST_F(ZookeeperRecovery, WhatIsDeletedByHandComesBack) {
  ZookeeperServer server;
  server.start();
  const auto both = member(server.address());
  Ears<Snapshot> ears;
  Ears<Document> commands;
  auto watching = watch(*both, ears);
  auto watching_command = watch_command(*both, commands);
  const Instance one = provider("10.0.0.1:4080");
  auto lease = announce(*both, one);
  ASSERT_TRUE(eventually([&] { return lists(ears, {one}); }));
  Hand hand(server.address());
  for (const std::string& path : {node(one), base, std::string("/motan")}) {
    hand.remove_all(path);
    EXPECT_TRUE(eventually([&] { return hand.owner(node(one)) != 0; })) << path;
    EXPECT_TRUE(eventually([&] { return lists(ears, {one}); })) << path;
  }
  // Watches live, in paths that were new meanwhile.
  const Instance two = provider("10.0.0.2:4080");
  auto second = announce(*both, two);
  EXPECT_TRUE(eventually([&] { return lists(ears, {one, two}); }));
  EXPECT_EQ(hand.create("/motan/blue/command", "hello"), ZOK);
  EXPECT_TRUE(eventually([&] { return commands.latest().text == "hello"; }));
  hand.remove("/motan/blue/command");
  EXPECT_TRUE(eventually([&] { return commands.latest().text.empty() && commands.latest().version == 0; }));
  hand.create("/motan/blue/command", "again");
  EXPECT_TRUE(eventually([&] { return commands.latest().text == "again"; }));
  both->drop(lease);
  both->drop(second);
  end(*both, watching);
  end(*both, watching_command);
}

TEST_F(ZookeeperRecovery, ConsumerAndProviderMayStartBeforeTheServer) {
  ZookeeperServer server;
  zk::ZkOptions options = zk_options(server.address());
  options.connect_timeout = milliseconds(300);
  RegistryMember consumer(connect_to(options));
  Ears<Snapshot> ears;
  auto watching = watch(consumer, ears);
  EXPECT_TRUE(eventually([&] { return ears.errors() == 1; })) << "it is told that nothing is known";
  EXPECT_EQ(ears.count(), 0u) << "that is not the same as nobody";
  RegistryMember early(connect_to(options));
  const Instance one = provider("10.0.0.1:4080");
  auto lease = announce(early, one);
  EXPECT_EQ(early.log.count("is not announced yet"), 1u);
  options.check = true;
  RegistryMember strict(connect_to(options));
  const auto refused = strict.announce(service, provider("10.0.0.3:4080"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Errc::unavailable);
  EXPECT_NE(refused.error().text().find(server.address()), std::string::npos) << refused.error().text();

  server.start();
  EXPECT_TRUE(eventually([&] { return lists(ears, {one}); }));
  EXPECT_FALSE(ears.stale());
  early.drop(lease);
  EXPECT_TRUE(eventually([&] { return lists(ears, {}); }));
  end(consumer, watching);
}

// A process that was killed and comes back at once finds the node of its predecessor, which goes when that one's
// session expires.
TEST_F(ZookeeperRecovery, ANodeOfAPredecessorIsReplaced) {
  ZookeeperServer server;
  server.start();
  Instance before = provider("10.0.0.1:4080");
  Instance after = before;
  after.id = before.address + "/2";
  auto predecessor = std::make_unique<Hand>(server.address());
  ASSERT_EQ(predecessor->create(node(before), zk::write_provider(service, before), ZOO_EPHEMERAL), ZOK);
  const std::int64_t old_owner = predecessor->owner(node(before));
  const auto both = member(server.address());
  Ears<Snapshot> ears;
  auto watching = watch(*both, ears);
  ASSERT_TRUE(eventually([&] { return lists(ears, {before}); }));
  auto lease = announce(*both, after);
  EXPECT_TRUE(eventually([&] { return lists(ears, {after}); }));
  const std::int64_t new_owner = predecessor->owner(node(after));
  EXPECT_NE(new_owner, 0);
  EXPECT_NE(new_owner, old_owner);
  predecessor.reset();
  Hand hand(server.address());
  EXPECT_EQ(hand.owner(node(after)), new_owner) << "the end of the old session takes nothing along";

  // And who is replaced by another process lets it have the place, until that one goes.
  const auto rival = member(server.address());
  Instance newest = before;
  newest.id = before.address + "/3";
  auto rival_lease = announce(*rival, newest);
  EXPECT_TRUE(eventually([&] { return lists(ears, {newest}); }));
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_TRUE(lists(ears, {newest})) << "nobody fights";
  EXPECT_EQ(both->log.count("another process"), 1u);
  rival->drop(rival_lease);
  EXPECT_TRUE(eventually([&] { return lists(ears, {after}); }));
  both->drop(lease);
  end(*both, watching);
}

// A connection that comes back within the session changes nothing.
TEST_F(ZookeeperRecovery, ShortCutsAreNotSeen) {
  ZookeeperServer server;
  server.start();
  FaultProxy proxy(server.address());
  zk::ZkOptions options = zk_options(proxy.address());
  options.session_timeout = seconds(10);
  RegistryMember both(connect_to(options));
  const auto onlooker = member(server.address());
  Ears<Snapshot> near;
  Ears<Snapshot> far;
  auto near_watch = watch(both, near);
  auto far_watch = watch(*onlooker, far);
  const Instance one = provider("10.0.0.1:4080");
  auto lease = announce(both, one);
  ASSERT_TRUE(eventually([&] { return lists(near, {one}) && lists(far, {one}); }));
  Hand hand(server.address());
  const Stat before = hand.stat(node(one));
  const std::size_t told_near = near.count();
  const std::size_t told_far = far.count();
  int cuts = 0;
  for (; cuts < 5; ++cuts) {
    const int accepted = proxy.accepted();
    proxy.cut(Cut::reset);
    ASSERT_TRUE(eventually([&] { return proxy.accepted() > accepted; }));
    ASSERT_TRUE(eventually([&] { return both.log.count("connected again") == static_cast<std::size_t>(cuts) + 1; }));
  }
  EXPECT_EQ(hand.stat(node(one)).czxid, before.czxid) << "it was never deleted";
  EXPECT_EQ(near.count(), told_near);
  EXPECT_EQ(far.count(), told_far);
  const Instance two = provider("10.0.0.2:4080");
  auto second = announce(*onlooker, two);
  EXPECT_TRUE(eventually([&] { return lists(near, {one, two}); })) << "watches went with the session";
  both.drop(lease);
  onlooker->drop(second);
  end(both, near_watch);
  end(*onlooker, far_watch);
}

TEST_F(ZookeeperRecovery, TheEndDoesNotWaitForADeadServer) {
  ZookeeperServer server;
  server.start();
  auto both = member(server.address());
  Ears<Snapshot> ears;
  auto watching = watch(*both, ears);
  auto lease = announce(*both, provider("10.0.0.1:4080"));
  server.pause();
  const auto begun = std::chrono::steady_clock::now();
  const auto result = both->run([&] { return lease->withdraw(begun + milliseconds(200)); });
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), Errc::unavailable);
  both->drop(lease);
  end(*both, watching);
  both.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, seconds(2));
  server.resume();
  // What was left behind goes with its session.
  Hand hand(server.address());
  EXPECT_TRUE(eventually([&] { return hand.names(base + "/server").empty(); }));
}

}  // namespace
}  // namespace tenon::test
