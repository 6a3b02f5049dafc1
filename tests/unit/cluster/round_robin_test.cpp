#include "round_robin.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "support/cluster_fakes.hpp"

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
    return std::make_unique<RoundRobinPicker>(members, start);
  }
  std::string pick(Picker& from, Tried tried = 0) {
    const int chosen = from.pick(request, tried);
    return chosen < 0 ? "-" : members.at(static_cast<std::size_t>(chosen))->instance().id;
  }
  std::string picks(Picker& from, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += pick(from);
    return all;
  }

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
  for (const std::uint64_t start : {0x7ffffffeull, 0x7fffffffull, 0xfffffffeull, 0xffffffffull, 0x7ffffffffffffffeull,
                                    0xffffffffffffffffull}) {
    const auto from = picker(start);
    std::map<std::string, int> seen;
    for (int i = 0; i < 9; ++i) ++seen[pick(*from)];
    EXPECT_EQ(seen["a"], 3) << start;
    EXPECT_EQ(seen["b"], 3) << start;
    EXPECT_EQ(seen["c"], 3) << start;
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
  add("a", 1000003);
  add("b", 999983);
  add("c", 4000000000u);  // sums beyond 32 bits
  const auto from = picker();
  std::map<std::string, int> seen;
  for (int i = 0; i < 100000; ++i) ++seen[pick(*from)];
  EXPECT_NEAR(seen["a"], 25, 2);
  EXPECT_NEAR(seen["b"], 25, 2);
  EXPECT_GT(seen["c"], 99900);
}

TEST_F(RoundRobinPicks, WeightZeroAndNotServingTakeNothing) {
  add("a");
  add("b", 0);
  add("c", 100, false);
  add("d");
  const auto from = picker();
  EXPECT_EQ(picks(*from, 6), "adadad");
  EXPECT_EQ(pick(*from, 0b1001), "a") << "the others may not take it even when all that may are tried";
}

TEST_F(RoundRobinPicks, NobodyIsChosenWhenNobodyTakesTraffic) {
  EXPECT_EQ(pick(*picker()), "-");
  add("a", 0);
  EXPECT_EQ(pick(*picker()), "-");
  add("b", 100, false);
  EXPECT_EQ(pick(*picker()), "-");
}

TEST_F(RoundRobinPicks, ClosedMembersAreSkippedUnlessAllAre) {
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
  for (int i = 0; i < 300; ++i) ++seen[pick(*from)];
  EXPECT_NEAR(seen["a"], 100, 5);
  EXPECT_NEAR(seen["b"], 100, 5);
  endpoints[1]->state = Health::open;
  EXPECT_EQ(pick(*from), "b");
}

TEST_F(RoundRobinPicks, UntriedMembersArePreferred) {
  add("a");
  add("b");
  add("c");
  const auto from = picker();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(pick(*from, 0b101), "b");
  EXPECT_NE(pick(*from, 0b111), "-") << "all were tried: one of them again";
}

TEST_F(RoundRobinPicks, MembersBeyondTheFirst64CountAsUntried) {
  for (int i = 0; i < 70; ++i) add("m" + std::to_string(i));
  const auto from = picker();
  for (int i = 0; i < 12; ++i) {
    const int chosen = from->pick(request, ~Tried{0});
    EXPECT_GE(chosen, 64);
    EXPECT_LT(chosen, 70);
  }
}

TEST_F(RoundRobinPicks, ClientsDoNotAllBeginWithTheSameMember) {
  for (int i = 0; i < 16; ++i) add("m" + std::to_string(i));
  std::map<int, int> first;
  // 1 in 16^39 to fail by chance.
  for (int i = 0; i < 40; ++i) {
    const auto from = RoundRobinPicker(members, std::random_device()()).pick(request, 0);
    ++first[from];
  }
  EXPECT_GT(first.size(), 1u);
}

}  // namespace
}  // namespace tenon::cluster
