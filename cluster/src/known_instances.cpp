#include "known_instances.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace tenon::cluster {

void KnownInstances::recall(std::vector<Instance> instances) {
  if (heard_ || !entries_.empty()) return;
  for (Instance& instance : instances) entries_.push_back({std::move(instance), never});
}

std::vector<Instance> KnownInstances::list() const {
  std::vector<Instance> all;
  all.reserve(entries_.size());
  for (const Entry& entry : entries_) all.push_back(entry.instance);
  return all;
}

bool KnownInstances::apply(const Snapshot& snapshot, TimePoint now) {
  if (heard_ && snapshot.revision < revision_) return false;
  heard_ = true;
  revision_ = snapshot.revision;

  std::unordered_set<std::string_view> ids;
  std::unordered_set<std::string_view> addresses;
  for (const Instance& instance : snapshot.instances) {
    ids.insert(instance.id);
    addresses.insert(instance.address);
  }
  const std::unordered_set<std::string_view> withdrawn(snapshot.withdrawn.begin(), snapshot.withdrawn.end());
  // Restarted at the same address under a new id: not lost.
  std::vector<Entry> lost;
  for (const Entry& entry : entries_)
    if (!ids.contains(entry.instance.id) && !addresses.contains(entry.instance.address) &&
        !withdrawn.contains(entry.instance.id))
      lost.push_back(entry);
  const bool suspect =
      snapshot.instances.empty() || lost.size() * 100 > std::uint64_t{trust_.collapse_percent} * entries_.size();

  entries_.clear();
  for (const Instance& instance : snapshot.instances) entries_.push_back({instance, never});
  if (!suspect || trust_.stale_limit <= Duration{0}) return true;
  for (Entry& entry : lost) {
    if (entry.until == never) entry.until = now + trust_.stale_limit;
    entries_.push_back(std::move(entry));
  }
  return true;
}

void KnownInstances::expire(TimePoint now) {
  std::erase_if(entries_, [now](const Entry& entry) { return entry.until <= now; });
}

TimePoint KnownInstances::next_expiry() const noexcept {
  TimePoint next = never;
  for (const Entry& entry : entries_) next = std::min(next, entry.until);
  return next;
}

std::size_t KnownInstances::kept() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.until != never; }));
}

}  // namespace tenon::cluster
