#pragma once
#include <cstdint>
#include <string_view>

#include "tenon/export.hpp"

namespace tenon {

/// Where components write. Core sends it to the log the application chose.
/// Threads: any. Blocking: no (may drop under pressure, and says how much).
class TENON_SPI Log {
 public:
  enum class Level : std::uint8_t { trace, debug, info, warn, error };
  virtual ~Log();
  virtual bool enabled(Level level) const noexcept = 0;
  /// One line. `cause` is a short constant ("malformed-frame"): lines are limited to 10 per second per cause, and the
  /// number suppressed is reported. CR, LF, ESC and other control bytes of `text` are escaped, and it is cut at 1 KiB:
  /// text from peers may be passed as it is.
  virtual void write(Level level, std::string_view cause, std::string_view text) noexcept = 0;

  void info(std::string_view cause, std::string_view text) noexcept { write(Level::info, cause, text); }
  void warn(std::string_view cause, std::string_view text) noexcept { write(Level::warn, cause, text); }
  void error(std::string_view cause, std::string_view text) noexcept { write(Level::error, cause, text); }
};

}  // namespace tenon
