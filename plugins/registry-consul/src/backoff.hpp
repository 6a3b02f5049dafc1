#pragma once
#include <algorithm>
#include <random>

#include "tenon/clock.hpp"

namespace tenon::consul {

/// Pauses between attempts: each twice the one before, up to the longest, and up to half of it less by chance, so that
/// processes that lost their agent together do not come back together. Threads: one.
class Backoff {
 public:
  Backoff(Duration first, Duration longest)
      : first_(first), longest_(longest), next_(first), random_(std::random_device{}()) {}
  Duration next() {
    const Duration pause = next_;
    next_ = std::min(longest_, next_ * 2);
    return pause * std::uniform_int_distribution<int>(50, 100)(random_) / 100;
  }
  void reset() noexcept { next_ = first_; }

 private:
  const Duration first_;
  const Duration longest_;
  Duration next_;
  std::minstd_rand random_;
};

}  // namespace tenon::consul
