#include "joined_cluster.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "default_cluster.hpp"
#include "ha/failover.hpp"
#include "balancer/round_robin.hpp"
#include "support/manual_executor.hpp"
#include "support/cluster_fakes.hpp"

namespace tenon::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using fake::failure;
using fake::instance;
using fake::ScriptedEndpoint;

class ClusterTest : public testing::Test {
 protected:
  void join(std::size_t registries = 1, std::shared_ptr<Router> router = nullptr) {
    const Environment environment{executor, log, executor.clock()};
    ClusterParts parts;
    parts.service = service;
    parts.subscriber = "test";
    for (std::size_t i = 0; i < registries; ++i) {
      registry.push_back(std::make_shared<fake::ScriptedRegistry>());
      parts.registries.push_back({"main" + std::to_string(i), registry.back()});
    }
    RoundRobinOptions from_the_start;
    from_the_start.start = 0;
    parts.balancer = std::move(*WeightedRoundRobin::create(from_the_start, environment));
    parts.ha = std::move(*Failover::create({}, environment));
    if (router) parts.routers.push_back(std::move(router));
    parts.dialer = dialer;
    parts.executor = &executor;
    parts.log = &log;
    auto made = std::move(*DefaultCluster::create({}, environment));
    auto joined = made->join(std::move(parts));
    ASSERT_TRUE(joined.ok());
    cluster = std::move(*joined);
  }
  ~ClusterTest() override {
    cluster.reset();
    executor.run();
  }
  Result<Response> call() { return executor.finish(cluster->call(request)); }
  std::string from(const Result<Response>& result) {
    return result.ok() ? *result->headers.find("from") : "error: " + result.error().text();
  }
  std::string calls(int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += from(call());
    return all;
  }
  std::string members() const {
    std::string all;
    for (const auto& member : *cluster->members()) all += member->instance().id;
    return all;
  }
  std::size_t logged(const std::string& cause) const {
    std::size_t count = 0;
    for (const auto& line : log.lines) count += line.cause == cause ? 1 : 0;
    return count;
  }

  test::ManualExecutor executor;
  fake::ListLog log;
  ServiceName service{"demo.Greeter", "", ""};
  Method method{"SayHello"};
  Target target{&service, &method};
  Request request{target};
  std::shared_ptr<fake::ScriptedDialer> dialer = std::make_shared<fake::ScriptedDialer>();
  std::vector<std::shared_ptr<fake::ScriptedRegistry>> registry;
  std::unique_ptr<ClusterInvoker> cluster;
};

TEST_F(ClusterTest, CallsFollowTheSnapshots) {
  join();
  ASSERT_EQ(registry[0]->subscriptions.size(), 1u);
  EXPECT_EQ(registry[0]->subscriptions[0].subscriber, "test");
  registry[0]->say(1, {instance("a"), instance("b")});
  EXPECT_EQ(calls(4), "abab");
  registry[0]->say(2, {instance("b"), instance("c")});
  executor.run();
  EXPECT_EQ(calls(4), "bcbc");
  EXPECT_EQ(dialer->endpoint("a"), nullptr) << "who left is let go";
  EXPECT_EQ(dialer->dials["b"], 1) << "who stayed keeps its connections";
  registry[0]->say(3, {instance("a"), instance("b"), instance("c")});
  EXPECT_EQ(calls(3), "abc");
  EXPECT_EQ(dialer->dials["a"], 2);
}

TEST_F(ClusterTest, OlderRevisionsAndErrorsChangeNothing) {
  join();
  registry[0]->say(5, {instance("a")});
  registry[0]->say(4, {instance("x")});
  EXPECT_EQ(members(), "a");
  registry[0]->say(Result<Snapshot>(Error(Errc::unavailable, "session lost")));
  EXPECT_EQ(members(), "a");
  EXPECT_EQ(calls(2), "aa");
  EXPECT_EQ(logged("registry"), 1u);
}

TEST_F(ClusterTest, AChangedWeightNeedsNoNewConnection) {
  join();
  registry[0]->say(1, {instance("a", 1), instance("b", 1)});
  registry[0]->say(2, {instance("a", 3), instance("b", 1)});
  EXPECT_EQ(calls(4), "aaba");
  registry[0]->say(3, {instance("a", 0), instance("b", 1)});
  EXPECT_EQ(calls(3), "bbb");
  Instance paused = instance("b", 1);
  paused.serving = false;
  registry[0]->say(4, {instance("a", 2), paused});
  EXPECT_EQ(calls(3), "aaa");
  EXPECT_EQ(dialer->dials["a"], 1);
  EXPECT_EQ(dialer->dials["b"], 1);
}

TEST_F(ClusterTest, ANewAddressIsANewConnection) {
  join();
  registry[0]->say(1, {instance("a")});
  Instance moved = instance("a");
  moved.address = "elsewhere:1";
  registry[0]->say(2, {moved});
  EXPECT_EQ(dialer->dials["a"], 2);
  EXPECT_EQ(cluster->members()->front()->instance().address, "elsewhere:1");
}

