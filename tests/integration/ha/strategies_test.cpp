// Each strategy with real servers: who answers, in every form of a call, and what is left behind.

#include <boost/asio/use_future.hpp>

#include <fstream>
#include <future>

#include "fixture.hpp"
#include "ha/backup_request.hpp"
#include "ha/broadcast.hpp"
#include "ha/failback.hpp"
#include "ha/failover.hpp"
#include "ha/failsafe.hpp"
#include "ha/forking.hpp"
#include "support/temporary_folder.hpp"
#include "support/test_executor.hpp"

namespace tenon::test {
namespace {

using namespace std::chrono_literals;
using cluster::BackupRequestOptions;
using cluster::BroadcastOptions;
using cluster::FailbackOptions;
using cluster::FailoverOptions;
using cluster::FailsafeOptions;
using cluster::ForkingOptions;
using Text = Worker::Text;

Component backup_at_once() {
  return Component::of("backup-request", BackupRequestOptions{.after = 10ms, .ratio = 100});
}

using Strategies = HaCalls;

// The reply of an attempt that has an object of its own gets to the caller's, whatever way he calls.
TEST_F(Strategies, ABackupsReplyArrivesInEveryFormOfACall) {
  open(2);
  worker(0).takes_ms = 60000;
  const auto app = client(backup_at_once());
  ASSERT_TRUE(app);
  const ClientMethod<Text, Text> echo(app->reference("r"), worker(0).method(2));
  Text in;
  in.set_value("hello");
  TestExecutor elsewhere;
  for (int i = 0; i < 4; ++i) {  // two of them begin with the slow one
    const Result<Text> sync = echo(in);
    ASSERT_TRUE(sync.ok()) << sync.error().text();
    EXPECT_EQ(sync->value(), "hello b");

    Text out;
    out.set_value("from before");
    const Result<void> into = echo(in, out);
    ASSERT_TRUE(into.ok()) << into.error().text();
    EXPECT_EQ(out.value(), "hello b");

    std::future<Result<Text>> future = echo(in, boost::asio::use_future);
    const Result<Text> later = future.get();
    ASSERT_TRUE(later.ok()) << later.error().text();
    EXPECT_EQ(later->value(), "hello b");

    const Result<Text> task = elsewhere.run([&] { return echo(in, use_task); });
    ASSERT_TRUE(task.ok()) << task.error().text();
    EXPECT_EQ(task->value(), "hello b");

    out.set_value("from before");
    const Result<void> task_into = elsewhere.run([&] { return echo(in, out, use_task); });
    ASSERT_TRUE(task_into.ok()) << task_into.error().text();
    EXPECT_EQ(out.value(), "hello b");

    const Work function = work(*app);
    EXPECT_EQ(*function(i), "b");
    const Result<std::string> function_task = elsewhere.run([&] { return function(i, use_task); });
    ASSERT_TRUE(function_task.ok()) << function_task.error().text();
    EXPECT_EQ(*function_task, "b");
  }
  EXPECT_GE(worker(0).begun, 8);
  EXPECT_TRUE(eventually([&] { return worker(0).cancelled == worker(0).begun; })) << "each loser's server is told";
  expect_idle(*app);
}

TEST_F(Strategies, ForkingTakesTheFastestAndTellsTheOther) {
  open(2);
  worker(0).takes_ms = 60000;
  const auto app = client(Component::of("forking", ForkingOptions{.forks = 2}));
  ASSERT_TRUE(app);
  const Work call = work(*app);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(*call(i), "b");
  EXPECT_TRUE(eventually([&] { return worker(0).cancelled == 6; }));
  EXPECT_EQ(worker(0).begun, 6);
  EXPECT_EQ(worker(1).begun, 6);
  expect_idle(*app);
}

TEST_F(Strategies, ForkingAsksOneOnlyWhenThatMatters) {
  open(3);
  const auto app = client(Component::of("forking", ForkingOptions{.forks = 3}));
  ASSERT_TRUE(app);
  const Work call = once(*app);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(call(i).ok());
  EXPECT_EQ(begun(), 20);
}

TEST_F(Strategies, BroadcastReachesEverybody) {
  open(3);
  const auto app = client(Component("broadcast"));
  ASSERT_TRUE(app);
  const Work call = once(*app);
  EXPECT_TRUE(call(7).ok());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(worker(i).runs(7), 1);
  worker(1).mood = Worker::Mood::unlucky;
  const Result<std::string> answer = call(8);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code(), Errc::application);
  EXPECT_NE(answer.error().text().find("1 of 3 instances failed (" + sites_[1]->proxy->address()), std::string::npos)
      << answer.error().text();
  const ClientMethod<Worker::Number, Void> note(app->reference("r"), worker(0).method(3));
  worker(1).mood = Worker::Mood::good;
  const Result<Void> noted = note(Worker::Number{{9}});
  ASSERT_TRUE(noted.ok()) << noted.error().text();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(eventually([&] { return worker(i).runs(9) == 1; }));
  }
  expect_idle(*app);
}

