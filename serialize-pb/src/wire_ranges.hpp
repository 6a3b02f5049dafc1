#pragma once
// Stepping over encoded fields. Each function moves `at` and never reads at or behind `end`; false: the bytes are
// broken, `at` is somewhere in them.

#include <cstdint>

#include "wire.hpp"

namespace tenon::pb {

constexpr bool is_repeated(const Type* type) noexcept {
  return type != nullptr && (type->kind == Kind::list || type->kind == Kind::map);
}

inline bool parse_varint(const char*& at, const char* end, std::uint64_t& value) noexcept {
  std::uint64_t result = 0;
  for (int shift = 0; shift < 64 && at < end; shift += 7) {
    const auto byte = static_cast<unsigned char>(*at++);
    if (shift == 63 && byte > 1) return false;
    result |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) {
      value = result;
      return true;
    }
  }
  return false;
}

inline bool parse_tag(const char*& at, const char* end, std::uint32_t& number, Wire& wire) noexcept {
  std::uint64_t tag = 0;
  if (!parse_varint(at, end, tag) || tag > UINT32_MAX) return false;
  number = static_cast<std::uint32_t>(tag >> 3);
  wire = static_cast<Wire>(tag & 7);
  return number != 0 && wire <= Wire::fixed32;
}

/// Steps over the value of a field whose tag has been read; groups without recursion.
bool skip_value(const char*& at, const char* end, Wire wire, std::uint32_t number) noexcept;

}  // namespace tenon::pb
