// What stands in Consul, as Motan's providers, consumers and manager write and read it.
#include <algorithm>

#include "answers.hpp"
#include "names.hpp"
#include "shared_agent.hpp"

namespace tenon::test {
namespace {

const ServiceName service{"com.weibo.motan.demo.service.MotanDemoService", "motan-demo-rpc", "1.0"};
// A provider in Java, as the wiki's dump of one: its parameters in the order of a hash map, an '&' at the end.
const std::string java_url =
    "motan2://127.0.0.1:18211/com.weibo.motan.demo.service.MotanDemoService?maxContentLength=1048576&"
    "module=motan-demo-rpc&nodeType=service&accessLog=false&minWorkerThread=2&protocol=motan2&"
    "application=myMotanDemo&maxWorkerThread=20&shareChannel=true&id=demoMotan&export=demoMotan%3A18211&"
    "maxServerConnection=80000&group=motan-demo-rpc&";
const std::string java_id = "127.0.0.1:18211-com.weibo.motan.demo.service.MotanDemoService";

std::string java_registration() {
  return R"({"ID":")" + java_id + R"(","Name":"motanrpc_motan-demo-rpc","Tags":["protocol_motan2","URL_)" +
         consul::java_url_encode(java_url) + R"("],"Address":"127.0.0.1","Port":18211,"Check":{"TTL":"30s"}})";
}

std::string ask(const std::string& verb, const std::string& target, const std::string& body = {}) {
  return shared->agent().ask(verb, target, body);
}

/// As Motan's consumers look: passing ones only.
std::vector<consul::Registered> passing() {
  const std::string answer = ask("GET", "/v1/health/service/motanrpc_motan-demo-rpc?passing=true");
  const auto found = consul::read_health(answer.substr(4));
  EXPECT_TRUE(found.ok()) << answer;
  return found.ok() ? *found : std::vector<consul::Registered>();
}

TEST(ConsulLayout, MotansConsumersFindWhatWeAnnounce) {
  Member member(shared->options());
  Lease* const lease = member.provide(service, provider("10.0.0.7:4080"));
  ASSERT_NE(lease, nullptr);
  ASSERT_TRUE(eventually([] { return passing().size() == 1; }));
  const consul::Registered found = passing().front();
  EXPECT_EQ(found.id, "10.0.0.7:4080-com.weibo.motan.demo.service.MotanDemoService");
  EXPECT_EQ(found.address, "10.0.0.7");
  EXPECT_EQ(found.port, 4080);
  ASSERT_EQ(found.tags.size(), 2u);
  EXPECT_EQ(found.tags[0], "protocol_motan2");
  EXPECT_EQ(found.tags[1].substr(0, 4), "URL_");
  EXPECT_EQ(consul::java_url_decode(found.tags[1].substr(4)),
            "motan2://10.0.0.7:4080/com.weibo.motan.demo.service.MotanDemoService?group=motan-demo-rpc&"
            "instanceId=10.0.0.7:4080/1&nodeType=service&protocols=tenon,motan2&transport=tcp&version=1.0");
  // Who does not serve is not listed as passing, and is there.
  Instance resting = provider("10.0.0.7:4080");
  resting.serving = false;
  member.update(*lease, resting);
  EXPECT_TRUE(eventually([] { return passing().empty(); }));
  EXPECT_TRUE(ask("GET", "/v1/agent/service/" + consul::escape(found.id)).starts_with("200"));
  member.update(*lease, provider("10.0.0.7:4080"));
  EXPECT_TRUE(eventually([] { return passing().size() == 1; }));
  EXPECT_TRUE(member.withdraw(*lease).ok());
  EXPECT_TRUE(ask("GET", "/v1/agent/service/" + consul::escape(found.id)).starts_with("404")) << "at once";
}

TEST(ConsulLayout, WeFindMotansProviders) {
  Member member(shared->options());
  Ears<Snapshot> ears;
  member.follow(service, ears);
  ASSERT_TRUE(eventually([&] { return lists(ears, {}); }));
  ASSERT_TRUE(ask("PUT", "/v1/agent/service/register", java_registration()).starts_with("200"));
  EXPECT_FALSE(eventually([&] { return !ears.latest().instances.empty(); }, milliseconds(300)))
      << "its heartbeat switch is off";
  ASSERT_TRUE(ask("PUT", "/v1/agent/check/pass/service:" + java_id).starts_with("200"));
  ASSERT_TRUE(eventually([&] { return ears.latest().instances.size() == 1; }));
  const Instance found = ears.latest().instances.front();
  EXPECT_EQ(found.address, "127.0.0.1:18211");
  EXPECT_EQ(found.id, "127.0.0.1:18211");
  EXPECT_EQ(found.protocols, std::vector<std::string>{"motan2"});
  EXPECT_EQ(found.metadata.at("application"), "myMotanDemo");
  EXPECT_EQ(found.metadata.at("export"), "demoMotan:18211");
  EXPECT_TRUE(found.serving);
  // Operators' words are kept elsewhere: its registration stays as it wrote it.
  const auto weighed = member.run([&] { return member.admin().set_weight(service, found.id, 7); });
  EXPECT_TRUE(weighed.ok()) << weighed.error().text();
  EXPECT_TRUE(eventually([&] { return ears.latest().instances.at(0).weight == 7; }));
  const auto rests = member.run([&] { return member.admin().set_serving(service, found.id, false); });
  EXPECT_TRUE(rests.ok()) << rests.error().text();
  EXPECT_TRUE(eventually([&] { return !ears.latest().instances.at(0).serving; }));
  EXPECT_EQ(ears.latest().instances.at(0).weight, 7u);
  ASSERT_EQ(passing().size(), 1u);
  EXPECT_EQ(consul::java_url_decode(passing().front().tags.at(1).substr(4)), java_url);
}

