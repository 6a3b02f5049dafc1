#pragma once
#include "tenon/cluster.hpp"
#include "view.hpp"

namespace tenon::cluster {

/// One call's candidates: the members of the subset the router chose, in the picker's order.
/// Ownership: the view must be held for as long.
class Attempts final : public Candidates {
 public:
  explicit Attempts(View& view) noexcept : view_(view) {}
  Endpoint* next(const Request& request) noexcept override;
  std::size_t size() const noexcept override;
  bool spend_retry() noexcept override;
  Error none_left(const Request& request) const override;

 private:
  static constexpr int unchosen = -2;
  View& view_;
  int subset_ = unchosen;
  Tried tried_ = 0;
};

/// The error for a call to an instance that is not among the members.
Error no_such_instance(View& view, const Request& request);
/// Why there is nobody: what is known of the service and its registries, as the end of a sentence.
std::string why_nobody(const Common& common, const Members& members);

}  // namespace tenon::cluster
