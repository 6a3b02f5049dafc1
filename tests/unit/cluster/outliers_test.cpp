// Outliers, warm-up and slow start, as calls through a cluster meet them.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "balancer/round_robin.hpp"
#include "ha/failfast.hpp"
#include "ha/failover.hpp"
#include "joined_cluster.hpp"
#include "support/cluster_fakes.hpp"
#include "support/manual_executor.hpp"

namespace tenon::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using fake::failure;
using fake::instance;

class OutlierTest : public testing::Test {
 protected:
  void join(const std::vector<std::string>& ids, bool failover = false) {
    const Environment environment{executor, log, executor.clock()};
    ClusterParts parts;
    parts.service = service;
    parts.registries.push_back({"main", registry});
    RoundRobinOptions from_the_start;
    from_the_start.start = 0;
    parts.balancer = std::move(*RoundRobin::create(from_the_start, environment));
    if (failover)
      parts.ha = std::move(*Failover::create({}, environment));
    else
      parts.ha = std::move(*Failfast::create({}, environment));
    parts.dialer = dialer;
    parts.executor = &executor;
    parts.log = &log;
    cluster = std::move(*JoinedCluster::join(std::move(parts), options));
    list(ids);
  }
  ~OutlierTest() override {
    cluster.reset();
    executor.run();
  }
  void list(const std::vector<std::string>& ids) {
    std::vector<Instance> instances;
    for (const std::string& id : ids) instances.push_back(instance(id));
    registry->say(++revision, std::move(instances));
    executor.run();
  }
  fake::ScriptedEndpoint& at(const std::string& id) { return *dialer->endpoint(id); }
  void fails(const std::string& id, const Error& error = failure(Errc::deadline_exceeded, Delivery::maybe_run)) {
    at(id).always.error = error;
  }
  void heals(const std::string& id) { at(id).always.error.reset(); }
  /// Who got how many of so many calls.
  std::map<std::string, int> calls(int count) {
    std::map<std::string, int> before = sent();
    failed = 0;
    for (int i = 0; i < count; ++i) failed += executor.finish(cluster->call(request)).ok() ? 0 : 1;
    std::map<std::string, int> now = sent();
    for (auto& [id, number] : now) number -= before[id];
    return now;
  }
  std::map<std::string, int> sent() {
    std::map<std::string, int> all;
    for (const auto& [id, number] : dialer->dials)
      if (const auto endpoint = dialer->endpoint(id)) all[id] = endpoint->calls;
    return all;
  }
  int logged(const std::string& part) const {
    int lines = 0;
    for (const auto& line : log.lines) lines += line.text.find(part) != std::string::npos ? 1 : 0;
    return lines;
  }
  std::uint64_t counted(const std::string& name) const {
    for (const Count& count : cluster->counts())
      if (count.name == name) return count.value;
    ADD_FAILURE() << name;
    return 0;
  }
  std::string why(const std::string& id) const {
    for (const ClusterInvoker::Verdict& verdict : cluster->explain(request))
      if (verdict.instance == id) return verdict.why;
    return "not known";
  }

  test::ManualExecutor executor;
  fake::ListLog log;
  const ServiceName service{"test.Service", "group", "1"};
  std::shared_ptr<fake::ScriptedRegistry> registry = std::make_shared<fake::ScriptedRegistry>();
  std::shared_ptr<fake::ScriptedDialer> dialer = std::make_shared<fake::ScriptedDialer>();
  ClusterOptions options;
  std::unique_ptr<ClusterInvoker> cluster;
  Target target;
  Request request{target};
  std::uint64_t revision = 0;
  int failed = 0;
};

TEST_F(OutlierTest, FaultsInARowTakeAnInstanceOut) {
  join({"a", "b", "c"});
  fails("b");
  EXPECT_EQ(calls(15)["b"], 5);
  EXPECT_EQ(calls(300)["b"], 0);
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(counted("ejections"), 1u);
  EXPECT_EQ(logged("b:4080 gets no calls for 10 s: 5 faults in a row"), 1);
  EXPECT_EQ(why("b"), "it is an outlier and gets no calls for another 10 s");
  executor.go(seconds(9));
  EXPECT_EQ(calls(30)["b"], 0) << "not before its time is up";
}

TEST_F(OutlierTest, AFaultBetweenGoodAnswersIsNone) {
  join({"a", "b"});
  for (int i = 0; i < 20; ++i)
    for (int step = 0; step < 5; ++step)
      at("b").script.push_back(step < 4 ? fake::ScriptedEndpoint::Step{failure(Errc::internal, Delivery::ran)}
                                        : fake::ScriptedEndpoint::Step{});
  EXPECT_EQ(calls(200)["b"], 100);
  EXPECT_EQ(counted("ejections"), 0u);
}