TEST(ConsulLayout, CommandsAreWhereMotansManagerWritesThem) {
  Member member(shared->options());
  Ears<Document> command;
  Ears<Document> rule;
  member.follow_document("command", "motan-demo-rpc", command);
  member.follow_document("rule", "motan-demo-rpc", rule);
  ASSERT_TRUE(eventually([&] { return command.count() == 1 && rule.count() == 1; }));
  const std::string text = R"({"clientCommandList":[{"index":1,"pattern":"*","mergeGroups":["g1:4"]}]})";
  ASSERT_EQ(ask("PUT", "/v1/kv/motan/command/motan-demo-rpc", text), "200 true");
  ASSERT_TRUE(eventually([&] { return command.latest().text == text; }));
  ASSERT_TRUE(member.run([&] { return member.admin().write({"rule", "motan-demo-rpc", "ours", 0}); }).ok());
  EXPECT_EQ(ask("GET", "/v1/kv/motan/rule/motan-demo-rpc?raw"), "200 ours");
  EXPECT_TRUE(eventually([&] { return rule.latest().text == "ours"; }));
  EXPECT_EQ(command.count(), 2u) << "other documents are none of its";
  ASSERT_EQ(ask("DELETE", "/v1/kv/motan/command/motan-demo-rpc"), "200 true");
  EXPECT_TRUE(eventually([&] { return command.latest().text.empty() && command.latest().version == 0; }));
}

// An operator's word becomes part of what stands there, so that Motan's consumers heed it, too.
TEST(ConsulLayout, OperatorsReachMotansConsumers) {
  Member member(shared->options());
  Lease* const lease = member.provide(service, provider("10.0.0.7:4080"));
  ASSERT_NE(lease, nullptr);
  ASSERT_TRUE(eventually([] { return passing().size() == 1; }));
  const auto say = [&](bool serving) {
    const auto said = member.run([&] { return member.admin().set_serving(service, "10.0.0.7:4080/1", serving); });
    EXPECT_TRUE(said.ok()) << said.error().text();
  };
  say(false);
  EXPECT_TRUE(eventually([] { return passing().empty(); }));
  say(true);
  EXPECT_TRUE(eventually([] { return passing().size() == 1; }));
  say(false);
  EXPECT_TRUE(eventually([] { return passing().empty(); }));
  // The provider's own word is the last, and the operator's is forgotten.
  member.update(*lease, provider("10.0.0.7:4080"));
  EXPECT_TRUE(eventually([] { return passing().size() == 1; }));
  EXPECT_TRUE(eventually([] { return ask("GET", "/v1/kv/tenon/operator/?recurse").starts_with("404"); }));
}

// What we leave there when everybody has gone is nothing.
TEST(ConsulLayout, NothingIsLeft) {
  {
    Member member(shared->options());
    Ears<Snapshot> ears;
    member.follow(service, ears);
    Lease* const lease = member.provide(service, provider("10.0.0.7:4080"));
    ASSERT_NE(lease, nullptr);
    ASSERT_TRUE(eventually([&] { return lists(ears, {provider("10.0.0.7:4080")}); }));
    ASSERT_TRUE(eventually(
        [] { return ask("GET", "/v1/agent/services").find("tenon_consumers_motan-demo-rpc") != std::string::npos; }));
    EXPECT_TRUE(member.withdraw(*lease).ok());
    EXPECT_TRUE(eventually([&] { return ears.latest().withdrawn == std::vector<std::string>{"10.0.0.7:4080/1"}; }));
    member.provide(service, provider("10.0.0.8:4080"));
  }
  EXPECT_TRUE(eventually([] { return ask("GET", "/v1/agent/services").starts_with("200 {}"); }))
      << "also without a withdrawal";
  EXPECT_TRUE(eventually([] { return ask("GET", "/v1/kv/tenon/?recurse").starts_with("404"); }, seconds(45)))
      << "who left is remembered for some seconds only: " << ask("GET", "/v1/kv/tenon/?recurse")
      << ask("GET", "/v1/session/list");
}

}  // namespace
}  // namespace tenon::test
