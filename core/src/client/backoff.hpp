#pragma once
#include <algorithm>
#include <random>

#include "tenon/clock.hpp"

namespace tenon {

/// Pauses between connection attempts: exponential, 0.1 s x 2 up to 30 s, with jitter of +-75 %. gRPC's x 1.6 and
/// +-20 % let a third of two hundred clients that lost a server for a second come back within the same 100 ms.
class Backoff {
 public:
  explicit Backoff(std::uint32_t seed) : random_(seed) {}
  /// The next pause; always within [first * 0.25, last * 1.75].
  Duration next() {
    const double jittered = pause_ * std::uniform_real_distribution<double>(0.25, 1.75)(random_);
    pause_ = std::min(pause_ * 2, last);
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(jittered));
  }
  void reset() noexcept { pause_ = first; }

 private:
  static constexpr double first = 0.1;
  static constexpr double last = 30;
  std::minstd_rand random_;
  double pause_ = first;
};

}  // namespace tenon
