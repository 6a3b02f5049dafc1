#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

/// Counts durations in log-linear buckets: 128 steps an octave, so a reported value is less than 0.8 % from the true
/// one. Covers all of 64 bits; adding allocates nothing.
/// Threads: one at a time.
class Histogram {
 public:
  Histogram() : counts_(buckets) {}

  void add(std::uint64_t nanoseconds) noexcept {
    ++counts_[index(nanoseconds)];
    ++count_;
    sum_ += nanoseconds;
    max_ = std::max(max_, nanoseconds);
  }
  void merge(const Histogram& other) noexcept {
    for (std::size_t i = 0; i < buckets; ++i) counts_[i] += other.counts_[i];
    count_ += other.count_;
    sum_ += other.sum_;
    max_ = std::max(max_, other.max_);
  }

  std::uint64_t count() const noexcept { return count_; }
  std::uint64_t max() const noexcept { return max_; }
  double mean() const noexcept { return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_); }
  /// The smallest recorded duration that at least the share `p` (0 … 1) of all durations do not exceed, in
  /// nanoseconds and to bucket precision; 0 when nothing was recorded.
  double quantile(double p) const noexcept {
    if (count_ == 0) return 0;
    const double wanted = p * static_cast<double>(count_);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets; ++i) {
      seen += counts_[i];
      if (counts_[i] != 0 && static_cast<double>(seen) >= wanted) return std::min(middle(i), static_cast<double>(max_));
    }
    return static_cast<double>(max_);
  }

 private:
  static constexpr int step_bits = 7;
  static constexpr std::uint64_t steps = 1u << step_bits;
  static constexpr std::size_t buckets = (64 - step_bits + 1) << step_bits;

  static std::size_t index(std::uint64_t v) noexcept {
    if (v < steps) return v;
    const int octave = std::bit_width(v) - 1 - step_bits;
    return ((static_cast<std::size_t>(octave) + 1) << step_bits) + ((v >> octave) & (steps - 1));
  }
  // Halfway between the least and the greatest value that falls into bucket i.
  static double middle(std::size_t i) noexcept {
    if (i < steps) return static_cast<double>(i);
    const std::size_t octave = (i >> step_bits) - 1;
    const double width = static_cast<double>(std::uint64_t{1} << octave);
    return static_cast<double>((steps + (i & (steps - 1))) << octave) + (width - 1) / 2;
  }

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace bench
