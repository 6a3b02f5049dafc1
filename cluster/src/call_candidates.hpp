#pragma once
#include "generation.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster {

class JoinedCluster;

/// One call's candidates: the subset the router chose, in the balancer's order, each at most once; or the one instance
/// the caller wants. Lives in the call's coroutine.
class CallCandidates final : public Candidates {
 public:
  CallCandidates(JoinedCluster& cluster, Generation& generation, const Request& request) noexcept
      : cluster_(cluster),
        generation_(&generation),
        subset_(request.instance ? nullptr : generation.choose(request)) {}

  Endpoint* next(const Request& request) noexcept override;
  std::size_t size() const noexcept override { return subset_ ? subset_->members->size() : 0; }
  bool spend_retry() noexcept override;
  Error none_left(const Request& request) const override;

 private:
  Endpoint* only(const Request& request) noexcept;
  std::string reason(const Request& request) const;

  JoinedCluster& cluster_;
  const Hold generation_;
  const Generation::Subset* const subset_;
  Tried tried_ = 0;
};

}  // namespace tenon::cluster
