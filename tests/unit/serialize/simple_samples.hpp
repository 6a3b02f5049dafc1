#pragma once
// What the tests of serializer simple share.
#include <gtest/gtest.h>

#include <string>

#include "samples.hpp"
#include "simple_serializer.hpp"

namespace samples {

inline const tenon::simple::SimpleSerializer simple;

/// The bytes of hex digits that may stand in groups.
inline std::string octets(std::string_view digits) {
  std::string packed;
  for (const char c : digits)
    if (c != ' ') packed += c;
  return unhex(packed);
}

/// What decoding `bytes` (hex) as a T complains about; empty, and the test fails, when it does not.
template <class T>
std::string refusal(std::string_view bytes) {
  const auto back = decode<T>(simple, octets(bytes));
  EXPECT_FALSE(back.ok()) << bytes;
  if (back.ok()) return {};
  EXPECT_EQ(back.error().code(), tenon::Errc::malformed) << back.error().text();
  return back.error().text();
}
template <class T>
std::string value_refusal(std::string_view bytes) {
  return refusal<tenon::Bare<T>>(bytes);
}

/// What decoding `bytes` (hex) as a bare T gives.
template <class T>
T value_of(std::string_view bytes) {
  const auto back = decode<tenon::Bare<T>>(simple, octets(bytes));
  EXPECT_TRUE(back.ok()) << bytes << ": " << back.error().text();
  return back.ok() ? back->value : T{};
}

/// The encoding of a bare value, in hex.
template <class T>
std::string bytes_of(const T& value) {
  const std::string bytes = encode(simple, tenon::Bare<T>{value});
  return bytes.substr(0, 6) == "error:" ? bytes : hex(bytes);
}

/// Everything and Odd without the unsigned numbers that simple cannot carry.
inline Everything simple_everything() {
  Everything e = everything();
  e.ularge = INT64_MAX;
  return e;
}
inline tenon::Value simple_any() {
  tenon::Value v = any_value();
  v["map"]["deep"]["deeper"] = INT64_MIN;
  return v;
}
inline Odd simple_odd() {
  Odd o = odd();
  o.any = simple_any();
  o.anys = {nullptr, simple_any(), false};
  return o;
}

}  // namespace samples
