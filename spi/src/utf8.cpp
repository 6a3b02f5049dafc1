#include "tenon/utf8.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tenon {

namespace {

// The length of the sequence at p, 0 if it is not well-formed.
std::size_t sequence(const unsigned char* p, std::size_t left) noexcept {
  const unsigned char lead = p[0];
  if (lead < 0x80) return 1;
  std::size_t size = 0;
  unsigned char low = 0x80;  // bounds of the second byte: exclude overlong forms and surrogates
  unsigned char high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    size = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    size = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    size = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return 0;
  }
  if (left < size || p[1] < low || p[1] > high) return 0;
  for (std::size_t i = 2; i < size; ++i)
    if (p[i] < 0x80 || p[i] > 0xBF) return 0;
  return size;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t left = text.size();
  while (left > 0) {
    if (left >= 8) {
      std::uint64_t word;
      std::memcpy(&word, p, 8);
      if ((word & 0x8080808080808080u) == 0) {
        p += 8;
        left -= 8;
        continue;
      }
    }
    const std::size_t size = sequence(p, left);
    if (size == 0) return false;
    p += size;
    left -= size;
  }
  return true;
}

}  // namespace tenon
