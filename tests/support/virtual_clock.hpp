#pragma once
#include "tenon/clock.hpp"

namespace tenon::test {

/// Time that stands still until it is told: alarms fire in order, each at its own time.
class VirtualClock final : public Clock {
 public:
  VirtualClock() noexcept {
    alarms_.prev = alarms_.next = &alarms_;
    alarms_.at = never;
  }
  VirtualClock(const VirtualClock&) = delete;
  VirtualClock& operator=(const VirtualClock&) = delete;

  TimePoint now() const noexcept override { return now_; }
  void arm(Alarm& alarm, TimePoint at) noexcept override {
    alarm.at = at;
    Alarm* after = alarms_.next;
    while (after != &alarms_ && after->at <= at) after = after->next;
    alarm.prev = after->prev;
    alarm.next = after;
    after->prev->next = &alarm;
    after->prev = &alarm;
  }
  void cancel(Alarm& alarm) noexcept override {
    if (!alarm.next) return;
    alarm.prev->next = alarm.next;
    alarm.next->prev = alarm.prev;
    alarm.prev = alarm.next = nullptr;
  }

  /// When the next alarm is due; `never`: there is none.
  TimePoint next() const noexcept { return alarms_.next == &alarms_ ? never : alarms_.next->at; }
  void go_to(TimePoint to) {
    while (next() <= to && alarms_.next != &alarms_) {
      Alarm* due = alarms_.next;
      if (due->at > now_) now_ = due->at;
      cancel(*due);
      due->fire(due);
    }
    if (to > now_) now_ = to;
  }
  void go(Duration by) { go_to(now_ + by); }

 private:
  TimePoint now_{std::chrono::hours(1)};
  Alarm alarms_;  // the ring's head, sorted by time
};

}  // namespace tenon::test
