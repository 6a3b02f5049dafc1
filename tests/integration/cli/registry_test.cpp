// tenon registry: what it shows of a real ZooKeeper, and what it changes there.

#include "registry_fixture.hpp"

namespace tenon::test {

SharedServer* const shared =
    static_cast<SharedServer*>(testing::AddGlobalTestEnvironment(new SharedServer));  // gtest's

namespace {

const std::string motans = "motan-demo-rpc/com.weibo.motan.demo.service.MotanDemoService";

TEST_F(RegistryTools, ListsGroupsServicesInstancesAndSubscribers) {
  options.host = "10.0.0.9";
  Instance zoned = provider("10.0.0.1:4080", 50);
  zoned.metadata = {{"zone", "a"}};
  const auto one = announce(service, zoned);
  const auto consumer = member();
  Ears<Snapshot> ears;
  auto watching = watch(*consumer, service, ears);
  ASSERT_TRUE(eventually([&] { return hand.names(base + "/client").size() == 1; }));
  const std::string path = options.root + "/" + motans;
  hand.create(path + "/server/127.0.0.1:18110", zk::sample::go_server);
  hand.create(path + "/unavailableServer/127.0.0.1:18210", zk::sample::java_node);
  hand.create(path + "/client/127.0.0.1:0", zk::sample::go_client);
  hand.create(options.root + "/only-commands/command", "{\"clientCommandList\":[]}");

  const auto all = tool({"registry", "ls"});
  EXPECT_EQ(all.code, 0) << all.err;
  for (const char* part :
       {"group blue: 1 service\n", "  blue/demo.Greeter:1.0: 1 instance (1 taking calls), 1 subscriber\n",
        "    10.0.0.1:4080  serving      50  tenon,motan2  10.0.0.1:4080/1  zone=a\n",
        "    shop        10.0.0.9  tenon\n", "group motan-demo-rpc: 1 service\n",
        ":1.0: 2 instances (1 taking calls), 1 subscriber\n", "    127.0.0.1:18210  offline     100  motan2     -   ",
        "    client-test  127.0.0.1  foreign\n", "group only-commands: 0 services, command of version "})
    EXPECT_TRUE(has(all.out, part)) << part << "\n" << all.out;

  const auto filtered = tool({"registry", "ls", "demo.Greeter"});
  EXPECT_EQ(filtered.code, 0);
  EXPECT_FALSE(has(filtered.out, "motan-demo")) << filtered.out;
  const auto group = tool({"registry", "ls", "--group", "blue", "--json"});
  EXPECT_EQ(group.code, 0);
  EXPECT_TRUE(group.out.starts_with(
      R"({"groups":[{"group":"blue","command_version":0,"services":[{"name":"blue/demo.Greeter:1.0",)"))
      << group.out;
  EXPECT_TRUE(has(group.out, R"("subscribers":[{"name":"shop","address":"10.0.0.9","foreign":false}])")) << group.out;
  EXPECT_EQ(tool({"registry", "ls", "nobody.Knows"}).code, 1);
  end(*consumer, watching);
}

TEST_F(RegistryTools, RegistriesAreNamedInThreeWays) {
  hand.create(base + "/server/10.0.0.1:1", "");
  const auto yaml = cli_test::tenon({"registry", "ls", "--registry", component()});
  EXPECT_EQ(yaml.code, 0) << yaml.err;
  EXPECT_TRUE(has(yaml.out, "10.0.0.1:1"));
  const auto as_url = cli_test::tenon({"registry", "ls", "--registry", url()});
  EXPECT_EQ(as_url.code, 0) << as_url.err;
  EXPECT_EQ(as_url.out, yaml.out);
  const std::string manifest = file("tools.yaml", "plugins: { search: [\"" PLUGIN_DIR
                                                  "\"], load: [registry-zk, registry-memory] }\n"
                                                  "registries:\n  main: " +
                                                      component() + "\n  other: memory\n");
  const auto named = cli_test::tenon({"registry", "ls", "--manifest", manifest, "--registry", "main"});
  EXPECT_EQ(named.code, 0) << named.err;
  EXPECT_EQ(named.out, yaml.out);
  const auto several = cli_test::tenon({"registry", "ls", "--manifest", manifest});
  EXPECT_EQ(several.code, 2);
  EXPECT_TRUE(has(several.err, "several registries; say --registry NAME (there are: main, other)")) << several.err;
  const auto near = cli_test::tenon({"registry", "ls", "--manifest", manifest, "--registry", "mian"});
  EXPECT_EQ(near.code, 2);
  EXPECT_TRUE(has(near.err, "no registry \"mian\", did you mean \"main\"?")) << near.err;

  const auto mistaken = cli_test::tenon({"registry", "ls", "--registry", "{use: zookeeper, servrs: x}"});
  EXPECT_EQ(mistaken.code, 2);
  EXPECT_TRUE(has(mistaken.err, "servrs") && has(mistaken.err, "did you mean \"servers\"?")) << mistaken.err;
  const auto unknown = cli_test::tenon({"registry", "ls", "--registry", "zokeeper://h:1"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(has(unknown.err, "there is no registry \"zokeeper\", did you mean \"zookeeper\"?")) << unknown.err;
  const auto fixed = cli_test::tenon({"registry", "ls", "--registry", "static"});
  EXPECT_EQ(fixed.code, 2) << fixed.err;
  EXPECT_TRUE(has(fixed.err, "cannot be administered")) << fixed.err;
  EXPECT_EQ(cli_test::tenon({"registry", "ls"}).code, 2);
  EXPECT_EQ(cli_test::tenon({"registry"}).code, 2);
  const auto dead = cli_test::tenon({"registry", "ls", "--registry", "zookeeper://127.0.0.1:1?connect_timeout=200ms"});
  EXPECT_EQ(dead.code, 1);
  EXPECT_TRUE(has(dead.err, "127.0.0.1:1")) << dead.err;
}

TEST_F(RegistryTools, InstancesAreTakenOutOfTrafficAndBack) {
  const auto one = announce(service, provider("10.0.0.1:4080"));
  const std::string serving = base + "/server/10.0.0.1:4080";
  const std::string unavailable = base + "/unavailableServer/10.0.0.1:4080";
  const auto off = tool({"registry", "offline", "demo.Greeter", "10.0.0.1:4080"});
  EXPECT_EQ(off.code, 0) << off.err;
  EXPECT_EQ(off.out, "blue/demo.Greeter:1.0 10.0.0.1:4080: serving -> offline\n");
  EXPECT_EQ(off.err, "");
  EXPECT_TRUE(eventually([&] { return hand.get(serving) == "(none)" && hand.get(unavailable) != "(none)"; }));
  const auto again = tool({"registry", "offline", "demo.Greeter", "10.0.0.1:4080/1"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.out, "blue/demo.Greeter:1.0 10.0.0.1:4080: is already offline\n");
  const auto on = tool({"registry", "online", "blue/demo.Greeter:1.0", "10.0.0.1:4080"});
  EXPECT_EQ(on.out, "blue/demo.Greeter:1.0 10.0.0.1:4080: offline -> serving\n") << on.err;
  EXPECT_TRUE(eventually([&] { return hand.get(serving) != "(none)" && hand.get(unavailable) == "(none)"; }));

  const auto weighed = tool({"registry", "weight", "demo.Greeter", "10.0.0.1:4080", "50"});
  EXPECT_EQ(weighed.out, "blue/demo.Greeter:1.0 10.0.0.1:4080: weight 100 -> 50\n") << weighed.err;
  EXPECT_TRUE(hand.get(serving).ends_with("weight=50"));
  for (const char* weight : {"101", "-1", "x"})
    EXPECT_EQ(tool({"registry", "weight", "demo.Greeter", "10.0.0.1:4080", weight}).code, 2) << weight;
  EXPECT_TRUE(hand.get(serving).ends_with("weight=50"));

  const auto nobody = tool({"registry", "offline", "demo.Greeter", "10.0.0.2:4080"});
  EXPECT_EQ(nobody.code, 1);
  EXPECT_TRUE(has(nobody.err, "it has: 10.0.0.1:4080 (id 10.0.0.1:4080/1)")) << nobody.err;
  EXPECT_EQ(tool({"registry", "offline", "demo.Nobody", "10.0.0.2:4080"}).code, 1);
}

TEST_F(RegistryTools, WhatIsForeignOrAmbiguousIsSaid) {
  const std::string serving = base + "/server/127.0.0.1:18210";
  hand.create(serving, zk::sample::java_node, ZOO_EPHEMERAL);
  const auto off = tool({"registry", "offline", "demo.Greeter", "127.0.0.1:18210"});
  EXPECT_EQ(off.code, 0) << off.err;
  EXPECT_TRUE(has(off.err, "was not announced by Tenon")) << off.err;
  EXPECT_TRUE(has(zk::read_node_text(hand.get(serving))->text, "&serving=false"));

  follow_as_motan("blue");
  const auto drained = tool({"registry", "weight", "demo.Greeter", "127.0.0.1:18210", "0"});
  EXPECT_EQ(drained.code, 0) << drained.err;
  EXPECT_TRUE(has(drained.err, "client-test (192.0.2.2). Motan's take weight 0 for 1")) << drained.err;

  hand.create(base + "/server/10.0.0.1:4080", "motan2://10.0.0.1:4080/demo.Greeter?group=blue&instanceId=a");
  hand.create(base + "/server/10.0.0.1:4080-2", "motan2://10.0.0.1:4080/demo.Greeter?group=blue&instanceId=b");
  const auto several = tool({"registry", "weight", "demo.Greeter", "10.0.0.1:4080", "5"});
  EXPECT_EQ(several.code, 1);
  EXPECT_TRUE(has(several.err, "2 instances are at 10.0.0.1:4080; say which by its id: a, b")) << several.err;
  EXPECT_EQ(tool({"registry", "weight", "demo.Greeter", "b", "5"}).code, 0);
  EXPECT_TRUE(has(hand.get(base + "/server/10.0.0.1:4080-2"), "weight=5"));
  hand.create(options.root + "/green/demo.Greeter/server/10.0.0.1:1", "");
  const auto groups = tool({"registry", "weight", "demo.Greeter", "b", "6"});
  EXPECT_EQ(groups.code, 1);
  EXPECT_TRUE(has(groups.err, "demo.Greeter may be any of 2 services: blue/demo.Greeter, green/demo.Greeter"))
      << groups.err;
}

TEST_F(RegistryTools, WatchingPrintsALineForEachChange) {
  const auto one = announce(service, provider("10.0.0.1:4080"));
  cli_test::RunningTool watching({"registry", "watch", "demo.Greeter", "--registry", url()});
  ASSERT_TRUE(watching.says("10.0.0.1:4080/1\n")) << watching.out();
  {
    const auto two = announce(service, provider("10.0.0.2:4080"));
    EXPECT_TRUE(watching.says("+ 10.0.0.2:4080")) << watching.out();
    one->member->update(*one->lease, provider("10.0.0.1:4080", 50));
    EXPECT_TRUE(watching.says("100 -> 50\n")) << watching.out();
    EXPECT_TRUE(two->member->withdraw(*two->lease).ok());
    EXPECT_TRUE(watching.says("withdrawn\n")) << watching.out();
  }
  const auto outcome = watching.stop();
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  std::string shown;  // without the time of day
  for (std::size_t at = 0; at < outcome.out.size();) {
    const std::size_t end = outcome.out.find('\n', at);
    const std::string line = outcome.out.substr(at, end - at + 1);
    shown += line.size() > 9 && line[2] == ':' && line[5] == ':' ? line.substr(9) : line;
    at = end + 1;
  }
  EXPECT_EQ(shown,
            "blue/demo.Greeter:1.0:\n"
            "  INSTANCE       STATE    WEIGHT  PROTOCOLS     ID               METADATA\n"
            "  10.0.0.1:4080  serving     100  tenon,motan2  10.0.0.1:4080/1\n"
            "+ 10.0.0.2:4080 (id 10.0.0.2:4080/1) weight 100, serving\n"
            "~ 10.0.0.1:4080 (id 10.0.0.1:4080/1) weight 100 -> 50\n"
            "- 10.0.0.2:4080 (id 10.0.0.2:4080/1) withdrawn\n");
}

TEST_F(RegistryTools, WatchingEndsByItselfWhenTold) {
  const auto one = announce(service, provider("10.0.0.1:4080"));
  const auto outcome = tool({"registry", "watch", "demo.Greeter", "--for", "500ms"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(has(outcome.out, "  10.0.0.1:4080  serving     100")) << outcome.out;
}

TEST_F(RegistryTools, TheRegistrysLossAndReturnAreShown) {
  hand.create(base + "/server/10.0.0.1:1", "");
  cli_test::RunningTool watching(
      {"registry", "watch", "demo.Greeter", "--json", "--registry", url() + "&connect_timeout=300ms"});
  ASSERT_TRUE(watching.says(R"("event":"list","instances":[{"id":"10.0.0.1:1")")) << watching.out();
  shared->server().kill();
  EXPECT_TRUE(watching.says(R"("event":"lost")")) << watching.out();
  shared->server().start();
  EXPECT_TRUE(watching.says(R"("event":"returned")")) << watching.out();
  const auto outcome = watching.stop();
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::size_t list = outcome.out.find(R"("event":"list")");
  const std::size_t lost = outcome.out.find(R"("event":"lost")");
  EXPECT_LT(list, lost);
  EXPECT_LT(lost, outcome.out.find(R"("event":"returned")"));
  EXPECT_EQ(outcome.out.find(R"("event":"left")"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace tenon::test
