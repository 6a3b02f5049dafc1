#include "access_line.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <ctime>

#include "tenon/utf8.hpp"

namespace tenon::access {

namespace {

// Bytes of the well-formed character `text` starts with; 0: there is none.
std::size_t character_size(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t size = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  return size > 0 && size <= text.size() && is_utf8(text.substr(0, size)) ? size : 0;
}

std::uint32_t code_point(std::string_view character) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(character[i])); };
  switch (character.size()) {
    case 1: return byte(0);
    case 2: return (byte(0) & 0x1f) << 6 | (byte(1) & 0x3f);
    case 3: return (byte(0) & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
    default: return 0x10000;  // nothing above needs a look
  }
}

bool must_be_escaped(std::uint32_t code) noexcept {
  return code < 0x20 || code == '"' || code == '\\' || (code >= 0x7f && code < 0xa0) ||
         (code >= 0x200e && code <= 0x200f) ||  // direction marks
         (code >= 0x2028 && code <= 0x202e) ||  // line and paragraph separators, embeddings, overrides
         (code >= 0x2066 && code <= 0x2069) ||  // isolates
         code == 0x061c || code == 0xfeff;
}

void append_escaped(std::uint32_t code, std::string& out) {
  switch (code) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  static constexpr char digits[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += digits[code >> shift & 15];
}

void append_number(std::int64_t number, std::string& out) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out.append(digits.data(), end.ptr);
}

// "2026-01-02T03:04:05.000006Z" in quotes.
void append_time(std::chrono::system_clock::time_point time, std::string& out) {
  const auto since = std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
  const std::time_t seconds = since / 1000000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 64> text;
  const int size = std::snprintf(text.data(), text.size(), "\"%04d-%02d-%02dT%02d:%02d:%02d.%06dZ\"",
                                 parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min,
                                 parts.tm_sec, static_cast<int>(since % 1000000));
  if (size > 0) out.append(text.data(), static_cast<std::size_t>(size));
}

}  // namespace

void append_text(std::string_view text, std::size_t limit, std::string& out) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = character_size(text.substr(at));
    const std::size_t taken = size == 0 ? 1 : size;
    if (at + taken > limit) {
      out += "... (";
      append_number(static_cast<std::int64_t>(text.size() - at), out);
      out += " more bytes)";
      break;
    }
    if (size == 0) {
      out += "\\ufffd";
    } else if (const std::uint32_t code = code_point(text.substr(at, size)); must_be_escaped(code)) {
      append_escaped(code, out);
    } else {
      out.append(text, at, size);
    }
    at += taken;
  }
  out += '"';
}

std::string line_of(const CallRecord& call, const std::vector<std::string>& headers, std::size_t max_value) {
  const CallInfo* const info = call.request->info;
  const Target& target = *call.request->target;
  std::string line;
  line.reserve(384);
  const auto text = [&](const char* name, std::string_view value) {
    line += name;
    append_text(value, max_value, line);
  };
  const auto number = [&](const char* name, std::int64_t value) {
    line += name;
    append_number(value, line);
  };
  line += "{\"time\":";
  append_time(call.time, line);
  if (info) line += info->side == Side::server ? ",\"side\":\"server\"" : ",\"side\":\"client\"";
  text(",\"service\":", target.service->text());
  text(",\"method\":", target.method->name);
  if (info && info->peer) {
    text(",\"peer\":", info->peer->peer);
    if (!info->peer->identity.empty()) text(",\"identity\":", info->peer->identity);
    text(",\"protocol\":", info->peer->protocol);
  }
  if (info && info->side == Side::client) number(",\"attempt\":", info->attempt);
  text(",\"code\":", to_string(call.error ? call.error->code() : Errc::ok));
  if (call.error) {
    text(",\"delivery\":", to_string(call.error->delivery()));
    text(",\"error\":", call.error->text());
  }
  number(",\"took_us\":", call.took.count() / 1000);
  if (info && info->request_bytes > 0) number(",\"request_bytes\":", static_cast<std::int64_t>(info->request_bytes));
  if (call.reply_bytes) number(",\"reply_bytes\":", static_cast<std::int64_t>(*call.reply_bytes));
  const Headers& sent = info && info->headers ? *info->headers : call.request->headers;
  const char* before = ",\"headers\":{";
  if (!sent.empty()) {
    for (const std::string& name : headers) {
      const std::string* const value = sent.find(name);
      if (!value) continue;
      text(before, name);
      text(":", *value);
      before = ",";
    }
  }
  line += *before == ',' && before[1] == '\0' ? "}}" : "}";
  return line;
}

}  // namespace tenon::access
