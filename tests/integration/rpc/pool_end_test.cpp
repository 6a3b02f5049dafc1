// How pooled calls end when nobody wants them any more: cancelled, peer gone, server stopping.

#include "pool_service.hpp"

namespace tenon {
namespace {

using std::chrono::milliseconds;
using test::eventually;
using test::In;
using test::Labour;
using test::Out;
using test::pool_options;

class PoolEnds : public test::PoolTest {
 protected:
  /// One thread, blocked.
  void begin_blocked(std::uint32_t threads = 1) {
    begin(pool_options({{"a", {threads, 100}}}, "a", {{"quick", "inline"}}));
    for (std::uint32_t i = 0; i < threads; ++i) send(Labour::block, 1, outcomes);
    ASSERT_TRUE(eventually([&] { return labour->blocked == static_cast<int>(threads); }));
  }
};

TEST_F(PoolEnds, ACallThatIsCancelledInTheQueueIsAnsweredAtOnceAndNeverRuns) {
  begin_blocked();
  CancelSource source;
  CallOptions options;
  options.cancel = &source;
  for (int i = 0; i < 5; ++i) send(Labour::nap, 1, outcomes, options);
  ASSERT_TRUE(eventually([&] { return pool().queued == 5; }));
  source.cancel();
  EXPECT_TRUE(eventually([&] { return outcomes.cancelled == 5; }));
  // The server has answered although its only thread is stuck: no number stays reserved.
  EXPECT_TRUE(eventually([&] { return server->counts().server_calls == 1 && client->counts().client_orphans == 0; }));
  EXPECT_EQ(pool().queued, 0u);
  labour->door.open();
  EXPECT_TRUE(eventually([&] { return outcomes.ok == 1; }));
  EXPECT_TRUE(all_idle());
  EXPECT_EQ(labour->started, 1);
}

TEST_F(PoolEnds, ACallThatIsCancelledWhileItRunsHearsOfItOnItsThread) {
  begin(pool_options({{"a", {2, 100}}}, "a"));
  CancelSource source;
  CallOptions options;
  options.cancel = &source;
  for (int i = 0; i < 20; ++i) send(Labour::nap, 20'000, outcomes, options);
  ASSERT_TRUE(eventually([&] { return labour->started == 20; }));
  source.cancel();
  EXPECT_TRUE(eventually([&] { return labour->cancelled == 20 && outcomes.cancelled == 20; }));
  EXPECT_EQ(labour->strayed, 0);
  EXPECT_TRUE(all_idle());
  EXPECT_EQ(pool().running, 0u);
}

// Cancellations meet calls that are queued, running and just answered.
TEST_F(PoolEnds, CancellingAtAnyMomentEndsEveryCallOnce) {
  begin(pool_options({{"a", {2, 10'000}}}, "a"));
  constexpr int rounds = 300;
  std::vector<CancelSource> sources(rounds);
  for (int i = 0; i < rounds; ++i) {
    CallOptions options;
    options.cancel = &sources[static_cast<std::size_t>(i)];
    send(i % 3 == 0 ? Labour::nap : Labour::quick, i % 3, outcomes, options);
    send(Labour::quick, i, outcomes);
    if (i >= 3) sources[static_cast<std::size_t>(i - 3)].cancel();
    if (i % 50 == 49) std::this_thread::sleep_for(milliseconds(1));
  }
  for (CancelSource& source : sources) source.cancel();
  EXPECT_TRUE(eventually([&] { return outcomes.all() == 2 * rounds; })) << outcomes.all();
  EXPECT_EQ(outcomes.ok + outcomes.cancelled, 2 * rounds);
  EXPECT_GE(outcomes.ok, rounds);
  EXPECT_TRUE(all_idle());
  EXPECT_TRUE(eventually([&] { return pool().running == 0; }));
}

TEST_F(PoolEnds, APeerThatDisappearsTakesItsQueuedCallsWithIt) {
  begin_blocked();
  for (int i = 0; i < 10; ++i) send(Labour::nap, 20'000, outcomes);
  ASSERT_TRUE(eventually([&] { return pool().queued == 10; }));
  client.reset();
  // One handler is stuck, and the connection goes nevertheless.
  EXPECT_TRUE(eventually([&] {
    const AppCounts counts = server->counts();
    return counts.server_calls == 1 && counts.server_connections == 0;
  }));
  EXPECT_EQ(pool().queued, 0u);
  labour->door.open();
  EXPECT_TRUE(all_idle());
  EXPECT_EQ(labour->started, 1);
  connect();
  EXPECT_TRUE(run(Labour::other, 1).ok());
}

TEST_F(PoolEnds, APeerThatDisappearsCancelsItsRunningCalls) {
  begin(pool_options({{"a", {3, 100}}}, "a"));
  for (int i = 0; i < 30; ++i) send(Labour::nap, 20'000, outcomes);
  ASSERT_TRUE(eventually([&] { return labour->started == 30; }));
  client.reset();
  EXPECT_TRUE(eventually([&] { return labour->cancelled == 30; }));
  EXPECT_TRUE(all_idle());
  EXPECT_EQ(labour->strayed, 0);
  EXPECT_TRUE(eventually([&] { return server->counts().server_connections == 0; }));
}

TEST_F(PoolEnds, PeersThatComeAndGoLeaveNothingBehind) {
  begin(pool_options({{"a", {2, 10'000}}}, "a"));
  for (int round = 0; round < 15; ++round) {
    for (int i = 0; i < 100; ++i) send(i % 5 == 0 ? Labour::nap : Labour::quick, 1, outcomes);
    if (round % 3 == 0) std::this_thread::sleep_for(milliseconds(1));
    client.reset();
    connect();
  }
  EXPECT_TRUE(eventually([&] { return outcomes.all() == 15 * 100; })) << outcomes.all();
  EXPECT_TRUE(all_idle());
  EXPECT_TRUE(eventually([&] { return pool().running == 0 && pool().queued == 0; }));
  EXPECT_TRUE(eventually([&] { return server->counts().server_connections == 1; }));
}

TEST_F(PoolEnds, ANoticeIsServedAlthoughItsSenderIsGone) {
  begin(pool_options({{"a", {1, 100}}}, "a"));
  const ClientMethod<In, Void> note(client->reference("r"), labour->methods()[Labour::note]);
  for (int i = 1; i <= 10; ++i) {
    const In in{{i}};
    ASSERT_TRUE(note(in).ok());
  }
  ASSERT_TRUE(eventually([&] { return pool().queued == 9; }));
  client.reset();
  EXPECT_TRUE(eventually([&] { return server->counts().server_connections == 0; }));
  labour->door.open();
  EXPECT_TRUE(eventually([&] { return labour->noted == 55; }));
  EXPECT_TRUE(all_idle());
}

TEST_F(PoolEnds, DrainServesWhatWaits) {
  begin_blocked(2);
  for (int i = 0; i < 50; ++i) send(i % 2 ? Labour::other : Labour::nap, 5, outcomes);
  ASSERT_TRUE(eventually([&] { return pool().queued == 50; }));
  std::thread opener([&] {
    std::this_thread::sleep_for(milliseconds(50));
    labour->door.open();
  });
  EXPECT_TRUE(server->stop(std::chrono::seconds(5)));
  opener.join();
  EXPECT_TRUE(eventually([&] { return outcomes.ok == 52; })) << outcomes.ok;
  EXPECT_EQ(pool().queued, 0u);
}

TEST_F(PoolEnds, AGraceThatIsTooShortDropsWhatWaits) {
  begin_blocked();
  for (int i = 0; i < 5; ++i) send(Labour::nap, 1, outcomes);
  ASSERT_TRUE(eventually([&] { return pool().queued == 5; }));
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_FALSE(server->stop(milliseconds(100)));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, milliseconds(1500));
  EXPECT_TRUE(eventually([&] { return outcomes.lost == 6; }));
  EXPECT_EQ(server->counts().server_calls, 1u);
  labour->door.open();  // the reply has no connection any more
  EXPECT_TRUE(eventually([&] { return server->counts().server_calls == 0; }));
  EXPECT_EQ(labour->started, 1);
  server.reset();
}

// What stop() cannot wait for ends when the calls it waits for are cut.
TEST_F(PoolEnds, TheEndOfAnAppFreesHandlersThatWaitForCalls) {
  begin_blocked();
  AppOptions options = pool_options({{"b", {2, 100}}}, "b");
  options.client.references["next"] = test::reference_options("test.Labour", server->addresses()[0]);
  auto asking = std::make_shared<Labour>();
  auto front = test::start(std::move(options), {asking});
  ASSERT_TRUE(front);
  asking->next = front->reference("next");  // where `other` waits behind the blocked call
  auto caller = test::start(test::client_options("test.Labour", front->addresses()[0]));
  ASSERT_TRUE(caller);
  std::atomic<int> ended = 0;
  for (const auto index : {Labour::ask_sync, Labour::ask}) {
    const ClientMethod<In, Out> ask(caller->reference("r"), asking->methods()[index]);
    const In in{{1}};
    ask(in, [&](const Result<Out>& answer) {
      EXPECT_FALSE(answer.ok());
      ++ended;
    });
  }
  ASSERT_TRUE(eventually([&] { return pool().queued == 2; }));
  const auto begun = std::chrono::steady_clock::now();
  asking->next.reset();
  front.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(3));
  EXPECT_TRUE(eventually([&] { return ended == 2; }));
  EXPECT_TRUE(eventually([&] { return pool().queued == 0; }));
}

}  // namespace
}  // namespace tenon
