#pragma once
#include "generation.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster {

/// One call's candidates: the subset the router chose, in the balancer's order, which prefers those not tried yet; or the
/// one instance the caller wants.
/// Ownership: lives in the call's coroutine, which holds the generation.
class CallCandidates final : public Candidates {
 public:
  CallCandidates(const Generation& generation, const Request& request) noexcept
      : generation_(generation), subset_(request.instance ? nullptr : generation.choose(request)),
        only_(request.instance ? generation.find(*request.instance) : nullptr) {}

  Endpoint* next(const Request& request) noexcept override;
  std::size_t size() const noexcept override { return subset_ ? subset_->members->size() : only_ ? 1 : 0; }
  bool spend_retry() noexcept override;
  Error none_left(const Request& request) const override;

 private:
  std::string reason(const Request& request) const;

  const Generation& generation_;
  const Generation::Subset* const subset_;  // null: one instance is wanted, or the router allows none
  Endpoint* const only_;
  Tried tried_ = 0;
};

}  // namespace tenon::cluster
