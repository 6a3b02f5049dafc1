#pragma once
#include <algorithm>

#include "tenon/clock.hpp"

namespace tenon::center {

/// Time as leases count it: without the times when this process itself stood still (stopped, starved, suspended). What
/// clients said meanwhile waits in sockets, so their silence then says nothing about them.
/// Time goes on by ticks; between two it stands still. Threads: one at a time.
class LeaseClock {
 public:
  /// `period`: of the ticks as they are planned.
  explicit LeaseClock(Duration period) noexcept : period_(period) {}
  /// A tick at `now` of the real clock. How long the process stood still before it; 0: it did not.
  Duration tick(TimePoint now) noexcept {
    if (last_ == TimePoint{}) last_ = now;
    const Duration gap = std::max(now - last_, Duration{0});
    last_ = now;
    const Duration paused = gap > 3 * period_ ? gap - period_ : Duration{0};
    now_ += gap - paused;
    return paused;
  }
  /// Since the first tick, which is at TimePoint{}.
  TimePoint now() const noexcept { return now_; }

 private:
  const Duration period_;
  TimePoint last_{};
  TimePoint now_{};
};

}  // namespace tenon::center
