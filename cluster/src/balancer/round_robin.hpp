#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "balancer/random_source.hpp"
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
  /// Among those whose turn comes about equally soon, lets that position be the first.
  void favour(std::size_t position) noexcept;
  /// The next among the positions `accepts(position)` holds for; -1: for none that has a weight.
  template <class Accepts>
  int next(const Accepts& accepts) noexcept {
    int best = -1;
    std::int64_t total = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      if (weights_[i] == 0 || !accepts(i)) continue;
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

/// Balancer "round-robin": in turn, whatever the weights are. Weight 0 is none, and who warms up or recovers gets the
/// part of its turns that it has of its weight.
class RoundRobin final : public Balancer {
 public:
  using Options = RoundRobinOptions;
  static Result<std::unique_ptr<RoundRobin>> create(Options options, Environment environment);
  std::unique_ptr<Picker> over(const Members& members) const override;

 private:
  explicit RoundRobin(const Options& options) : options_(options) {}
  const Options options_;
  const RandomSources randoms_;
};

/// Balancer "weighted-round-robin": in turn, in proportion to the weights.
class WeightedRoundRobin final : public Balancer {
 public:
  using Options = RoundRobinOptions;
  static Result<std::unique_ptr<WeightedRoundRobin>> create(Options options, Environment environment);
  std::unique_ptr<Picker> over(const Members& members) const override;

 private:
  explicit WeightedRoundRobin(const Options& options) : options_(options) {}
  const Options options_;
  const RandomSources randoms_;
};

/// The common case costs a load: the order is computed once. Only when the member whose turn it is cannot be used is
/// one chosen among those that can, again in proportion to their weights, so that a lost member's share is spread.
class RoundRobinPicker final : public Picker {
 public:
  /// `start`: position in the round of the first pick, modulo the round (or what of it is worth walking to).
  RoundRobinPicker(std::vector<std::uint32_t> weights, std::uint64_t start);
  int pick(const Request& request, const Eligible& eligible) noexcept override;

 private:
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
