#pragma once
#include <cstddef>
#include <cstdint>

#include "tenon/clock.hpp"

namespace tenon::center {

/// Self-preservation: when many fall silent at once, it is rather the network, or this center, that is at fault than
/// all of them. Then nobody is dropped for the time being, but not for ever.
/// Pure: no clock, no lock.
class Preservation {
 public:
  enum class Change : std::uint8_t { none, began, healed, gave_up };
  /// A loss of fewer is believed, however small the whole.
  static constexpr std::size_t at_least = 3;

  /// More than `percent` of all are many; it lasts at most `limit`. When only few are missing any more, these have
  /// `grace` to follow the others.
  Preservation(std::uint32_t percent, Duration limit, Duration grace) noexcept
      : percent_(percent), limit_(limit), grace_(grace) {}

  /// One look: of `all` instances `missing` belong to clients that are late. `overdue`: some would be dropped now.
  Change look(std::size_t missing, std::size_t all, bool overdue, TimePoint now) noexcept {
    if (missing < at_least || missing * 100 <= all * percent_) {
      spent_ = false;
      if (!active_) return Change::none;
      if (few_since_ == never) few_since_ = now;
      if (missing > 0 && now < few_since_ + grace_ && now < until_) return Change::none;
      active_ = false;
      return Change::healed;
    }
    few_since_ = never;
    if (active_ && now >= until_) {
      active_ = false;
      spent_ = true;  // not again before it has been well
      return Change::gave_up;
    }
    if (active_ || spent_ || !overdue) return Change::none;
    active_ = true;
    few_since_ = never;
    until_ = now + limit_;
    return Change::began;
  }
  bool active() const noexcept { return active_; }

 private:
  const std::uint32_t percent_;
  const Duration limit_;
  const Duration grace_;
  TimePoint few_since_ = never;  // while it is active
  TimePoint until_{};
  bool active_ = false;
  bool spent_ = false;
};

}  // namespace tenon::center
