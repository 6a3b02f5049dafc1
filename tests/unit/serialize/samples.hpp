#pragma once
// Described structs that the tests send around.
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "json_serializer.hpp"
#include "protobuf_serializer.hpp"
#include "tenon/describe.hpp"
#include "tenon/value.hpp"

namespace samples {

enum class Color : std::int32_t { RED = 0, GREEN = 5, BLUE = -1 };
BOOST_DESCRIBE_ENUM(Color, RED, GREEN, BLUE)

struct Inner {
  std::string text;
  std::int64_t number = 0;
  bool operator==(const Inner&) const = default;
};
BOOST_DESCRIBE_STRUCT(Inner, (), (text, number))

// The twin of interop.Everything.
struct Everything {
  bool flag = false;
  std::int32_t small = 0;
  std::int64_t large = 0;
  std::uint32_t usmall = 0;
  std::uint64_t ularge = 0;
  float f = 0;
  double d = 0;
  std::string text;
  tenon::Bytes raw;
  Color color = Color::RED;
  std::chrono::nanoseconds wait{0};
  std::vector<std::int64_t> numbers;
  std::vector<std::string> texts;
  std::vector<Inner> inners;
  std::map<std::string, std::int64_t> counts;
  std::unordered_map<std::int32_t, Inner> by_id;
  std::optional<std::int64_t> maybe;
  Inner inner;
  std::vector<bool> flags;
  std::vector<double> doubles;
  std::vector<Color> colors;
  bool operator==(const Everything&) const = default;
};
BOOST_DESCRIBE_STRUCT(Everything, (),
                      (flag, small, large, usmall, ularge, f, d, text, raw, color, wait, numbers, texts, inners, counts,
                       by_id, maybe, inner, flags, doubles, colors))

// What protobuf has no word for.
struct Odd {
  std::int8_t i8 = 0;
  std::int16_t i16 = 0;
  std::uint8_t u8 = 0;
  std::uint16_t u16 = 0;
  tenon::ByteSize size;
  std::chrono::milliseconds ms{0};
  std::vector<std::vector<std::int32_t>> grid;
  std::map<std::string, std::vector<std::string>> lists;
  std::vector<std::map<std::uint64_t, bool>> maps;
  std::optional<std::vector<std::string>> maybe_list;
  std::vector<std::optional<std::int32_t>> holes;
  std::map<std::string, std::optional<Inner>> maybe_inners;
  std::optional<Inner> maybe_inner;
  tenon::Value any;
  std::vector<tenon::Value> anys;
  std::map<bool, tenon::Value> any_map;
  bool operator==(const Odd&) const = default;
};
BOOST_DESCRIBE_STRUCT(Odd, (),
                      (i8, i16, u8, u16, size, ms, grid, lists, maps, maybe_list, holes, maybe_inners, maybe_inner, any,
                       anys, any_map))

struct Tree {
  std::vector<Tree> kids;
  std::int32_t value = 0;
  bool operator==(const Tree&) const = default;
};
BOOST_DESCRIBE_STRUCT(Tree, (), (kids, value))

inline Everything everything() {
  Everything e;
  e.flag = true;
  e.small = -7;
  e.large = INT64_MIN;
  e.usmall = UINT32_MAX;
  e.ularge = UINT64_MAX;
  e.f = 1.5f;
  e.d = 0.1;
  e.text = "h\xC3\xA9llo \"w\"\n";
  e.raw.data = std::string("\0\xFF\x01", 3);
  e.color = Color::BLUE;
  e.wait = std::chrono::nanoseconds(-1'500'000'001);
  e.numbers = {0, -1, INT64_MAX, 300};
  e.texts = {"", "a", std::string(200, 'x')};
  e.inners = {{"one", 1}, {}};
  e.counts = {{"", 0}, {"k", -5}};
  e.by_id = {{-3, {"minus", 3}}};
  e.maybe = 0;
  e.inner = {"in", 9007199254740993};
  e.flags = {true, false};
  e.doubles = {1e300, -0.5};
  e.colors = {Color::GREEN, Color::RED};
  return e;
}

inline tenon::Value any_value() {
  tenon::Value v;
  v["null"] = nullptr;
  v["yes"] = true;
  v["n"] = std::int64_t{-9007199254740993};
  v["text"] = "t";
  v["list"] = tenon::Value::of_list({std::int64_t{1}, "two", 2.5, tenon::Value::of_list()});
  v["map"]["deep"]["deeper"] = UINT64_MAX;
  return v;
}

inline Odd odd() {
  Odd o;
  o.i8 = -128;
  o.i16 = 32767;
  o.u8 = 255;
  o.u16 = 65535;
  o.size = tenon::ByteSize(64u << 10);
  o.ms = std::chrono::milliseconds(1500);
  o.grid = {{1, 2}, {}, {-3}};
  o.lists = {{"a", {"x", "y"}}, {"b", {}}};
  o.maps = {{{1, true}}, {}};
  o.maybe_list = std::vector<std::string>{};
  o.holes = {1, std::nullopt, 0};
  o.maybe_inners = {{"none", std::nullopt}, {"some", Inner{"s", 1}}};
  o.any = any_value();
  o.anys = {nullptr, any_value(), false};
  o.any_map = {{true, "yes"}, {false, nullptr}};
  return o;
}

inline std::string encode(const tenon::Serializer& serializer, const tenon::MessageType& type, const void* object) {
  tenon::OutBuffer out;
  const tenon::Result<void> done = serializer.encode(type, object, out);
  return done.ok() ? std::string(out.view()) : "error: " + done.error().text();
}
template <class T>
std::string encode(const tenon::Serializer& serializer, const T& object) {
  return encode(serializer, tenon::message_type<T>(), &object);
}
template <class T>
tenon::Result<T> decode(const tenon::Serializer& serializer, std::string_view bytes) {
  T object{};
  tenon::Result<void> done = serializer.decode(bytes, tenon::message_type<T>(), &object);
  if (!done.ok()) return std::move(done).error();
  return object;
}

inline const tenon::pb::ProtobufSerializer protobuf;
inline const tenon::json::JsonSerializer json;

inline std::string hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    out += digits[static_cast<unsigned char>(c) >> 4];
    out += digits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}
inline std::string unhex(std::string_view text) {
  std::string out;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    out += static_cast<char>(digit(text[i]) << 4 | digit(text[i + 1]));
  return out;
}

}  // namespace samples