TEST_F(OutlierTest, RefusalsAndAnswersAreNoFaults) {
  join({"a", "b"});
  for (const Error& error : {failure(Errc::overloaded, Delivery::not_run, Advice::other_instance),
                             failure(Errc::unavailable, Delivery::not_run, Advice::other_instance),
                             failure(Errc::application, Delivery::ran),
                             failure(Errc::unauthenticated, Delivery::not_run),
                             failure(Errc::cancelled, Delivery::maybe_run)}) {
    fails("b", error);
    EXPECT_EQ(calls(40)["b"], 20) << error.text();
  }
  EXPECT_EQ(counted("ejections"), 0u);
}

TEST_F(OutlierTest, ExactlyOneCallTriesIt) {
  join({"a", "b", "c"});
  fails("b");
  calls(18);  // found when it would be called once more
  executor.go(milliseconds(10001));
  EXPECT_EQ(why("b"), "it is an outlier; the next call tries it");
  at("b").script.push_back({failure(Errc::deadline_exceeded, Delivery::maybe_run), seconds(3)});
  // The one that tries hangs; the others go elsewhere meanwhile.
  Task<Result<Response>> first = cluster->call(request);
  bool ended = false;
  if (first.start([](void* flag) { *static_cast<bool*>(flag) = true; }, &ended)) ended = true;
  EXPECT_FALSE(ended);
  Request other(target);
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(executor.finish(cluster->call(other)).ok());
  EXPECT_EQ(at("b").calls, 6);
  executor.go(seconds(3));
  EXPECT_TRUE(ended);
  EXPECT_FALSE(first.take().ok());
  EXPECT_EQ(logged("was tried and gets no calls for 20 s"), 1);
  executor.go(milliseconds(19000));
  EXPECT_EQ(calls(30)["b"], 0) << "twice as long";
  heals("b");
  executor.go(milliseconds(1100));
  EXPECT_GT(calls(3)["b"], 0);
  EXPECT_EQ(logged("b:4080 answers and gets calls again"), 1);
}

TEST_F(OutlierTest, EjectionsDoubleUpToALimitAndStartOverAfterAGoodTime) {
  options.outliers.max_ejection = seconds(40);
  options.slow_start = milliseconds(0);
  join({"a", "b"});
  fails("b");
  calls(20);
  for (const int length : {20, 40, 40}) {
    executor.go(seconds(length));
    calls(2);
    EXPECT_GE(logged("gets no calls for " + std::to_string(length) + " s"), 1) << length;
  }
  heals("b");
  executor.go(seconds(40));
  calls(2);
  executor.go(seconds(100));
  fails("b");
  calls(20);
  EXPECT_EQ(logged("gets no calls for 10 s"), 2);
}

TEST_F(OutlierTest, ARecoveredInstanceStartsSlowly) {
  options.slow_start = seconds(10);
  join({"a", "b"});
  fails("b");
  calls(20);
  heals("b");
  executor.go(seconds(11));
  calls(2);  // one of them tries it
  double last = 0;
  for (int second = 0; second < 10; ++second) {
    const double share = calls(1100)["b"] / 1100.0;
    EXPECT_GE(share, last - 0.01);
    EXPECT_LE(share, (second + 1) / (second + 11.0) + 0.01) << "after " << second << " s";
    last = share;
    executor.go(seconds(1));
  }
  EXPECT_NEAR(calls(1000)["b"], 500, 2);
}

TEST_F(OutlierTest, ANewInstanceWarmsUpTheFirstOnesDoNot) {
  options.warm_up = seconds(10);
  join({"a", "b"});
  EXPECT_NEAR(calls(100)["b"], 50, 1);
  list({"a", "b", "c"});
  EXPECT_NEAR(calls(2100)["c"], 100, 10);
  EXPECT_EQ(why("c"), "weight 100, growing: 10 % of it now");
  executor.go(milliseconds(5500));
  EXPECT_NEAR(calls(2600)["c"], 600, 10);
  executor.go(seconds(5));
  EXPECT_NEAR(calls(300)["c"], 100, 2);
  EXPECT_EQ(why("c"), "weight 100");
}

TEST_F(OutlierTest, TheOnlyInstanceIsNeverTakenOut) {
  join({"a"});
  fails("a");
  EXPECT_EQ(calls(100)["a"], 100);
  heals("a");
  EXPECT_EQ(calls(10)["a"], 10);
  EXPECT_EQ(failed, 0);
}

TEST_F(OutlierTest, NoMoreThanTheirShareAreOut) {
  join({"a", "b", "c", "d"});
  for (const char* id : {"a", "b", "c", "d"}) fails(id);
  calls(400);
  EXPECT_EQ(counted("ejections"), 2u);
  int with_calls = 0;
  for (const auto& [id, number] : calls(100)) with_calls += number > 0 ? 1 : 0;
  EXPECT_EQ(with_calls, 2);
}

