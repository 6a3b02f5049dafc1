// Agents that die, sleep, forget, and providers that die, under registries that live on.
#include "fixture.hpp"

namespace tenon::test {
namespace {

const ServiceName service{"demo.Greeter", "blue", "1.0"};

class ConsulRecovery : public testing::Test {
 protected:
  ConsulRecovery() { agent_.start(); }
  /// Short, so that tests are.
  consul::ConsulOptions options() const {
    consul::ConsulOptions options = consul_options(agent_.address());
    options.ttl = seconds(3);
    options.heartbeat = milliseconds(500);
    options.connect_timeout = milliseconds(500);
    options.request_timeout = seconds(1);
    options.wait = seconds(20);
    return options;
  }
  std::string listed(const std::string& name) const { return agent_.ask("GET", "/v1/health/service/" + name); }
  bool stands(const std::string& address) const {
    return listed("motanrpc_blue").find(address + "-demo.Greeter") != std::string::npos;
  }
  ConsulAgent agent_;
};

TEST_F(ConsulRecovery, AnAgentThatLostEverythingIsToldAgain) {
  Member consumer(options());
  Member one(options());
  Member two(options());
  Ears<Snapshot> ears;
  Ears<Document> command;
  consumer.follow(service, ears);
  consumer.follow_document("command", "blue", command);
  Lease* const changes = one.provide(service, provider("10.0.0.1:80"));
  two.provide(service, provider("10.0.0.2:80"));
  ASSERT_TRUE(changes);
  ASSERT_TRUE(eventually([&] { return lists(ears, {provider("10.0.0.1:80"), provider("10.0.0.2:80")}); }));
  // What operators said outlives it, too: the provider knows.
  ASSERT_TRUE(one.run([&] { return one.admin().set_weight(service, "10.0.0.2:80/1", 7); }).ok());
  ASSERT_TRUE(eventually([&] { return lists(ears, {provider("10.0.0.1:80"), provider("10.0.0.2:80", 7)}); }));
  const std::size_t heard = ears.count();

  agent_.kill();
  agent_.wipe();
  one.update(*changes, provider("10.0.0.1:80", 50));  // meanwhile
  ASSERT_TRUE(eventually([&] { return ears.stale() && command.stale(); })) << "observers are told";
  agent_.start();
  EXPECT_TRUE(eventually([&] { return lists(ears, {provider("10.0.0.1:80", 50), provider("10.0.0.2:80", 7)}); }));
  EXPECT_TRUE(eventually([&] { return stands("10.0.0.1:80") && stands("10.0.0.2:80"); }));
  EXPECT_TRUE(eventually([&] { return listed("tenon_consumers_blue").find("10.0.0") == std::string::npos; }));
  const auto all = ears.all();
  for (std::size_t i = heard; i < all.size(); ++i) EXPECT_EQ(all[i].instances.size(), 2u) << "nobody was ever gone";
  // Watches live: news arrive as before.
  ASSERT_TRUE(one.run([&] { return one.admin().write({"command", "blue", "anew", 0}); }).ok());
  EXPECT_TRUE(eventually([&] { return command.latest().text == "anew"; }));
  Member three(options());
  three.provide(service, provider("10.0.0.3:80"));
  EXPECT_TRUE(eventually([&] { return ears.latest().instances.size() == 3; }));
  EXPECT_TRUE(ears.latest().withdrawn.empty());
}

TEST_F(ConsulRecovery, AnAgentRestartedOnItsDataGoesOn) {
  Member consumer(options());
  Member one(options());
  Ears<Snapshot> ears;
  consumer.follow(service, ears);
  Lease* const leaves = one.provide(service, provider("10.0.0.1:80"));
  one.provide(service, provider("10.0.0.2:80"));
  ASSERT_TRUE(leaves);
  ASSERT_TRUE(eventually([&] { return ears.latest().instances.size() == 2; }));
  agent_.kill();
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_FALSE(one.withdraw(*leaves).ok()) << "nobody heard of it";
  EXPECT_LT(std::chrono::steady_clock::now() - begun, seconds(5));
  agent_.start();
  EXPECT_TRUE(eventually([&] { return lists(ears, {provider("10.0.0.2:80")}); }))
      << "but it is done as soon as possible";
  EXPECT_FALSE(stands("10.0.0.1:80"));
}

TEST_F(ConsulRecovery, AnAgentThatSleepsCostsNobody) {
  Member consumer(options());
  Member one(options());
  Ears<Snapshot> ears;
  consumer.follow(service, ears);
  one.provide(service, provider("10.0.0.1:80"));
  one.provide(service, provider("10.0.0.2:80"));
  ASSERT_TRUE(eventually([&] { return ears.latest().instances.size() == 2; }));
  const std::size_t heard = ears.count();
  agent_.pause();
  EXPECT_TRUE(eventually([&] { return ears.stale(); })) << "noticed although a blocking query is patient";
  Member late(options());
  const auto lease = late.announce(service, provider("10.0.0.3:80"));
  EXPECT_TRUE(lease.ok()) << "start-up does not hang on it";
  std::this_thread::sleep_for(seconds(4));  // longer than a ttl
  agent_.resume();
  EXPECT_TRUE(eventually([&] { return !ears.stale() && ears.latest().instances.size() == 3; }));
  std::this_thread::sleep_for(seconds(4));
  const auto all = ears.all();
  for (std::size_t i = heard; i < all.size(); ++i) EXPECT_GE(all[i].instances.size(), 2u) << "nobody was ever gone";
  EXPECT_EQ(ears.latest().instances.size(), 3u);
}

// A provider that dies says nothing more: its ttl passes.
TEST_F(ConsulRecovery, TheDeadGoWhenTheirTtlHasPassed) {
  Member consumer(options());
  Member living(options());
  Ears<Snapshot> ears;
  consumer.follow(service, ears);
  living.provide(service, provider("10.0.0.1:80"));
  living.provide(service, provider("10.0.0.2:80"));
  // As one that registered itself and is no more.
  const std::string dead =
      R"({"ID":"10.0.0.9:80-demo.Greeter","Name":"motanrpc_blue","Tags":["protocol_motan2"],"Address":"10.0.0.9",)"
      R"("Port":80,"Check":{"TTL":"2s","Status":"passing"}})";
  ASSERT_TRUE(agent_.ask("PUT", "/v1/agent/service/register", dead).starts_with("200"));
  ASSERT_TRUE(eventually([&] { return ears.latest().instances.size() == 3; }));
  EXPECT_TRUE(eventually([&] { return lists(ears, {provider("10.0.0.1:80"), provider("10.0.0.2:80")}); }));
  EXPECT_TRUE(ears.latest().withdrawn.empty()) << "it did not mean to go";
  EXPECT_TRUE(ears.errors().empty());
}

// Removed by hand, or by a tool.
TEST_F(ConsulRecovery, AMissingRegistrationIsPutBack) {
  Member one(options());
  one.provide(service, provider("10.0.0.1:80"));
  ASSERT_TRUE(stands("10.0.0.1:80"));
  ASSERT_TRUE(agent_.ask("PUT", "/v1/agent/service/deregister/10.0.0.1:80-demo.Greeter").starts_with("200"));
  EXPECT_TRUE(eventually([&] { return stands("10.0.0.1:80"); }));
}

TEST(ConsulTokens, WhoMayNotIsToldSo) {
  ConsulAgent agent(R"("primary_datacenter": "dc1", "acl": {"enabled": true, "default_policy": "deny",
    "tokens": {"master": "6a253ea0-0000-4000-8000-000000000001", "agent": "6a253ea0-0000-4000-8000-000000000001"}})");
  agent.start();
  consul::ConsulOptions options = consul_options(agent.address());
  options.connect_timeout = seconds(2);
  options.show_consumers = false;
  {
    Member stranger(options);
    Ears<Snapshot> ears;
    Ears<Document> command;
    stranger.follow(service, ears);
    stranger.follow_document("command", "blue", command);
    const auto refused = stranger.announce(service, provider("10.0.0.1:80"));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code(), Errc::permission_denied) << refused.error().text();
    EXPECT_NE(refused.error().text().find("give a token"), std::string::npos) << refused.error().text();
    EXPECT_TRUE(eventually([&] { return command.stale(); }));
    EXPECT_NE(command.errors().front().find("403"), std::string::npos) << command.errors().front();
    const auto written = stranger.run([&] { return stranger.admin().write({"command", "blue", "x", 0}); });
    EXPECT_EQ(written.error().code(), Errc::permission_denied) << written.error().text();
  }
  options.token = "6a253ea0-0000-4000-8000-000000000001";
  Member friend_of(options);
  Ears<Snapshot> ears;
  friend_of.follow(service, ears);
  ASSERT_TRUE(eventually([&] {
    auto made = friend_of.announce(service, provider("10.0.0.1:80"));
    if (made.ok()) friend_of.drop(*made);
    return made.ok();
  })) << "an agent takes a moment until its master token holds";
  friend_of.provide(service, provider("10.0.0.2:80"));
  EXPECT_TRUE(eventually([&] { return lists(ears, {provider("10.0.0.2:80")}); }));
}

}  // namespace
}  // namespace tenon::test
