#pragma once
#include <array>
#include <cstdint>

#include "tenon/clock.hpp"

namespace tenon::cluster {

/// Bounds how much retries add to the load of a service that is failing: over any ten seconds at most `percent` of the
/// calls plus `per_second` a second (Finagle's budget). Ten one-second slots, each the balance of what its calls put
/// in and its retries took out; an old slot is forgotten, so that a quiet hour does not pay for a storm.
/// Threads: one. Blocking: never; a comparison and an addition per call.
class RetryBudget {
 public:
  RetryBudget(std::uint32_t percent, std::uint32_t per_second, TimePoint now) noexcept;

  /// A call (not a retry) begins.
  void deposit(TimePoint now) noexcept {
    if (now >= slot_end_) turn(now);
    slots_[current_] += share_;
  }
  /// Takes what one more attempt costs; false: not affordable.
  bool spend(TimePoint now) noexcept;

 private:
  static constexpr std::int64_t attempt = 100;  // the cost of one, in the unit of `share_`
  static constexpr Duration slot_length = std::chrono::seconds(1);
  void turn(TimePoint now) noexcept;

  const std::int64_t share_;
  const std::int64_t per_second_;
  const TimePoint started_;
  std::array<std::int64_t, 10> slots_{};
  std::size_t current_ = 0;
  TimePoint slot_end_;
};

}  // namespace tenon::cluster
