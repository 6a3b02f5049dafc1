#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tenon/cluster.hpp"
#include "traffic/reasons.hpp"

namespace tenon::cluster::traffic {

/// Shares calls out between groups in proportion to their weights. The sequence is spread as evenly as it can be
/// without being kept: with weights 1 and 99 the first gets every 99th to 101st call. It begins anywhere, so that
/// neither many clients nor one whose table is made anew again and again favour anybody.
/// A group none of whose instances can take a call now is passed over; the others share its calls.
/// Threads: its reference's executor.
class TrafficTable final : public Router::Table {
 public:
  struct Share {
    Members members;  ///< who take calls
    std::uint32_t weight = 1;  ///< not 0
  };
  /// No shares: nobody may serve. `start`: where the sequence begins, any number.
  TrafficTable(std::vector<Share> shares, std::vector<std::string> complaints, std::uint64_t start,
               Reasons reasons = Reasons({}));

  std::span<const Members> subsets() const noexcept override { return subsets_; }
  int choose(const Request& request) const noexcept override;
  int next(const Request& request, int subset) const noexcept override;
  std::string explain(const Request& request, const Endpoint& member) const override;
  std::span<const std::string> complaints() const noexcept override { return complaints_; }

 private:
  bool usable(std::size_t subset) const noexcept;
  template <class Eligible>
  int choose_among(std::uint64_t at, std::uint64_t total, Eligible eligible) const noexcept;

  std::vector<Members> subsets_;
  std::vector<std::uint32_t> weights_;
  const std::vector<std::string> complaints_;
  const Reasons reasons_;
  std::uint64_t total_ = 0;
  mutable std::uint64_t at_;         // where the sequence is, as a fraction of 2^64
  mutable std::uint64_t passed_at_;  // the same for calls whose group was passed over: theirs is no fair sample of at_
};

}  // namespace tenon::cluster::traffic
