// Router "rules" inside a cluster: documents that come and go, groups that are subscribed, retries.
#include <gtest/gtest.h>

#include "balancer/round_robin.hpp"
#include "default_cluster.hpp"
#include "ha/failover.hpp"
#include "routing_fixture.hpp"
#include "traffic/router.hpp"

namespace tenon::cluster::routing {
namespace {

class RoutingCalls : public RoutingTest {
 protected:
  void join(bool commands = false) {
    const Environment environment{executor, log, executor.clock()};
    ClusterParts parts;
    parts.service = service;
    parts.registries = {{"main", registry}};
    parts.balancer = std::move(*RoundRobin::create({}, environment));
    parts.ha = std::move(*Failover::create({.retries = 5}, environment));
    if (commands) parts.routers.push_back(std::move(*traffic::TrafficRouter::create({}, environment)));
    parts.routers.push_back(std::move(*RulesRouter::create(options, environment)));
    parts.dialer = dialer;
    parts.executor = &executor;
    parts.log = &log;
    auto joined = std::move(*DefaultCluster::create({}, environment))->join(std::move(parts));
    ASSERT_TRUE(joined.ok()) << joined.error().text();
    cluster = std::move(*joined);
  }
  ~RoutingCalls() override {
    cluster.reset();
    executor.run();
  }
  void say(const std::string& text) {
    registry->say(Result<Document>(Document{"rule", "own", text, ++version}));
    executor.run();
  }
  void tell(const std::string& group, std::vector<Instance> instances) {
    registry->say_to(group, ++revision, std::move(instances));
    executor.run();
  }
  static Instance with(const std::string& id, const std::string& name, const std::string& value) {
    Instance instance = fake::instance(id);
    instance.metadata[name] = value;
    return instance;
  }
  std::string answer() {
    const auto result = executor.finish(cluster->call(request));
    return result.ok() ? *result->headers.find("from") : "error: " + result.error().text();
  }
  std::size_t logged(const std::string& cause) const {
    std::size_t lines = 0;
    for (const auto& line : log.lines) lines += line.cause == cause;
    return lines;
  }