TEST_F(ClusterTest, AnUnexplainedEmptyListIsBelievedAfterAMinute) {
  join();
  registry[0]->say(1, {instance("a"), instance("b")});
  registry[0]->say(2, {});
  EXPECT_EQ(calls(2), "ab");
  EXPECT_EQ(logged("collapsed"), 1u);
  executor.go(seconds(59));
  EXPECT_EQ(calls(2), "ab");
  executor.go(seconds(2));
  const auto result = call();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), Errc::unavailable);
  EXPECT_EQ(result.error().delivery(), Delivery::not_run);
  EXPECT_EQ(result.error().advice(), Advice::other_instance);
  EXPECT_NE(result.error().text().find("demo.Greeter"), std::string::npos) << result.error().text();
}

TEST_F(ClusterTest, WhoWithdrewIsDroppedAtOnce) {
  join();
  registry[0]->say(1, {instance("a"), instance("b")});
  registry[0]->say(2, {}, {"a", "b"});
  EXPECT_EQ(members(), "");
}

TEST_F(ClusterTest, RegistriesAreJoined) {
  join(2);
  registry[0]->say(1, {instance("a"), instance("b")});
  EXPECT_EQ(members(), "ab");
  registry[1]->say(7, {instance("b"), instance("c")});
  EXPECT_EQ(members(), "abc");
  registry[0]->say(2, {}, {"a", "b"});
  EXPECT_EQ(members(), "bc");
}

TEST_F(ClusterTest, AnInstanceThatCannotBeDialledIsLeftOut) {
  join();
  dialer->refuse["a"] = true;
  registry[0]->say(1, {instance("a")});
  EXPECT_NE(call().error().text().find("a is not wanted"), std::string::npos) << call().error().text();
  registry[0]->say(2, {instance("a"), instance("b")});
  EXPECT_EQ(calls(2), "bb");
}

TEST_F(ClusterTest, ACallWaitsForTheFirstSnapshot) {
  join();
  Task<Result<Response>> task = cluster->call(request);
  bool done = false;
  ASSERT_FALSE(task.start([](void* flag) { *static_cast<bool*>(flag) = true; }, &done));
  executor.go(milliseconds(100));
  EXPECT_FALSE(done);
  registry[0]->say(1, {instance("a")});
  executor.go(milliseconds(10));
  ASSERT_TRUE(done);
  EXPECT_EQ(from(task.take()), "a");
}

TEST_F(ClusterTest, WaitingForTheFirstSnapshotEndsAtTheDeadline) {
  join();
  request.deadline = executor.clock().now() + milliseconds(50);
  const auto result = call();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), Errc::deadline_exceeded);
  EXPECT_EQ(executor.clock().now(), request.deadline);
}

TEST_F(ClusterTest, ACallThatWaitsSurvivesTheCluster) {
  join();
  Task<Result<Response>> task = cluster->call(request);
  bool done = false;
  ASSERT_FALSE(task.start([](void* flag) { *static_cast<bool*>(flag) = true; }, &done));
  cluster.reset();
  executor.go(milliseconds(10));
  ASSERT_TRUE(done);
  EXPECT_EQ(task.take().error().code(), Errc::unavailable);
}

TEST_F(ClusterTest, ACallInFlightSurvivesSnapshots) {
  join();
  registry[0]->say(1, {instance("a"), instance("b")});
  dialer->endpoint("a")->script.push_back({failure(Errc::unavailable, Delivery::not_run), seconds(1)});
  Task<Result<Response>> task = cluster->call(request);
  bool done = false;
  ASSERT_FALSE(task.start([](void* flag) { *static_cast<bool*>(flag) = true; }, &done));
  registry[0]->say(2, {instance("c")}, {"a", "b"});
  executor.go(seconds(2));
  ASSERT_TRUE(done);
  EXPECT_EQ(from(task.take()), "c") << "it is sent again to the set that is in force now";
  executor.run();
  EXPECT_EQ(dialer->endpoint("a"), nullptr);
  EXPECT_EQ(dialer->endpoint("b"), nullptr);
  cluster.reset();
  EXPECT_EQ(registry[0]->watchers(), 0u);
}

TEST_F(ClusterTest, PointToPointByIdAndByAddress) {
  join();
  registry[0]->say(1, {instance("a"), instance("b", 0)});
  std::string wanted = "b";
  request.instance = &wanted;
  EXPECT_EQ(calls(3), "bbb") << "weight 0 takes no traffic but can be called by name";
  wanted = "a:4080";
  EXPECT_EQ(calls(2), "aa");
  wanted = "nobody";
  const auto result = call();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), Errc::unavailable);
  EXPECT_EQ(result.error().delivery(), Delivery::not_run);
  EXPECT_NE(result.error().text().find("nobody"), std::string::npos) << result.error().text();
}

