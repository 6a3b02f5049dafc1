#pragma once
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/call.hpp"

namespace tenon::access {

/// `text` as a JSON string, in quotes, appended to `out`. Whatever it holds, the result is one line of valid UTF-8 that
/// looks like what it is: control characters, quotes, line separators and characters that reverse the direction of text
/// are escaped, bytes that are not UTF-8 become U+FFFD. Beyond `limit` bytes it is cut, with a note.
void append_text(std::string_view text, std::size_t limit, std::string& out);

/// One finished call.
struct CallRecord {
  std::chrono::system_clock::time_point time;  ///< of its end
  const Request* request = nullptr;
  const Error* error = nullptr;            ///< null: it went well
  std::optional<std::size_t> reply_bytes;  ///< nothing: not known
  std::chrono::nanoseconds took{0};
};

/// The call as a JSON object on one line, without the line break. What is not known is left out.
std::string line_of(const CallRecord& call, const std::vector<std::string>& headers, std::size_t max_value);

}  // namespace tenon::access
