#pragma once
// What load tests look at.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace tenon::test {

/// Resident memory of this process.
inline std::size_t resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return static_cast<std::size_t>(std::atol(line.c_str() + 6));
  return 0;
}

/// The value below which `percent` of them lie. REQUIRES: not empty.
inline double percentile(std::vector<double> values, double percent) {
  const double rank = static_cast<double>(values.size()) * percent / 100;
  const std::size_t at = std::min(values.size() - 1, static_cast<std::size_t>(rank));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

inline double milliseconds_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
}

}  // namespace tenon::test
