#pragma once
#include <algorithm>
#include <random>

#include "tenon/clock.hpp"

namespace tenon::zk {

/// Pauses between attempts: each 1.6 times the one before, up to the longest, and 20 % more or less by chance, so that
/// processes that lost their server together do not come back together. Threads: one.
class Backoff {
 public:
  Backoff(Duration first, Duration longest)
      : first_(first), longest_(longest), next_(first), random_(std::random_device{}()) {}
  Duration next() {
    const Duration pause = next_;
    next_ = std::min(longest_, next_ * 8 / 5);
    return pause * std::uniform_int_distribution<int>(80, 120)(random_) / 100;
  }
  void reset() noexcept { next_ = first_; }

 private:
  const Duration first_;
  const Duration longest_;
  Duration next_;
  std::minstd_rand random_;
};

}  // namespace tenon::zk
