// Calls over several groups.
#include "traffic_fixture.hpp"

namespace tenon::cluster {
namespace {

using fake::failure;
using fake::instance;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(TrafficGroupsTest, TheFirstCallWaitsForTheCommand) {
  join();
  registry->say_to("own", 1, {instance("a")});
  EXPECT_EQ(cluster->health(), Health::busy);
  Task<Result<Response>> task = cluster->call(request);
  bool done = false;
  ASSERT_FALSE(task.start([](void* flag) { *static_cast<bool*>(flag) = true; }, &done));
  executor.go(milliseconds(100));
  EXPECT_FALSE(done);
  merge(R"("g1:1")");
  tell("g1", {instance("b")});
  executor.go(milliseconds(20));
  ASSERT_TRUE(done);
  EXPECT_EQ(from(task.take()), "b");
}

TEST_F(TrafficGroupsTest, TheFirstCallDoesNotWaitForEver) {
  join();
  registry->say_to("own", 1, {instance("a")});
  const TimePoint began = executor.clock().now();
  EXPECT_EQ(call(), "a");
  EXPECT_LE(executor.clock().now() - began, milliseconds(1100));
}

TEST_F(TrafficGroupsTest, InstancesComeAndGoInEveryGroup) {
  start();
  merge(R"("own:1","g1:1")");
  tell("g1", {instance("b")});
  tell("g1", {instance("b"), instance("c")});
  tell("own", {instance("a"), instance("d")});
  expect_shares({{"a", 5}, {"b", 5}, {"c", 5}, {"d", 5}});
  tell("own", {instance("d")}, {"a"});
  expect_shares({{"b", 5}, {"c", 5}, {"d", 10}});
  EXPECT_EQ(dialer->dials["b"], 1);
  EXPECT_EQ(dialer->dials["d"], 1);
}

TEST_F(TrafficGroupsTest, AProviderInTwoGroupsIsConnectedOnce) {
  start();
  merge(R"("g1:1")");
  tell("g1", {instance("a")});
  EXPECT_EQ(call(), "a");
  command("");
  EXPECT_EQ(call(), "a");
  EXPECT_EQ(dialer->dials["a"], 1);
}

TEST_F(TrafficGroupsTest, RetriesGoOnInAnotherGroupWhenOneIsTriedToTheEnd) {
  start();
  merge(R"("own:1","g1:1")");
  tell("g1", {instance("b"), instance("c")});
  for (const char* id : {"b", "c"})
    dialer->endpoint(id)->always.error = failure(Errc::unavailable, Delivery::not_run, Advice::other_instance);
  EXPECT_EQ(shares(6), "a 6 ");
  executor.go(seconds(5));  // for the retry budget
  EXPECT_GE(dialer->endpoint("b")->calls, 2);
  EXPECT_EQ(dialer->endpoint("b")->calls, dialer->endpoint("c")->calls) << "both are tried before another group";
  dialer->endpoint("a")->always.error = failure(Errc::unavailable, Delivery::not_run, Advice::other_instance);
  target.retries = 10;
  const int before = dialer->endpoint("a")->calls;
  EXPECT_NE(call().find("3 attempts failed"), std::string::npos) << "each is tried once";
  EXPECT_EQ(dialer->endpoint("a")->calls, before + 1);
}

TEST_F(TrafficGroupsTest, HealthIsThatOfWhoServes) {
  start();
  merge(R"("own:0","g1:1")");
  tell("g1", {instance("b")});
  dialer->endpoint("b")->state = Health::closed;
  EXPECT_EQ(cluster->health(), Health::closed);
  dialer->endpoint("b")->state = Health::open;
  dialer->endpoint("a")->state = Health::closed;
  EXPECT_EQ(cluster->health(), Health::open);
}

TEST_F(TrafficGroupsTest, WhoTakesNoCallsNeedNotBeTried) {
  start();
  merge(R"("own:1","g1:1")");
  tell("g1", {instance("b"), instance("c", 0)});
  dialer->endpoint("b")->always.error = failure(Errc::unavailable, Delivery::not_run, Advice::other_instance);
  EXPECT_EQ(shares(6), "a 6 ");
  EXPECT_GT(dialer->endpoint("b")->calls, 0);
  EXPECT_EQ(dialer->endpoint("c")->calls, 0);
}

TEST_F(TrafficGroupsTest, RetriesNeverGoToADrainedGroup) {
  start();
  merge(R"("own:0","g1:1")");
  tell("g1", {instance("b")});
  dialer->endpoint("b")->always.error = failure(Errc::unavailable, Delivery::not_run, Advice::other_instance);
  EXPECT_NE(call().find("error"), std::string::npos);
  EXPECT_EQ(dialer->endpoint("a")->calls, 0);
}

TEST_F(TrafficGroupsTest, TheAttemptNamesTheGroupItIsFor) {
  /// Notes the group each attempt is for.
  struct Noting final : Endpoint {
    Noting(Instance i, std::vector<std::string>& n) : shown(std::move(i)), notes(n) {}
    Task<Result<Response>> call(Request& request) override {
      notes.push_back(shown.id + ":" + request.target->service->group + ":" +
                      std::string(request.target->method->name));
      return ready(Result<Response>(Response()));
    }
    Health health() const noexcept override { return Health::open; }
    const Instance& instance() const noexcept override { return shown; }
    const Stats& stats() const noexcept override { return numbers; }
    const Instance shown;
    Stats numbers;
    std::vector<std::string>& notes;
  };
  struct NotingDialer final : Dialer {
    Result<std::shared_ptr<Endpoint>> dial(const Instance& wanted) override {
      return std::shared_ptr<Endpoint>(std::make_shared<Noting>(wanted, notes));
    }
    std::vector<std::string> notes;
  };
  const auto noting = std::make_shared<NotingDialer>();
  const Environment environment{executor, log, executor.clock()};
  ClusterParts parts;
  parts.service = service;
  parts.registries = {{"main", registry}};
  parts.balancer = std::move(*RoundRobin::create({}, environment));
  parts.ha = std::move(*Failover::create({}, environment));
  parts.routers.push_back(std::move(*traffic::TrafficRouter::create({}, environment)));
  parts.dialer = noting;
  parts.executor = &executor;
  parts.log = &log;
  cluster = std::move(*std::move(*DefaultCluster::create({}, environment))->join(std::move(parts)));
  registry->say_to("own", 1, {instance("a")});
  merge(R"("own:1","g1:1")");
  tell("g1", {instance("b")});
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(executor.finish(cluster->call(request)).ok());
    EXPECT_EQ(request.target, &target) << "the caller's request is as it was";
  }
  EXPECT_EQ(std::set<std::string>(noting->notes.begin(), noting->notes.end()),
            (std::set<std::string>{"a:own:SayHello", "b:g1:SayHello"}));
}

TEST_F(TrafficGroupsTest, CallsInFlightSurviveTheirGroup) {
  start();
  merge(R"("g1:1")");
  tell("g1", {instance("b")});
  dialer->endpoint("b")->script.push_back({std::nullopt, seconds(5)});
  Task<Result<Response>> task = cluster->call(request);
  bool done = false;
  ASSERT_FALSE(task.start([](void* flag) { *static_cast<bool*>(flag) = true; }, &done));
  command("");
  cluster.reset();
  EXPECT_EQ(registry->watchers(), 0u);
  executor.go(seconds(6));
  ASSERT_TRUE(done);
  EXPECT_EQ(from(task.take()), "b");
}

}  // namespace
}  // namespace tenon::cluster
