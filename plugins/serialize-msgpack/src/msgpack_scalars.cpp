// MsgpackReader: numbers, texts, and what nobody asked for.
#include <bit>
#include <cmath>
#include <limits>

#include "msgpack_reader.hpp"
#include "tenon/utf8.hpp"

namespace tenon::msgpack {

namespace {

struct Range {
  std::int64_t low;
  std::uint64_t high;
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
    case Kind::size: return {0, UINT64_MAX};
    default: return {INT64_MIN, INT64_MAX};
  }
}

bool is_f32(double value) {
  if (!std::isfinite(value)) return true;
  if (std::abs(value) > double{std::numeric_limits<float>::max()}) return false;
  return double{static_cast<float>(value)} == value;
}

}  // namespace

// The bytes behind the head of a text, of bytes or of an extension.
bool MsgpackReader::content(const Head& head, std::string_view& bytes) {
  // In front of an extension stands its type.
  const std::uint64_t size = head.number + (head.family == Family::extension ? 1 : 0);
  if (size > left())
    return refuse(describe(head.first) + " announces " + std::to_string(size) + " bytes, of which " +
                  std::to_string(left()) + " are there");
  bytes = {at_, static_cast<std::size_t>(size)};
  at_ += size;
  return true;
}

// True: the head is an integer within low … high.
bool MsgpackReader::fits(const Head& head, std::int64_t low, std::uint64_t high, std::string_view wanted) {
  if (head.family == Family::positive) {
    if (head.number <= high) return true;
    return refuse(describe(head.first) + " holds " + std::to_string(head.number) + ", which does not fit " +
                  std::string(wanted));
  }
  if (head.family != Family::negative) return wrong(head, wanted);
  const auto value = static_cast<std::int64_t>(head.number);
  if (value >= low) return true;
  return refuse(describe(head.first) + " holds " + std::to_string(value) + ", which does not fit " +
                std::string(wanted));
}

bool MsgpackReader::whole(std::int64_t& value, std::int64_t low, std::int64_t high, std::string_view wanted) {
  Head head;
  if (!next(head, wanted) || !fits(head, low, static_cast<std::uint64_t>(high), wanted)) return false;
  value = static_cast<std::int64_t>(head.number);
  return true;
}

bool MsgpackReader::boolean(bool& value) {
  Head head;
  if (!next(head, "boolean")) return false;
  if (head.family != Family::boolean) return wrong(head, "boolean");
  value = head.number == 1;
  return true;
}

bool MsgpackReader::integer(std::int64_t& value, Kind kind) {
  const Range range = range_of(kind);
  return whole(value, range.low, static_cast<std::int64_t>(range.high), to_string(kind));
}

bool MsgpackReader::unsigned_integer(std::uint64_t& value, Kind kind) {
  Head head;
  if (!next(head, to_string(kind)) || !fits(head, 0, range_of(kind).high, to_string(kind))) return false;
  value = head.number;
  return true;
}

bool MsgpackReader::floating(double& value, Kind kind) {
  Head head;
  if (!next(head, to_string(kind))) return false;
  if (head.family == Family::f32) {
    value = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(head.number)));
    return true;
  }
  if (head.family != Family::f64) return wrong(head, to_string(kind));
  value = std::bit_cast<double>(head.number);
  // Most dynamic languages have no other floats; what came from an f32 is one again.
  if (kind == Kind::f32 && !is_f32(value))
    return refuse(describe(head.first) + " holds a number that f32 cannot say exactly");
  return true;
}

bool MsgpackReader::string(std::string& value) {
  const bool is_key = at_key();
  Head head;
  std::string_view text;
  if (!next(head, "string")) return false;
  if (head.family != Family::string) return wrong(head, is_key ? "a key (string)" : "string");
  if (!content(head, text)) return false;
  if (!is_utf8(text)) return refuse("a text is not UTF-8");
  if (is_key) top().key = text;
  value.assign(text);
  return true;
}

bool MsgpackReader::bytes(std::string& value) {
  Head head;
  std::string_view content_bytes;
  if (!next(head, "bytes (bin)")) return false;
  if (head.family != Family::bytes) return wrong(head, "bytes (bin)");
  if (!content(head, content_bytes)) return false;
  value.assign(content_bytes);
  return true;
}

bool MsgpackReader::enumeration(std::int32_t& value, const EnumType& type) {
  Head head;
  if (!next(head, type.name)) return false;
  if (head.family != Family::string) {
    if (!fits(head, INT32_MIN, INT32_MAX, type.name)) return false;
    value = static_cast<std::int32_t>(static_cast<std::int64_t>(head.number));
    return true;
  }
  std::string_view name;
  if (!content(head, name)) return false;
  const Enumerator* known = type.find(name);
  if (!known) {
    std::string names;
    for (const Enumerator& e : type.enumerators) names += (names.empty() ? "" : ", ") + std::string(e.name);
    return refuse("a name is no " + std::string(type.name) + " (" + names.substr(0, 512) + ")");
  }
  value = known->number;
  return true;
}

bool MsgpackReader::duration(std::chrono::nanoseconds& value) {
  std::int64_t count = 0;
  if (!whole(count, INT64_MIN, INT64_MAX, "duration (nanoseconds)")) return false;
  value = std::chrono::nanoseconds(count);
  return true;
}

// One value of any kind, checked like everything else, without recursion.
bool MsgpackReader::skip() {
  std::array<std::uint64_t, max_depth> pending;  // values still to be skipped, at each depth
  int open = 0;
  do {
    if (open > 0) --pending[static_cast<std::size_t>(open - 1)];
    Head head;
    std::string_view skipped;
    if (!next(head, "a value")) return false;
    switch (head.family) {
      case Family::string:
      case Family::bytes:
      case Family::extension:
        if (!content(head, skipped)) return false;
        break;
      case Family::list:
      case Family::map: {
        const std::uint64_t values = head.family == Family::map ? 2 * head.number : head.number;
        if (!claim(head, values)) return false;
        if (nested_ + open >= max_depth) return refuse("nested deeper than 64 levels");
        pending[static_cast<std::size_t>(open++)] = values;
        break;
      }
      case Family::never_used: return wrong(head, "a value");
      default: break;  // the head is all
    }
    while (open > 0 && pending[static_cast<std::size_t>(open - 1)] == 0) --open;
  } while (open > 0);
  return true;
}

}  // namespace tenon::msgpack
