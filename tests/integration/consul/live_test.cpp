// Whole Apps that meet in Consul, under load, while their agent is killed and forgets everything.
#include "../traffic/fixture.hpp"
#include "support/consul_agent.hpp"

namespace tenon::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* group = "blue";

Store meeting_at(const ConsulAgent& agent) {
  return {"registry-consul",
          "{ use: consul, address: \"" + agent.address() + "\", ttl: 6s, connect_timeout: 1s, request_timeout: 1s }"};
}

TEST(ConsulLive, NoCallFailsWhileTheAgentIsKilledAndForgets) {
  ConsulAgent agent;
  agent.start();
  const Store meeting = meeting_at(agent);
  const Provider a("a", group, meeting);
  const Provider b("b", group, meeting);
  const Consumer consumer(group, meeting);
  const auto both = [&] {
    const auto answers = consumer.calls(20);
    return answers.contains("a") && answers.contains("b");
  };
  ASSERT_TRUE(eventually(both, seconds(10)));
  Load load(consumer, 2, milliseconds(1));
  agent.kill();
  agent.wipe();
  std::this_thread::sleep_for(seconds(3));
  EXPECT_TRUE(both()) << "what is known stays in use";
  agent.start();
  std::this_thread::sleep_for(seconds(9));  // longer than anybody is kept who has not come back
  EXPECT_TRUE(both());
  const std::string listed = agent.ask("GET", "/v1/health/service/motanrpc_blue?passing=true");
  EXPECT_NE(listed.find(a.address() + "-test.Who"), std::string::npos) << "announced again";
  EXPECT_NE(listed.find(b.address() + "-test.Who"), std::string::npos);
  const Provider c("c", group, meeting);
  EXPECT_TRUE(eventually([&] { return consumer.calls(30).contains("c"); }, seconds(10))) << "watches live";
  const std::map<std::string, int> answers = load.stop();
  EXPECT_EQ(errors_of(answers), "");
  EXPECT_GT(answers.at("a"), 100);
  EXPECT_GT(answers.at("b"), 100);
  EXPECT_EQ(a.connections(), 1u) << "nobody was connected to anew";
  EXPECT_EQ(b.connections(), 1u);
}

TEST(ConsulLive, WhoStopsIsNoLongerCalled) {
  ConsulAgent agent;
  agent.start();
  const Store meeting = meeting_at(agent);
  const Provider a("a", group, meeting);
  Provider b("b", group, meeting);
  const Consumer consumer(group, meeting);
  ASSERT_TRUE(eventually([&] { return consumer.calls(20).contains("b"); }, seconds(10)));
  Load load(consumer, 2, milliseconds(1));
  EXPECT_TRUE(b.app->stop(seconds(5)));
  EXPECT_TRUE(consumer.hears_only("a"));
  EXPECT_EQ(errors_of(load.stop()), "");
}

}  // namespace
}  // namespace tenon::test
