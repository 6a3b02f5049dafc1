#pragma once
// What every Balancer must do. Used with
//   INSTANTIATE_TEST_SUITE_P(RoundRobin, BalancerContract, testing::Values(BalancerCase{"name", make}), …);
// For one source file of each test program.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/scripted_endpoint.hpp"

namespace tenon::test {

/// How picks come to keep their shares.
enum class Spread {
  exact,   ///< they are dealt out: within 1 % of each share
  random,  ///< they are drawn: within 1 % of all picks, or five standard deviations
  keyed,   ///< as drawn, when keys are: each pick has another Request::hash_key
};

struct BalancerCase {
  std::string name;
  std::function<std::unique_ptr<Balancer>()> make;
  Spread spread = Spread::exact;
  bool weighted = true;  ///< false: everybody who has a weight gets the same
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
  /// Of a new call.
  int pick(Tried tried = 0, Eligible::Closed closed = Eligible::Closed::no) {
    if (GetParam().spread == Spread::keyed) {
      keys_ += 0x9e3779b97f4a7c15;
      std::uint64_t key = (keys_ ^ keys_ >> 30) * 0xbf58476d1ce4e5b9;
      key = (key ^ key >> 27) * 0x94d049bb133111eb;
      request_.hash_key = std::max<std::uint64_t>(key ^ key >> 31, 1);
    }
    return pick_again(tried, closed);
  }
  /// Of the same call.
  int pick_again(Tried tried, Eligible::Closed closed = Eligible::Closed::no) {
    return picker_->pick(request_, Eligible(members_, tried, closed));
  }
  std::vector<int> counts(int picks, Eligible::Closed closed = Eligible::Closed::no) {
    std::vector<int> counts(members_.size(), 0);
    for (int i = 0; i < picks; ++i) {
      const int chosen = pick(0, closed);
      if (chosen >= 0) ++counts[static_cast<std::size_t>(chosen)];
    }
    return counts;
  }
  /// That of `picks` calls everybody who is not closed gets what is his.
  void expect_shares(int picks, const std::string& what) {
    const auto weight = [&](std::size_t i) -> double {
      if (endpoints_[i]->state == Health::closed) return 0;
      const double weight = std::min(members_[i]->effective_weight(), Endpoint::weight_limit);
      return GetParam().weighted ? weight : std::min(weight, 1.0);
    };
    double total = 0;
    for (std::size_t i = 0; i < members_.size(); ++i) total += weight(i);
    const std::vector<int> got = counts(picks);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const double share = weight(i) / total;
      const double expected = share * picks;
      const double tolerance = GetParam().spread == Spread::exact
                                   ? expected * 0.01 + 2
                                   : std::max(picks * 0.01, 5 * std::sqrt(expected * (1 - share))) + 2;
      if (share == 0) {
        EXPECT_EQ(got[i], 0) << "member " << i << " of " << what;
      } else {
        EXPECT_NEAR(got[i], expected, tolerance) << "member " << i << " of " << what;
      }
    }
  }
  static std::string text(const std::vector<std::uint32_t>& weights) {
    std::string text;
    for (const std::uint32_t weight : weights) text += (text.empty() ? "" : ", ") + std::to_string(weight);
    return "weights " + text;
  }

  Target target_;
  Request request_{target_};
  std::uint64_t keys_ = 0;
  std::vector<std::shared_ptr<ScriptedEndpoint>> endpoints_;
  Members members_;
  std::unique_ptr<Balancer> balancer_;
  std::unique_ptr<Picker> picker_;
};

TEST_P(BalancerContract, FindsNobodyAmongNobody) {
  over({});
  EXPECT_EQ(pick(), -1);
  EXPECT_EQ(pick(1), -1);
  EXPECT_EQ(pick(0, Eligible::Closed::too), -1);
  over({0, 0});
  EXPECT_EQ(pick(), -1);
  EXPECT_EQ(pick(0, Eligible::Closed::too), -1);
  endpoints_[0]->state = Health::closed;
  EXPECT_EQ(pick(), -1);
}

TEST_P(BalancerContract, FindsTheOnlyOne) {
  over({3});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(pick(), 0);
  EXPECT_EQ(pick(1), -1);
  endpoints_[0]->state = Health::closed;
  EXPECT_EQ(pick(), -1);
  EXPECT_EQ(pick(0, Eligible::Closed::too), 0);
}

