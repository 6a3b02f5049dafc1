#pragma once
// What each instance got of a measurement: for the bars of `tenon bench --per-instance`.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "figures.hpp"
#include "tenon/app.hpp"

namespace tenon::cli {

/// Counts attempts by instance (App::watch_attempts).
/// Threads: any.
class InstanceFigures {
 public:
  struct Share {
    std::string instance;  ///< its address
    std::uint64_t calls = 0;  ///< answered
    std::uint64_t errors = 0;
    double p99_us = 0;   ///< of those answered
    double percent = 0;  ///< of all attempts
  };

  /// Forgets everything; from now on attempts count that end inside the window.
  void begin(bench::Window window);
  void ended(const Instance& instance, Duration took, bool failed);
  /// By address.
  std::vector<Share> shares() const;

 private:
  struct Figures {
    bench::Histogram latency;
    std::uint64_t errors = 0;
  };
  mutable std::mutex mutex_;
  bench::Window window_;
  std::map<std::string, Figures> instances_;
};

/// A line for each: address, bar, share, calls, errors, p99. At most `columns` wide, 60 at least.
std::string bars_text(const std::vector<InstanceFigures::Share>& shares, std::size_t columns);
/// [{"instance":…,"calls":…,"errors":…,"share":…,"p99_us":…},…]
std::string to_json(const std::vector<InstanceFigures::Share>& shares);

}  // namespace tenon::cli
