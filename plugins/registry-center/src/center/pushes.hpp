#pragma once
#include <vector>

#include "listed.hpp"

namespace tenon::center {

/// When watchers are told: of the first change at once, of those that follow after a pause that grows with the list, so
/// that a thousand announcements one after the other do not send a thousand lists. Time is the control thread's alone:
/// a change on another one begins a pause that starts when start() is called there.
/// Pure: no clock, no lock.
class Pushes {
 public:
  static constexpr Duration longest = std::chrono::milliseconds(100);
  static Duration pause_after(std::size_t instances) noexcept;

  /// `service` has changed.
  void changed(Listed& service);
  /// Somebody must call advance() soon, for a pause that has just begun. True once for each time.
  bool take_news() noexcept { return std::exchange(news_, false); }
  /// Begins pauses, ends those that are over and tells whom they kept waiting. When to call it again; never: not until
  /// there is news. `idle` gets the services that are paused no longer: until then they must live.
  TimePoint advance(TimePoint now, std::vector<Listed*>& idle);

 private:
  static void tell(Listed& service) noexcept;
  std::vector<Listed*> paced_;  // not idle
  bool news_ = false;
};

}  // namespace tenon::center
