// Starts without a registry: what is kept, when it is used, and what becomes of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "default_cluster.hpp"
#include "ha/failover.hpp"
#include "balancer/round_robin.hpp"
#include "support/cluster_fakes.hpp"
#include "support/manual_executor.hpp"
#include "support/temporary_folder.hpp"
#include "traffic/router.hpp"

namespace tenon::cluster {
namespace {

using fake::failure;
using fake::instance;
using std::chrono::milliseconds;
using std::chrono::seconds;

const Error away(Errc::unavailable, "the registry is away", Delivery::not_run);

class CachedClusterTest : public testing::Test {
 protected:
  /// A process begins: a cluster over so many registries that have said nothing yet.
  void begin(std::size_t registries = 1, bool routed = false) {
    end();
    const Environment environment{executor, log, executor.clock()};
    ClusterParts parts;
    parts.service = service;
    parts.subscriber = "shop";
    parts.cache = folder.path();
    registry.clear();
    for (std::size_t i = 0; i < registries; ++i) {
      registry.push_back(std::make_shared<fake::ScriptedRegistry>());
      parts.registries.push_back({"r" + std::to_string(i), registry.back()});
    }
    RoundRobinOptions from_the_start;
    from_the_start.start = 0;
    parts.balancer = std::move(*WeightedRoundRobin::create(from_the_start, environment));
    parts.ha = std::move(*Failover::create({}, environment));
    if (routed) parts.routers.push_back(std::move(*traffic::TrafficRouter::create({}, environment)));
    parts.dialer = std::make_shared<fake::ScriptedDialer>();
    parts.executor = &executor;
    parts.log = &log;
    auto joined = std::move(*DefaultCluster::create({}, environment))->join(std::move(parts));
    ASSERT_TRUE(joined.ok()) << joined.error().text();
    cluster = std::move(*joined);
  }
  /// It ends: what it kept is written.
  void end() {
    cluster.reset();
    executor.run();
    log.lines.clear();
  }
  /// A life in which the registry named these.
  void lived(const std::vector<Instance>& instances) {
    begin();
    registry[0]->say(1, instances);
    end();
  }
  ~CachedClusterTest() override { end(); }

  std::string members() const {
    std::string all;
    for (const auto& member : *cluster->members()) all += member->instance().id;
    return all;
  }
  std::string call() {
    const auto result = executor.finish(cluster->call(request));
    return result.ok() ? *result->headers.find("from") : "error: " + result.error().text();
  }
  std::string logged(const std::string& cause) const {
    std::string all;
    for (const auto& line : log.lines)
      if (line.cause == cause) all += line.text + "\n";
    return all;
  }
  std::string only_file() const {
    const auto names = folder.names();
    EXPECT_EQ(names.size(), 1u);
    return names.empty() ? "" : folder.path() + '/' + *names.begin();
  }
  bool says(const std::string& text, const std::string& part) const { return text.find(part) != std::string::npos; }