TEST_P(BalancerContract, KeepsShares) {
  for (const std::vector<std::uint32_t>& weights :
       {std::vector<std::uint32_t>{100, 100, 100}, {5, 1, 1}, {1, 2, 3, 4}, {100, 99}, {1000000, 999999, 1}}) {
    over(weights);
    expect_shares(100000, text(weights));
  }
}

TEST_P(BalancerContract, KeepsSharesInEveryOrderOfTheMembers) {
  std::vector<std::uint32_t> weights{7, 20, 33, 40};
  do {
    over(weights);
    expect_shares(100000, text(weights));
    endpoints_[1]->state = Health::closed;
    expect_shares(10000, text(weights) + " without the second");
    if (HasFailure()) return;
  } while (std::next_permutation(weights.begin(), weights.end()));
}

TEST_P(BalancerContract, GivesWeightZeroNothing) {
  over({10, 0, 10});
  EXPECT_EQ(counts(1000)[1], 0);
  // Not even when there is nobody else to be had.
  EXPECT_EQ(pick(0b101), -1);
  endpoints_[0]->state = endpoints_[2]->state = Health::closed;
  EXPECT_EQ(pick(), -1);
  EXPECT_EQ(counts(1000, Eligible::Closed::too)[1], 0);
}

TEST_P(BalancerContract, SurvivesHugeWeights) {
  over(std::vector<std::uint32_t>(50, 0xffffffffu));
  expect_shares(5000, "50 huge ones");
  over({0xffffffffu, 0xfffffffeu, 1});
  expect_shares(10000, "two huge ones and a tiny one");
}

TEST_P(BalancerContract, SkipsClosedUnlessToldNotTo) {
  over({1, 1, 1, 1});
  endpoints_[1]->state = Health::closed;
  endpoints_[2]->state = Health::busy;
  const std::vector<int> some = counts(900);
  EXPECT_EQ(some[1], 0);
  EXPECT_GT(some[2], 0);
  for (const auto& endpoint : endpoints_) endpoint->state = Health::closed;
  EXPECT_EQ(pick(), -1);
  for (const int got : counts(400, Eligible::Closed::too)) EXPECT_GT(got, 0);
  endpoints_[1]->state = Health::open;
  EXPECT_EQ(counts(100)[1], 100);
}

TEST_P(BalancerContract, SpreadsALostMembersShareByWeight) {
  over({5, 1, 1});
  endpoints_[0]->state = Health::closed;
  expect_shares(7000, "5, 1, 1 without the 5");
  endpoints_[0]->state = Health::open;
  expect_shares(7000, "5, 1, 1 when it is back");
  over({8, 4, 2, 1, 5});
  endpoints_[1]->state = endpoints_[4]->state = Health::closed;
  expect_shares(20000, "8, 4, 2, 1, 5 without the 4 and the 5");
}

TEST_P(BalancerContract, LeavesOutWhatWasTried) {
  over({100, 1, 1});
  for (int i = 0; i < 100; ++i) {
    const int second = pick(0b001);
    EXPECT_NE(second, 0);
    const int third = pick(0b001 | Tried{1} << second);
    EXPECT_EQ(third, 3 - second);
  }
  EXPECT_EQ(pick(0b111), -1);
}

// Half of the calls are made a second time: nobody's neighbours get more of it than others.
TEST_P(BalancerContract, SpreadsSecondAttempts) {
  over({1, 1, 1, 1, 1});
  std::vector<int> seconds(5, 0);
  for (int i = 0; i < 20000; ++i) {
    const int first = pick();
    ASSERT_GE(first, 0);
    if (i % 2 == 0) continue;
    const int second = pick_again(Tried{1} << first);
    EXPECT_NE(second, first);
    ++seconds[static_cast<std::size_t>(second)];
  }
  for (const int got : seconds) EXPECT_NEAR(got, 2000, 250);
}

TEST_P(BalancerContract, TakesMoreMembersThanTriedHasBits) {
  over(std::vector<std::uint32_t>(100, 1));
  expect_shares(20000, "100 equal ones");
  for (int i = 0; i < 100; ++i) EXPECT_GE(pick(~Tried{0}), 64);
}

}  // namespace tenon::test
