// One slow call in a hundred must not be felt by the others of its pool. Measures time: for an idle machine.

#include <algorithm>
#include <thread>

#include "support/test_apps.hpp"

namespace tenon {
namespace {

using std::chrono::milliseconds;
using Time = std::chrono::steady_clock::duration;

using Serve = ClientFunction<std::int64_t(std::int64_t)>;

/// Quick calls one after the other, each hundredth with a slow one beside it; the p99 of the quick ones.
Time measure(const Serve& serve, const Serve& serve_slowly, bool stragglers) {
  constexpr int calls = 6000;
  std::vector<Time> times;
  times.reserve(calls);
  std::atomic<int> slow = 0;
  for (int i = 0; i < calls; ++i) {
    if (stragglers && i % 100 == 50) {
      ++slow;
      serve_slowly(5, [&slow](const Result<std::int64_t>& answer) {
        EXPECT_TRUE(answer.ok());
        --slow;
      });
    }
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_TRUE(serve(0).ok());
    times.push_back(std::chrono::steady_clock::now() - begun);
  }
  EXPECT_TRUE(test::eventually([&] { return slow == 0; }));
  const auto p99 = times.begin() + calls * 99 / 100;
  std::nth_element(times.begin(), p99, times.end());
  return *p99;
}

TEST(SlowPool, AStragglerInAHundredDoesNotShowInThePercentileOfTheOthers) {
  auto service = std::make_shared<Functions>("test.Serve");
  service->add("serve", [](std::int64_t ms) {
    if (ms > 0) std::this_thread::sleep_for(milliseconds(ms));
    return ms;
  });
  AppOptions options = test::server_options();
  options.server.pools["four"] = {4, 1000};
  ServiceOptions offered;
  offered.name = "test.Serve";
  offered.pool = "four";
  options.server.services = {offered};
  auto server = test::start(std::move(options), {service});
  ASSERT_TRUE(server);
  // Clients of their own: a synchronous caller that is alone on its loop is quicker than one that shares it.
  auto client = test::start(test::client_options("test.Serve", server->addresses()[0]));
  auto slow_client = test::start(test::client_options("test.Serve", server->addresses()[0]));
  ASSERT_TRUE(client && slow_client);
  const Serve serve(client->reference("r"), "serve");
  const Serve slow(slow_client->reference("r"), "serve");
  measure(serve, slow, true);  // warm
  // In turn, so that what else the machine does falls on both; the median of the rounds' ratios.
  std::vector<double> ratios;
  for (int round = 0; round < 9; ++round) {
    const auto without = measure(serve, slow, false);
    const auto with = measure(serve, slow, true);
    ratios.push_back(static_cast<double>(with.count()) / static_cast<double>(without.count()));
    std::printf("p99 without stragglers %.1f us, with %.1f us\n", static_cast<double>(without.count()) / 1e3,
                static_cast<double>(with.count()) / 1e3);
  }
  std::sort(ratios.begin(), ratios.end());
  EXPECT_LT(ratios[ratios.size() / 2], 1.2);
  EXPECT_GT(ratios[ratios.size() / 2], 0.8);
}

}  // namespace
}  // namespace tenon
