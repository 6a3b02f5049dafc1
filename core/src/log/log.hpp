#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "tenon/core_export.hpp"
#include "tenon/log.hpp"
#include "tenon/options.hpp"
#include "tenon/result.hpp"

namespace tenon {

/// `text` on one line: control bytes (CR, LF, ESC, DEL, C1) and bytes that are not UTF-8 become
/// \n, \x1b …; cut at `limit` bytes with a note of how many are missing.
TENON_CORE std::string one_line(std::string_view text, std::size_t limit = 1024);

/// Where finished lines go, and what time it is; replaced in tests.
struct LogSink {
  std::function<void(Log::Level level, std::string_view line)> write;
  std::function<std::chrono::steady_clock::time_point()> now;
};

/// Writes to options.file (appending) or standard error. Threads: any. The lines of one cause beyond
/// options.per_second in a second are counted, and the count is written with the first line after it.
/// Fails with: config when the file cannot be opened.
TENON_CORE Result<std::unique_ptr<Log>> open_log(const LogOptions& options);
TENON_CORE std::unique_ptr<Log> make_log(const LogOptions& options, LogSink sink);

}  // namespace tenon
