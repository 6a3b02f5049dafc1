#pragma once
#include <memory>

#include "balancer/weighted_draw.hpp"
#include "tenon/catalog.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster {

/// Balancer "p2c": draws two members in proportion to their weights and takes the one that promises the earlier answer:
/// the lower latency × (calls in flight per weight + 1 per mean weight). Power of two choices (Mitzenmacher 2001) with
/// Finagle's peak EWMA as latency: Stats::peak_latency_us, decayed to now. The second summand is the call that is to be
/// placed. It is not divided by the member's own weight: the draw has counted that already, and the lighter of two idle
/// members would never be called.
/// A member that has not answered yet counts with the latency of the other one, so that it gets no flood of calls.
/// Of two equal ones the first drawn is taken; and to go on from a heavy member to a light one takes a difference as
/// large as that of their chances to be drawn second, because small differences are chance, and the light one of two
/// would get half of the calls.
class P2c final : public Balancer {
 public:
  using Options = NoOptions;
  static Result<std::unique_ptr<P2c>> create(Options options, Environment environment);
  std::unique_ptr<Picker> over(const Members& members) const override;

 private:
  const RandomSources randoms_;
};

class P2cPicker final : public Picker {
 public:
  P2cPicker(const Members& members, RandomSource random);
  int pick(const Request& request, const Eligible& eligible) noexcept override;

 private:
  const Members& members_;
  const WeightedDraw draw_;
  double own_call_ = 0;  // 1 / mean weight
  RandomSource random_;
};

}  // namespace tenon::cluster
