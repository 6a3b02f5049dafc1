#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tenon/result.hpp"

namespace tenon::access {

struct LogFileOptions {
  std::uint64_t max_size = 0;  ///< bytes; 0: grows for ever
  std::uint32_t max_files = 0;
  std::uint32_t queue = 8192;
  bool operator==(const LogFileOptions&) const = default;
};

/// How many lines of a file were lost: dropped from the queue, or not written by the system (disk full). Outlives the
/// file. Threads: any.
class Losses {
 public:
  void add_failed() noexcept { failed_.fetch_add(1, std::memory_order_relaxed); }
  void set_dropped(std::uint64_t dropped) noexcept { dropped_.store(dropped, std::memory_order_relaxed); }
  /// Those since somebody last asked.
  std::uint64_t take() noexcept {
    const std::uint64_t all = failed_.load(std::memory_order_relaxed) + dropped_.load(std::memory_order_relaxed);
    std::uint64_t told = told_.load(std::memory_order_relaxed);
    while (told < all && !told_.compare_exchange_weak(told, all, std::memory_order_relaxed)) {
    }
    return told < all ? all - told : 0;
  }

 private:
  std::atomic<std::uint64_t> failed_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> told_{0};
};

/// A file that lines are appended to by a thread of its own. Filters that name the same file share one.
/// Threads: any. Ownership: its users' together; the end of the last one writes what waits.
class LogFile {
 public:
  /// The file of that path, opened if nobody in this process has it. Folders are made.
  /// Fails with: config (it cannot be opened, or is open with other options).
  static Result<std::shared_ptr<LogFile>> open(const std::string& path, const LogFileOptions& options);

  virtual ~LogFile() = default;
  /// Queues the line, which ends without a line break. Blocking: never; when the queue is full the oldest line goes.
  virtual void write(std::string_view line) noexcept = 0;
  /// Brought up to date by this call, and by the file's end.
  virtual std::shared_ptr<Losses> losses() noexcept = 0;
};

}  // namespace tenon::access
