#pragma once
#include <cstdint>
#include <vector>

#include "tenon/clock.hpp"
#include "tenon/registry.hpp"

namespace tenon::cluster {

/// What one registry says the instances are, with a grain of salt: older revisions are ignored, and a set that is
/// suddenly empty without anybody having left on purpose is believed only after a while.
/// Threads: one.
class KnownSet {
 public:
  enum class Outcome {
    taken,      ///< instances() is the snapshot's set
    stale,      ///< an older revision: ignored
    doubted,    ///< empty without explanation: instances() are those that did not leave on purpose, until doubt_ends()
  };
  /// `patience`: how long an unexplained empty set is not believed.
  explicit KnownSet(Duration patience) noexcept : patience_(patience) {}

  Outcome take(const Snapshot& snapshot, TimePoint now);
  /// When the doubt ends; `never` when there is none.
  TimePoint doubt_ends() const noexcept { return doubt_ends_; }
  /// Believes the empty set if its time has come; true when instances() changed.
  bool believe(TimePoint now) noexcept;

  bool arrived() const noexcept { return arrived_; }
  const std::vector<Instance>& instances() const noexcept { return instances_; }
  std::uint64_t revision() const noexcept { return revision_; }

 private:
  Duration patience_;
  std::vector<Instance> instances_;
  std::uint64_t revision_ = 0;
  bool arrived_ = false;
  TimePoint doubt_ends_ = never;
};

}  // namespace tenon::cluster
