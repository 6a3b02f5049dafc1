#pragma once
#include <memory>

#include "balancer/weighted_draw.hpp"
#include "tenon/catalog.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster {

/// Balancer "active-weight": looks at up to ten members in a row that can be used, from a random one on, and takes the
/// one with the fewest calls in flight for its weight; among equals it draws in proportion to their weights. Motan's
/// default of that name, with two differences: Motan does not look at weights, and it takes the first of equals, which
/// gives whoever stands behind a member that is not available a double share. (Calls in flight divided by weight is
/// nginx's and LVS's least-connection rule.)
class ActiveWeight final : public Balancer {
 public:
  using Options = NoOptions;
  static Result<std::unique_ptr<ActiveWeight>> create(Options options, Environment environment);
  std::unique_ptr<Picker> over(const Members& members) const override;

 private:
  const RandomSources randoms_;
};

class ActiveWeightPicker final : public Picker {
 public:
  static constexpr int looked_at = 10;
  ActiveWeightPicker(const Members& members, RandomSource random)
      : members_(members), draw_(effective_weights(members)), random_(random) {}
  int pick(const Request& request, const Eligible& eligible) noexcept override;

 private:
  std::uint64_t in_flight(std::size_t position) const noexcept { return members_[position]->stats().in_flight; }

  const Members& members_;
  const WeightedDraw draw_;
  RandomSource random_;
};

}  // namespace tenon::cluster
