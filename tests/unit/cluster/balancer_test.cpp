// Every balancer of the plugin does what balancers must do.
#include "balancer/active_weight.hpp"
#include "balancer/consistent_hash.hpp"
#include "balancer/local_first.hpp"
#include "balancer/modulo.hpp"
#include "balancer/p2c.hpp"
#include "balancer/random.hpp"
#include "balancer/round_robin.hpp"
#include "contract/balancer_contract.hpp"
#include "support/manual_executor.hpp"
#include "support/recording_log.hpp"

namespace tenon::test {
namespace {

Environment environment() {
  static ManualExecutor& executor = *new ManualExecutor;
  static RecordingLog& log = *new RecordingLog;
  return Environment{executor, log, executor.clock()};
}

template <class Made>
std::unique_ptr<Balancer> make() {
  auto made = Made::create({}, environment());
  EXPECT_TRUE(made.ok()) << made.error().text();
  return std::move(*made);
}

std::unique_ptr<Balancer> make_all_local() {
  cluster::LocalFirstOptions options;
  options.among.component = make<cluster::WeightedRandom>();
  options.addresses = {"10.0.0.1"};
  auto made = cluster::LocalFirst::create(std::move(options), environment());
  EXPECT_TRUE(made.ok()) << made.error().text();
  return std::move(*made);
}

INSTANTIATE_TEST_SUITE_P(
    Cluster, BalancerContract,
    testing::Values(BalancerCase{"RoundRobin", make<cluster::RoundRobin>, Spread::exact, false},
                    BalancerCase{"WeightedRoundRobin", make<cluster::WeightedRoundRobin>},
                    BalancerCase{"Random", make<cluster::Random>, Spread::random, false},
                    BalancerCase{"WeightedRandom", make<cluster::WeightedRandom>, Spread::random},
                    BalancerCase{"ActiveWeight", make<cluster::ActiveWeight>, Spread::random},
                    BalancerCase{"P2c", make<cluster::P2c>, Spread::random},
                    BalancerCase{"ConsistentHash", make<cluster::ConsistentHash>, Spread::keyed},
                    BalancerCase{"ConsistentHashWithoutKeys", make<cluster::ConsistentHash>, Spread::random},
                    BalancerCase{"Modulo", make<cluster::Modulo>, Spread::keyed, false},
                    BalancerCase{"ModuloWithoutKeys", make<cluster::Modulo>, Spread::random},
                    BalancerCase{"LocalFirst", make<cluster::LocalFirst>},
                    BalancerCase{"LocalFirstAmongRandom", make_all_local, Spread::random}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon::test
