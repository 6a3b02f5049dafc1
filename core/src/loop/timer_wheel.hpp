#pragma once
#include <bitset>
#include <cstddef>

#include "tenon/clock.hpp"

namespace tenon {

/// A hashed timer wheel (Varghese & Lauck 1987, scheme 6): O(1) arm and cancel, alarms embedded in their owners. One
/// revolution is 2 s; later alarms stay in their slot for further revolutions.
/// Threads: one.
class TimerWheel {
 public:
  static constexpr Duration tick = std::chrono::milliseconds(4);
  static constexpr std::size_t slots = 512;

  explicit TimerWheel(TimePoint start) noexcept;
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  void arm(Alarm& alarm, TimePoint at) noexcept;
  void cancel(Alarm& alarm) noexcept;
  /// Fires what is due, in no particular order within a tick.
  void advance(TimePoint now) noexcept;
  /// When advance() should be called next: exact or too early, never too late; `never` when nothing is armed.
  TimePoint next() const noexcept;

 private:
  std::int64_t tick_of(TimePoint at) const noexcept;
  TimePoint start_;
  std::int64_t done_ = 0;  // every tick up to this one has been advanced over
  Alarm heads_[slots];
  std::bitset<slots> occupied_;
};

}  // namespace tenon
