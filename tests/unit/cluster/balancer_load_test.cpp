// Balancers that look at figures, under a load that is played: calls come, take their time and go, on a virtual clock.
#include <gtest/gtest.h>

#include <functional>
#include <queue>

#include "balancer/active_weight.hpp"
#include "balancer/p2c.hpp"
#include "balancer/random.hpp"
#include "balancer/round_robin.hpp"
#include "balancer_members.hpp"
#include "support/manual_executor.hpp"
#include "support/recording_log.hpp"

namespace tenon::test {
namespace {

using namespace std::chrono_literals;
using cluster::RandomSource;

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

class Load : public testing::TestWithParam<Kind> {
 protected:
  /// Calls come evenly for so long; `duration(i)` says how long member i takes on average. How many each got.
  std::vector<int> run(Duration length, Duration every, const std::function<Duration(std::size_t)>& duration) {
    Clock& clock = executor_.clock();
    std::vector<int> got(crew.members.size(), 0);
    const TimePoint until = clock.now() + length;
    for (TimePoint at = clock.now(); at < until; at += every) {
      finish_until(at);
      executor_.clock().go_to(at);
      const int chosen = crew.pick(*picker);
      if (chosen < 0) ADD_FAILURE() << "nobody";
      if (chosen < 0) break;
      const auto i = static_cast<std::size_t>(chosen);
      ++got[i];
      ++crew[i].figures.in_flight;
      const double spread = 0.5 + static_cast<double>(random_.below(1000)) / 1000;
      const auto takes = std::chrono::duration_cast<Duration>(duration(i) * spread);
      under_way_.push({at + takes, takes, crew.endpoints[i]});
    }
    return got;
  }
  void renew() { picker = balancer->over(crew.members); }

  Crew crew;
  ManualExecutor executor_;
  RecordingLog log;
  std::unique_ptr<Balancer> balancer = GetParam().make(Environment{executor_, log, executor_.clock()});
  std::unique_ptr<Picker> picker;

