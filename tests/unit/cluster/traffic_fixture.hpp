#pragma once
// A cluster with router "traffic" over a scripted registry.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "default_cluster.hpp"
#include "ha/failover.hpp"
#include "balancer/round_robin.hpp"
#include "support/cluster_fakes.hpp"
#include "support/manual_executor.hpp"
#include "traffic/router.hpp"

namespace tenon::cluster {

/// Time moves by hand. The own group is "own".
class TrafficGroupsTest : public testing::Test {
 protected:
  void join(traffic::TrafficOptions options = {}) {
    const Environment environment{executor, log, executor.clock()};
    ClusterParts parts;
    parts.service = service;
    parts.registries = {{"main", registry}};
    parts.balancer = std::move(*RoundRobin::create({}, environment));
    parts.ha = std::move(*Failover::create({}, environment));
    parts.routers.push_back(std::move(*traffic::TrafficRouter::create(std::move(options), environment)));
    parts.dialer = dialer;
    parts.executor = &executor;
    parts.log = &log;
    auto joined = std::move(*DefaultCluster::create({}, environment))->join(std::move(parts));
    ASSERT_TRUE(joined.ok());
    cluster = std::move(*joined);
  }
  ~TrafficGroupsTest() override {
    cluster.reset();
    executor.run();
  }
  void command(const std::string& text) {
    registry->say(Result<Document>(Document{"command", "own", text, ++version}));
    executor.run();
  }
  void merge(const std::string& groups) {
    command(R"({"clientCommandList":[{"index":1,"pattern":"*","mergeGroups":[)" + groups + "]}]}");
  }
  /// The own group has a, there is no command.
  void start() {
    join();
    registry->say_to("own", 1, {fake::instance("a")});
    command("");
  }
  /// `group` has what is told now.
  void tell(const std::string& group, std::vector<Instance> instances, std::vector<std::string> withdrawn = {}) {
    registry->say_to(group, ++revision, std::move(instances), std::move(withdrawn));
    executor.run();
  }
  std::string from(const Result<Response>& result) {
    return result.ok() ? *result->headers.find("from") : "error: " + result.error().text();
  }
  std::string call() { return from(executor.finish(cluster->call(request))); }
  /// Who answers so many calls: "a 5 b 15 ".
  std::string shares(int calls) {
    std::map<std::string, int> counts;
    for (int i = 0; i < calls; ++i) ++counts[call()];
    std::string all;
    for (const auto& [id, count] : counts) all += id + " " + std::to_string(count) + " ";
    return all;
  }
  /// So many calls are answered as wanted, give or take one for each instance.
  void expect_shares(const std::map<std::string, int>& wanted) {
    int calls = 0;
    for (const auto& [id, count] : wanted) calls += count;
    std::map<std::string, int> counts;
    for (int i = 0; i < calls; ++i) ++counts[call()];
    EXPECT_EQ(counts.size(), wanted.size());
    for (const auto& [id, count] : wanted) EXPECT_NEAR(counts[id], count, 1) << id;
  }
  std::size_t logged(const std::string& cause) const {
    return static_cast<std::size_t>(
        std::count_if(log.lines.begin(), log.lines.end(), [&](const auto& line) { return line.cause == cause; }));
  }

  test::ManualExecutor executor;
  fake::ListLog log;
  ServiceName service{"demo.Greeter", "own", ""};
  Method method{"SayHello"};
  Target target{&service, &method};
  Request request{target};
  std::shared_ptr<fake::ScriptedDialer> dialer = std::make_shared<fake::ScriptedDialer>();
  std::shared_ptr<fake::ScriptedRegistry> registry = std::make_shared<fake::ScriptedRegistry>();
  std::unique_ptr<ClusterInvoker> cluster;
  std::uint64_t version = 0;
  std::uint64_t revision = 1;
};

}  // namespace tenon::cluster
