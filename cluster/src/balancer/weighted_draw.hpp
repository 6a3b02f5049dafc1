#pragma once
#include <cstdint>
#include <vector>

#include "balancer/random_source.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster {

/// The members' effective weights, by position.
std::vector<std::uint32_t> effective_weights(const Members& members);
/// What warm-up and recovery leave of each member's full share, in percent, whatever its weight; 0: it has none.
std::vector<std::uint32_t> equal_weights(const Members& members);

/// Draws positions in proportion to their weights in constant time: the alias method (Walker 1977) as Vose computes its
/// table (1991), in whole numbers.
class WeightedDraw {
 public:
  explicit WeightedDraw(std::vector<std::uint32_t> weights);

  /// A position that `accepts(position)` holds for; -1: for none that has a weight. When the drawn one is not accepted
  /// its share is spread over the others in proportion to their weights, which looks at all of them once.
  template <class Accepts>
  int pick(RandomSource& random, const Accepts& accepts) const noexcept {
    if (total_ == 0) return -1;
    const std::size_t drawn = draw(random);
    if (accepts(drawn)) return static_cast<int>(drawn);
    int chosen = -1;
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      if (weights_[i] == 0 || i == drawn || !accepts(i)) continue;
      seen += weights_[i];
      if (random.below(seen) < weights_[i]) chosen = static_cast<int>(i);
    }
    return chosen;
  }
  std::uint32_t weight(std::size_t position) const noexcept { return weights_[position]; }
  std::size_t size() const noexcept { return weights_.size(); }
  /// Of all.
  std::uint64_t total() const noexcept { return total_; }

 private:
  std::size_t draw(RandomSource& random) const noexcept {
    const auto column = static_cast<std::size_t>(random.below(columns_.size()));
    if (even_) return column;
    return random.below(total_) < columns_[column].share ? column : columns_[column].other;
  }

  struct Column {
    std::uint64_t share;  // of total_: how much of this column is its own position's
    std::size_t other;    // whose the rest is
  };
  std::vector<std::uint32_t> weights_;
  std::vector<Column> columns_;
  std::uint64_t total_ = 0;
  bool even_ = true;  // all weights are equal
};

}  // namespace tenon::cluster