 private:
  struct Call {
    TimePoint ends;
    Duration took;
    std::shared_ptr<FiguredEndpoint> at;
    bool operator<(const Call& other) const { return ends > other.ends; }
  };
  void finish_until(TimePoint now) {
    while (!under_way_.empty() && under_way_.top().ends <= now) {
      const Call& call = under_way_.top();
      Stats& figures = call.at->figures;
      --figures.in_flight;
      const double took = std::chrono::duration<double, std::micro>(call.took).count();
      // As core does it.
      const double age = std::chrono::duration<double>(call.ends - figures.peak_at).count() / 10;
      const double kept = 1 / (1 + age * (1 + age / 2));
      figures.peak_latency_us =
          took >= figures.peak_latency_us ? took : figures.peak_latency_us * kept + took * (1 - kept);
      figures.peak_at = call.ends;
      under_way_.pop();
    }
  }
  RandomSource random_{11};
  std::priority_queue<Call> under_way_;
};

// 2 000 calls a second over four members, and a fifth one comes: no flood for it, and later its fair share.
TEST_P(Load, ANewMemberGetsNoFlood) {
  for (const Duration takes : {Duration(1ms), Duration(10ms), Duration(50ms)}) {
    crew = Crew();
    for (int i = 0; i < 4; ++i) crew.add("m" + std::to_string(i));
    renew();
    const auto even = [&](std::size_t) { return takes; };
    run(20s, 500us, even);
    crew.add("new");
    renew();
    const std::vector<int> first = run(5s, 500us, even);
    EXPECT_LE(first[4], 1.2 * 10000 / 5) << takes.count();
    EXPECT_GE(first[4], 0.5 * 10000 / 5) << takes.count();
    const std::vector<int> later = run(10s, 500us, even);
    for (const int got : later) EXPECT_NEAR(got, 4000, 800) << takes.count();
  }
}

// The same while it warms up: a new picker for each part of the weight, every half second.
TEST_P(Load, AWarmingMemberGetsMoreAndMore) {
  for (int i = 0; i < 4; ++i) crew.add("m" + std::to_string(i));
  renew();
  const auto even = [](std::size_t) { return Duration(10ms); };
  run(10s, 500us, even);
  FiguredEndpoint& fresh = crew.add("new");
  std::vector<int> steps;
  int all = 0;
  for (std::uint32_t part = 10; part <= 100; part += 10) {
    fresh.part = part;
    renew();
    steps.push_back(run(500ms, 500us, even)[4]);
    all += steps.back();
    const double fair = 1000.0 * part / (400 + part);
    EXPECT_LE(steps.back(), 1.2 * fair + 25) << part << " %";
  }
  EXPECT_LE(all, 1.2 * 10000 / 5);
  EXPECT_LT(steps.front() * 3, steps.back());
  for (std::size_t i = 3; i < steps.size(); ++i) EXPECT_GT(steps[i] + 30, steps[i - 3]) << i;
}

// New pickers all the time, as when members change every millisecond: nobody gains by being first.
TEST_P(Load, ShortLivedPickersKeepSharesToo) {
  for (const std::vector<std::uint32_t>& weights :
       {std::vector<std::uint32_t>{100, 100, 100, 100}, {40, 10, 20, 30}, {1009, 2003, 3001, 4007}}) {
    crew = Crew();
    double total = 0;
    for (const std::uint32_t weight : weights) {
      crew.add("m" + std::to_string(crew.members.size()), weight);
      total += weight;
    }
    crew.add("closed", 50).state = Health::closed;
    std::vector<int> got(5, 0);
    for (int round = 0; round < 1000; ++round) {
      renew();
      const std::vector<int> some = crew.counts(*picker, 4);
      for (std::size_t i = 0; i < 5; ++i) got[i] += some[i];
    }
    for (std::size_t i = 0; i < weights.size(); ++i)
      EXPECT_NEAR(got[i] / 4000.0, weights[i] / total, 0.05) << i << " of " << weights[0];
    EXPECT_EQ(got[4], 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Balancers, Load,
                         testing::Values(Kind{"ActiveWeight", make<cluster::ActiveWeight>},
                                         Kind{"P2c", make<cluster::P2c>},
                                         Kind{"WeightedRoundRobin", make<cluster::WeightedRoundRobin>},
                                         Kind{"WeightedRandom", make<cluster::WeightedRandom>}),
                         [](const auto& info) { return info.param.name; });

class LoadAware : public Load {};

// Unequal weights: calls in flight, and so calls, are in proportion. One that is slow gets fewer.
TEST_P(LoadAware, FollowsWeightsAndSpeed) {
  const std::vector<std::uint32_t> weights{50, 100, 150, 200};
  for (const std::uint32_t weight : weights) crew.add("m" + std::to_string(crew.members.size()), weight);
  renew();
  const std::vector<int> even = run(20s, 500us, [](std::size_t) { return Duration(20ms); });
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(even[i], 40000.0 * weights[i] / 500, 2000) << i;
  const std::vector<int> slow = run(20s, 500us, [](std::size_t i) { return Duration(i == 3 ? 200ms : 20ms); });
  EXPECT_LT(slow[3], even[3] / 3);
  EXPECT_GT(slow[3], 100) << "it is not forgotten";
  run(40s, 500us, [](std::size_t) { return Duration(20ms); });
  const std::vector<int> healed = run(20s, 500us, [](std::size_t) { return Duration(20ms); });
  EXPECT_NEAR(healed[3], 16000, 2500);
}

// One call after the other: nobody is in flight, and nobody starves.
TEST_P(LoadAware, CallsEverybodyWhenIdle) {
  crew.add("light", 1);
  crew.add("heavy", 9);
  renew();
  const std::vector<int> got = run(10s, 1ms, [](std::size_t) { return Duration(10us); });
  EXPECT_GT(got[0], 300);
  EXPECT_LT(got[0], 2000);
}

INSTANTIATE_TEST_SUITE_P(Balancers, LoadAware,
                         testing::Values(Kind{"ActiveWeight", make<cluster::ActiveWeight>},
                                         Kind{"P2c", make<cluster::P2c>}),
                         [](const auto& info) { return info.param.name; });

TEST(ActiveWeightTest, TakesTheFewestInFlightForTheirWeightOfTen) {
  Crew crew;
  for (std::uint32_t i = 0; i < 12; ++i) crew.add("m").figures.in_flight = 5;
  crew[7].figures.in_flight = 4;
  cluster::ActiveWeightPicker picker(crew.members, RandomSource(3));
  const std::vector<int> got = crew.counts(picker, 12000);
  EXPECT_NEAR(got[7], 10000, 200) << "it is among the ten in a row for 10 of 12 places to begin at";
  Crew weighted;
  weighted.add("light", 10).figures.in_flight = 2;
  weighted.add("heavy", 100).figures.in_flight = 19;
  cluster::ActiveWeightPicker other(weighted.members, RandomSource(3));
  EXPECT_EQ(weighted.counts(other, 100), (std::vector<int>{0, 100}));
  weighted[1].figures.in_flight = 21;
  EXPECT_EQ(weighted.counts(other, 100), (std::vector<int>{100, 0}));
  weighted[0].state = Health::closed;
  EXPECT_EQ(weighted.counts(other, 100), (std::vector<int>{0, 100}));
  weighted[1].figures.in_flight = 0xffffffff;
  weighted[0].state = Health::open;
  weighted[0].figures.in_flight = 0xfffffffe;
  EXPECT_EQ(weighted.counts(other, 100), (std::vector<int>{0, 100}));
}

// Whoever stands behind members that are busy or gone gets no more than others.
TEST(ActiveWeightTest, NeighboursOfBusyMembersGetNoMore) {
  Crew crew;
  for (int i = 0; i < 8; ++i) crew.add("m");
  crew[0].figures.in_flight = crew[1].figures.in_flight = 3;
  crew[4].state = Health::closed;
  cluster::ActiveWeightPicker picker(crew.members, RandomSource(5));
  const std::vector<int> got = crew.counts(picker, 50000);
  for (const std::size_t i : {2u, 3u, 5u, 6u, 7u}) EXPECT_NEAR(got[i], 10000, 450) << i;
  EXPECT_EQ(got[0] + got[1] + got[4], 0);
}

TEST(P2cTest, TakesTheOneThatPromisesTheEarlierAnswer) {
  ManualExecutor executor;
  const TimePoint now = executor.clock().now();
  Crew crew;
  const auto is = [&](std::size_t i, double peak, Duration age, std::uint32_t in_flight) {
    crew[i].figures.peak_latency_us = peak;
    crew[i].figures.peak_at = now - age;
    crew[i].figures.in_flight = in_flight;
  };
  crew.add("a");
  crew.add("b");
  cluster::P2cPicker picker(crew.members, RandomSource(3));
  is(0, 1000, 0s, 0);
  is(1, 900, 0s, 0);
  EXPECT_EQ(crew.counts(picker, 100), (std::vector<int>{0, 100}));
  is(1, 900, 0s, 1);
  EXPECT_EQ(crew.counts(picker, 100), (std::vector<int>{100, 0})) << "1 000 once, 900 twice";
  is(0, 100000, 200s, 0);
  is(1, 900, 0s, 0);
  EXPECT_EQ(crew.counts(picker, 100), (std::vector<int>{100, 0})) << "what was slow long ago is tried again";
  is(0, 100000, 1s, 0);
  EXPECT_EQ(crew.counts(picker, 100), (std::vector<int>{0, 100}));
  crew[0].figures = Stats();
  crew[0].figures.in_flight = 1;
  EXPECT_EQ(crew.counts(picker, 100), (std::vector<int>{0, 100})) << "not measured yet: as fast as the other one";
  crew[1].figures.in_flight = 2;
  EXPECT_EQ(crew.counts(picker, 100), (std::vector<int>{100, 0}));
  crew[0].state = Health::closed;
  EXPECT_EQ(crew.counts(picker, 100), (std::vector<int>{0, 100}));
}

}  // namespace
}  // namespace tenon::test
