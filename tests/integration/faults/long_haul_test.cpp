// Much through one connection: neither speed nor memory drifts.

#include <iostream>

#include "conversation.hpp"
#include "measures.hpp"

namespace tenon::test {
namespace {

using namespace std::chrono_literals;

struct Load {
  std::string name;
  std::int64_t calls = 0;
  std::size_t size = 0;
  int at_once = 1;
  Tongue tongue;
};
void PrintTo(const Load& shown, std::ostream* out) { *out << shown.name; }

class LongHaul : public testing::TestWithParam<Load> {};
constexpr Tongue tenon_tongue{"tenon", "protobuf"};
constexpr Tongue motan_tongue{"motan2", "simple"};
INSTANTIATE_TEST_SUITE_P(Slow, LongHaul,
                         testing::Values(Load{"tenon_1M_calls", 1'000'000, 10, 100, tenon_tongue},
                                         Load{"tenon_1GiB", 4096, 256u << 10, 4, tenon_tongue},
                                         Load{"motan2_1M_calls", 1'000'000, 10, 100, motan_tongue},
                                         Load{"motan2_1GiB", 4096, 256u << 10, 4, motan_tongue}),
                         [](const auto& info) { return info.param.name; });

/// One of the callers that keep `at_once` calls outstanding.
Task<void> caller(const ClientFunction<std::string(std::string)>& echo, const std::string& text, std::int64_t calls,
                  std::atomic<std::int64_t>& done, std::atomic<std::int64_t>& bad) {
  for (std::int64_t i = 0; i < calls; ++i) {
    Result<std::string> answer = co_await echo(text, use_task);
    if (!answer.ok() || answer->size() != text.size()) ++bad;
    ++done;
  }
}

TEST_P(LongHaul, NothingDrifts) {
  const Load& load = GetParam();
  auto service = std::make_shared<Functions>(counted_interface);
  service->add("back", [](const std::string& text) { return text; });
  auto server = start(fault_server_options(load.tongue), {service});
  ASSERT_TRUE(server);
  AppOptions chosen = fault_client_options(load.tongue, server->addresses()[0]);
  chosen.client.references["r"].timeout = 30s;
  auto client = start(std::move(chosen));
  ASSERT_TRUE(client);
  const ClientFunction<std::string(std::string)> echo(client->reference("r"), "back");
  const std::string text(load.size, 'x');
  std::atomic<std::int64_t> bad = 0;
  std::vector<double> seconds;
  std::vector<std::size_t> memory;
  for (int tenth = 0; tenth < 11; ++tenth) {  // the first one warms up
    std::atomic<std::int64_t> done = 0;
    const std::int64_t each = load.calls / 10 / load.at_once;
    std::vector<Task<void>> callers;
    std::atomic<int> ended = 0;
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < load.at_once; ++i) callers.push_back(caller(echo, text, each, done, bad));
    for (Task<void>& task : callers)
      if (task.start([](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &ended)) ++ended;
    ASSERT_TRUE(eventually([&] { return ended == load.at_once; }, 120s));
    EXPECT_EQ(done, each * load.at_once);
    seconds.push_back(milliseconds_since(begun) / 1000);
    memory.push_back(resident_kib());
  }
  EXPECT_EQ(bad, 0);
  EXPECT_EQ(server->counts().server_connections, 1u);
  EXPECT_TRUE(eventually([&] { return idle(*client) && idle(*server); }));
  // A busy machine makes one or the other slower: the best of three at each end.
  const auto rate = [&](std::ptrdiff_t first) {
    const auto best = std::min_element(seconds.begin() + first, seconds.begin() + first + 3);
    return static_cast<double>(load.calls / 10) / *best;
  };
  std::cout << load.name << ": " << rate(1) << " calls/s at first, " << rate(8) << " calls/s at last; resident "
            << memory[1] << " KiB at first, " << memory[10] << " KiB at last; seconds of each tenth:";
  for (const double each : seconds) std::cout << ' ' << each;
  std::cout << '\n';
  EXPECT_GT(rate(8), 0.5 * rate(1));
  // What is under way at the moment of looking comes on top: the least of three at each end.
  const auto resident = [&](std::ptrdiff_t first) {
    return *std::min_element(memory.begin() + first, memory.begin() + first + 3);
  };
  EXPECT_LT(resident(8), resident(1) + 2048);
}

}  // namespace
}  // namespace tenon::test
