#include "node_text.hpp"

#include <cstdint>
#include <optional>

namespace tenon::zk {

namespace {

constexpr std::string_view stream_header("\xAC\xED\x00\x05", 4);
constexpr char null_mark = '\x70';
constexpr char string_mark = '\x74';       // u16 length
constexpr char long_string_mark = '\x7C';  // u64 length
constexpr std::uint32_t replacement = 0xFFFD;

std::uint8_t byte(std::string_view text, std::size_t at) { return static_cast<std::uint8_t>(text[at]); }
bool continues(std::string_view text, std::size_t at) { return at < text.size() && (byte(text, at) & 0xC0) == 0x80; }
bool high_half(std::uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool low_half(std::uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

// One UTF-8 sequence of up to `most` bytes. Java's halves of a pair pass, as does its two-byte zero.
void append(std::string& out, std::uint32_t code, bool two_byte_zero = false) {
  const auto put = [&out](std::uint32_t value) { out.push_back(static_cast<char>(value)); };
  if (code < 0x80 && !(two_byte_zero && code == 0)) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

// The code unit at `at`, which moves behind it. Nothing: not modified UTF-8.
std::optional<std::uint32_t> take_unit(std::string_view text, std::size_t& at) {
  const std::uint32_t first = byte(text, at);
  if (first < 0x80) {
    ++at;
    return first;
  }
  if ((first & 0xE0) == 0xC0 && continues(text, at + 1)) {
    const std::uint32_t unit = (first & 0x1F) << 6 | (byte(text, at + 1) & 0x3F);
    at += 2;
    return unit;
  }
  if ((first & 0xF0) == 0xE0 && continues(text, at + 1) && continues(text, at + 2)) {
    const std::uint32_t unit = (first & 0x0F) << 12 | (byte(text, at + 1) & 0x3Fu) << 6 | (byte(text, at + 2) & 0x3F);
    at += 3;
    return unit;
  }
  return {};
}

std::optional<std::string> from_modified_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    auto unit = take_unit(text, at);
    if (!unit) return {};
    if (high_half(*unit) && at < text.size()) {
      std::size_t behind = at;
      const auto second = take_unit(text, behind);
      if (second && low_half(*second)) {
        append(out, 0x10000 + ((*unit - 0xD800) << 10 | (*second - 0xDC00)));
        at = behind;
        continue;
      }
    }
    append(out, high_half(*unit) || low_half(*unit) ? replacement : *unit);
  }
  return out;
}

// The code point at `at`, which moves behind it; U+FFFD and one byte for what is none.
std::uint32_t take_code_point(std::string_view text, std::size_t& at) {
  const std::size_t begin = at;
  const std::uint32_t first = byte(text, at);
  const auto fail = [&] {
    at = begin + 1;
    return replacement;
  };
  if (first < 0xF0) {
    const auto unit = take_unit(text, at);
    const bool overlong = unit && ((at - begin == 2 && *unit < 0x80) || (at - begin == 3 && *unit < 0x800));
    return !unit || overlong || high_half(*unit) || low_half(*unit) ? fail() : *unit;
  }
  if (first > 0xF4 || !continues(text, at + 1) || !continues(text, at + 2) || !continues(text, at + 3)) return fail();
  const std::uint32_t code = (first & 0x07) << 18 | (byte(text, at + 1) & 0x3Fu) << 12 |
                             (byte(text, at + 2) & 0x3Fu) << 6 | (byte(text, at + 3) & 0x3Fu);
  if (code < 0x10000 || code > 0x10FFFF) return fail();
  at += 4;
  return code;
}

std::string to_modified_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::uint32_t code = take_code_point(text, at);
    if (code >= 0x10000) {
      append(out, 0xD800 + ((code - 0x10000) >> 10));
      append(out, 0xDC00 + ((code - 0x10000) & 0x3FF));
    } else {
      append(out, code, true);
    }
  }
  return out;
}

Error malformed(std::string_view what) {
  return Error(Errc::malformed, "the node's data begins like a serialised Java object, but " + std::string(what));
}

}  // namespace

Result<NodeText> read_node_text(std::string_view data) {
  if (!data.starts_with(stream_header)) return NodeText{std::string(data), TextEncoding::plain};
  data.remove_prefix(stream_header.size());
  if (data.empty()) return malformed("ends after its header");
  const char mark = data.front();
  data.remove_prefix(1);
  if (mark == null_mark) return NodeText{"", TextEncoding::java};
  if (mark != string_mark && mark != long_string_mark) return malformed("it is no string");
  const std::size_t width = mark == string_mark ? 2 : 8;
  if (data.size() < width) return malformed("ends within its length");
  std::uint64_t length = 0;
  for (std::size_t at = 0; at < width; ++at) length = length << 8 | byte(data, at);
  data.remove_prefix(width);
  if (length > data.size()) return malformed("ends before the string does");
  auto text = from_modified_utf8(data.substr(0, length));
  if (!text) return malformed("its string is not in Java's encoding");
  return NodeText{std::move(*text), TextEncoding::java};
}

std::string write_node_text(std::string_view text, TextEncoding encoding) {
  if (encoding == TextEncoding::plain) return std::string(text);
  const std::string body = to_modified_utf8(text);
  const bool is_long = body.size() > 0xFFFF;
  std::string data(stream_header);
  data.push_back(is_long ? long_string_mark : string_mark);
  for (std::size_t shift = is_long ? 64 : 16; shift > 0; shift -= 8)
    data.push_back(static_cast<char>(std::uint64_t{body.size()} >> (shift - 8) & 0xFF));
  return data + body;
}

}  // namespace tenon::zk
