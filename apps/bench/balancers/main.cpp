// What a pick costs: each balancer over 10 and 100 members that are connected, idle and busy, and while a tenth of them
// is not connected.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "balancer/active_weight.hpp"
#include "balancer/consistent_hash.hpp"
#include "balancer/local_first.hpp"
#include "balancer/modulo.hpp"
#include "balancer/p2c.hpp"
#include "balancer/random.hpp"
#include "balancer/random_source.hpp"
#include "balancer/round_robin.hpp"
#include "support/manual_executor.hpp"
#include "support/recording_log.hpp"

namespace tenon::bench {
namespace {

class Member final : public Endpoint {
 public:
  explicit Member(std::size_t number) {
    instance_.id = "10.0." + std::to_string(number / 256) + "." + std::to_string(number % 256) + ":4080";
    instance_.address = instance_.id;
    instance_.transport = "tcp";
  }
  Task<Result<Response>> call(Request&) override { return ready<Result<Response>>(Response()); }
  Health health() const noexcept override { return state; }
  const Instance& instance() const noexcept override { return instance_; }
  const Stats& stats() const noexcept override { return figures; }

  Health state = Health::open;
  Stats figures;
  std::uint32_t& weight() { return instance_.weight; }

 private:
  Instance instance_;
};

enum Scene : std::int64_t { idle, busy, some_closed };

struct Stage {
  Stage(std::size_t count, std::int64_t scene) {
    cluster::RandomSource random(1);
    for (std::size_t i = 0; i < count; ++i) {
      auto member = std::make_shared<Member>(i);
      member->weight() = 10 + static_cast<std::uint32_t>(i % 4) * 10;
      if (scene == busy) member->figures.in_flight = 1 + static_cast<std::uint32_t>(random.below(8));
      if (scene == some_closed && i % 10 == 3) member->state = Health::closed;
      member->figures.peak_latency_us = 500 + static_cast<double>(random.below(1000));
      member->figures.peak_at = executor.clock().now();
      members.push_back(std::move(member));
    }
  }
  test::ManualExecutor executor;
  test::RecordingLog log;
  Members members;
};

template <class Made>
void pick(benchmark::State& state) {
  Stage stage(static_cast<std::size_t>(state.range(0)), state.range(1));
  const auto balancer = Made::create({}, Environment{stage.executor, stage.log, stage.executor.clock()});
  const auto picker = (*balancer)->over(stage.members);
  const Target target;
  Request request(target);
  const Eligible eligible(stage.members, 0, Eligible::Closed::no);
  cluster::RandomSource keys(2);
  for (int i = 0; i < 300000; ++i) {  // as after a while: what is computed once has been
    request.hash_key = keys.next();
    picker->pick(request, eligible);
  }
  for (auto _ : state) {
    request.hash_key = keys.next();
    benchmark::DoNotOptimize(picker->pick(request, eligible));
  }
}

template <class Made>
void make(benchmark::State& state) {
  Stage stage(static_cast<std::size_t>(state.range(0)), idle);
  const auto balancer = Made::create({}, Environment{stage.executor, stage.log, stage.executor.clock()});
  for (auto _ : state) benchmark::DoNotOptimize((*balancer)->over(stage.members));
}

void picks(benchmark::internal::Benchmark* of) {
  of->ArgNames({"members", "scene"});
  for (const std::int64_t scene : {idle, busy, some_closed})
    for (const std::int64_t members : {10, 100}) of->Args({members, scene});
}
void pickers(benchmark::internal::Benchmark* of) { of->ArgName("members")->Arg(10)->Arg(100); }

#define BALANCER(name)                                   \
  BENCHMARK_TEMPLATE(pick, cluster::name)->Apply(picks); \
  BENCHMARK_TEMPLATE(make, cluster::name)->Apply(pickers)
BALANCER(RoundRobin);
BALANCER(WeightedRoundRobin);
BALANCER(Random);
BALANCER(WeightedRandom);
BALANCER(ActiveWeight);
BALANCER(P2c);
BALANCER(ConsistentHash);
BALANCER(Modulo);
BALANCER(LocalFirst);
#undef BALANCER

}  // namespace
}  // namespace tenon::bench

BENCHMARK_MAIN();
