// What only ZooKeeper's servers do, and what happens to calls then: an ensemble loses its leader, paths are deleted.
#include <algorithm>

#include "live_servers.hpp"

namespace tenon::test {
namespace {

class SlowZookeeperOutage : public LiveServers {
 protected:
  /// Three providers and the consumer, who knows them.
  void settle() {
    for (const char* name : {"a", "b", "c"}) provide(name);
    consume();
    ASSERT_TRUE(agrees(seconds(20)));
    ASSERT_TRUE(answer({"a", "b", "c"}));
  }
  /// A command of the consumer's group arrives: only d of group "green" answers.
  void expect_commands_arrive() {
    Desk desk(store_);
    const Provider green("d", "green", store_);
    ASSERT_TRUE(eventually(
        [&] { return desk.try_write(group, R"({"clientCommandList":[{"pattern":"*","mergeGroups":["green"]}]})"); },
        seconds(5)));
    EXPECT_TRUE(answer({"d"}));
    EXPECT_TRUE(desk.try_write(group, ""));
    EXPECT_TRUE(eventually([&] { return consumer().call() != "d"; }));
  }
  ZookeeperServer server_;
};

TEST_F(SlowZookeeperOutage, TheLeaderOfAnEnsembleIsKilled) {
  auto servers = ZookeeperServer::ensemble();
  std::string addresses;
  for (const auto& each : servers) addresses += (addresses.empty() ? "" : ",") + each->address();
  meet_at(addresses);
  settle();
  Load load(consumer(), 2, milliseconds(1));
  for (const char* newcomer : {"e", "f"}) {
    const auto leader = std::find_if(servers.begin(), servers.end(), [](const auto& each) {
      return each->ask("srvr").find("Mode: leader") != std::string::npos;
    });
    ASSERT_NE(leader, servers.end());
    (*leader)->kill();
    provide(newcomer);
    EXPECT_TRUE(agrees(convergence, "kill -9 of the leader"));
    (*leader)->start();
  }
  EXPECT_TRUE(answer({"a", "b", "c", "e", "f"}));
  expect_commands_arrive();
  expect_undisturbed(load, {"a", "b", "c"});
}

// REG-7.
TEST_F(SlowZookeeperOutage, ThePathsAreDeletedByHand) {
  server_.start();
  meet_at(server_.address());
  settle();
  Load load(consumer(), 2, milliseconds(1));
  Hand hand(server_.address());
  for (const std::string& path : {std::string(service_path) + "/server", std::string(service_path),
                                  std::string("/motan/blue"), std::string("/motan")}) {
    hand.remove_all(path);
    EXPECT_TRUE(eventually(
        [&] {
          const auto names = hand.names(std::string(service_path) + "/server");
          return std::set<std::string>(names.begin(), names.end()) == living();
        },
        convergence))
        << path;
    EXPECT_TRUE(agrees(convergence, "the deletion of " + path));
  }
  provide("e");
  EXPECT_TRUE(agrees(convergence));
  stop("c");
  EXPECT_TRUE(agrees(convergence));
  EXPECT_TRUE(answer({"a", "b", "e"}));
  expect_commands_arrive();
  expect_undisturbed(load, {});  // whose node is deleted is believed to be gone
}

}  // namespace
}  // namespace tenon::test
