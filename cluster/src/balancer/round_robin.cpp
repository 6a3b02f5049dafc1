#include "balancer/round_robin.hpp"

#include <algorithm>
#include <numeric>

#include "balancer/weighted_draw.hpp"

namespace tenon::cluster {

namespace {

/// How many looks at a member a new picker may cost. Longer rounds than it allows are not kept: weights like 1000000
/// and 999999 have no short one.
constexpr std::uint64_t most_looks = 32768;

constexpr auto everybody = [](std::size_t) { return true; };

std::uint64_t start_of(const RoundRobinOptions& options, const RandomSources& randoms) {
  return options.start ? *options.start : randoms.another().next();
}

}  // namespace

SmoothWeights::SmoothWeights(std::vector<std::uint32_t> weights)
    : weights_(std::move(weights)), current_(weights_.size(), 0) {}

void SmoothWeights::favour(std::size_t position) noexcept {
  const std::size_t count = weights_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t behind = (i + count - position % count) % count;
    current_[i] = static_cast<std::int64_t>(weights_[i] * (count - 1 - behind) / count);
  }
}

Result<std::unique_ptr<RoundRobin>> RoundRobin::create(Options options, Environment) {
  return std::unique_ptr<RoundRobin>(new RoundRobin(options));
}

std::unique_ptr<Picker> RoundRobin::over(const Members& members) const {
  return std::make_unique<RoundRobinPicker>(equal_weights(members), start_of(options_, randoms_));
}

Result<std::unique_ptr<WeightedRoundRobin>> WeightedRoundRobin::create(Options options, Environment) {
  return std::unique_ptr<WeightedRoundRobin>(new WeightedRoundRobin(options));
}

std::unique_ptr<Picker> WeightedRoundRobin::over(const Members& members) const {
  return std::make_unique<RoundRobinPicker>(effective_weights(members), start_of(options_, randoms_));
}

RoundRobinPicker::RoundRobinPicker(std::vector<std::uint32_t> weights, std::uint64_t start) {
  std::uint32_t divisor = 0;
  for (const std::uint32_t weight : weights) divisor = std::gcd(divisor, weight);
  std::uint64_t round = 0;
  bool plain = true;
  for (std::uint32_t& weight : weights) {
    if (divisor > 1) weight /= divisor;
    round += weight;
    plain = plain && weight <= 1;
  }
  live_ = SmoothWeights(weights);
  if (round == 0) return;
  if (plain) {
    for (std::size_t i = 0; i < weights.size(); ++i)
      if (weights[i] > 0) order_.push_back(static_cast<std::uint32_t>(i));
    live_.favour(static_cast<std::size_t>(mix(start) % weights.size()));
    turn_ = start % round;
    return;
  }
  const std::uint64_t affordable = most_looks / weights.size() + 1;
  if (round > affordable) {
    for (std::uint64_t steps = start % affordable; steps > 0; --steps) live_.next(everybody);
    return;
  }
  // It stands in later for who cannot be used, from anywhere in the round: with new pickers again and again it must not
  // begin with the heaviest each time.
  SmoothWeights anywhere = live_;
  const std::uint64_t place = mix(start) % round;
  order_.reserve(round);
  while (order_.size() < round) {
    if (order_.size() == place) anywhere = live_;
    order_.push_back(static_cast<std::uint32_t>(live_.next(everybody)));
  }
  live_ = std::move(anywhere);
  turn_ = start % round;
}

int RoundRobinPicker::pick(const Request&, const Eligible& eligible) noexcept {
  if (order_.empty()) return live_.next(eligible);
  const std::uint32_t position = order_[turn_];
  if (++turn_ == order_.size()) turn_ = 0;
  return eligible(position) ? static_cast<int>(position) : live_.next(eligible);
}

}  // namespace tenon::cluster