TEST_F(OutlierTest, TheLastThatIsConnectedIsNotTakenOut) {
  join({"a", "b", "c"});
  at("b").state = at("c").state = Health::closed;
  fails("a");
  EXPECT_EQ(calls(50)["a"], 50);
}

TEST_F(OutlierTest, WhenTooFewAreLeftEverybodyTakesCalls) {
  join({"a", "b", "c", "d"});
  fails("a");
  fails("b");
  calls(80);
  EXPECT_EQ(counted("ejections"), 2u);
  EXPECT_EQ(calls(40)["a"], 0) << "half of them is enough";
  at("c").state = Health::closed;
  executor.go(seconds(1));
  heals("a");
  heals("b");
  std::map<std::string, int> got = calls(90);
  EXPECT_EQ(got["a"], 30);
  EXPECT_EQ(got["b"], 30);
  at("c").state = Health::open;
  executor.go(seconds(1));
  EXPECT_EQ(calls(40)["a"], 0);
}

TEST_F(OutlierTest, ARateFarBelowTheOthersTakesAnInstanceOut) {
  options.outliers.consecutive_faults = 0;
  join({"a", "b", "c", "d", "e", "f"});
  const Error fault = failure(Errc::internal, Delivery::ran);
  for (int i = 0; i < 150; ++i)
    at("d").script.push_back(i % 2 ? fake::ScriptedEndpoint::Step{fault} : fake::ScriptedEndpoint::Step{});
  calls(900);
  EXPECT_EQ(counted("ejections"), 0u) << "compared at the end of the interval";
  executor.go(seconds(11));
  EXPECT_EQ(counted("ejections"), 1u);
  EXPECT_EQ(logged("d:4080 gets no calls for 10 s: 50.0 % of its calls went well, 91.7 % on the average"), 1);
  EXPECT_EQ(calls(100)["d"], 0);
}

TEST_F(OutlierTest, RatesOfFewCallsOrInstancesAreNotCompared) {
  options.outliers.consecutive_faults = 0;
  join({"a", "b", "c", "d", "e", "f"});
  fails("d", failure(Errc::internal, Delivery::ran));
  calls(6 * 99);
  executor.go(seconds(11));
  EXPECT_EQ(counted("ejections"), 0u);
  list({"a", "b", "c", "d"});
  calls(4 * 200);
  executor.go(seconds(11));
  EXPECT_EQ(counted("ejections"), 0u);
}

TEST_F(OutlierTest, EverybodyEquallyBadIsNoOutlier) {
  options.outliers.consecutive_faults = 0;
  join({"a", "b", "c", "d", "e"});
  for (const char* id : {"a", "b", "c", "d", "e"}) fails(id, failure(Errc::internal, Delivery::ran));
  calls(5 * 150);
  executor.go(seconds(11));
  EXPECT_EQ(counted("ejections"), 0u);
}

TEST_F(OutlierTest, ARetryGoesToAnotherAndTheTryOfAnOutlierCostsTheCallerNothing) {
  join({"a", "b", "c"}, true);
  target.idempotent = true;
  fails("b");
  calls(60);
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(at("b").calls, 5);
  executor.go(seconds(11));
  calls(60);
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(at("b").calls, 6);
}

TEST_F(OutlierTest, LeavingAndComingBackForgets) {
  join({"a", "b", "c"});
  fails("b");
  calls(15);
  registry->say(++revision, {instance("a"), instance("c")}, {"b"});
  executor.run();
  list({"a", "b", "c"});
  EXPECT_EQ(calls(30)["b"], 10);
}

TEST_F(OutlierTest, TurnedOffNobodyIsTakenOut) {
  options.outliers.consecutive_faults = 0;
  options.outliers.interval = milliseconds(0);
  join({"a", "b", "c", "d", "e"});
  fails("b");
  EXPECT_EQ(calls(1000)["b"], 200);
  executor.go(seconds(60));
  EXPECT_EQ(calls(1000)["b"], 200);
}

TEST_F(OutlierTest, TheReferenceMayEndWhileACallTriesAnOutlier) {
  join({"a", "b"});
  fails("b");
  calls(20);
  executor.go(seconds(11));
  at("b").script.push_back({std::nullopt, seconds(1)});
  Task<Result<Response>> trying = cluster->call(request);
  bool ended = false;
  if (trying.start([](void* flag) { *static_cast<bool*>(flag) = true; }, &ended)) ended = true;
  ASSERT_FALSE(ended);
  cluster.reset();
  executor.go(seconds(2));
  EXPECT_TRUE(ended);
  EXPECT_TRUE(trying.take().ok());
}

}  // namespace
}  // namespace tenon::cluster
