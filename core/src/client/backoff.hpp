#pragma once
#include <algorithm>
#include <random>

#include "tenon/clock.hpp"

namespace tenon {

/// Pauses between connection attempts: exponential, 0.1 s x 2 up to the longest, with jitter of +-75 %. gRPC's x 1.6
/// and +-20 % let a third of two hundred clients that lost a server for a second come back within the same 100 ms.
class Backoff {
 public:
  Backoff(std::uint32_t seed, Duration longest)
      : random_(seed), longest_(std::chrono::duration<double>(longest).count()) {}
  /// The next pause; always within [0.1 s * 0.25, longest * 1.75].
  Duration next() {
    const double jittered = pause_ * std::uniform_real_distribution<double>(0.25, 1.75)(random_);
    pause_ = std::min(pause_ * 2, longest_);
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(jittered));
  }
  void reset() noexcept { pause_ = std::min(first, longest_); }

 private:
  static constexpr double first = 0.1;
  std::minstd_rand random_;
  const double longest_;
  double pause_ = std::min(first, longest_);
};

}  // namespace tenon
