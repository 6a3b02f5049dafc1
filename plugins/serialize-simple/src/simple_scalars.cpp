// SimpleReader: numbers and texts.
#include <bit>
#include <string>

#include "simple_reader.hpp"
#include "tenon/utf8.hpp"

namespace tenon::simple {

namespace {

struct Range {
  std::int64_t low;
  std::int64_t high;
};
constexpr Range range_of(Kind kind) {
  switch (kind) {
    case Kind::i8: return {INT8_MIN, INT8_MAX};
    case Kind::i16: return {INT16_MIN, INT16_MAX};
    case Kind::i32: return {INT32_MIN, INT32_MAX};
    case Kind::u8: return {0, UINT8_MAX};
    case Kind::u16: return {0, UINT16_MAX};
    case Kind::u32: return {0, UINT32_MAX};
    case Kind::u64:
    case Kind::size: return {0, INT64_MAX};
    default: return {INT64_MIN, INT64_MAX};
  }
}

std::string does_not_fit(std::int64_t value, Tag tag, std::string_view wanted) {
  return describe(tag) + " holds " + std::to_string(value) + ", which does not fit " + std::string(wanted);
}

}  // namespace

// `size` bytes, big-endian.
bool SimpleReader::fixed(std::size_t size, std::uint64_t& bits) {
  const auto left = static_cast<std::size_t>(end_ - at_);
  if (size > left)
    return refuse("needs " + std::to_string(size) + " bytes, of which " + std::to_string(left) + " are there");
  bits = 0;
  for (std::size_t i = 0; i < size; ++i) bits = bits << 8 | static_cast<unsigned char>(*at_++);
  return true;
}

// A varint of at most `bits` bits.
bool SimpleReader::zigzag(int bits, std::int64_t& value) {
  std::uint64_t raw = 0;
  for (int shift = 0;; shift += 7) {
    if (shift >= bits) return refuse("an integer of " + std::to_string(bits) + " bits is longer than it may be");
    if (at_ == end_) return refuse("the bytes end inside an integer");
    const auto byte = static_cast<unsigned char>(*at_++);
    const std::uint64_t part = byte & 0x7F;
    if (bits - shift < 7 && part >> (bits - shift) != 0)
      return refuse("an integer does not fit " + std::to_string(bits) + " bits");
    raw |= part << shift;
    if (byte < 0x80) break;
  }
  value = static_cast<std::int64_t>(raw >> 1 ^ (~(raw & 1) + 1));
  return true;
}

// A length and so many bytes.
bool SimpleReader::sized(std::string_view& content) {
  std::uint64_t size = 0;
  if (!fixed(4, size)) return false;
  const auto left = static_cast<std::size_t>(end_ - at_);
  if (size > left)
    return refuse("announces " + std::to_string(size) + " bytes, of which " + std::to_string(left) + " are there");
  content = {at_, static_cast<std::size_t>(size)};
  at_ += size;
  return true;
}

// The integer behind `tag`. The one byte of tag 6 has no sign of its own: `is_unsigned` decides.
bool SimpleReader::whole(Tag tag, std::string_view wanted, bool is_unsigned, std::int64_t& value) {
  std::uint64_t bits = 0;
  switch (tag) {
    case Tag::i8:
      if (!fixed(1, bits)) return false;
      value = is_unsigned ? static_cast<std::int64_t>(bits) : static_cast<std::int8_t>(bits);
      return true;
    case Tag::i16:
      if (!fixed(2, bits)) return false;
      value = static_cast<std::int16_t>(bits);
      return true;
    case Tag::i32: return zigzag(32, value);
    case Tag::i64: return zigzag(64, value);
    default: return wrong(tag, wanted);
  }
}

bool SimpleReader::boolean(bool& value) {
  Tag tag{};
  std::uint64_t bits = 0;
  if (!next(tag, "boolean")) return false;
  if (tag != Tag::boolean) return wrong(tag, "boolean");
  if (!fixed(1, bits)) return false;
  if (bits > 1) return refuse("a boolean is 0 or 1, not " + std::to_string(bits));
  value = bits == 1;
  return true;
}

bool SimpleReader::integer(std::int64_t& value, Kind kind) {
  Tag tag{};
  std::int64_t exact = 0;
  if (!next(tag, to_string(kind)) || !whole(tag, to_string(kind), false, exact)) return false;
  const Range range = range_of(kind);
  if (exact < range.low || exact > range.high) return refuse(does_not_fit(exact, tag, to_string(kind)));
  value = exact;
  return true;
}

bool SimpleReader::unsigned_integer(std::uint64_t& value, Kind kind) {
  Tag tag{};
  std::int64_t exact = 0;
  if (!next(tag, to_string(kind)) || !whole(tag, to_string(kind), kind == Kind::u8, exact)) return false;
  const Range range = range_of(kind);
  if (exact < range.low || exact > range.high) return refuse(does_not_fit(exact, tag, to_string(kind)));
  value = static_cast<std::uint64_t>(exact);
  return true;
}

bool SimpleReader::floating(double& value, Kind kind) {
  Tag tag{};
  std::uint64_t bits = 0;
  if (!next(tag, to_string(kind))) return false;
  if (tag == Tag::f32) {
    if (!fixed(4, bits)) return false;
    value = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    return true;
  }
  if (tag != Tag::f64 || kind == Kind::f32) return wrong(tag, to_string(kind));
  if (!fixed(8, bits)) return false;
  value = std::bit_cast<double>(bits);
  return true;
}

bool SimpleReader::string(std::string& value) {
  const bool is_key = depth_ > 0 && top().at_key;
  Tag tag{};
  std::string_view content;
  if (!next(tag, "string")) return false;
  if (tag != Tag::string) return wrong(tag, is_key ? "a key (string)" : "string");
  if (!sized(content)) return false;
  if (!is_utf8(content)) return refuse("a text is not UTF-8");
  if (is_key) top().key = content;
  value.assign(content);
  return true;
}

bool SimpleReader::bytes(std::string& value) {
  Tag tag{};
  std::string_view content;
  if (!next(tag, "bytes")) return false;
  if (tag != Tag::bytes) return wrong(tag, "bytes");
  if (!sized(content)) return false;
  value.assign(content);
  return true;
}

bool SimpleReader::enumeration(std::int32_t& value, const EnumType& type) {
  Tag tag{};
  if (!next(tag, type.name)) return false;
  if (tag != Tag::string) {
    std::int64_t number = 0;
    if (!whole(tag, type.name, false, number)) return false;
    if (number < INT32_MIN || number > INT32_MAX) return refuse(does_not_fit(number, tag, type.name));
    value = static_cast<std::int32_t>(number);
    return true;
  }
  std::string_view name;
  if (!sized(name)) return false;
  const Enumerator* known = type.find(name);
  if (!known) {
    std::string names;
    for (const Enumerator& e : type.enumerators) names += (names.empty() ? "" : ", ") + std::string(e.name);
    return refuse("a name is no " + std::string(type.name) + " (" + names.substr(0, 512) + ")");
  }
  value = known->number;
  return true;
}

bool SimpleReader::duration(std::chrono::nanoseconds& value) {
  Tag tag{};
  std::int64_t count = 0;
  if (!next(tag, "duration") || !whole(tag, "duration (nanoseconds)", false, count)) return false;
  value = std::chrono::nanoseconds(count);
  return true;
}

}  // namespace tenon::simple
