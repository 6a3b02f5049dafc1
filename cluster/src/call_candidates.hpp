#pragma once
#include "generation.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster {

/// The candidates of every call of one reference: the subset the router chose, in the balancer's order, which prefers
/// those not tried yet, then the subset the router names next; or the one instance the caller wants. Always looks at
/// the generation in force: a call that is sent again after the set changed starts over with the new one.
/// Ownership: the cluster's, which ends after its calls.
class CallCandidates final : public Candidates {
 public:
  explicit CallCandidates(Standing& standing) noexcept : standing_(standing) {}
  /// Null: closed, or nothing is known yet.
  void use(const Generation* generation) noexcept { generation_ = generation; }

  Endpoint* next(Request& request) noexcept override;
  std::vector<Endpoint*> all(Request& request) override;
  std::size_t size(const Request& request) const noexcept override;
  bool spend_retry() noexcept override;
  Error none_left(const Request& request) const override;

 private:
  int pick(const Generation::Subset& subset, const Request& request) const noexcept;
  std::string reason(const Request& request) const;

  Standing& standing_;
  const Generation* generation_ = nullptr;
};

}  // namespace tenon::cluster
