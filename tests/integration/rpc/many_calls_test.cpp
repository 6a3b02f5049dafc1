#include <atomic>
#include <latch>

#include "support/test_apps.hpp"

namespace tenon {
namespace {

constexpr int many = 10'000;

/// Holds every call until the last has arrived.
struct Meeting {
  test::Gate gate;
  int arrived = 0;
};

std::shared_ptr<Functions> meeting_service(Meeting& meeting, int expected) {
  auto service = std::make_shared<Functions>("test.Meeting");
  service->add("meet", [&meeting, expected](std::int64_t number) -> Task<Result<std::int64_t>> {
    if (++meeting.arrived == expected) meeting.gate.open();
    auto pass = meeting.gate.pass();
    co_await pass;
    co_return number;
  });
  return service;
}

class Many : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Transports, Many, testing::Values("tcp", "memory"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Many, TenThousandOutstandingCallsAllComplete) {
  Meeting meeting;
  const std::string transport = GetParam();
  auto server = test::start(test::server_options(transport, transport == "tcp" ? "127.0.0.1:0" : "many"),
                            {meeting_service(meeting, many)});
  ASSERT_TRUE(server);
  AppOptions options = test::client_options("test.Meeting", server->addresses()[0], transport);
  options.client.references["r"].timeout = std::chrono::seconds(30);
  auto client = test::start(std::move(options));
  ASSERT_TRUE(client);
  const ClientFunction<std::int64_t(std::int64_t)> meet(client->reference("r"), "meet");

  std::atomic<int> good = 0;
  std::latch all(many);
  std::vector<std::atomic<int>> times(many);
  for (std::int64_t i = 0; i < many; ++i)
    meet(i, [&, i](Result<std::int64_t> answer) {
      ++times[static_cast<std::size_t>(i)];
      if (answer.ok() && *answer == i) ++good;
      all.count_down();
    });
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!all.try_wait() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_TRUE(all.try_wait());
  EXPECT_EQ(good, many);
  for (const auto& n : times) ASSERT_EQ(n, 1);  // I1: exactly once
  EXPECT_TRUE(test::eventually([&] { return test::idle(*client) && test::idle(*server); }));
}

TEST(Many, CallersOnManyThreadsShareOneConnection) {
  auto service = std::make_shared<Functions>("test.Add");
  service->add("add", [](std::int64_t a, std::int64_t b) { return a + b; });
  auto server = test::start(test::server_options(), {service});
  ASSERT_TRUE(server);
  auto client = test::start(test::client_options("test.Add", server->addresses()[0]));
  ASSERT_TRUE(client);
  const ClientFunction<std::int64_t(std::int64_t, std::int64_t)> add(client->reference("r"), "add");
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int t = 0; t < 20; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i)
        if (auto sum = add(t, i); sum.ok() && *sum == t + i) ++good;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 20 * 200);
  EXPECT_EQ(server->counts().server_connections, 1u);
}

// The mix of a caller that drives the loop, callers that post, and asynchronous calls.
TEST(Many, SyncAndAsyncCallersMixed) {
  auto service = std::make_shared<Functions>("test.Add");
  service->add("add", [](std::int64_t a, std::int64_t b) { return a + b; });
  auto server = test::start(test::server_options(), {service});
  ASSERT_TRUE(server);
  auto client = test::start(test::client_options("test.Add", server->addresses()[0]));
  ASSERT_TRUE(client);
  const ClientFunction<std::int64_t(std::int64_t, std::int64_t)> add(client->reference("r"), "add");
  std::atomic<int> async_good = 0;
  std::atomic<int> sync_good = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        if (i % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(i * 7 % 1500));
        if (auto sum = add(i, 1); sum.ok() && *sum == i + 1) ++sync_good;
      }
    });
  threads.emplace_back([&] {
    for (int i = 0; i < 300; ++i) {
      add(i, 2, [&, i](Result<std::int64_t> sum) {
        if (sum.ok() && *sum == i + 2) ++async_good;
      });
      std::this_thread::sleep_for(std::chrono::microseconds(i * 11 % 900));
    }
  });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sync_good, 900);
  EXPECT_TRUE(test::eventually([&] { return async_good == 300; }));
}

TEST(Many, MaxInFlightAnswersOverloadedAtOnce) {
  Meeting meeting;
  auto server = test::start(test::server_options(), {meeting_service(meeting, 1000)});
  ASSERT_TRUE(server);
  AppOptions options = test::client_options("test.Meeting", server->addresses()[0]);
  options.client.references["r"].max_in_flight = 10;
  options.client.references["r"].timeout = std::chrono::seconds(2);
  options.client.references["r"].ha = Component("failfast");
  auto client = test::start(std::move(options));
  ASSERT_TRUE(client);
  const ClientFunction<std::int64_t(std::int64_t)> meet(client->reference("r"), "meet");
  std::atomic<int> overloaded = 0;
  std::atomic<int> late = 0;
  for (std::int64_t i = 0; i < 15; ++i)
    meet(i, [&](Result<std::int64_t> answer) {
      if (answer.ok()) return;
      if (answer.error().code() == Errc::overloaded && answer.error().delivery() == Delivery::not_run) ++overloaded;
      if (answer.error().code() == Errc::deadline_exceeded) ++late;
    });
  EXPECT_TRUE(test::eventually([&] { return overloaded == 5; }, std::chrono::seconds(1)));
  EXPECT_TRUE(test::eventually([&] { return late == 10; }));
  // Let the handlers end before their gate goes.
  std::atomic<bool> opened = false;
  struct Open : Work {
    Meeting* meeting;
    std::atomic<bool>* opened;
  } open;
  open.meeting = &meeting;
  open.opened = &opened;
  open.run = [](Work* work) noexcept {
    static_cast<Open*>(work)->meeting->gate.open();
    static_cast<Open*>(work)->opened->store(true);
  };
  server->executors()[0]->post(open);
  EXPECT_TRUE(test::eventually([&] { return opened.load(); }));
  EXPECT_TRUE(test::eventually([&] { return test::idle(*client) && test::idle(*server); }));
}

}  // namespace
}  // namespace tenon
