#pragma once
// The motan2 frame: 17 fixed bytes, metadata, a body length, a body. All integers are big-endian.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tenon::motan2 {

inline constexpr std::string_view magic = "\xf1\xf1";
inline constexpr unsigned version = 1;

// Byte 2.
inline constexpr std::uint8_t bit_response = 0x01;
inline constexpr std::uint8_t bit_proxy = 0x02;
inline constexpr std::uint8_t bit_one_way = 0x04;
inline constexpr std::uint8_t bit_gzip = 0x08;
inline constexpr std::uint8_t bit_heartbeat = 0x10;

inline constexpr std::size_t fixed_size = 17;   ///< up to and with the metadata length
inline constexpr std::size_t length_size = 4;   ///< of the body length behind the metadata
inline constexpr std::size_t empty_frame = fixed_size + length_size;

inline std::uint32_t load32(const char* at) noexcept {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(at[i]);
  return value;
}
inline std::uint64_t load64(const char* at) noexcept { return std::uint64_t{load32(at)} << 32 | load32(at + 4); }

inline char* store32(char* at, std::uint32_t value) noexcept {
  for (int shift = 24; shift >= 0; shift -= 8) *at++ = static_cast<char>(value >> shift);
  return at;
}
inline char* store64(char* at, std::uint64_t value) noexcept {
  return store32(store32(at, static_cast<std::uint32_t>(value >> 32)), static_cast<std::uint32_t>(value));
}

/// The fixed bytes, parsed.
struct Head {
  std::uint8_t type = 0;       ///< bits
  std::uint8_t version = 0;
  std::uint8_t status = 0;     ///< 0 normal, 1 exception
  std::uint8_t serializer = 0;  ///< its number
  std::uint64_t id = 0;
  std::uint32_t metadata = 0;  ///< bytes
};

/// REQUIRES: fixed_size bytes.
inline Head load_head(const char* at) noexcept {
  const auto state = static_cast<std::uint8_t>(at[3]);
  Head head;
  head.type = static_cast<std::uint8_t>(at[2]);
  head.version = state >> 3;
  head.status = state & 7;
  head.serializer = static_cast<std::uint8_t>(at[4]) >> 3;
  head.id = load64(at + 5);
  head.metadata = load32(at + 13);
  return head;
}

/// Writes the fixed bytes, the metadata and the body length; returns where the body begins.
inline char* store_head(char* at, const Head& head, std::string_view metadata, std::size_t body) noexcept {
  std::memcpy(at, magic.data(), magic.size());
  at[2] = static_cast<char>(head.type);
  at[3] = static_cast<char>(version << 3 | head.status);
  at[4] = static_cast<char>(head.serializer << 3);
  at = store32(store64(at + 5, head.id), static_cast<std::uint32_t>(metadata.size()));
  if (!metadata.empty()) std::memcpy(at, metadata.data(), metadata.size());
  return store32(at + metadata.size(), static_cast<std::uint32_t>(body));
}

}  // namespace tenon::motan2