  test::TemporaryFolder folder;
  test::ManualExecutor executor;
  fake::ListLog log;
  ServiceName service{"demo.Greeter", "own", ""};
  Method method{"SayHello"};
  Target target{&service, &method};
  Request request{target};
  std::vector<std::shared_ptr<fake::ScriptedRegistry>> registry;
  std::unique_ptr<ClusterInvoker> cluster;
};

TEST_F(CachedClusterTest, ARegistryThatSaysNothingIsReplacedByWhatItSaidLast) {
  lived({instance("a", 7), instance("b")});
  begin();
  executor.go(milliseconds(499));
  EXPECT_EQ(members(), "");
  EXPECT_EQ(logged("cache"), "");
  executor.go(milliseconds(2));
  EXPECT_EQ(members(), "ab");
  EXPECT_EQ(cluster->members()->front()->instance().weight, 7u) << "with all that was known of them";
  const std::string said = logged("cache");
  EXPECT_TRUE(says(said, "registry r0 has not answered yet; going on with the 2 instances of " + only_file())) << said;
  EXPECT_TRUE(says(said, " s ago (")) << said;
  EXPECT_TRUE(executor.finish(cluster->ready(executor.clock().now())).ok());
  EXPECT_EQ(call(), "b");
  executor.go(seconds(3600));
  EXPECT_EQ(members(), "ab") << "as long as it says nothing";
  EXPECT_EQ(logged("cache"), said) << "once";
}

TEST_F(CachedClusterTest, AnErrorIsAnswerEnough) {
  lived({instance("a")});
  begin();
  registry[0]->say(Result<Snapshot>(away));
  EXPECT_EQ(members(), "a");
  registry[0]->say(Result<Snapshot>(away));
  executor.go(seconds(1));
  EXPECT_TRUE(says(logged("cache"), "registry r0 cannot say who is there; going on with the 1 instances"));
  const std::string said = logged("cache");
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
}

TEST_F(CachedClusterTest, WhoeverStartsMayBeLessPatient) {
  lived({instance("a")});
  begin();
  ASSERT_FALSE(executor.finish(cluster->ready(executor.clock().now() + milliseconds(100))).ok()) << "nothing so far";
  EXPECT_EQ(members(), "a");
  EXPECT_TRUE(executor.finish(cluster->ready(executor.clock().now())).ok());
}

TEST_F(CachedClusterTest, ARegistryThatAnswersInTimeNeedsNoCache) {
  lived({instance("a"), instance("b")});
  begin();
  registry[0]->say(1, {instance("c")});
  executor.go(seconds(5));
  EXPECT_EQ(members(), "c");
  registry[0]->say(Result<Snapshot>(away));
  EXPECT_EQ(members(), "c");
  EXPECT_EQ(logged("cache"), "");
}

TEST_F(CachedClusterTest, TheFirstWordIsTakenWithTheSameCareAsAnyOther) {
  const auto cached = [this] {
    lived({instance("a"), instance("b"), instance("c")});
    begin();
    executor.go(milliseconds(501));
    ASSERT_EQ(members(), "abc");
  };
  cached();
  registry[0]->say(1, {});
  EXPECT_EQ(members(), "abc") << "an empty list is not believed";
  executor.go(seconds(59));
  EXPECT_EQ(members(), "abc");
  executor.go(seconds(2));
  EXPECT_EQ(members(), "") << "for ever";

  cached();
  registry[0]->say(1, {instance("b"), instance("d")});
  EXPECT_EQ(members(), "bdac") << "nor one that has collapsed";
  executor.go(seconds(61));
  EXPECT_EQ(members(), "bd");

  cached();
  registry[0]->say(1, {instance("b"), instance("c")});
  EXPECT_EQ(members(), "bc") << "one of three may be gone";

  cached();
  registry[0]->say(1, {}, {"a", "b", "c"});
  EXPECT_EQ(members(), "") << "who withdrew is gone at once";

  cached();
  Instance paused = instance("a");
  paused.serving = false;
  registry[0]->say(1, {paused, instance("b"), instance("c")});
  EXPECT_EQ(call(), "b");
  EXPECT_EQ(call(), "c");
  EXPECT_EQ(call(), "b") << "who does not serve takes no call at once";
}

TEST_F(CachedClusterTest, OfSeveralRegistriesOneMayBeAway) {
  begin(2);
  registry[0]->say(1, {instance("a"), instance("b")});
  registry[1]->say(1, {instance("b"), instance("c")});
  begin(2);
  registry[1]->say(1, {instance("c"), instance("d")});
  EXPECT_EQ(members(), "cd") << "nobody waits for the other";
  EXPECT_EQ(call(), "c");
  executor.go(milliseconds(501));
  EXPECT_EQ(members(), "abcd");
  EXPECT_TRUE(says(logged("cache"), "registry r0 ")) << logged("cache");
  EXPECT_FALSE(says(logged("cache"), "registry r1 ")) << logged("cache");
  registry[0]->say(1, {instance("e")});
  EXPECT_EQ(members(), "eabcd");
}

TEST_F(CachedClusterTest, GroupsAndVersionsAndRegistriesAreKeptApart) {
  lived({instance("a")});
  service.version = "2";
  begin();
  executor.go(seconds(1));
  EXPECT_EQ(members(), "");
  service = {"demo.Greeter", "other", ""};
  begin();
  executor.go(seconds(1));
  EXPECT_EQ(members(), "");
  service = {"demo.Greeter", "own", ""};
  begin(2);
  registry[0]->say(1, {});
  executor.go(seconds(1));
  EXPECT_EQ(members(), "") << "what r0 said is not what r1 says";
}

TEST_F(CachedClusterTest, WhatCannotBeUsedIsReportedAndDoesNoHarm) {
  lived({instance("a")});
  std::ofstream(only_file(), std::ios::trunc) << "{\"format\": \"tenon ca";
  begin();
  executor.go(milliseconds(501));
  EXPECT_EQ(members(), "");
  EXPECT_TRUE(says(logged("cache"), only_file() + " is ignored: it is not JSON")) << logged("cache");
  registry[0]->say(1, {instance("b")});
  EXPECT_EQ(call(), "b");
  begin();
  executor.go(milliseconds(501));
  EXPECT_EQ(members(), "b") << "and it has been written anew";
}

TEST_F(CachedClusterTest, AFolderThatIsGoneDoesNoHarm) {
  std::filesystem::remove_all(folder.path());
  begin();
  executor.go(milliseconds(501));
  EXPECT_EQ(logged("cache"), "") << "nothing was ever kept";
  registry[0]->say(1, {instance("a")});
  EXPECT_EQ(call(), "a");
  cluster.reset();
  EXPECT_TRUE(says(logged("cache"), "is not kept for the next start")) << logged("cache");
}

TEST_F(CachedClusterTest, AnEmptyListIsKeptOnlyWhenItIsSoOnPurpose) {
  lived({instance("a"), instance("b")});
  lived({});
  begin();
  registry[0]->say(1, {instance("a"), instance("b")});
  registry[0]->say(2, {});
  executor.go(seconds(61));
  EXPECT_EQ(members(), "");
  begin();
  executor.go(milliseconds(501));
  EXPECT_EQ(members(), "ab") << "the registry may have lost its memory";
  registry[0]->say(1, {}, {"a", "b"});
  begin();
  executor.go(milliseconds(501));
  EXPECT_EQ(members(), "");
}

TEST_F(CachedClusterTest, WithoutAnythingKnownCallsFailSoon) {
  const auto begun = [this] { return executor.clock().now(); };
  begin(2);
  registry[0]->say(Result<Snapshot>(away));
  registry[1]->say(1, {});
  TimePoint began = begun();
  EXPECT_TRUE(says(call(), "no instance is known")) << call();
  EXPECT_TRUE(says(call(), "registry r0 cannot say who is there (the registry is away), registry r1 names none"));
  EXPECT_EQ(begun(), began) << "everybody has said so";

  begin();
  ASSERT_FALSE(executor.finish(cluster->ready(begun() + milliseconds(700))).ok());
  began = begun();
  EXPECT_TRUE(says(call(), "registry r0 has not answered yet"));
  EXPECT_EQ(begun(), began) << "who started has waited for it";
  registry[0]->say(1, {instance("a")});
  EXPECT_EQ(call(), "a");

  service.version = "another";
  begin();
  began = begun();
  request.deadline = began + seconds(100);
  EXPECT_TRUE(says(call(), "registry r0 has not answered yet"));
  EXPECT_EQ(begun(), began + seconds(3));
  EXPECT_TRUE(says(call(), "registry r0 has not answered yet"));
  EXPECT_EQ(begun(), began + seconds(3)) << "the second call does not wait again";
}

TEST_F(CachedClusterTest, TheCommandInForceIsFollowedFromTheStart) {
  const auto command = [this](const std::string& text) {
    registry[0]->say(Result<Document>(Document{"command", "own", text, 1}));
    executor.run();
  };
  const std::string to_other = R"({"clientCommandList":[{"index":1,"pattern":"*","mergeGroups":["other:1"]}]})";
  begin(1, true);
  registry[0]->say_to("own", 1, {instance("a")});
  command(to_other);
  registry[0]->say_to("other", 1, {instance("b")});
  executor.go(seconds(2));
  EXPECT_EQ(call(), "b");
  command("{ this is no command");
  EXPECT_EQ(call(), "b") << "what is not good is not kept";

  begin(1, true);
  executor.go(seconds(2));
  EXPECT_EQ(call(), "b");
  EXPECT_TRUE(says(logged("cache"), "registry r0 has not said yet what is in force; going on with the command of "))
      << logged("cache");
  command("");
  registry[0]->say_to("own", 1, {instance("a")});
  EXPECT_EQ(call(), "a") << "its first word is the last";

  begin(1, true);
  registry[0]->say(Result<Document>(away));
  executor.go(seconds(2));
  EXPECT_EQ(call(), "a") << "that there is none is remembered, too";
}

}  // namespace
}  // namespace tenon::cluster
