#include "ha/retry_budget.hpp"

#include <algorithm>
#include <numeric>

namespace tenon::cluster {

RetryBudget::RetryBudget(std::uint32_t percent, std::uint32_t per_second, TimePoint now) noexcept
    : share_(percent), per_second_(per_second), started_(now), slot_end_(now + slot_length) {}

bool RetryBudget::spend(TimePoint now) noexcept {
  if (now >= slot_end_) turn(now);
  // The floor grows with the first ten seconds, or a client that has just started could send them all at once.
  const std::int64_t seconds = std::min<std::int64_t>((now - started_) / slot_length + 1, slots_.size());
  const std::int64_t floor = per_second_ * attempt * seconds;
  if (std::accumulate(slots_.begin(), slots_.end(), floor) < attempt) return false;
  slots_[current_] -= attempt;
  return true;
}

void RetryBudget::turn(TimePoint now) noexcept {
  const std::int64_t passed = (now - slot_end_) / slot_length + 1;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(passed, slots_.size()); ++i) {
    current_ = (current_ + 1) % slots_.size();
    slots_[current_] = 0;
  }
  slot_end_ += passed * slot_length;
}

}  // namespace tenon::cluster
