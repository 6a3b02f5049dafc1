#include "pushes.hpp"

#include <algorithm>

namespace tenon::center {

Duration Pushes::pause_after(std::size_t instances) noexcept {
  constexpr Duration shortest = std::chrono::milliseconds(5);
  constexpr Duration each = std::chrono::microseconds(100);
  const auto counted = static_cast<Duration::rep>(std::min<std::size_t>(instances, 1000));
  return std::min<Duration>(longest, shortest + each * counted);
}

void Pushes::tell(Listed& service) noexcept {
  service.stale = false;
  for (Watcher* watcher : service.watchers) watcher->changed();
}

void Pushes::changed(Listed& service) {
  if (service.watchers.empty()) return;
  if (service.pace != Listed::Pace::idle) {
    service.stale = true;
    return;
  }
  service.pace = Listed::Pace::starting;
  paced_.push_back(&service);
  news_ = true;
  tell(service);
}

TimePoint Pushes::advance(TimePoint now, std::vector<Listed*>& idle) {
  TimePoint next = never;
  std::erase_if(paced_, [&](Listed* service) {
    const bool over = service->pace == Listed::Pace::pausing && service->pause_ends <= now;
    if (over && !service->stale) {
      service->pace = Listed::Pace::idle;
      idle.push_back(service);
      return true;
    }
    if (over) tell(*service);
    if (over || service->pace == Listed::Pace::starting) {
      service->pace = Listed::Pace::pausing;
      service->pause_ends = now + pause_after(service->instances.size());
    }
    next = std::min(next, service->pause_ends);
    return false;
  });
  return next;
}

}  // namespace tenon::center
