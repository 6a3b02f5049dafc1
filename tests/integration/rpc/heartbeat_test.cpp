// A connection whose peer falls silent is found dead; an idle one is kept open by pings.

#include <atomic>
#include <iostream>

#include "support/fault_proxy.hpp"
#include "support/test_apps.hpp"
#include "tenon/scope.hpp"

namespace tenon {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::uint64_t ping_bytes = 10;  // length, type and eight bytes of the sender's choice

Task<Result<std::int64_t>> sleep(std::atomic<int>* started, std::int64_t ms) {
  ++*started;
  Clock& clock = Executor::current()->clock();
  sleep_until nap(clock, clock.now() + milliseconds(ms));
  co_await nap;
  co_return ms;
}

class Heartbeat : public testing::Test {
 protected:
  void SetUp() override {
    auto service = std::make_shared<Functions>("test.Beat");
    service->add("same", [](std::int64_t n) { return n; });
    service->add("sleep", [this](std::int64_t ms) { return sleep(&started, ms); });
    server = test::start(test::server_options(), {service});
    ASSERT_TRUE(server);
    relay = std::make_unique<test::FaultProxy>(server->addresses()[0]);
    AppOptions options = test::client_options("test.Beat", relay->address());
    ReferenceOptions& reference = options.client.references["r"];
    reference.heartbeat = milliseconds(50);
    reference.heartbeat_misses = 3;
    reference.ha = Component("failfast");
    client = test::start(std::move(options));
    ASSERT_TRUE(client);
  }
  std::atomic<int> started = 0;
  std::unique_ptr<App> server;
  std::unique_ptr<test::FaultProxy> relay;
  std::unique_ptr<App> client;
};

struct Outcome {
  std::atomic<bool> done = false;
  Errc code = Errc::ok;
  Delivery delivery = Delivery::not_run;
  std::string text;
  steady_clock::time_point at;
  void operator()(Result<std::int64_t> answer) {
    at = steady_clock::now();
    if (!answer.ok()) {
      code = answer.error().code();
      delivery = answer.error().delivery();
      text = answer.error().text();
    }
    done = true;
  }
};

TEST_F(Heartbeat, ASilentPeerIsFoundDeadAndTheEndpointReconnects) {
  const ClientFunction<std::int64_t(std::int64_t)> same(client->reference("r"), "same");
  const ClientFunction<std::int64_t(std::int64_t)> sleep_there(client->reference("r"), "sleep");
  ASSERT_EQ(*same(1), 1);
  Outcome running;
  sleep_there(2500, [&](Result<std::int64_t> answer) { running(std::move(answer)); });
  ASSERT_TRUE(test::eventually([&] { return started == 1; }));
  ASSERT_EQ(relay->accepted(), 1);

  relay->silence(true);
  const auto silent_since = steady_clock::now();
  Outcome unheard;
  same(2, [&](Result<std::int64_t> answer) { unheard(std::move(answer)); });
  ASSERT_TRUE(test::eventually([&] { return running.done && unheard.done; }, std::chrono::seconds(3)));
  for (const Outcome* outcome : {&running, &unheard}) {
    EXPECT_EQ(outcome->code, Errc::unavailable) << outcome->text;
    EXPECT_EQ(outcome->delivery, Delivery::maybe_run);
    EXPECT_NE(outcome->text.find("no sign of life"), std::string::npos) << outcome->text;
    EXPECT_LT(outcome->at - silent_since, milliseconds(1000));
    EXPECT_GT(outcome->at - silent_since, milliseconds(100));  // three misses take longer than this
  }
  std::cout << "found dead after "
            << std::chrono::duration_cast<milliseconds>(unheard.at - silent_since).count() << " ms\n";

  relay->silence(false);
  CallOptions soon;
  soon.timeout = milliseconds(500);
  EXPECT_TRUE(test::eventually([&] {
    const Result<std::int64_t> answer = same.call(soon, 3);
    return answer.ok() && *answer == 3;
  }));
  EXPECT_GE(relay->accepted(), 2);
  EXPECT_TRUE(test::eventually([&] { return test::idle(*client) && test::idle(*server); }));
}

TEST_F(Heartbeat, AnIdleConnectionStaysOpenAndOnlyAnIdleOneIsPinged) {
  const ClientFunction<std::int64_t(std::int64_t)> same(client->reference("r"), "same");
  ASSERT_EQ(*same(7), 7);
  const auto before_one = relay->to_server().bytes;
  ASSERT_EQ(*same(7), 7);
  const auto request = relay->to_server().bytes - before_one;

  // Busy: a reply arrives every few ms, so there is nothing to ask.
  const auto before_busy = relay->to_server().bytes;
  std::uint64_t calls = 0;
  for (const auto until = steady_clock::now() + milliseconds(700); steady_clock::now() < until; ++calls) {
    ASSERT_EQ(*same(7), 7);
    std::this_thread::sleep_for(milliseconds(3));
  }
  const auto busy = relay->to_server().bytes - before_busy;
  // A loaded machine may stall this thread for 50 ms once in a while; 700 ms of pings would be 14.
  EXPECT_GE(busy, calls * request);
  EXPECT_LE(busy, calls * request + 4 * ping_bytes) << calls << " calls of " << request << " bytes";

  const auto up = relay->to_server().bytes;
  const auto down = relay->to_client().bytes;
  std::this_thread::sleep_for(milliseconds(1000));
  const auto idle_up = relay->to_server().bytes - up;
  const auto idle_down = relay->to_client().bytes - down;
  std::cout << "busy 700 ms: " << calls << " calls of " << request << " bytes and " << busy - calls * request
            << " bytes besides; idle 1 s: " << idle_up << " bytes up, " << idle_down << " down\n";
  EXPECT_GE(idle_up, 8 * ping_bytes);
  EXPECT_LE(idle_up, 21 * ping_bytes);
  EXPECT_EQ(idle_up % ping_bytes, 0u);
  EXPECT_GE(idle_down, 8 * ping_bytes);
  EXPECT_LE(idle_down, 21 * ping_bytes);

  EXPECT_EQ(relay->accepted(), 1);
  EXPECT_EQ(server->counts().server_connections, 1u);
  ASSERT_EQ(*same(8), 8);
  EXPECT_EQ(relay->accepted(), 1);
}

}  // namespace
}  // namespace tenon
