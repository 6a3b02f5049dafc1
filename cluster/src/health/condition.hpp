#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "tenon/clock.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster {

/// Whether the outliers of a reference are passed over at all, or there are too few others: Outliers' word to its
/// conditions.
struct Panic {
  bool on = false;
};

/// What a reference thinks of one of its instances, apart from its connections: is it an outlier, and how much of its
/// weight does it get while it is new or recovers. Changed by Outliers only.
/// Threads: the reference's executor.
class Condition {
 public:
  /// Parts of the full weight that a new or recovering instance goes through.
  static constexpr std::uint32_t full = 10;

  explicit Condition(std::shared_ptr<const Panic> panic) noexcept : panic_(std::move(panic)) {}
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  /// It is not to be called, though it may be connected.
  bool out() const noexcept { return ejected_ && !panic_->on; }
  bool ejected() const noexcept { return ejected_; }
  /// When a call may try whether it has recovered. TimePoint() when it is not ejected.
  TimePoint ejected_until() const noexcept { return until_; }
  /// Of `weight` (Instance::weight), in hundredths: what it gets now. Never 0 but for weight 0.
  std::uint32_t effective(std::uint32_t weight) const noexcept {
    return std::min(weight, Endpoint::weight_limit / 100) * (100 / full) * part_;
  }

 private:
  friend class Outliers;
  const std::shared_ptr<const Panic> panic_;  // that of its Outliers, which it may outlive
  bool ejected_ = false;
  bool probing_ = false;     // a call is finding out whether it has recovered
  std::uint32_t times_ = 0;  // ejections in a row
  Duration length_{0};       // of the last one
  TimePoint until_{};
  TimePoint recovered_{};  // when it came back last
  std::uint32_t part_ = full;
  TimePoint growing_since_{};
  Duration growth_{0};            // how long its weight grows; 0: it does not
  std::uint64_t calls_seen_ = 0;  // Stats at the end of the last interval
  std::uint64_t faults_seen_ = 0;
};

}  // namespace tenon::cluster
