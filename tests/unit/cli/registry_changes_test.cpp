#include "registry_changes.hpp"

#include <gtest/gtest.h>

#include "registry_client.hpp"
#include "registry_text.hpp"

namespace tenon::cli {
namespace {

Instance instance(const std::string& id, std::uint32_t weight = 100) {
  Instance made;
  made.id = id;
  made.address = "10.0.0." + id + ":4080";
  made.transport = "tcp";
  made.protocols = {"tenon"};
  made.weight = weight;
  return made;
}

std::vector<std::string> lines(const std::vector<Instance>& before, const Snapshot& now) {
  std::vector<std::string> texts;
  for (const RegistryChange& change : changes(before, now)) texts.push_back(change.text);
  return texts;
}

TEST(RegistryChangesTest, OneLineForEach) {
  Snapshot now;
  Instance heavier = instance("2", 50);
  heavier.serving = false;
  heavier.metadata = {{"zone", "b"}};
  heavier.protocols = {"tenon", "motan2"};
  now.instances = {instance("1"), heavier, instance("5")};
  now.withdrawn = {"4"};
  EXPECT_EQ(
      lines({instance("1"), instance("2"), instance("3"), instance("4")}, now),
      (std::vector<std::string>{
          "+ 10.0.0.5:4080 (id 5) weight 100, serving",
          "- 10.0.0.3:4080 (id 3) left",
          "- 10.0.0.4:4080 (id 4) withdrawn",
          "~ 10.0.0.2:4080 (id 2) serving -> offline, weight 100 -> 50, protocols tenon -> tenon,motan2, zone  -> b",
      }));
  EXPECT_TRUE(lines(now.instances, now).empty());
}

TEST(RegistryChangesTest, ARestartIsAnotherInstance) {
  Snapshot now;
  now.instances = {instance("1")};
  now.instances[0].id = "new";
  EXPECT_EQ(lines({instance("1")}, now),
            (std::vector<std::string>{"+ 10.0.0.1:4080 (id new) weight 100, serving", "- 10.0.0.1:4080 (id 1) left"}));
}

TEST(RegistryTextTest, GroupsForPeopleAndPrograms) {
  ListedGroup group{"yf", 12, {{{"demo.Greeter", "yf", "1.0"}, {instance("1"), instance("2", 0)}, {}}}};
  group.services[0].instances[0].metadata = {{"zone", "a"}, {"rack", "7"}};
  group.services[0].instances[1].transport.clear();
  group.services[0].subscribers = {{"shop", "10.0.0.9", false}, {"old", "", true}};
  EXPECT_EQ(groups_text({group, {"tc", 0, {}}}),
            "group yf: 1 service, command of version 12\n"
            "  yf/demo.Greeter:1.0: 2 instances (1 taking calls), 2 subscribers\n"
            "    INSTANCE       STATE    WEIGHT  PROTOCOLS  ID  METADATA\n"
            "    10.0.0.1:4080  serving     100  tenon      1   rack=7 zone=a\n"
            "    10.0.0.2:4080  serving       0  tenon      2\n"
            "    SUBSCRIBER  ADDRESS   SPEAKS\n"
            "    shop        10.0.0.9  tenon\n"
            "    old         -         foreign\n"
            "\n"
            "group tc: 0 services\n");
  EXPECT_EQ(groups_json({group}),
            R"({"groups":[{"group":"yf","command_version":12,"services":[{"name":"yf/demo.Greeter:1.0",)"
            R"("interface":"demo.Greeter","group":"yf","version":"1.0","instances":[)"
            R"({"id":"1","address":"10.0.0.1:4080","transport":"tcp","protocols":["tenon"],"weight":100,)"
            R"("serving":true,"metadata":{"rack":"7","zone":"a"}},)"
            R"({"id":"2","address":"10.0.0.2:4080","transport":"","protocols":["tenon"],"weight":0,)"
            R"("serving":true,"metadata":{}}],"subscribers":[{"name":"shop","address":"10.0.0.9","foreign":false},)"
            R"({"name":"old","address":"","foreign":true}]}]}]})"
            "\n");
  EXPECT_FALSE(is_foreign(group.services[0].instances[0]));
  EXPECT_TRUE(is_foreign(group.services[0].instances[1]));
}

TEST(RegistryYamlTest, ThreeWaysToNameARegistry) {
  EXPECT_EQ(*registry_yaml("memory", "name"), "memory");
  EXPECT_EQ(*registry_yaml(" {use: memory, name: x} ", "name"), "{use: memory, name: x}");
  EXPECT_EQ(*registry_yaml("zookeeper://a:1,[::1]:2?root=/x&check=true&digest_auth=u:it's", "servers"),
            "{ use: 'zookeeper', 'servers': 'a:1,[::1]:2', 'root': /x, 'check': true, 'digest_auth': 'u:it''s' }");
  EXPECT_EQ(*registry_yaml("memory://", "name"), "{ use: 'memory' }");
  EXPECT_EQ(*registry_yaml("memory://?name=x", ""), "{ use: 'memory', 'name': x }");
  EXPECT_EQ(registry_yaml("memory://x", "").error().code(), Errc::config) << "it has no options";
  EXPECT_EQ(registry_yaml("zookeeper://a:1?root", "servers").error().code(), Errc::config);
  EXPECT_EQ(registry_yaml("zookeeper://a:1?=x", "servers").error().code(), Errc::config);
  EXPECT_EQ(registry_use("zookeeper://a:1"), "zookeeper");
  EXPECT_EQ(registry_use("memory"), "memory");
  EXPECT_EQ(registry_use("{ servers: x, use: zookeeper }"), "zookeeper");
  EXPECT_EQ(registry_use("{ servers: x }"), "");
  EXPECT_EQ(registry_use("{"), "");
  EXPECT_EQ(registry_use("://x"), "");
}

}  // namespace
}  // namespace tenon::cli
