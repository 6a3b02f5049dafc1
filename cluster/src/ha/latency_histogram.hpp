#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "tenon/clock.hpp"

namespace tenon::cluster {

/// What share of the latest calls took no longer than how long: buckets an eighth of a power of two wide, from 1 µs to
/// two minutes, whose counts are halved every 30 s or 2048 calls, so that it follows what the service does now.
/// Threads: one. Cost: 0.8 KB; a few additions for each call, a walk over the buckets every 32 calls.
class LatencyHistogram {
 public:
  /// `percent` in 1 … 99.
  LatencyHistogram(std::uint32_t percent, TimePoint now) noexcept : percent_(percent), halve_at_(now + half_life) {}

  void record(Duration took, TimePoint now) noexcept;
  /// What `percent` of them stayed below, at most an eighth too long; nothing: there are too few to tell (a percentile
  /// of 95 needs 20).
  std::optional<Duration> percentile() const noexcept;

 private:
  static constexpr Duration half_life = std::chrono::seconds(30);
  static constexpr std::uint32_t most = 4096;  // halved then: 2048 are left
  static constexpr std::uint32_t renew = 32;
  void halve(unsigned times) noexcept;
  void look() noexcept;

  std::array<std::uint32_t, 200> buckets_{};
  std::uint32_t total_ = 0;
  const std::uint32_t percent_;
  std::uint32_t until_look_ = 1;
  std::uint64_t found_us_ = 0;  // 0: too few
  TimePoint halve_at_;
};

}  // namespace tenon::cluster
