#pragma once
// What writer and reader share: the tags of the encoding and which Tenon types have a form without inner tags.
// README.md has the table.

#include <cstdint>
#include <string>

#include "tenon/type.hpp"

namespace tenon::simple {

enum class Tag : std::uint8_t {
  null = 0,
  string = 1,
  string_map = 2,  ///< keys and values are texts without tags
  bytes = 3,
  string_list = 4,  ///< elements are texts without tags
  boolean = 5,
  i8 = 6,
  i16 = 7,
  i32 = 8,
  i64 = 9,
  f32 = 10,
  f64 = 11,
  map = 20,
  list = 21,
};

/// Maps, lists and messages inside each other, on both sides.
inline constexpr int max_depth = 64;
/// Java reads lengths as signed 32-bit numbers.
inline constexpr std::uint32_t max_length = 0x7FFFFFFF;

/// "tag 1 (string)"; a number that is no tag says so.
std::string describe(Tag tag);

/// True if values of the type are not known before they arrive.
constexpr bool is_dynamic(const Type* type) noexcept { return type == nullptr || type->kind == Kind::value; }

/// True if every value of the type is a text: lists and maps of them need no tags inside.
constexpr bool is_text(const Type* type) noexcept {
  return type != nullptr && type->kind == Kind::string && !type->optional;
}

/// True if a text may stand for a value of the type. Does not follow a bare value that is itself for ever.
inline bool takes_text(const Type* type) noexcept {
  for (int i = 0; i < max_depth; ++i) {
    if (is_dynamic(type) || type->kind == Kind::string || type->kind == Kind::enumeration) return true;
    if (type->kind != Kind::message || type->message->form() != Form::bare) return false;
    type = type->message->fields()[0].type;
  }
  return false;
}

/// True for the type that carries nothing: null stands for it.
inline bool is_void(const MessageType& type) noexcept { return type.form() == Form::message && type.fields().empty(); }

constexpr std::uint32_t load_u32(const char* from) noexcept {
  const auto byte = [from](int i) { return std::uint32_t{static_cast<unsigned char>(from[i])}; };
  return byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
}
constexpr void store_u32(char* to, std::uint32_t value) noexcept {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<char>(value >> (24 - 8 * i));
}

}  // namespace tenon::simple
