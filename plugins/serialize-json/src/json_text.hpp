#pragma once
// How single values look in proto3 JSON.

#include <chrono>
#include <string>
#include <string_view>

#include "tenon/buffer.hpp"

namespace tenon::json {

/// Appends `text` (UTF-8) as a JSON string with its quotes.
void append_quoted(std::string_view text, OutBuffer& out);
/// Appends `bytes` as standard base64 with padding, without quotes.
void append_base64(std::string_view bytes, OutBuffer& out);
/// Accepts both alphabets, with or without padding. False: not base64.
bool parse_base64(std::string_view text, std::string& bytes);
/// "1.5s", "-0.000000001s": 0, 3, 6 or 9 digits after the point.
std::string duration_text(std::chrono::nanoseconds value);
/// False: no such text, more than 9 digits, or beyond 292 years.
bool parse_duration(std::string_view text, std::chrono::nanoseconds& value);

}  // namespace tenon::json
