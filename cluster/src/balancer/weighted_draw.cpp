#include "balancer/weighted_draw.hpp"

#include <algorithm>
#include <numeric>

namespace tenon::cluster {

std::vector<std::uint32_t> effective_weights(const Members& members) {
  std::vector<std::uint32_t> weights;
  weights.reserve(members.size());
  for (const auto& member : members) weights.push_back(std::min(member->effective_weight(), Endpoint::weight_limit));
  return weights;
}

std::vector<std::uint32_t> equal_weights(const Members& members) {
  std::vector<std::uint32_t> shares;
  shares.reserve(members.size());
  for (const auto& member : members) {
    const std::uint32_t effective = member->effective_weight();
    const std::uint32_t full = std::clamp<std::uint32_t>(member->instance().weight, 1, Endpoint::weight_limit / 100);
    shares.push_back(effective == 0 ? 0 : std::clamp<std::uint32_t>(effective / full, 1, 100));
  }
  return shares;
}

// Every column is total_ high. Position i has weight * n of the n columns' height: what is more than a column fills up
// the columns of those that have less.
WeightedDraw::WeightedDraw(std::vector<std::uint32_t> weights) : weights_(std::move(weights)) {
  total_ = std::accumulate(weights_.begin(), weights_.end(), std::uint64_t{0});
  if (total_ == 0) return;
  const std::size_t count = weights_.size();
  std::vector<std::size_t> low;
  std::vector<std::size_t> high;
  columns_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    columns_.push_back({std::uint64_t{weights_[i]} * count, i});
    (columns_[i].share < total_ ? low : high).push_back(i);
    even_ = even_ && weights_[i] == weights_[0];
  }
  while (!low.empty()) {
    const std::size_t poor = low.back();
    const std::size_t rich = high.back();
    low.pop_back();
    columns_[poor].other = rich;
    columns_[rich].share -= total_ - columns_[poor].share;
    if (columns_[rich].share >= total_) continue;
    high.pop_back();
    low.push_back(rich);
  }
}

}  // namespace tenon::cluster
