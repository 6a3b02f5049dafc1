#include "ha/latency_histogram.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace tenon::cluster {

namespace {

/// Below 8 µs a bucket for each; then eight for each power of two.
std::size_t bucket_of(std::uint64_t us) noexcept {
  if (us < 8) return us;
  const unsigned power = static_cast<unsigned>(std::bit_width(us)) - 1;
  return (power - 2) * 8 + (us >> (power - 3) & 7);
}

/// The first value above the bucket.
std::uint64_t end_of(std::size_t bucket) noexcept {
  if (bucket < 8) return bucket + 1;
  const std::size_t power = bucket / 8 + 2;
  return (8 + bucket % 8 + 1) << (power - 3);
}

}  // namespace

void LatencyHistogram::record(Duration took, TimePoint now) noexcept {
  if (now >= halve_at_) {
    const auto times = (now - halve_at_) / half_life + 1;
    halve(static_cast<unsigned>(std::min<std::int64_t>(times, 31)));
    halve_at_ += half_life * times;
  } else if (total_ >= most) {
    halve(1);
  }
  const std::int64_t us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
  const std::size_t bucket = bucket_of(static_cast<std::uint64_t>(std::max<std::int64_t>(us, 0)));
  ++buckets_[std::min(bucket, buckets_.size() - 1)];
  ++total_;
  if (--until_look_ == 0) look();
}

std::optional<Duration> LatencyHistogram::percentile() const noexcept {
  if (found_us_ == 0) return std::nullopt;
  return std::chrono::microseconds(found_us_);
}

void LatencyHistogram::halve(unsigned times) noexcept {
  total_ = 0;
  for (std::uint32_t& count : buckets_) total_ += count >>= times;
  until_look_ = 1;
}

// Every call while there are few, because each changes much then.
void LatencyHistogram::look() noexcept {
  const std::uint64_t needed = std::max<std::uint64_t>(100 / (100 - percent_), 10);
  until_look_ = total_ < 4 * renew ? 1 : renew;
  found_us_ = 0;
  if (total_ < needed) return;
  std::uint64_t below = 0;
  for (std::size_t bucket = 0; bucket < buckets_.size() && found_us_ == 0; ++bucket) {
    below += buckets_[bucket];
    if (below * 100 >= std::uint64_t{total_} * percent_) found_us_ = end_of(bucket);
  }
}

}  // namespace tenon::cluster
