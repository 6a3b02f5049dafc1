#include "round_robin.hpp"

#include <numeric>
#include <random>

namespace tenon::cluster {

namespace {
/// Longer rounds are not kept: weights like 1000000 and 999999 have no short one.
constexpr std::uint64_t longest_round = 16384;
}  // namespace

SmoothWeights::SmoothWeights(std::vector<std::uint32_t> weights)
    : weights_(std::move(weights)), current_(weights_.size(), 0) {}

Result<std::unique_ptr<RoundRobin>> RoundRobin::create(Options options, Environment) {
  return std::unique_ptr<RoundRobin>(new RoundRobin(options));
}

std::unique_ptr<Picker> RoundRobin::over(const Members& members) const {
  return std::make_unique<RoundRobinPicker>(members, options_.start ? *options_.start : std::random_device()());
}

RoundRobinPicker::RoundRobinPicker(const Members& members, std::uint64_t start) : members_(members) {
  std::vector<std::uint32_t> weights;
  weights.reserve(members.size());
  for (const auto& member : members) weights.push_back(member->instance().serving ? member->instance().weight : 0);
  std::uint32_t divisor = 0;
  for (const std::uint32_t weight : weights) divisor = std::gcd(divisor, weight);
  std::uint64_t round = 0;
  for (std::uint32_t& weight : weights) {
    if (divisor > 1) weight /= divisor;
    round += weight;
  }
  if (round > 0 && round <= longest_round) {
    SmoothWeights once(weights);
    order_.reserve(round);
    for (std::uint64_t i = 0; i < round; ++i)
      order_.push_back(static_cast<std::uint32_t>(once.next([](std::size_t) { return true; })));
    turn_ = start % round;
  }
  live_ = SmoothWeights(std::move(weights));
}

int RoundRobinPicker::pick(const Request&, Tried tried) noexcept {
  if (order_.empty()) return substitute(tried);
  if (members_.size() == 1) return 0;  // there is no choice
  const std::uint32_t position = order_[turn_];
  if (++turn_ == order_.size()) turn_ = 0;
  if (!is_tried(position, tried) && !is_closed(position)) return static_cast<int>(position);
  return substitute(tried);
}

int RoundRobinPicker::substitute(Tried tried) noexcept {
  int chosen = live_.next([&](std::size_t i) { return !is_tried(i, tried) && !is_closed(i); });
  if (chosen < 0) chosen = live_.next([&](std::size_t i) { return !is_tried(i, tried); });
  if (chosen < 0) chosen = live_.next([&](std::size_t i) { return !is_closed(i); });
  if (chosen < 0) chosen = live_.next([](std::size_t) { return true; });
  return chosen;
}

}  // namespace tenon::cluster
