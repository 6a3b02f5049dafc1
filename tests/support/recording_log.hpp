#pragma once
#include <mutex>
#include <string>
#include <vector>

#include "tenon/log.hpp"

namespace tenon::test {

/// Keeps every line for the test to look at. Threads: any.
class RecordingLog final : public Log {
 public:
  bool enabled(Level) const noexcept override { return true; }
  void write(Level, std::string_view cause, std::string_view text) noexcept override {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::string(cause) + ": " + std::string(text));
  }
  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  std::size_t count(std::string_view part) const {
    std::size_t found = 0;
    for (const std::string& line : lines()) found += line.find(part) != std::string::npos ? 1 : 0;
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace tenon::test
