#pragma once
#include <memory>

#include "balancer/weighted_draw.hpp"
#include "tenon/catalog.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster {

/// Balancer "random": each call draws, equal shares for everybody with a weight.
class Random final : public Balancer {
 public:
  using Options = NoOptions;
  static Result<std::unique_ptr<Random>> create(Options options, Environment environment);
  std::unique_ptr<Picker> over(const Members& members) const override;

 private:
  const RandomSources randoms_;
};

/// Balancer "weighted-random": each call draws, in proportion to the weights.
class WeightedRandom final : public Balancer {
 public:
  using Options = NoOptions;
  static Result<std::unique_ptr<WeightedRandom>> create(Options options, Environment environment);
  std::unique_ptr<Picker> over(const Members& members) const override;

 private:
  const RandomSources randoms_;
};

class RandomPicker final : public Picker {
 public:
  RandomPicker(std::vector<std::uint32_t> weights, RandomSource random) : draw_(std::move(weights)), random_(random) {}
  int pick(const Request&, const Eligible& eligible) noexcept override { return draw_.pick(random_, eligible); }

 private:
  const WeightedDraw draw_;
  RandomSource random_;
};

}  // namespace tenon::cluster
