#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "names.hpp"
#include "tenon/clock.hpp"

namespace tenon::center {

/// What an operator has set for one instance, laid over what its provider says.
struct Override {
  InstanceName of;
  std::optional<std::uint32_t> weight;
  std::optional<bool> serving;
};

/// All overrides. An instance's goes when its provider changes what it says, or when it has been gone for an hour (by
/// the time of leases); where there is a store, it is told what to forget. Pure: no clock, no lock.
class OperatorState {
 public:
  static constexpr Duration keeps = std::chrono::hours(1);

  /// Those of the store, at the start: their instances are not there yet.
  void load(std::vector<Override> overrides, TimePoint now);
  std::size_t size() const noexcept { return overrides_.size(); }

  bool has(const InstanceName& of) const { return overrides_.contains(of); }
  /// What becomes of the value of `of`, whose provider says `facts`, when this is set; members that say what the
  /// provider says, too, are left out.
  Override planned(const InstanceName& of, const Instance& facts, std::optional<std::uint32_t> weight,
                   std::optional<bool> serving) const;
  /// Sets it; one without weight and serving is taken off. What holds now; null: none.
  const Override* set(Override chosen);
  /// The instance is there (again). What holds now; null: none.
  const Override* announced(const InstanceName& of);
  /// Its provider has said something else since.
  void overruled(const InstanceName& of);
  /// The instance is gone.
  void lost(const InstanceName& of, TimePoint now);
  /// Drops those of instances that are gone for long.
  void expire(TimePoint now);

  /// Dropped since the last call, other than by set(): for the store.
  std::vector<InstanceName> take_dropped() { return std::exchange(dropped_, {}); }

 private:
  struct Kept {
    Override value;
    TimePoint gone = never;  ///< since when; never: it is there
  };
  std::map<InstanceName, Kept> overrides_;
  std::vector<InstanceName> dropped_;
};

}  // namespace tenon::center
