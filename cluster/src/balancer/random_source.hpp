#pragma once
#include <atomic>
#include <cstdint>
#include <random>

namespace tenon::cluster {

/// Spreads every bit of `x` over all bits: the last step of splitmix64 (Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators", OOPSLA 2014). The same everywhere and for ever: members find their keys with it.
constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Random numbers for choices: splitmix64. Not for secrets.
/// Threads: one.
class RandomSource {
 public:
  explicit RandomSource(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept { return mix(state_ += 0x9e3779b97f4a7c15); }
  /// 0 … limit - 1. REQUIRES: limit > 0.
  std::uint64_t below(std::uint64_t limit) noexcept { return static_cast<std::uint64_t>((Wide{next()} * limit) >> 64); }

 private:
  __extension__ using Wide = unsigned __int128;
  std::uint64_t state_;
};

/// Makes sources with different sequences. The system's entropy is asked once, at the price of thousands of picks.
/// Threads: const and concurrent.
class RandomSources {
 public:
  RandomSources() {
    std::random_device entropy;
    seed_ = std::uint64_t{entropy()} << 32 | entropy();
  }
  RandomSource another() const noexcept {
    return RandomSource(mix(seed_.fetch_add(0xd1342543de82ef95, std::memory_order_relaxed)));
  }

 private:
  mutable std::atomic<std::uint64_t> seed_;
};

}  // namespace tenon::cluster
