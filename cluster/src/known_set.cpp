#include "known_set.hpp"

#include <algorithm>

namespace tenon::cluster {

KnownSet::Outcome KnownSet::take(const Snapshot& snapshot, TimePoint now) {
  if (arrived_ && snapshot.revision < revision_) return Outcome::stale;
  arrived_ = true;
  revision_ = snapshot.revision;
  if (!snapshot.instances.empty() || patience_ <= Duration{0}) {
    doubt_ends_ = never;
    instances_ = snapshot.instances;
    return Outcome::taken;
  }
  std::erase_if(instances_, [&](const Instance& instance) {
    return std::ranges::find(snapshot.withdrawn, instance.id) != snapshot.withdrawn.end();
  });
  if (instances_.empty()) {
    doubt_ends_ = never;
    return Outcome::taken;
  }
  if (doubt_ends_ == never) doubt_ends_ = now + patience_;
  return Outcome::doubted;
}

bool KnownSet::believe(TimePoint now) noexcept {
  if (now < doubt_ends_ || doubt_ends_ == never) return false;
  doubt_ends_ = never;
  instances_.clear();
  return true;
}

}  // namespace tenon::cluster
