#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tenon/catalog.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster {

struct RoundRobinOptions {
  std::optional<std::uint32_t> start;
};
BOOST_DESCRIBE_STRUCT(RoundRobinOptions, (), (start))

/// nginx's smooth weighted round robin over some of the members: {5, 1, 1} gives a a b a c a a.
class SmoothWeights {
 public:
  SmoothWeights() = default;
  explicit SmoothWeights(std::vector<std::uint32_t> weights);
  /// The next among the positions `eligible(position)` accepts; -1: it accepts none that has a weight.
  template <class Eligible>
  int next(Eligible eligible) noexcept {
    int best = -1;
    std::int64_t total = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      if (weights_[i] == 0 || !eligible(i)) continue;
      current_[i] += weights_[i];
      total += weights_[i];
      if (best < 0 || current_[i] > current_[static_cast<std::size_t>(best)]) best = static_cast<int>(i);
    }
    if (best >= 0) current_[static_cast<std::size_t>(best)] -= total;
    return best;
  }
  std::size_t size() const noexcept { return weights_.size(); }

 private:
  std::vector<std::uint32_t> weights_;
  std::vector<std::int64_t> current_;
};

/// Balancer "round-robin": in turn, in proportion to the weights.
class RoundRobin final : public Balancer {
 public:
  using Options = RoundRobinOptions;
  static Result<std::unique_ptr<RoundRobin>> create(Options options, Environment environment);
  std::unique_ptr<Picker> over(const Members& members) const override;

 private:
  explicit RoundRobin(const Options& options) : options_(options) {}
  const Options options_;
};

/// The common case costs a load: the order is computed once. Only when the member whose turn it is cannot be used is
/// one chosen among those that can, again in proportion to their weights, so that a lost member's share is spread.
class RoundRobinPicker final : public Picker {
 public:
  RoundRobinPicker(const Members& members, std::uint64_t start);
  int pick(const Request& request, Tried tried) noexcept override;

 private:
  int substitute(Tried tried) noexcept;
  bool is_tried(std::size_t position, Tried tried) const noexcept {
    return position < 64 && (tried >> position & 1) != 0;
  }
  bool is_closed(std::size_t position) const noexcept { return members_[position]->health() == Health::closed; }

  const Members& members_;
  std::vector<std::uint32_t> order_;  // one round of positions; empty: too long a round, always computed
  std::size_t turn_ = 0;
  SmoothWeights live_;
};

}  // namespace tenon::cluster

template <>
struct tenon::Describe<tenon::cluster::RoundRobinOptions> {
  static constexpr auto members = tenon::members(tenon::member(
      "start", "position in the round of the first pick; default: random, or all clients would begin with the same"));
};
