#pragma once
#include <chrono>

#include "tenon/export.hpp"

namespace tenon {

using Duration = std::chrono::nanoseconds;
/// Monotonic time. Wall-clock jumps move nothing in Tenon.
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;
/// "No deadline".
inline constexpr TimePoint never = TimePoint::max();

/// A one-shot timer, embedded in whatever waits. Setting and cancelling allocate nothing.
/// Ownership: the holder keeps it alive while armed (cancel before destroying).
struct Alarm {
  Alarm* prev = nullptr;
  Alarm* next = nullptr;
  TimePoint at{};
  void (*fire)(Alarm*) = nullptr;  ///< runs on the clock's thread, disarmed; may re-arm or destroy the alarm
  bool armed() const noexcept { return next != nullptr; }
};

/// Time for one io thread. now() is read once per turn of the loop, so it costs a load, and lags by at most the
/// length of the turn. Tests use a virtual one (tests/support/virtual_clock.hpp).
/// Threads: the executor's only. Blocking: never.
class TENON_SPI Clock {
 public:
  virtual ~Clock();
  virtual TimePoint now() const noexcept = 0;
  /// Arms `alarm` (disarmed, fire set) to fire at or up to 5 ms after `at`; a time in the past fires on the next turn.
  virtual void arm(Alarm& alarm, TimePoint at) noexcept = 0;
  /// Disarms; harmless when not armed.
  virtual void cancel(Alarm& alarm) noexcept = 0;
};

}  // namespace tenon
