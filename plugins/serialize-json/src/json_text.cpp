#include "json_text.hpp"

#include <array>
#include <charconv>
#include <cstdint>

namespace tenon::json {

namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view hex = "0123456789abcdef";

constexpr std::array<std::int8_t, 256> make_decoder() {
  std::array<std::int8_t, 256> table{};
  for (std::int8_t& entry : table) entry = -1;
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    table[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  table[static_cast<unsigned char>('-')] = 62;
  table[static_cast<unsigned char>('_')] = 63;
  return table;
}
constexpr std::array<std::int8_t, 256> decoder = make_decoder();

}  // namespace

void append_quoted(std::string_view text, OutBuffer& out) {
  out.push_back('"');
  std::size_t plain = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7F) continue;
    out.append(text.substr(plain, i - plain));
    plain = i + 1;
    switch (c) {
      case '"': out.append("\\\""); break;
      case '\\': out.append("\\\\"); break;
      case '\b': out.append("\\b"); break;
      case '\f': out.append("\\f"); break;
      case '\n': out.append("\\n"); break;
      case '\r': out.append("\\r"); break;
      case '\t': out.append("\\t"); break;
      default:
        out.append("\\u00");
        out.push_back(hex[c >> 4]);
        out.push_back(hex[c & 15]);
    }
  }
  out.append(text.substr(plain));
  out.push_back('"');
}

void append_base64(std::string_view bytes, OutBuffer& out) {
  const auto at = [bytes](std::size_t i) -> std::uint32_t {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0;
  };
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::uint32_t group = at(i) << 16 | at(i + 1) << 8 | at(i + 2);
    out.push_back(alphabet[group >> 18]);
    out.push_back(alphabet[group >> 12 & 63]);
    out.push_back(i + 1 < bytes.size() ? alphabet[group >> 6 & 63] : '=');
    out.push_back(i + 2 < bytes.size() ? alphabet[group & 63] : '=');
  }
}

bool parse_base64(std::string_view text, std::string& bytes) {
  std::string_view digits = text;
  for (int padding = 0; padding < 2 && digits.ends_with('='); ++padding) digits.remove_suffix(1);
  if (digits.size() != text.size() && text.size() % 4 != 0) return false;
  if (digits.size() % 4 == 1) return false;
  bytes.clear();
  bytes.reserve(digits.size() / 4 * 3 + 2);
  std::uint32_t group = 0;
  int bits = 0;
  for (const char c : digits) {
    const int value = decoder[static_cast<unsigned char>(c)];
    if (value < 0) return false;
    group = group << 6 | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes.push_back(static_cast<char>(group >> bits & 0xFF));
    }
  }
  return true;
}

std::string duration_text(std::chrono::nanoseconds value) {
  const std::int64_t count = value.count();
  const std::uint64_t magnitude =
      count < 0 ? ~static_cast<std::uint64_t>(count) + 1 : static_cast<std::uint64_t>(count);
  std::string text = (count < 0 ? "-" : "") + std::to_string(magnitude / 1'000'000'000);
  if (std::uint64_t nanos = magnitude % 1'000'000'000) {
    std::string fraction = std::to_string(nanos);
    fraction.insert(0, 9 - fraction.size(), '0');
    while (fraction.ends_with("000")) fraction.resize(fraction.size() - 3);
    text += '.' + fraction;
  }
  return text + 's';
}

bool parse_duration(std::string_view text, std::chrono::nanoseconds& value) {
  if (!text.ends_with('s')) return false;
  text.remove_suffix(1);
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction = point == std::string_view::npos ? std::string_view("0") : text.substr(point + 1);
  if (whole.empty() || fraction.empty() || fraction.size() > 9) return false;
  std::uint64_t seconds = 0;
  std::uint64_t nanos = 0;
  const auto number = [](std::string_view digits, std::uint64_t& out) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    return error == std::errc() && end == digits.data() + digits.size();
  };
  if (!number(whole, seconds) || !number(fraction, nanos)) return false;
  for (std::size_t i = fraction.size(); i < 9; ++i) nanos *= 10;
  std::int64_t total = 0;
  const auto s = negative ? -static_cast<std::int64_t>(seconds) : static_cast<std::int64_t>(seconds);
  const auto n = negative ? -static_cast<std::int64_t>(nanos) : static_cast<std::int64_t>(nanos);
  if (seconds > static_cast<std::uint64_t>(INT64_MAX) ||
      __builtin_mul_overflow(s, std::int64_t{1'000'000'000}, &total) || __builtin_add_overflow(total, n, &total))
    return false;
  value = std::chrono::nanoseconds(total);
  return true;
}

}  // namespace tenon::json
