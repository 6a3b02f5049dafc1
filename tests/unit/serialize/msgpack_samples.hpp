#pragma once
// What the tests of serializer msgpack share.
#include <gtest/gtest.h>

#include <string>

#include "msgpack_serializer.hpp"
#include "samples.hpp"

namespace samples {

inline const tenon::msgpack::MsgpackSerializer msgpack;

namespace packed {

/// The bytes of hex digits that may stand in groups.
inline std::string octets(std::string_view digits) {
  std::string joined;
  for (const char c : digits)
    if (c != ' ') joined += c;
  return unhex(joined);
}

/// What decoding `bytes` (hex) as a T complains about; empty, and the test fails, when it does not.
template <class T>
std::string refusal(std::string_view bytes) {
  const auto back = decode<T>(msgpack, octets(bytes));
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
  const auto back = decode<tenon::Bare<T>>(msgpack, octets(bytes));
  EXPECT_TRUE(back.ok()) << bytes << ": " << back.error().text();
  return back.ok() ? back->value : T{};
}

/// The encoding of a bare value, in hex.
template <class T>
std::string bytes_of(const T& value) {
  const std::string bytes = encode(msgpack, tenon::Bare<T>{value});
  return bytes.substr(0, 6) == "error:" ? bytes : hex(bytes);
}

}  // namespace packed
}  // namespace samples
