#include "manifest/scalar.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

namespace tenon::manifest {

namespace {

std::string quoted(std::string_view text) {
  constexpr std::size_t max_shown = 40;
  std::string shown = "\"" + std::string(text.substr(0, max_shown));
  if (text.size() > max_shown) shown += "...";
  return shown + '"';
}

bool digits(std::string_view text) noexcept {
  if (text.empty()) return false;
  for (const char c : text)
    if (c < '0' || c > '9') return false;
  return true;
}

// Checks the form of the digits of a whole number.
Wrong bad_digits(std::string_view whole, std::string_view number) {
  if (!digits(number)) return "a whole number, found " + quoted(whole);
  if (number.size() > 1 && number.front() == '0')
    return "a whole number without leading zeros, found " + quoted(whole) + " (octal elsewhere)";
  return {};
}

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};
constexpr std::array<Unit, 6> time_units{Unit{"ns", 1},     {"us", 1000},       {"ms", 1000000},
                                         {"s", 1000000000}, {"m", 60000000000}, {"h", 3600000000000}};
constexpr std::array<Unit, 5> size_units{
    Unit{"B", 1}, {"KiB", 1ull << 10}, {"MiB", 1ull << 20}, {"GiB", 1ull << 30}, {"TiB", 1ull << 40}};

// (whole + 0.fraction) * factor, which must come out whole and at most `limit`.
enum class Scaled { done, not_whole, too_fine, too_big };
Scaled scale(std::string_view whole, std::string_view fraction, std::uint64_t factor, std::uint64_t limit,
             std::uint64_t& value) {
  constexpr std::size_t max_digits = 6;  // times the largest factor (an hour) still fits 64 bits
  const auto [end, error] = std::from_chars(whole.data(), whole.data() + whole.size(), value);
  if (error != std::errc() || end != whole.data() + whole.size() || value > limit / factor) return Scaled::too_big;
  value *= factor;
  while (!fraction.empty() && fraction.back() == '0') fraction.remove_suffix(1);
  if (fraction.size() > max_digits) return Scaled::too_fine;
  std::uint64_t numerator = 0, denominator = 1;
  for (const char c : fraction) {
    numerator = numerator * 10 + static_cast<std::uint64_t>(c - '0');
    denominator *= 10;
  }
  if (numerator * factor % denominator != 0) return Scaled::not_whole;
  const std::uint64_t part = numerator * factor / denominator;
  if (value > limit - part) return Scaled::too_big;
  value += part;
  return Scaled::done;
}

// Splits "1.5s" into "1", "5" and "s". False when it does not start with a number.
bool split(std::string_view text, std::string_view& whole, std::string_view& fraction, std::string_view& unit) {
  std::size_t i = 0;
  while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
  if (i == 0) return false;
  whole = text.substr(0, i);
  fraction = {};
  if (i < text.size() && text[i] == '.') {
    const std::size_t begin = ++i;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
    if (i == begin) return false;
    fraction = text.substr(begin, i - begin);
  }
  while (i < text.size() && text[i] == ' ') ++i;
  unit = text.substr(i);
  return whole.size() == 1 || whole.front() != '0';
}

}  // namespace

Wrong parse_integer(std::string_view text, std::int64_t& value) {
  const std::string_view number = text.starts_with('-') ? text.substr(1) : text;
  if (Wrong wrong = bad_digits(text, number); !wrong.empty()) return wrong;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return "a number of at most 64 bits, found " + quoted(text);
  return {};
}

Wrong parse_unsigned(std::string_view text, std::uint64_t& value) {
  if (text.starts_with('-') && digits(text.substr(1))) return "a number that is not negative, found " + quoted(text);
  if (Wrong wrong = bad_digits(text, text); !wrong.empty()) return wrong;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return "a number of at most 64 bits, found " + quoted(text);
  return {};
}

Wrong parse_floating(std::string_view text, double& value) {
  const std::string_view number = text.starts_with('-') ? text.substr(1) : text;
  const bool octal = number.size() > 1 && number[0] == '0' && number[1] >= '0' && number[1] <= '9';
  if (number.empty() || number[0] < '0' || number[0] > '9' || octal) return "a number, found " + quoted(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return "a number, found " + quoted(text);
  return {};
}

Wrong parse_duration(std::string_view text, std::chrono::nanoseconds& value) {
  constexpr auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::string_view whole, fraction, unit;
  if (text.starts_with('-')) return "a duration that is not negative, found " + quoted(text);
  if (!split(text, whole, fraction, unit)) return "a duration such as 250ms or 5s, found " + quoted(text);
  if (unit.empty()) {
    if (whole == "0" && fraction.empty()) {
      value = {};
      return {};
    }
    return "a duration with its unit, found " + quoted(text) + ": write " + std::string(text) + "s or " +
           std::string(text) + "ms";
  }
  for (const Unit& known : time_units) {
    if (known.name != unit) continue;
    std::uint64_t nanoseconds = 0;
    switch (scale(whole, fraction, known.factor, limit, nanoseconds)) {
      case Scaled::done: value = std::chrono::nanoseconds(static_cast<std::int64_t>(nanoseconds)); return {};
      case Scaled::not_whole: return "a duration of whole nanoseconds, found " + quoted(text);
      case Scaled::too_fine: return "a duration with at most six digits after the point, found " + quoted(text);
      case Scaled::too_big: return "a duration below 292 years, found " + quoted(text);
    }
  }
  return "a duration in ns, us, ms, s, m or h, found " + quoted(text);
}

Wrong parse_size(std::string_view text, std::uint64_t& value) {
  constexpr auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::string_view whole, fraction, unit;
  if (text.starts_with('-')) return "a size that is not negative, found " + quoted(text);
  if (!split(text, whole, fraction, unit)) return "a size such as 512, 64KiB or 4MiB, found " + quoted(text);
  if (unit.empty()) unit = "B";
  for (const Unit& known : size_units) {
    if (known.name != unit) continue;
    std::uint64_t bytes = 0;
    switch (scale(whole, fraction, known.factor, limit, bytes)) {
      case Scaled::done: value = bytes; return {};
      case Scaled::not_whole: return "a whole number of bytes, found " + quoted(text);
      case Scaled::too_fine: return "a size with at most six digits after the point, found " + quoted(text);
      case Scaled::too_big: return "a size below 8 EiB, found " + quoted(text);
    }
  }
  return "a size in B, KiB, MiB, GiB or TiB, found " + quoted(text);
}

bool is_null_text(std::string_view text) noexcept {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

}  // namespace tenon::manifest
