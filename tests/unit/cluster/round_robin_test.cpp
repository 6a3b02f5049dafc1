#include "balancer/round_robin.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "balancer/weighted_draw.hpp"
#include "support/cluster_fakes.hpp"
#include "support/manual_executor.hpp"

namespace tenon::cluster {
namespace {

using fake::ScriptedEndpoint;

class RoundRobinPicks : public testing::Test {
 protected:
  void add(const std::string& id, std::uint32_t weight = 100, bool serving = true) {
    Instance made = fake::instance(id, weight);
    made.serving = serving;
    endpoints.push_back(std::make_shared<ScriptedEndpoint>(made));
    members.push_back(endpoints.back());
  }
  std::unique_ptr<Picker> picker(std::uint64_t start = 0) {
    return std::make_unique<RoundRobinPicker>(effective_weights(members), start);
  }
  std::string pick(Picker& from, Tried tried = 0, Eligible::Closed closed = Eligible::Closed::no) {
    const int chosen = from.pick(request, Eligible(members, tried, closed));
    return chosen < 0 ? "-" : members.at(static_cast<std::size_t>(chosen))->instance().id;
  }
  std::string picks(Picker& from, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += pick(from);
    return all;
  }

  test::ManualExecutor executor;
  fake::ListLog log;
  Members members;
  std::vector<std::shared_ptr<ScriptedEndpoint>> endpoints;
  Target target;
  Request request{target};
};

TEST_F(RoundRobinPicks, DifferentWeightsAreMixedSmoothly) {
  add("a", 5);
  add("b", 1);
  add("c", 1);
  EXPECT_EQ(picks(*picker(), 14), "aabacaaaabacaa");
}

TEST_F(RoundRobinPicks, AreSmoothWithACommonDivisorAndWithoutAKeptRound) {
  add("a", 500);
  add("b", 100);
  add("c", 100);
  EXPECT_EQ(picks(*picker(), 7), "aabacaa");
  members.clear();
  endpoints.clear();
  add("a", 500000);
  add("b", 100001);
  add("c", 100000);
  EXPECT_EQ(picks(*picker(), 7), "aabacaa");
  EXPECT_EQ(picks(*picker(2), 5), "bacaa") << "it is walked to the start";
}

TEST_F(RoundRobinPicks, WithoutWeightsEverybodyTakesTurns) {
  add("a", 5);
  add("b", 1);
  add("c", 0);
  add("d", 1000000);
  RoundRobinOptions options;
  options.start = 1;
  const auto balancer = RoundRobin::create(options, Environment{executor, log, executor.clock()});
  EXPECT_EQ(picks(*(*balancer)->over(members), 7), "bdabdab");
}

TEST_F(RoundRobinPicks, ManyEqualOnesTakeTurnsToo) {
  for (int i = 0; i < 1000; ++i) add("m");
  const auto from = picker(998);
  for (const int expected : {998, 999, 0, 1, 2})
    EXPECT_EQ(from->pick(request, Eligible(members, 0, Eligible::Closed::no)), expected);
}

TEST_F(RoundRobinPicks, EqualWeightsTakeTurns) {
  add("a", 7);
  add("b", 7);
  add("c", 7);
  EXPECT_EQ(picks(*picker(), 7), "abcabca");
  EXPECT_EQ(picks(*picker(1), 4), "bcab");
}

TEST_F(RoundRobinPicks, AnyStartIsAPositionOfTheRound) {
  add("a");
  add("b");
  add("c");
  for (const std::uint64_t start : {0ull, 0x7ffffffeull, 0x7fffffffull, 0xfffffffeull, 0xffffffffull,
                                    0x7ffffffffffffffeull, 0x7fffffffffffffffull, 0xffffffffffffffffull}) {
    const auto from = picker(start);
    std::string expected;
    for (std::uint64_t i = 0; i < 9; ++i) expected += static_cast<char>('a' + (start % 3 + i) % 3);
    EXPECT_EQ(picks(*from, 9), expected) << start;
    endpoints[0]->state = Health::closed;
    std::map<std::string, int> seen;
    for (int i = 0; i < 90; ++i) ++seen[pick(*from)];
    EXPECT_NEAR(seen["b"], 45, 1) << start;
    EXPECT_NEAR(seen["c"], 45, 1) << start;
    endpoints[0]->state = Health::open;
  }
}

TEST_F(RoundRobinPicks, RatiosHoldOverManyCalls) {
  add("a", 70);
  add("b", 20);
  add("c", 9);
  add("d", 1);
  const auto from = picker();
  std::map<std::string, int> seen;
  for (int i = 0; i < 100000; ++i) ++seen[pick(*from)];
  EXPECT_NEAR(seen["a"], 70000, 2100);
  EXPECT_NEAR(seen["b"], 20000, 600);
  EXPECT_NEAR(seen["c"], 9000, 270);
  EXPECT_NEAR(seen["d"], 1000, 30);
}

TEST_F(RoundRobinPicks, WeightsWithoutAShortRoundKeepTheirRatio) {
  add("a", 10007);
  add("b", 9973);
  add("c", 4000000000u);  // counts as 1000000
  const auto from = picker();
  std::map<std::string, int> seen;
  for (int i = 0; i < 100000; ++i) ++seen[pick(*from)];
  EXPECT_NEAR(seen["a"], 981, 2);
  EXPECT_NEAR(seen["b"], 978, 2);
  EXPECT_NEAR(seen["c"], 98041, 3);
}

TEST_F(RoundRobinPicks, WeightZeroAndNotServingTakeNothing) {
  add("a");
  add("b", 0);
  add("c", 100, false);
  add("d");
  const auto from = picker();
  EXPECT_EQ(picks(*from, 6), "adadad");
  EXPECT_EQ(pick(*from, 0b1001), "-") << "the others may not take it even when all that may are tried";
}

TEST_F(RoundRobinPicks, NobodyIsChosenWhenNobodyTakesTraffic) {
  EXPECT_EQ(pick(*picker()), "-");
  add("a", 0);
  EXPECT_EQ(pick(*picker()), "-");
  add("b", 100, false);
  EXPECT_EQ(pick(*picker()), "-");
}

TEST_F(RoundRobinPicks, ClosedMembersAreSkippedUnlessEligible) {
  add("a");
  add("b");
  add("c");
  endpoints[1]->state = Health::closed;
  const auto from = picker();
  std::map<std::string, int> seen;
  for (int i = 0; i < 300; ++i) ++seen[pick(*from)];
  EXPECT_EQ(seen["b"], 0);
  EXPECT_EQ(seen["a"] + seen["c"], 300);
  EXPECT_NEAR(seen["a"], 150, 5) << "its share is spread over the others";
  endpoints[0]->state = endpoints[2]->state = Health::closed;
  seen.clear();
  EXPECT_EQ(pick(*from), "-");
  for (int i = 0; i < 300; ++i) ++seen[pick(*from, 0, Eligible::Closed::too)];
  EXPECT_NEAR(seen["a"], 100, 5);
  EXPECT_NEAR(seen["b"], 100, 5);
  endpoints[1]->state = Health::open;
  EXPECT_EQ(pick(*from), "b");
}

TEST_F(RoundRobinPicks, TriedMembersAreLeftOut) {
  add("a");
  add("b");
  add("c");
  const auto from = picker();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(pick(*from, 0b101), "b");
  EXPECT_EQ(pick(*from, 0b111), "-");
}

TEST_F(RoundRobinPicks, MembersBeyondTheFirst64CountAsUntried) {
  for (int i = 0; i < 70; ++i) add("m" + std::to_string(i));
  const auto from = picker();
  for (int i = 0; i < 12; ++i) {
    const int chosen = from->pick(request, Eligible(members, ~Tried{0}, Eligible::Closed::no));
    EXPECT_GE(chosen, 64);
    EXPECT_LT(chosen, 70);
  }
}

TEST_F(RoundRobinPicks, ClientsDoNotAllBeginWithTheSameMember) {
  for (int i = 0; i < 16; ++i) add("m" + std::to_string(i));
  std::map<int, int> first;
  // 1 in 16^39 to fail by chance.
  const auto balancer = RoundRobin::create({}, Environment{executor, log, executor.clock()});
  for (int i = 0; i < 40; ++i)
    ++first[(*balancer)->over(members)->pick(request, Eligible(members, 0, Eligible::Closed::no))];
  EXPECT_GT(first.size(), 1u);
}

}  // namespace
}  // namespace tenon::cluster