  std::shared_ptr<fake::ScriptedDialer> dialer = std::make_shared<fake::ScriptedDialer>();
  std::shared_ptr<fake::ScriptedRegistry> registry = std::make_shared<fake::ScriptedRegistry>();
  std::unique_ptr<ClusterInvoker> cluster;
  std::uint64_t version = 0;
  std::uint64_t revision = 0;
};

TEST_F(RoutingCalls, ADocumentTakesEffectAndABadOneLeavesTheLast) {
  join();
  tell("own", {with("p", "role", "primary"), with("r", "role", "replica")});
  say(readme_example("reads"));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(answer(), "r");
  call("setUser");
  EXPECT_EQ(answer(), "p");
  for (const char* bad : {"{", R"({"rules":[{"when":[{"attribute":"nothing","equals":"x"}]}]})"}) {
    say(bad);
    EXPECT_EQ(answer(), "p") << bad;
  }
  EXPECT_EQ(logged("routing"), 2u);
  tell("own", {with("p", "role", "primary"), with("q", "role", "primary"), with("r", "role", "replica")});
  std::set<std::string> answered{answer(), answer()};
  EXPECT_EQ(answered, (std::set<std::string>{"p", "q"})) << "the last good rules, with the instances of now";
  say("");
  answered = {answer(), answer(), answer()};
  EXPECT_EQ(answered.size(), 3u);
}

TEST_F(RoutingCalls, RetriesFollowTheListAndNeverLeaveIsolation) {
  method.idempotent = true;
  target.idempotent = true;
  join();
  tell("own", {with("p", "role", "primary"), with("r", "role", "replica")});
  say(readme_example("reads"));
  dialer->endpoint("r")->always.error = fake::failure(Errc::unavailable, Delivery::not_run);
  EXPECT_EQ(answer(), "p") << "the rule behind";
  say(R"({"rules":[{"name":"alone","to":[{"attribute":"id","equals":"r"}],"otherwise":"fail"}]})");
  const int before = dialer->endpoint("p")->calls;
  EXPECT_EQ(answer().find("error: "), 0u);
  EXPECT_EQ(dialer->endpoint("p")->calls, before);
}

TEST_F(RoutingCalls, GroupsAreSubscribedAsLongAsRulesNameThem) {
  join();
  tell("own", {fake::instance("a")});
  say("");
  EXPECT_EQ(registry->watched(), "own ");
  say(readme_example("groups"));
  for (const char* group : {"backup", "grey", "sandbox"}) tell(group, {fake::instance(std::string(group) + "-1")});
  EXPECT_EQ(registry->watched(), "backup grey own sandbox ");
  EXPECT_EQ(answer(), "a");
  request.headers.set("motan-route-group", "sandbox");
  EXPECT_EQ(answer(), "sandbox-1");
  request.headers.clear();
  dialer->endpoint("a")->state = Health::closed;
  EXPECT_EQ(answer(), "backup-1");
  dialer->endpoint("a")->state = Health::open;
  EXPECT_EQ(answer(), "a");
  say("");
  executor.go(std::chrono::seconds(3));
  EXPECT_EQ(registry->watched(), "own ");
}

TEST_F(RoutingCalls, VerdictsNameTheRule) {
  join();
  tell("own", {with("p", "role", "primary"), with("r", "role", "replica")});
  say(readme_example("reads"));
  const auto verdicts = cluster->explain(request);
  ASSERT_EQ(verdicts.size(), 2u);
  EXPECT_EQ(verdicts[1].instance, "r");
  EXPECT_TRUE(verdicts[1].eligible);
  EXPECT_EQ(verdicts[1].why, "rule 1 of the document (reads) sends such calls here; weight 100");
  EXPECT_EQ(verdicts[0].why.find("rule 1 of the document (reads) sends such calls to another instance; if those"), 0u)
      << verdicts[0].why;
  EXPECT_FALSE(verdicts[0].eligible) << "only if the replica cannot";
  dialer->endpoint("r")->state = Health::closed;
  EXPECT_TRUE(cluster->explain(request)[0].eligible);
}

// Documents of one kind are good or bad by themselves.
TEST_F(RoutingCalls, ABadRuleHoldsUpNoCommand) {
  join(true);
  const auto command = [&](const std::string& groups) {
    registry->say(Result<Document>(Document{
        "command", "own", R"({"clientCommandList":[{"pattern":"*","mergeGroups":[)" + groups + "]}]}", ++version}));
    executor.run();
  };
  command(R"("own:1")");
  tell("own", {fake::instance("a"), fake::instance("b")});
  say(R"({"rules":[{"to":[{"attribute":"id","equals":"a"}]}]})");
  EXPECT_EQ(answer(), "a");
  say("{");
  command(R"("other:1")");
  tell("other", {fake::instance("c")});
  executor.go(std::chrono::seconds(2));
  EXPECT_EQ(answer(), "c") << "the rule that was good last has nobody there";
  command("{");
  say("");
  EXPECT_EQ(answer(), "c") << "nor does a bad command hold up rules";
}

TEST_F(RoutingCalls, VerdictsOfIsolationAndOfNamedInstances) {
  join();
  tell("own", {fake::instance("a"), fake::instance("b", 0), fake::instance("c")});
  say(R"({"rules":[{"name":"alone","to":[{"attribute":"id","equals":"a"}],"otherwise":"fail"}]})");
  auto verdicts = cluster->explain(request);
  ASSERT_EQ(verdicts.size(), 3u);
  EXPECT_TRUE(verdicts[0].eligible);
  EXPECT_FALSE(verdicts[2].eligible);
  EXPECT_EQ(verdicts[2].why,
            "rule 1 of the document (alone) sends such calls to another instance and nowhere else; it is not called");
  const std::string only = "b";
  request.instance = &only;
  verdicts = cluster->explain(request);
  EXPECT_EQ(verdicts[0].why, "the call names another instance");
  EXPECT_TRUE(verdicts[1].eligible) << "neither a rule nor its weight keeps such a call away";
  EXPECT_EQ(answer(), "b");
  request.instance = nullptr;
}

}  // namespace
}  // namespace tenon::cluster::routing
