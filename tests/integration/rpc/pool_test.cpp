// Which thread serves what, and what a queue does.

#include <algorithm>

#include "pool_service.hpp"

namespace tenon {
namespace {

using std::chrono::milliseconds;
using test::eventually;
using test::In;
using test::Labour;
using test::Out;
using test::pool_options;

class Pools : public test::PoolTest {};

TEST_F(Pools, ASlowMethodDelaysNeitherTheIoThreadNorAnotherPool) {
  AppOptions options = pool_options({{"a", {1, 100}}, {"b", {1, 100}}}, "a", {{"quick", "inline"}, {"other", "b"}});
  options.server.heartbeat = milliseconds(30);
  options.server.heartbeat_misses = 3;
  begin(std::move(options));
  send(Labour::block, 1, outcomes);
  ASSERT_TRUE(eventually([&] { return labour->blocked == 1; }));
  send(Labour::block, 2, outcomes);  // behind it
  const auto begun = std::chrono::steady_clock::now();
  std::vector<std::chrono::steady_clock::duration> times;
  while (std::chrono::steady_clock::now() - begun < milliseconds(400)) {
    const auto at = std::chrono::steady_clock::now();
    ASSERT_TRUE(run(Labour::quick, 1).ok());
    ASSERT_TRUE(run(Labour::other, 2).ok());
    times.push_back(std::chrono::steady_clock::now() - at);
  }
  std::sort(times.begin(), times.end());
  EXPECT_LT(times[times.size() / 2], milliseconds(20));
  EXPECT_EQ(labour->blocked, 1);
  EXPECT_EQ(outcomes.all(), 0);
  EXPECT_EQ(pool(0).queued, 1u);
  EXPECT_EQ(pool(0).busy, 1u);
  labour->door.open();
  EXPECT_TRUE(eventually([&] { return outcomes.ok == 2; }));
  EXPECT_EQ(server->counts().server_connections, 1u);  // heartbeats went on
  EXPECT_TRUE(all_idle());
}

// Nobody speaks but the heartbeats, and the only thread of the only pool is stuck.
TEST_F(Pools, ABlockedPoolLeavesTheConnectionAlive) {
  AppOptions options = pool_options({{"a", {1, 100}}}, "a");
  options.server.heartbeat = milliseconds(25);
  options.server.heartbeat_misses = 3;
  begin(std::move(options));
  AppOptions impatient = test::client_options("test.Labour", server->addresses()[0]);
  impatient.client.references["r"].heartbeat = milliseconds(25);
  impatient.client.references["r"].heartbeat_misses = 3;
  client = test::start(std::move(impatient));
  send(Labour::block, 1, outcomes);
  ASSERT_TRUE(eventually([&] { return labour->blocked == 1; }));
  EXPECT_FALSE(eventually([&] { return outcomes.all() != 0; }, milliseconds(500)));
  labour->door.open();
  EXPECT_TRUE(eventually([&] { return outcomes.ok == 1; }));
}

TEST_F(Pools, AFullQueueRefusesAtOnceAndServesTheRest) {
  begin(pool_options({{"small", {1, 2}}}, "small"));
  send(Labour::block, 1, outcomes);
  ASSERT_TRUE(eventually([&] { return labour->blocked == 1; }));
  send(Labour::quick, 2, outcomes);
  send(Labour::quick, 3, outcomes);
  ASSERT_TRUE(eventually([&] { return pool().queued == 2; }));
  auto best = std::chrono::steady_clock::duration::max();
  for (int i = 0; i < 5; ++i) {
    const auto begun = std::chrono::steady_clock::now();
    const auto refused = run(Labour::quick, 4);
    best = std::min(best, std::chrono::steady_clock::now() - begun);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code(), Errc::overloaded);
    EXPECT_EQ(refused.error().delivery(), Delivery::not_run);
    EXPECT_EQ(refused.error().advice(), Advice::other_instance);
    EXPECT_NE(refused.error().text().find("pool \"small\" is full: 1 threads are busy and 2 requests wait"),
              std::string::npos)
        << refused.error().text();
  }
  EXPECT_LT(best, milliseconds(50));
  EXPECT_EQ(pool().rejected, 5u);
  labour->door.open();
  EXPECT_TRUE(eventually([&] { return outcomes.ok == 3; }));
  EXPECT_TRUE(run(Labour::quick, 5).ok());
  EXPECT_TRUE(all_idle());
}

// The client's io thread is held, so it cannot give the call up by itself before the server answers.
TEST_F(Pools, ADeadlineThatPassesInTheQueueIsAnsweredWithoutRunning) {
  begin(pool_options({{"a", {1, 10}}}, "a"));
  send(Labour::block, 1, outcomes);
  ASSERT_TRUE(eventually([&] { return labour->blocked == 1; }));
  CallOptions brief;
  brief.timeout = milliseconds(60);
  send(Labour::nap, 1, outcomes, brief);
  ASSERT_TRUE(eventually([&] { return pool().queued == 1; }));
  test::Door held;
  struct Hold : Work {
    test::Door* door = nullptr;
  } hold;
  hold.door = &held;
  hold.run = [](Work* work) noexcept { static_cast<Hold*>(work)->door->pass(); };
  client->executors()[0]->post(hold);
  std::this_thread::sleep_for(milliseconds(90));  // the deadline
  labour->door.open();
  EXPECT_TRUE(eventually([&] { return pool().expired == 1; }));
  held.open();
  EXPECT_TRUE(eventually([&] { return outcomes.all() == 2; }));
  EXPECT_EQ(outcomes.ok, 1);
  EXPECT_EQ(outcomes.expired, 1);
  EXPECT_EQ(labour->started, 1);  // the nap did not
  EXPECT_TRUE(all_idle());
}

TEST_F(Pools, AnIdleThreadIsFoundEvenIfAnotherGoesOnWithASuspendedHandler) {
  begin(pool_options({{"two", {2, 100}}}, "two"));
  // Each on a thread of its own: one with nothing suspended is preferred.
  CancelSource source;
  CallOptions options;
  options.cancel = &source;
  send(Labour::nap, 20'000, outcomes, options);
  ASSERT_TRUE(eventually([&] { return labour->started == 1 && pool().busy == 0; }));
  send(Labour::nap_then_block, 20, outcomes);
  ASSERT_TRUE(eventually([&] { return labour->blocked == 1; }));
  // Both threads wait for requests as far as the pool knows, but one is stuck in the handler that it resumed.
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(run(Labour::quick, i).ok());
  EXPECT_EQ(labour->blocked, 1);
  EXPECT_EQ(pool().running, 2u);
  source.cancel();
  labour->door.open();
  EXPECT_TRUE(eventually([&] { return outcomes.all() == 2; }));
  EXPECT_EQ(labour->strayed, 0);
  EXPECT_TRUE(all_idle());
}

TEST_F(Pools, SuspendedHandlersGoOnOnTheirThread) {
  begin(pool_options({{"four", {4, 1000}}}, "four"));
  for (int i = 0; i < 200; ++i) send(Labour::nap, i % 40, outcomes);
  EXPECT_TRUE(eventually([&] { return outcomes.ok == 200; }));
  EXPECT_EQ(labour->strayed, 0);
  EXPECT_TRUE(all_idle());
}

TEST_F(Pools, ManyBlockingHandlersShareTheThreads) {
  begin(pool_options({{"four", {4, 1000}}}, "four"));
  for (int i = 0; i < 4; ++i) send(Labour::block, i, outcomes);
  ASSERT_TRUE(eventually([&] { return labour->blocked == 4; }));
  EXPECT_EQ(pool().busy, 4u);
  EXPECT_EQ(pool().running, 4u);
  labour->door.open();
  EXPECT_TRUE(eventually([&] { return outcomes.ok == 4; }));
  EXPECT_TRUE(eventually([&] { return pool().busy == 0 && pool().running == 0; }));
}

TEST_F(Pools, ExceptionsBecomeErrors) {
  begin(pool_options({{"a", {1, 10}}}, "a"));
  for (int i = 0; i < 3; ++i) {
    const auto failed = run(Labour::boom, 7);
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().code(), Errc::internal);
    EXPECT_EQ(failed.error().delivery(), Delivery::ran);
    EXPECT_NE(failed.error().text().find("boom 7"), std::string::npos) << failed.error().text();
  }
  EXPECT_TRUE(run(Labour::quick, 1).ok());
  EXPECT_EQ(pool().running, 0u);
  EXPECT_TRUE(all_idle());
}

// The server calls itself: the answer comes from the same, only io thread, or from the same pool.
class Nested : public Pools, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(OfPools, Nested, testing::Values("inline", "second", "first"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Nested, CallsOfHandlersInEveryForm) {
  begin(pool_options({{"first", {8, 1000}}, {"second", {1, 1000}}}, "first", {{"other", GetParam()}}));
  AppOptions own = pool_options({{"first", {8, 1000}}, {"second", {1, 1000}}}, "first", {{"other", GetParam()}});
  own.client.references["self"] = test::reference_options("test.Labour", server->addresses()[0]);
  auto front = std::make_shared<Labour>();
  auto middle = test::start(std::move(own), {front});
  ASSERT_TRUE(middle);
  front->next = middle->reference("self");
  labour->next = client->reference("r");
  // From a pool of another App, over a loop that is otherwise idle and one that is not.
  AppOptions outside = test::client_options("test.Labour", middle->addresses()[0]);
  auto caller = test::start(std::move(outside));
  ASSERT_TRUE(caller);
  const ClientMethod<In, Out> sync(caller->reference("r"), front->methods()[Labour::ask_sync]);
  const ClientMethod<In, Out> async(caller->reference("r"), front->methods()[Labour::ask]);
  std::atomic<int> good = 0, ended = 0;
  for (int round = 0; round < 50; ++round)
    for (int i = 0; i < 4; ++i) {
      const In in{{i}};
      const auto count = [&, i](Result<Out> answer) {
        if (answer.ok() && answer->value == i) ++good;
        ++ended;
      };
      sync(in, count);
      async(in, count);
      ASSERT_TRUE(eventually([&] { return ended >= 8 * round - 8; }));
    }
  EXPECT_TRUE(eventually([&] { return ended == 400; }));
  EXPECT_EQ(good, 400);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(run(Labour::ask_sync, i).ok());
  EXPECT_EQ(front->strayed, 0);
  EXPECT_TRUE(all_idle());
  front->next.reset();
}

TEST_F(Pools, ASyncCallOfAnInlineHandlerIsStillRefused) {
  begin(pool_options({{"a", {1, 10}}}, "a", {{"ask_sync", ""}}));
  labour->next = client->reference("r");
  EXPECT_EQ(run(Labour::ask_sync, 1).error().code(), Errc::would_deadlock);
}

TEST_F(Pools, TenThousandCallsAreAnsweredExactlyOnce) {
  constexpr int many = 10'000;
  begin(pool_options({{"four", {4, 20'000}}}, "four"));
  std::vector<std::atomic<int>> times(many);
  std::atomic<int> ended = 0, good = 0;
  for (int i = 0; i < many; ++i) {
    const In in{{i}};
    method(i % 10 == 0 ? Labour::other : Labour::quick)(in, [&, i](Result<Out> answer) {
      ++times[static_cast<std::size_t>(i)];
      if (answer.ok() && answer->value == i) ++good;
      ++ended;
    });
  }
  ASSERT_TRUE(eventually([&] { return ended >= many; }, std::chrono::seconds(30)));
  EXPECT_TRUE(all_idle());
  EXPECT_EQ(good, many);
  for (const auto& n : times) ASSERT_EQ(n, 1);
}

TEST_F(Pools, SeveralIoThreadsShareOnePool) {
  AppOptions options = pool_options({{"two", {2, 20'000}}}, "two");
  options.runtime.io_threads = 3;
  begin(std::move(options));
  std::vector<std::unique_ptr<App>> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(std::move(client));
    connect();
  }
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int t = 1; t < 4; ++t)
    threads.emplace_back([&, t] {
      const ClientMethod<In, Out> quick(clients[static_cast<std::size_t>(t)]->reference("r"), labour->methods()[0]);
      for (int i = 0; i < 300; ++i) {
        const In in{{i}};
        if (auto answer = quick(in); answer.ok() && answer->value == i) ++good;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 900);
  EXPECT_TRUE(all_idle());
}

TEST(PoolOptionsTest, AMethodThatTheServiceHasNotIsRefusedAtStart) {
  auto app = App::create(pool_options({{"a", {1, 10}}}, "", {{"qick", "a"}}));
  ASSERT_TRUE(app.ok()) << app.error().text();
  (*app)->provide(std::make_shared<Labour>());
  auto started = (*app)->start();
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code(), Errc::config);
  EXPECT_EQ(started.error().text(),
            "server.services[0].methods.qick: service test.Labour has no method \"qick\", did you mean \"quick\"?");
}

}  // namespace
}  // namespace tenon
