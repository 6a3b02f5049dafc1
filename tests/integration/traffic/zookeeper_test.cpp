// Commands that ZooKeeper keeps, while it comes and goes.
#include "fixture.hpp"
#include "options.hpp"
#include "support/zookeeper_server.hpp"

namespace tenon::test {
namespace {

TEST(ZookeeperCommands, HoldWhileTheServerIsAwayAndChangeWhenItIsBack) {
  ZookeeperServer server;
  server.start();
  zk::ZkOptions options;
  options.servers = server.address();
  options.session_timeout = std::chrono::seconds(2);
  const Store zookeeper = store("registry-zk", "zookeeper", options);
  Provider yf("yf", "yf", zookeeper);
  Provider tc("tc", "tc", zookeeper);
  Consumer consumer("yf", zookeeper);
  Desk desk(*consumer.app, zookeeper);
  const Duration patience = std::chrono::seconds(20);
  const auto hears_only = [&](const std::string& who) {
    return eventually([&] { return consumer.calls(50) == std::map<std::string, int>{{who, 50}}; }, patience);
  };
  EXPECT_TRUE(hears_only("yf"));
  Load load(consumer, 1);
  desk.merge("yf", R"("yf:0","tc:1")");
  EXPECT_TRUE(hears_only("tc"));
  desk.write("yf", "{");
  EXPECT_EQ(consumer.calls(20), (std::map<std::string, int>{{"tc", 20}}));
  desk.merge("yf", R"("yf:1","tc:3")");
  EXPECT_TRUE(eventually([&] { return consumer.call() == "yf"; }, patience));
  std::map<std::string, int> answers = consumer.calls(400);
  EXPECT_NEAR(answers["tc"], 300, 8);

  server.kill();
  std::this_thread::sleep_for(std::chrono::seconds(3));  // longer than the session
  answers = consumer.calls(400);
  EXPECT_NEAR(answers["tc"], 300, 8) << "nobody needs a registry for what he knows";
  server.start();
  EXPECT_TRUE(eventually([&] { return desk.try_write("yf", ""); }, patience));
  EXPECT_TRUE(hears_only("yf"));
  EXPECT_TRUE(eventually([&] { return desk.subscribers("tc").empty(); }, patience)) << "not needed, not watched";
  EXPECT_EQ(errors_of(load.stop()), "");
}

}  // namespace
}  // namespace tenon::test
