#pragma once
// What one measurement found, and how every load generator of this folder prints it.

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include "histogram.hpp"

namespace bench {

/// Monotonic nanoseconds. The clock of every figure.
inline std::uint64_t now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
}

/// The measured stretch of a run, after the warm-up. Calls that end inside count.
struct Window {
  std::uint64_t open = 0;
  std::uint64_t close = 0;

  /// `warmup` seconds from now, then `seconds` long.
  static Window after(double warmup, double seconds) noexcept {
    const std::uint64_t open = now() + static_cast<std::uint64_t>(warmup * 1e9);
    return Window{open, open + static_cast<std::uint64_t>(seconds * 1e9)};
  }
  double seconds() const noexcept { return static_cast<double>(close - open) / 1e9; }
};

/// What was run.
struct Workload {
  std::string peer;   ///< who answered: "tenon", "raw", "raw-pb"
  std::string mode;   ///< how it was driven: "coroutine", "sync", "callback", "epoll"
  unsigned size = 0;  ///< payload bytes each way
  unsigned outstanding = 1;
  unsigned connections = 1;
  unsigned providers = 1;

  /// "echo 100 B x 10000, coroutine, 2 providers".
  std::string text() const;
};

/// What came out.
struct Figures {
  Workload workload;
  Histogram latency;
  std::uint64_t errors = 0;
  double seconds = 0;

  double calls_per_second() const noexcept { return seconds > 0 ? static_cast<double>(latency.count()) / seconds : 0; }
};

/// One JSON object: workload, peer, mode, size, concurrency, connections, providers, calls, errors, seconds, qps, mb_s
/// (10^6 payload bytes a second, one way), mean_us, p50_us, p90_us, p99_us, p999_us, max_us.
std::string to_json(const Figures& figures);
/// {"results":[…]}.
std::string to_json(const std::vector<Figures>& results);

/// `text` as a JSON string with its quotes.
std::string quoted(const std::string& text);

}  // namespace bench