TEST_F(ClusterTest, EachAsksEveryoneAtOnceAndKeepsTheOrder) {
  join();
  registry[0]->say(1, {instance("a"), instance("b", 0), instance("c")});
  int reply = 0;
  request.reply = &reply;
  dialer->endpoint("a")->always.takes = milliseconds(300);
  dialer->endpoint("b")->always.takes = milliseconds(100);
  dialer->endpoint("c")->always = {failure(Errc::application, Delivery::ran), milliseconds(200)};
  const TimePoint began = executor.clock().now();
  const auto broadcast = executor.finish(cluster->each(request));
  EXPECT_EQ(executor.clock().now() - began, milliseconds(300));
  ASSERT_EQ(broadcast.instances, (std::vector<std::string>{"a", "b", "c"}));
  ASSERT_EQ(broadcast.results.size(), 3u);
  EXPECT_EQ(from(broadcast.results[0]), "a");
  EXPECT_EQ(from(broadcast.results[1]), "b");
  EXPECT_EQ(broadcast.results[2].error().code(), Errc::application);
  EXPECT_EQ(dialer->endpoint("a")->replies, std::vector<void*>{nullptr}) << "answers may not share one object";
}

TEST_F(ClusterTest, ReadyWaitsForASnapshotAndAnOpenEndpoint) {
  join();
  EXPECT_EQ(cluster->health(), Health::busy);
  const auto early = executor.finish(cluster->ready(executor.clock().now() + milliseconds(100)));
  ASSERT_FALSE(early.ok());
  registry[0]->say(1, {instance("a")});
  dialer->endpoint("a")->state = Health::busy;
  EXPECT_EQ(cluster->health(), Health::busy);
  EXPECT_FALSE(executor.finish(cluster->ready(executor.clock().now() + milliseconds(100))).ok());
  dialer->endpoint("a")->state = Health::open;
  EXPECT_TRUE(executor.finish(cluster->ready(executor.clock().now() + milliseconds(100))).ok());
  EXPECT_EQ(cluster->health(), Health::open);
}

TEST_F(ClusterTest, RetriesStayWithinTheBudgetWhenEverythingFails) {
  join();
  target.retries = 3;
  registry[0]->say(1, {instance("a"), instance("b")});
  for (const char* id : {"a", "b"})
    dialer->endpoint(id)->always.error = failure(Errc::unavailable, Delivery::not_run);
  constexpr int rate = 1000;
  constexpr int duration = 10;
  for (int i = 0; i < rate * duration; ++i) {
    EXPECT_FALSE(call().ok());
    executor.go(milliseconds(1));
  }
  const int attempts = dialer->endpoint("a")->calls + dialer->endpoint("b")->calls;
  EXPECT_LE(attempts, rate * duration * 12 / 10 + 10 * duration);
  EXPECT_GT(attempts, rate * duration * 11 / 10) << "and they are made";
}

/// Two subsets: instances whose id is a letter of the document's text, and the others; the header "first" chooses.
class LettersRouter final : public Router {
 public:
  class LettersTable final : public Table {
   public:
    std::span<const Members> subsets() const noexcept override { return sets; }
    int choose(const Request& request) const noexcept override {
      if (request.headers.find("nobody")) return -1;
      return request.headers.find("first") ? 0 : 1;
    }
    std::vector<Members> sets{2};
  };
  std::vector<std::string> document_kinds() const override { return {"rule"}; }
  Result<std::unique_ptr<Table>> compile(const Members& members, const std::vector<Document>& documents) override {
    std::string letters;
    for (const Document& document : documents) letters += document.text;
    if (letters.find('!') != std::string::npos) return Error(Errc::invalid_argument, "bad rule");
    auto table = std::make_unique<LettersTable>();
    for (const auto& member : members)
      table->sets[letters.find(member->instance().id) != std::string::npos ? 0 : 1].push_back(member);
    return std::unique_ptr<Table>(std::move(table));
  }
};

TEST_F(ClusterTest, TheRouterChoosesAmongItsSubsets) {
  join(1, std::make_shared<LettersRouter>());
  EXPECT_EQ(registry[0]->document_kinds, std::vector<std::string>{"rule"});
  registry[0]->say(1, {instance("a"), instance("b"), instance("c")});
  registry[0]->say(Result<Document>(Document{"rule", "", "ab", 1}));
  EXPECT_EQ(calls(2), "cc");
  request.headers.set("first", "");
  EXPECT_EQ(calls(4), "abab");
  request.headers.set("nobody", "");
  EXPECT_EQ(call().error().code(), Errc::unavailable);
  request.headers.erase("nobody");
  registry[0]->say(Result<Document>(Document{"rule", "", "!", 2}));
  EXPECT_EQ(logged("routing"), 1u);
  EXPECT_EQ(calls(2), "ab") << "a bad document leaves the last one in force";
  registry[0]->say(2, {instance("b"), instance("c")});
  EXPECT_EQ(calls(2), "bb") << "also for other members";
}

TEST_F(ClusterTest, NothingIsUsedOfPartsThatAreMissing) {
  const Environment environment{executor, log, executor.clock()};
  ClusterParts parts;
  parts.service = service;
  EXPECT_EQ(std::move(*DefaultCluster::create({}, environment))->join(std::move(parts)).error().code(), Errc::config);
}

}  // namespace
}  // namespace tenon::cluster
