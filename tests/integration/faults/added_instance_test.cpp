// LB-6: an instance that comes while two others are under load gets its share and no flood, with every balancer that
// looks at load, whose new members look idle.

#include <array>
#include <cstdio>
#include <thread>

#include "conversation.hpp"

namespace tenon::test {
namespace {

using namespace std::chrono_literals;

class SlowAddedInstance : public testing::TestWithParam<const char*> {
 protected:
  static AppOptions with_registry(AppOptions options) {
    options.plugins.load.push_back("registry-memory");
    options.registries["here"] = Component("memory");
    return options;
  }
  std::unique_ptr<App> provider(CountedRuns& counted) {
    AppOptions chosen = with_registry(fault_server_options({}));
    ServiceOptions offered;
    offered.name = counted_interface;
    offered.registry = {"here"};
    chosen.server.services = {offered};
    return start(std::move(chosen), {counted.service()});
  }
};

INSTANTIATE_TEST_SUITE_P(Slow, SlowAddedInstance,
                         testing::Values("weighted-round-robin", "weighted-random", "active-weight", "p2c"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

TEST_P(SlowAddedInstance, GetsNoMoreThanItsShare) {
  std::array<CountedRuns, 3> counted;
  auto first = provider(counted[0]);
  auto second = provider(counted[1]);
  AppOptions chosen = with_registry(fault_options("client"));
  ReferenceOptions reference = fault_reference_options({}, "");
  reference.registry = {"here"};
  reference.balancer = Component(GetParam());
  reference.check = true;
  chosen.client.references["r"] = reference;
  auto client = start(std::move(chosen));
  ASSERT_TRUE(first && second && client);
  const ClientFunction<std::int64_t(std::int64_t, std::int64_t)> nap(client->reference("r"), "nap");
  std::int64_t number = 0;
  std::atomic<int> ended{0};
  std::atomic<int> failed{0};
  // 2000 calls/s of 2 ms each, for so long.
  const auto load = [&](Duration length) {
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < length / 5ms; ++i) {
      std::this_thread::sleep_until(begun + i * 5ms);
      for (int k = 0; k < 10; ++k)
        nap(number++, 2, [&](const Result<std::int64_t>& result) {
          failed += result.ok() ? 0 : 1;
          ++ended;
        });
    }
    ASSERT_TRUE(eventually([&] { return ended == number; }));
  };
  load(1s);
  const std::int64_t before = number;
  auto third = provider(counted[2]);
  ASSERT_TRUE(third && eventually([&] { return third->counts().server_connections == 1; }));
  load(5s);
  int got = 0;
  for (std::int64_t i = before; i < number; ++i) got += counted[2].runs(i);
  const double share = 3.0 * got / static_cast<double>(number - before);
  std::printf("%s: the new one got %.2f of its fair share of %ld calls in 5 s\n", GetParam(), share,
              static_cast<long>(number - before));
  EXPECT_LE(share, 1.2);
  EXPECT_GE(share, 0.5);
  EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace tenon::test
