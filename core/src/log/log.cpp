#include "log/log.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>

namespace tenon {

namespace {

using Time = std::chrono::steady_clock::time_point;

// Causes are constants of the program; should one be made from a peer's text after all, memory stays bounded.
constexpr std::size_t max_causes = 512;

std::size_t sequence_length(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xc2 && first < 0xe0 ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  return length;
}

class LimitedLog final : public Log {
 public:
  LimitedLog(const LogOptions& options, LogSink sink)
      : level_(options.level), per_second_(options.per_second), sink_(std::move(sink)) {}
  ~LimitedLog() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto& [cause, window] : windows_) tell_suppressed(cause, window);
  }

  bool enabled(Level level) const noexcept override {
    return level_ != LogLevel::off && static_cast<int>(level) >= static_cast<int>(level_);
  }

  void write(Level level, std::string_view cause, std::string_view text) noexcept override {
    if (!enabled(level)) return;
    try {
      const std::string line = '[' + one_line(cause, 64) + "] " + one_line(text);
      const Time now = sink_.now();
      const std::lock_guard<std::mutex> lock(mutex_);
      sweep(now);
      Window& window = window_of(cause, now);
      if (per_second_ != 0 && window.lines >= per_second_) {
        ++window.suppressed;
        window.level = std::max(window.level, level);
        return;
      }
      ++window.lines;
      sink_.write(level, line);
    } catch (...) {
      // Out of memory, or the sink failed: a log must not bring its program down.
      failures_.fetch_add(1, std::memory_order_relaxed);
    }
  }

 private:
  struct Window {
    Time begin{};
    std::uint32_t lines = 0;
    std::uint64_t suppressed = 0;
    Level level = Level::trace;
  };

  Window& window_of(std::string_view cause, Time now) {
    auto found = windows_.find(cause);
    if (found == windows_.end()) {
      if (windows_.size() >= max_causes) cause = "other";
      found = windows_.try_emplace(std::string(cause), Window{now, 0, 0, Level::trace}).first;
    }
    if (now - found->second.begin >= std::chrono::seconds(1)) {
      tell_suppressed(found->first, found->second);
      found->second = Window{now, 0, 0, Level::trace};
    }
    return found->second;
  }

  // At most once a second: says what was suppressed under causes that have gone quiet, and forgets them.
  void sweep(Time now) {
    if (now - swept_ < std::chrono::seconds(1)) return;
    swept_ = now;
    for (auto it = windows_.begin(); it != windows_.end();) {
      if (now - it->second.begin < std::chrono::seconds(1)) {
        ++it;
        continue;
      }
      tell_suppressed(it->first, it->second);
      it = windows_.erase(it);
    }
  }

  void tell_suppressed(std::string_view cause, Window& window) {
    if (window.suppressed == 0) return;
    const std::string line =
        '[' + one_line(cause, 64) + "] ... " + std::to_string(window.suppressed) + " similar suppressed";
    window.suppressed = 0;
    sink_.write(window.level, line);
  }

  const LogLevel level_;
  const std::uint32_t per_second_;
  const LogSink sink_;
  std::mutex mutex_;
  std::map<std::string, Window, std::less<>> windows_;
  Time swept_{};
  std::atomic<std::uint64_t> failures_{0};
};

}  // namespace

std::string one_line(std::string_view text, std::size_t limit) {
  std::string line;
  line.reserve(std::min(text.size(), limit) + 8);
  const auto escape = [&](unsigned char c) {
    std::array<char, 8> hex{};
    std::snprintf(hex.data(), hex.size(), "\\x%02x", c);
    line += hex.data();
  };
  for (std::size_t i = 0; i < text.size();) {
    if (line.size() + 4 > limit) {
      line += " ... (" + std::to_string(text.size() - i) + " more bytes)";
      break;
    }
    const auto c = static_cast<unsigned char>(text[i]);
    const std::size_t length = sequence_length(text.substr(i));
    const bool c1 = length == 2 && c == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\r') {
      line += "\\r";
    } else if (c == '\t') {
      line += "\\t";
    } else if (length == 0 || c < 0x20 || c == 0x7f || c1) {
      escape(c);
      if (c1) escape(static_cast<unsigned char>(text[i + 1]));
    } else {
      line.append(text, i, length);
    }
    i += length == 0 ? 1 : length;
  }
  return line;
}

std::unique_ptr<Log> make_log(const LogOptions& options, LogSink sink) {
  return std::make_unique<LimitedLog>(options, std::move(sink));
}

}  // namespace tenon
