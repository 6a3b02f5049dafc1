#pragma once
#include <cstdint>
#include <vector>

#include "tenon/clock.hpp"
#include "tenon/registry.hpp"

namespace tenon::cluster {

/// What one registry says about one service, read with care: registries lose their memory more often than all providers
/// die at once. Instances that vanish without having been withdrawn are kept for a while when nothing is left, or when
/// a large part went at once. Their endpoints show by themselves whether they are alive.
/// Threads: one.
class KnownInstances {
 public:
  struct Trust {
    Duration stale_limit;            ///< how long vanished instances are kept at most; 0: not at all
    std::uint32_t collapse_percent;  ///< losing more than this part at once is suspect
  };
  explicit KnownInstances(const Trust& trust) noexcept : trust_(trust) {}

  /// What the registry named at an earlier time, for as long as it says nothing. From then on they are instances like
  /// others that it named before. Once it has spoken: nothing happens.
  void recall(std::vector<Instance> instances);
  /// False: older than what is known already, ignored.
  bool apply(const Snapshot& snapshot, TimePoint now);
  /// Drops what has been kept long enough.
  void expire(TimePoint now);
  /// Of those that are kept although they are not listed, drops the ones for which `gone` holds.
  template <class F>
  void drop_kept(F gone) {
    std::erase_if(entries_, [&](const Entry& entry) { return entry.until != never && gone(entry.instance); });
  }
  /// When expire() has something to do; never: nothing is kept.
  TimePoint next_expiry() const noexcept;

  /// The registry has spoken.
  bool heard() const noexcept { return heard_; }
  std::size_t size() const noexcept { return entries_.size(); }
  /// How many are kept although the registry no longer lists them.
  std::size_t kept() const noexcept;
  template <class F>
  void each(F f) const {
    for (const Entry& entry : entries_) f(entry.instance);
  }
  std::vector<Instance> list() const;

 private:
  struct Entry {
    Instance instance;
    TimePoint until = never;  // set: vanished, kept until then
  };
  const Trust trust_;
  std::vector<Entry> entries_;
  std::uint64_t revision_ = 0;
  bool heard_ = false;
};

}  // namespace tenon::cluster
