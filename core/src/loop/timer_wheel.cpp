#include "loop/timer_wheel.hpp"

#include <algorithm>

namespace tenon {

TimerWheel::TimerWheel(TimePoint start) noexcept : start_(start) {
  for (Alarm& head : heads_) head.prev = head.next = &head;
}

std::int64_t TimerWheel::tick_of(TimePoint at) const noexcept {
  if (at <= start_) return 0;
  const Duration since = at - start_;
  return since / tick + (since % tick != Duration{0} ? 1 : 0);
}

void TimerWheel::arm(Alarm& alarm, TimePoint at) noexcept {
  if (alarm.armed()) cancel(alarm);
  alarm.at = at;
  const std::int64_t due = std::max(tick_of(at), done_ + 1);
  Alarm& head = heads_[static_cast<std::size_t>(due) % slots];
  alarm.prev = head.prev;
  alarm.next = &head;
  head.prev->next = &alarm;
  head.prev = &alarm;
  occupied_.set(static_cast<std::size_t>(due) % slots);
}

void TimerWheel::cancel(Alarm& alarm) noexcept {
  if (!alarm.armed()) return;
  alarm.prev->next = alarm.next;
  alarm.next->prev = alarm.prev;
  alarm.prev = alarm.next = nullptr;
  // The slot's bit stays set; advance() clears it when it finds the slot empty.
}

void TimerWheel::advance(TimePoint now) noexcept {
  const std::int64_t reached = now <= start_ ? 0 : (now - start_) / tick;
  // After a long pause one revolution visits every slot.
  const std::int64_t from = std::max(done_ + 1, reached - static_cast<std::int64_t>(slots) + 1);
  done_ = std::max(done_, reached);
  for (std::int64_t at = from; at <= reached; ++at) {
    const std::size_t slot = static_cast<std::size_t>(at) % slots;
    if (!occupied_.test(slot)) continue;
    Alarm& head = heads_[slot];
    Alarm due;  // what is to fire now, apart, so that firing may arm and cancel freely
    due.prev = due.next = &due;
    for (Alarm* alarm = head.next; alarm != &head;) {
      Alarm* following = alarm->next;
      if (alarm->at <= now) {
        cancel(*alarm);
        alarm->prev = due.prev;
        alarm->next = &due;
        due.prev->next = alarm;
        due.prev = alarm;
      }
      alarm = following;
    }
    if (head.next == &head) occupied_.reset(slot);
    while (due.next != &due) {
      Alarm* alarm = due.next;
      cancel(*alarm);
      alarm->fire(alarm);
    }
  }
}

TimePoint TimerWheel::next() const noexcept {
  for (std::size_t ahead = 1; ahead <= slots; ++ahead) {
    const std::int64_t at = done_ + static_cast<std::int64_t>(ahead);
    if (occupied_.test(static_cast<std::size_t>(at) % slots)) return start_ + at * tick;
  }
  return never;
}

}  // namespace tenon
