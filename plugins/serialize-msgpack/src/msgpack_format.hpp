#pragma once
// What writer and reader share: the format bytes of MessagePack and what stands behind each.

#include <array>
#include <cstdint>
#include <string>

namespace tenon::msgpack {

/// Maps, lists and messages inside each other, on both sides.
inline constexpr int max_depth = 64;

/// What a format byte announces.
enum class Family : std::uint8_t {
  nil,
  boolean,
  positive,  ///< an integer >= 0
  negative,  ///< an integer < 0, in two's complement
  f32,
  f64,
  string,
  bytes,
  list,
  map,
  extension,
  never_used,  ///< 0xc1
};

/// One value up to its content: a number itself, a length, or a count of elements or entries.
struct Head {
  Family family = Family::nil;
  std::uint8_t first = 0;    ///< the format byte
  std::uint64_t number = 0;  ///< integers: two's complement; floats: their bits; else length or count
};

namespace detail {

struct Format {
  Family family;
  std::uint8_t width;  // bytes of the number behind the format byte
  bool is_signed;
};

constexpr Format format_of(int first) {
  if (first < 0x80) return {Family::positive, 0, false};
  if (first < 0x90) return {Family::map, 0, false};
  if (first < 0xa0) return {Family::list, 0, false};
  if (first < 0xc0) return {Family::string, 0, false};
  if (first >= 0xe0) return {Family::negative, 0, true};
  switch (first) {
    case 0xc0: return {Family::nil, 0, false};
    case 0xc2:
    case 0xc3: return {Family::boolean, 0, false};
    case 0xc4: return {Family::bytes, 1, false};
    case 0xc5: return {Family::bytes, 2, false};
    case 0xc6: return {Family::bytes, 4, false};
    case 0xc7: return {Family::extension, 1, false};
    case 0xc8: return {Family::extension, 2, false};
    case 0xc9: return {Family::extension, 4, false};
    case 0xca: return {Family::f32, 4, false};
    case 0xcb: return {Family::f64, 8, false};
    case 0xcc: return {Family::positive, 1, false};
    case 0xcd: return {Family::positive, 2, false};
    case 0xce: return {Family::positive, 4, false};
    case 0xcf: return {Family::positive, 8, false};
    case 0xd0: return {Family::positive, 1, true};
    case 0xd1: return {Family::positive, 2, true};
    case 0xd2: return {Family::positive, 4, true};
    case 0xd3: return {Family::positive, 8, true};
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8: return {Family::extension, 0, false};
    case 0xd9: return {Family::string, 1, false};
    case 0xda: return {Family::string, 2, false};
    case 0xdb: return {Family::string, 4, false};
    case 0xdc: return {Family::list, 2, false};
    case 0xdd: return {Family::list, 4, false};
    case 0xde: return {Family::map, 2, false};
    case 0xdf: return {Family::map, 4, false};
    default: return {Family::never_used, 0, false};
  }
}

constexpr std::array<Format, 256> make_formats() {
  std::array<Format, 256> all{};
  for (int first = 0; first < 256; ++first) all[static_cast<std::size_t>(first)] = format_of(first);
  return all;
}
inline constexpr std::array<Format, 256> formats = make_formats();

// The number a format byte holds itself.
constexpr std::uint64_t number_within(std::uint8_t first) {
  if (first < 0x80) return first;                                // positive fixint
  if (first < 0xa0) return first & 0x0F;                         // fixmap, fixarray
  if (first < 0xc0) return first & 0x1F;                         // fixstr
  if (first >= 0xe0) return std::uint64_t{first} - 0x100;        // negative fixint
  if (first >= 0xd4) return std::uint64_t{1} << (first - 0xd4);  // fixext
  return first & 1;                                              // boolean
}

}  // namespace detail

/// How many bytes the head that starts with `first` has.
constexpr std::size_t head_size(char first) noexcept {
  return std::size_t{1} + detail::formats[static_cast<unsigned char>(first)].width;
}

/// Reads the head at `at`, all of which must be there (head_size).
constexpr Head read_head(const char* at) noexcept {
  Head head;
  head.first = static_cast<std::uint8_t>(*at);
  const detail::Format format = detail::formats[head.first];
  head.family = format.family;
  if (format.width == 0) {
    head.number = detail::number_within(head.first);
    return head;
  }
  std::uint64_t number = 0;
  for (int i = 1; i <= format.width; ++i) number = number << 8 | static_cast<unsigned char>(at[i]);
  if (format.is_signed) {
    const int unused = 64 - 8 * format.width;
    number = static_cast<std::uint64_t>(static_cast<std::int64_t>(number << unused) >> unused);
    if (static_cast<std::int64_t>(number) < 0) head.family = Family::negative;
  }
  head.number = number;
  return head;
}

/// "0xcd (an integer)": for people.
std::string describe(std::uint8_t first);

}  // namespace tenon::msgpack
