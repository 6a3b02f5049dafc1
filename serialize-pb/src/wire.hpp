#pragma once
// What writer and reader of the protobuf wire format share: how a Type that is no generated message lies on the wire.
// README.md has the table.

#include <cstdint>

#include "tenon/type.hpp"

namespace tenon::pb {

enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, begin_group = 3, end_group = 4, fixed32 = 5 };

inline constexpr int max_depth = 64;

/// Fields of a dynamic value's message: one for each kind.
constexpr std::uint32_t dynamic_number(Kind kind) noexcept { return static_cast<std::uint32_t>(kind) + 1; }

constexpr bool is_dynamic(const Type* type) noexcept { return type == nullptr || type->kind == Kind::value; }

constexpr Wire wire_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::null:
    case Kind::boolean:
    case Kind::i8:
    case Kind::i16:
    case Kind::i32:
    case Kind::i64:
    case Kind::u8:
    case Kind::u16:
    case Kind::u32:
    case Kind::u64:
    case Kind::enumeration:
    case Kind::size: return Wire::varint;
    case Kind::f32: return Wire::fixed32;
    case Kind::f64: return Wire::fixed64;
    default: return Wire::bytes;
  }
}

/// Elements that lie one after the other without tags.
constexpr bool is_packed(const Type* element) noexcept {
  return !is_dynamic(element) && !element->optional && wire_of(element->kind) != Wire::bytes;
}

enum class Place : std::uint8_t { field, element, map_key, map_value };

/// Protobuf cannot repeat a repeated field, nor tell an absent list from an empty one, nor an absent element from a
/// zero one: there the value lies in a message of its own, as field 1.
constexpr bool is_wrapped(const Type* type, Place place) noexcept {
  if (is_dynamic(type)) return false;
  const bool repeated = type->kind == Kind::list || type->kind == Kind::map;
  switch (place) {
    case Place::field: return repeated && type->optional;
    case Place::element: return repeated || type->optional;
    case Place::map_value: return repeated;
    case Place::map_key: return false;
  }
  return false;
}

}  // namespace tenon::pb
