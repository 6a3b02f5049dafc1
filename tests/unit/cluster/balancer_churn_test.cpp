// Pickers come and go with each change of the members: nothing of them is left.
#include <gtest/gtest.h>
#include <malloc.h>

#include <functional>

#include "balancer/active_weight.hpp"
#include "balancer/consistent_hash.hpp"
#include "balancer/local_first.hpp"
#include "balancer/modulo.hpp"
#include "balancer/p2c.hpp"
#include "balancer/random.hpp"
#include "balancer/round_robin.hpp"
#include "balancer_members.hpp"
#include "support/manual_executor.hpp"
#include "support/recording_log.hpp"

namespace tenon::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool memory_is_seen = false;  // their allocators do not tell (AddressSanitizer finds leaks itself)
#else
constexpr bool memory_is_seen = true;
#endif

std::size_t bytes_in_use() {
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

struct Kind {
  std::string name;
  std::function<std::unique_ptr<Balancer>(Environment)> make;
};
template <class Made>
std::unique_ptr<Balancer> make(Environment environment) {
  auto made = Made::create({}, environment);
  EXPECT_TRUE(made.ok()) << made.error().text();
  return std::move(*made);
}

class BalancerChurn : public testing::TestWithParam<Kind> {};

TEST_P(BalancerChurn, TenThousandChangesKeepMemoryFlat) {
  ManualExecutor executor;
  RecordingLog log;
  const auto balancer = GetParam().make(Environment{executor, log, executor.clock()});
  Crew all;
  for (int i = 0; i < 12; ++i)
    all.add((i % 3 ? "10.0.0." : "127.0.0.") + std::to_string(i + 1) + ":1", 10u + static_cast<std::uint32_t>(i));
  std::size_t before = 0;
  for (std::size_t change = 0; change < 10000; ++change) {
    if (change == 100) before = bytes_in_use();
    Crew some;
    for (std::size_t i = 0; i < 12; ++i) {
      if ((change >> i % 7 & 1) != 0) continue;
      some.endpoints.push_back(all.endpoints[i]);
      some.members.push_back(all.members[i]);
    }
    const auto picker = balancer->over(some.members);
    for (std::uint64_t k = 1; k <= 3; ++k) {
      const int chosen = some.pick_key(*picker, k + change);
      ASSERT_EQ(chosen >= 0, !some.members.empty());
    }
  }
  EXPECT_TRUE(!memory_is_seen || bytes_in_use() <= before + 4096) << before << " -> " << bytes_in_use();
}

INSTANTIATE_TEST_SUITE_P(
    Balancers, BalancerChurn,
    testing::Values(Kind{"RoundRobin", make<cluster::RoundRobin>},
                    Kind{"WeightedRoundRobin", make<cluster::WeightedRoundRobin>},
                    Kind{"Random", make<cluster::Random>}, Kind{"WeightedRandom", make<cluster::WeightedRandom>},
                    Kind{"ActiveWeight", make<cluster::ActiveWeight>}, Kind{"P2c", make<cluster::P2c>},
                    Kind{"ConsistentHash", make<cluster::ConsistentHash>}, Kind{"Modulo", make<cluster::Modulo>},
                    Kind{"LocalFirst", make<cluster::LocalFirst>}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon::test