TEST_F(Strategies, FailsafeAnswersWithNothing) {
  open(1);
  const auto app = client(Component("failsafe"));
  ASSERT_TRUE(app);
  worker(0).mood = Worker::Mood::full;
  Text in;
  in.set_value("hello");
  Text out;
  out.set_value("from before");
  const ClientMethod<Text, Text> echo(app->reference("r"), worker(0).method(2));
  ASSERT_TRUE(echo(in, out).ok());
  EXPECT_EQ(out.value(), "");
  const Result<std::string> answer = work(*app)(1);
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(*answer, "");
  sites_[0]->app.reset();  // nobody is there at all
  const Result<std::string> nobody = work(*app)(2);
  ASSERT_TRUE(nobody.ok()) << nobody.error().text();
  EXPECT_EQ(*nobody, "");
  sites_.clear();
}

TEST_F(Strategies, FailbackDeliversWhenTheServerIsBack) {
  open(1);
  const auto app = client(Component::of("failback", FailbackOptions{.interval = 50ms, .retries = 100}));
  ASSERT_TRUE(app);
  worker(0).mood = Worker::Mood::full;
  const Work call = once(*app);
  for (int i = 0; i < 5; ++i) {
    const Result<std::string> answer = call(i);
    ASSERT_TRUE(answer.ok()) << answer.error().text();
    EXPECT_EQ(*answer, "");
  }
  for (int i = 0; i < 5; ++i) EXPECT_EQ(worker(0).runs(i), 0);
  worker(0).mood = Worker::Mood::good;
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(eventually([&] { return worker(0).runs(i) == 1; })) << i;
  }
  EXPECT_EQ(*call(9), "a");
  expect_idle(*app);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(worker(0).runs(i), 1);
}

// What waits, and what is under way, ends with its reference.
TEST_F(Strategies, AClientEndsWithCallsToBeSentAgain) {
  open(1);
  auto app = client(Component::of("failback", FailbackOptions{.interval = 20ms, .retries = 100}),
                    [](ReferenceOptions& reference) { reference.methods["once"].timeout = 60s; });
  ASSERT_TRUE(app);
  worker(0).mood = Worker::Mood::full;
  const Work call = once(*app);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(call(i).ok());
  worker(0).takes_ms = 60000;
  worker(0).mood = Worker::Mood::good;
  EXPECT_TRUE(eventually([&] { return worker(0).runs(0) == 1; }));
  app->stop(0s);
  app.reset();
  EXPECT_TRUE(eventually([&] { return sites_[0]->app->counts().server_calls == 0; }));
}

TEST_F(Strategies, StrategiesStandInAManifestInsideEachOther) {
  open(2);
  const std::string manifest = R"(
application: client
plugins: { load: [transport-tcp, protocol-tenon, serialize-pb, registry-static, cluster], probe: false,
           search: [")" TENON_TEST_PLUGIN_DIR R"("] }
client:
  references:
    r: { service: test.Worker, address: ")" + addresses() + R"(", timeout: 10s,
         ha: { use: failsafe, inner: { use: failover, retries: 1 } } }
    n: { service: test.Worker, address: ")" + addresses() + R"(", timeout: 10s,
         ha: { use: failback, inner: failover, interval: 50ms, max_calls: 3, max_bytes: 64KiB } }
    f: { service: test.Worker, address: ")" + addresses() + R"(", ha: { use: forking, forks: 2 } }
    b: { service: test.Worker, address: ")" + addresses() + R"(", ha: { use: broadcast, fail_percent: 40 } }
    h: { service: test.Worker, address: ")" + addresses() + R"(",
         ha: { use: backup-request, percentile: 99, least: 5ms, ratio: 5, retries: 1 } }
    h2: { service: test.Worker, address: ")" + addresses() + R"(", ha: { use: backup-request, after: 20ms } }
)";
  const TemporaryFolder folder;
  std::ofstream(folder.path() + "/manifest.yaml") << manifest;
  auto made = App::from_manifest(folder.path() + "/manifest.yaml");
  ASSERT_TRUE(made.ok()) << made.error().text();
  const std::unique_ptr<App> app = std::move(*made);
  const Result<void> started = app->start();
  ASSERT_TRUE(started.ok()) << started.error().text();
  for (const char* name : {"r", "n", "f", "b", "h", "h2"}) {
    const Result<std::string> answer = Work(app->reference(name), "work", true)(1);
    ASSERT_TRUE(answer.ok()) << name << ": " << answer.error().text();
    EXPECT_NE(*answer, "") << name;
  }
  worker(0).mood = worker(1).mood = Worker::Mood::full;
  const int before = begun();
  const Result<std::string> answer = work(*app)(2);
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(*answer, "");
  EXPECT_EQ(begun() - before, 2) << "one more attempt by the inner strategy";
}

// LB-11. What was wrong is told, however often it was tried.
TEST_F(Strategies, MoreRetriesThanInstancesReportTheFirstError) {
  open(2);
  const auto app = client(Component::of("failover", FailoverOptions{.retries = 7}));
  ASSERT_TRUE(app);
  worker(0).mood = worker(1).mood = Worker::Mood::full;
  const Result<std::string> answer = work(*app)(1);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code(), Errc::overloaded);
  EXPECT_NE(answer.error().text().find("2 attempts failed, the first: "), std::string::npos) << answer.error().text();
  EXPECT_NE(answer.error().text().find("is full"), std::string::npos) << answer.error().text();
  EXPECT_EQ(begun(), 2) << "each says that another may do";
  EXPECT_EQ(worker(0).begun, 1);
}

}  // namespace
}  // namespace tenon::test
