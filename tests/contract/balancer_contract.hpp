#pragma once
// What every Balancer must do. Used with
//   INSTANTIATE_TEST_SUITE_P(RoundRobin, BalancerContract, testing::Values(BalancerCase{"name", make}), …);
// For one source file of each test program.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/scripted_endpoint.hpp"

namespace tenon::test {

struct BalancerCase {
  std::string name;
  std::function<std::unique_ptr<Balancer>()> make;
};

class BalancerContract : public testing::TestWithParam<BalancerCase> {
 protected:
  void over(const std::vector<std::uint32_t>& weights) {
    picker_.reset();
    members_.clear();
    endpoints_.clear();
    for (std::size_t i = 0; i < weights.size(); ++i) {
      endpoints_.push_back(std::make_shared<ScriptedEndpoint>("i" + std::to_string(i), weights[i]));
      members_.push_back(endpoints_.back());
    }
    balancer_ = GetParam().make();
    picker_ = balancer_->over(members_);
  }
  int pick(Tried tried = 0) { return picker_->pick(request_, tried); }
  std::vector<int> counts(int picks) {
    std::vector<int> counts(members_.size(), 0);
    for (int i = 0; i < picks; ++i) ++counts[static_cast<std::size_t>(pick())];
    return counts;
  }

  Target target_;
  Request request_{target_};
  std::vector<std::shared_ptr<ScriptedEndpoint>> endpoints_;
  Members members_;
  std::unique_ptr<Balancer> balancer_;
  std::unique_ptr<Picker> picker_;
};

TEST_P(BalancerContract, FindsNobodyAmongNobody) {
  over({});
  EXPECT_EQ(pick(), -1);
  EXPECT_EQ(pick(1), -1);
  over({0, 0});
  EXPECT_EQ(pick(), -1);
  endpoints_[0]->state = Health::closed;
  EXPECT_EQ(pick(), -1);
}

TEST_P(BalancerContract, KeepsRatiosWithinThreePercent) {
  for (const std::vector<std::uint32_t>& weights :
       {std::vector<std::uint32_t>{100, 100, 100}, {5, 1, 1}, {1, 2, 3, 4}, {100, 99}, {1000000, 999999, 1}}) {
    over(weights);
    constexpr int picks = 100000;
    const std::vector<int> got = counts(picks);
    double total = 0;
    for (const std::uint32_t weight : weights) total += weight;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double expected = double{picks} * weights[i] / total;
      EXPECT_NEAR(got[i], expected, expected * 0.03 + 2) << "member " << i << " of weight " << weights[i];
    }
  }
}

TEST_P(BalancerContract, GivesWeightZeroNothing) {
  over({10, 0, 10});
  EXPECT_EQ(counts(1000)[1], 0);
  // Not even when there is nobody else to be had.
  endpoints_[0]->state = endpoints_[2]->state = Health::closed;
  EXPECT_EQ(counts(1000)[1], 0);
  EXPECT_NE(pick(0b101), 1);
}

TEST_P(BalancerContract, SurvivesHugeWeights) {
  over(std::vector<std::uint32_t>(50, 0xffffffffu));
  for (const int got : counts(5000)) EXPECT_NEAR(got, 100, 3);
  over({0xffffffffu, 0xfffffffeu, 1});
  const std::vector<int> got = counts(10000);
  EXPECT_NEAR(got[0], 5000, 150);
  EXPECT_NEAR(got[1], 5000, 150);
}

TEST_P(BalancerContract, SkipsClosedUnlessAllAre) {
  over({1, 1, 1, 1});
  endpoints_[1]->state = Health::closed;
  endpoints_[2]->state = Health::busy;
  const std::vector<int> some = counts(900);
  EXPECT_EQ(some[1], 0);
  EXPECT_GT(some[2], 0);
  for (const auto& endpoint : endpoints_) endpoint->state = Health::closed;
  for (const int got : counts(400)) EXPECT_GT(got, 0);
  endpoints_[1]->state = Health::open;
  EXPECT_EQ(counts(100)[1], 100);
}

TEST_P(BalancerContract, SpreadsALostMembersShareByWeight) {
  over({5, 1, 1});
  endpoints_[0]->state = Health::closed;
  const std::vector<int> got = counts(7000);
  EXPECT_EQ(got[0], 0);
  EXPECT_NEAR(got[1], 3500, 105);
  EXPECT_NEAR(got[2], 3500, 105);
  endpoints_[0]->state = Health::open;
  EXPECT_NEAR(counts(7000)[0], 5000, 150);
}

TEST_P(BalancerContract, PrefersWhatWasNotTried) {
  over({100, 1, 1});
  for (int i = 0; i < 100; ++i) {
    const int second = pick(0b001);
    EXPECT_NE(second, 0);
    const int third = pick(0b001 | Tried{1} << second);
    EXPECT_EQ(third, 3 - second);
  }
  EXPECT_GE(pick(0b111), 0);  // all tried: any
}

TEST_P(BalancerContract, TakesMoreMembersThanTriedHasBits) {
  over(std::vector<std::uint32_t>(100, 1));
  for (const int got : counts(1000)) EXPECT_EQ(got, 10);
  EXPECT_GE(pick(~Tried{0}), 64);
}

}  // namespace tenon::test
