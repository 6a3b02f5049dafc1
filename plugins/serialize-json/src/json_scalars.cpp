// JsonReader: numbers, texts and what proto3 JSON writes as texts.
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "json_reader.hpp"
#include "json_text.hpp"

namespace tenon::json {

namespace bj = boost::json;

namespace {

template <class Number>
bool whole_text(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// A number written with a point or exponent that is nevertheless whole, and small enough to be exact.
bool whole_double(double value) { return std::trunc(value) == value && std::abs(value) <= 9007199254740992.0; }

std::int64_t highest(Kind kind) {
  switch (kind) {
    case Kind::i8: return INT8_MAX;
    case Kind::i16: return INT16_MAX;
    case Kind::i32: return INT32_MAX;
    default: return INT64_MAX;
  }
}
std::uint64_t highest_unsigned(Kind kind) {
  switch (kind) {
    case Kind::u8: return UINT8_MAX;
    case Kind::u16: return UINT16_MAX;
    case Kind::u32: return UINT32_MAX;
    default: return UINT64_MAX;
  }
}

}  // namespace

bool JsonReader::boolean(bool& value) {
  if (failed()) return false;
  std::string_view content;
  if (at_key_ && text(content) && (content == "true" || content == "false")) {
    value = content == "true";
    return done();
  }
  if (at_key_ || !next_ || !next_->is_bool()) return wrong("true or false");
  value = next_->get_bool();
  return done();
}

bool JsonReader::integer(std::int64_t& value, Kind kind) {
  if (failed()) return false;
  std::string_view content;
  std::int64_t exact = 0;
  if (text(content)) {
    if (!whole_text(content, exact))
      return refuse("\"" + std::string(content.substr(0, 64)) + "\" is no " + std::string(to_string(kind)));
  } else if (next_ && next_->is_int64()) {
    exact = next_->get_int64();
  } else if (next_ && next_->is_uint64()) {
    return refuse(std::to_string(next_->get_uint64()) + " is out of range for " + std::string(to_string(kind)));
  } else if (next_ && next_->is_double() && whole_double(next_->get_double())) {
    exact = static_cast<std::int64_t>(next_->get_double());
  } else {
    return wrong("an integer (" + std::string(to_string(kind)) + ")");
  }
  if (exact > highest(kind) || exact < -highest(kind) - 1)
    return refuse(std::to_string(exact) + " is out of range for " + std::string(to_string(kind)));
  value = exact;
  return done();
}

bool JsonReader::unsigned_integer(std::uint64_t& value, Kind kind) {
  if (failed()) return false;
  std::string_view content;
  std::uint64_t exact = 0;
  if (text(content)) {
    if (!whole_text(content, exact))
      return refuse("\"" + std::string(content.substr(0, 64)) + "\" is no " + std::string(to_string(kind)));
  } else if (next_ && next_->is_uint64()) {
    exact = next_->get_uint64();
  } else if (next_ && next_->is_int64() && next_->get_int64() >= 0) {
    exact = static_cast<std::uint64_t>(next_->get_int64());
  } else if (next_ && next_->is_int64()) {
    return refuse(std::to_string(next_->get_int64()) + " is out of range for " + std::string(to_string(kind)));
  } else if (next_ && next_->is_double() && next_->get_double() >= 0 && whole_double(next_->get_double())) {
    exact = static_cast<std::uint64_t>(next_->get_double());
  } else {
    return wrong("a number that is not negative (" + std::string(to_string(kind)) + ")");
  }
  if (exact > highest_unsigned(kind))
    return refuse(std::to_string(exact) + " is out of range for " + std::string(to_string(kind)));
  value = exact;
  return done();
}

bool JsonReader::floating(double& value, Kind kind) {
  if (failed()) return false;
  std::string_view content;
  double exact = 0;
  if (text(content)) {
    const bool letters = content.find_first_not_of("+-.0123456789eE") != std::string_view::npos;
    if (content == "NaN") {
      exact = std::numeric_limits<double>::quiet_NaN();
    } else if (content == "Infinity" || content == "-Infinity") {
      exact = content[0] == '-' ? -HUGE_VAL : HUGE_VAL;
    } else if (letters || !whole_text(content, exact)) {
      return refuse("\"" + std::string(content.substr(0, 64)) + "\" is no number");
    }
  } else if (next_ && next_->is_double()) {
    exact = next_->get_double();
  } else if (next_ && next_->is_int64()) {
    exact = static_cast<double>(next_->get_int64());
  } else if (next_ && next_->is_uint64()) {
    exact = static_cast<double>(next_->get_uint64());
  } else {
    return wrong("a number");
  }
  constexpr double rounds_to_infinity = 3.4028235677973366e38;  // half a step above the largest float
  if (kind == Kind::f32 && std::isfinite(exact) && std::abs(exact) >= rounds_to_infinity)
    return refuse("the number is out of range for f32");
  value = exact;
  return done();
}

bool JsonReader::string(std::string& value) {
  std::string_view content;
  if (failed()) return false;
  if (!text(content)) return wrong("a string");
  value.assign(content);
  return done();
}

bool JsonReader::bytes(std::string& value) {
  std::string_view content;
  if (failed()) return false;
  if (!text(content)) return wrong("a base64 string");
  if (!parse_base64(content, value)) return refuse("the string is no base64");
  return done();
}

bool JsonReader::enumeration(std::int32_t& value, const EnumType& type) {
  std::string_view content;
  if (failed()) return false;
  if (!text(content)) {
    std::int64_t number = 0;
    if (!next_ || !next_->is_number()) return wrong("a name of " + std::string(type.name));
    if (!integer(number, Kind::i32)) return false;
    value = static_cast<std::int32_t>(number);
    return true;
  }
  const Enumerator* known = type.find(content);
  if (!known) {
    std::string names;
    for (const Enumerator& e : type.enumerators) names += (names.empty() ? "" : ", ") + std::string(e.name);
    return refuse("\"" + std::string(content.substr(0, 64)) + "\" is no " + std::string(type.name) + " (" + names +
                  ")");
  }
  value = known->number;
  return done();
}

bool JsonReader::duration(std::chrono::nanoseconds& value) {
  std::string_view content;
  if (failed()) return false;
  if (!text(content)) return wrong("a duration (\"1.5s\")");
  if (!parse_duration(content, value))
    return refuse("\"" + std::string(content.substr(0, 64)) + "\" is no duration; write \"1.5s\"");
  return done();
}

}  // namespace tenon::json
