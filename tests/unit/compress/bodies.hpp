#pragma once
// Bodies in gzip format, made without the code under test where it matters.

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "gzip_compressor.hpp"

namespace tenon::test {

inline gzip::GzipCompressor gzip_of_level(int level) { return gzip::GzipCompressor({.min_size = 0, .level = level}); }

inline std::string compressed(std::string_view bytes, int level = 1) {
  OutBuffer out;
  const Result<void> done = gzip_of_level(level).compress(bytes, out);
  EXPECT_TRUE(done.ok()) << done.error().text();
  return std::string(out.view());
}

/// What comes out, or the error's "code: text".
inline std::string inflated(std::string_view body, std::size_t limit = 16u << 20) {
  OutBuffer out;
  const Result<void> done = gzip_of_level(1).decompress(body, out, limit);
  if (!done.ok()) return std::string(to_string(done.error().code())) + ": " + done.error().text();
  return std::string(out.view());
}

inline std::string random_bytes(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random() >> 56);
  return bytes;
}

/// Like an RPC's body: words that come again.
inline std::string text_bytes(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string bytes;
  while (bytes.size() < size) {
    bytes += "\"field" + std::to_string(random() % 50) + "\": ";
    bytes += std::to_string(random() % 9999);
  }
  bytes.resize(size);
  return bytes;
}

inline void append_number(std::string& to, std::uint32_t number) {
  for (int i = 0; i < 4; ++i) to.push_back(static_cast<char>(number >> 8 * i & 0xff));
}

/// A correct member of `megabytes` MiB of zeros, about a thousandth of that long. `stated`: added to the size it
/// states.
inline std::string bomb(std::uint32_t megabytes, std::uint32_t stated = 0) {
  const std::string zeros(1u << 20, '\0');
  z_stream stream = {};
  EXPECT_EQ(::deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY), Z_OK);
  std::string block(::deflateBound(&stream, zeros.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(zeros.data()));
  stream.avail_in = static_cast<uInt>(zeros.size());
  stream.next_out = reinterpret_cast<Bytef*>(block.data());
  stream.avail_out = static_cast<uInt>(block.size());
  EXPECT_EQ(::deflate(&stream, Z_FULL_FLUSH), Z_OK);  // ends on a byte and forgets: can be repeated
  block.resize(stream.total_out);
  ::deflateEnd(&stream);

  std::string body("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
  const uLong crc_of_block = ::crc32(0, reinterpret_cast<const Bytef*>(zeros.data()), static_cast<uInt>(zeros.size()));
  uLong crc = 0;
  for (std::uint32_t i = 0; i < megabytes; ++i) {
    body += block;
    crc = ::crc32_combine(crc, crc_of_block, static_cast<z_off_t>(zeros.size()));
  }
  body += std::string("\x03\0", 2);  // the last block, empty
  append_number(body, static_cast<std::uint32_t>(crc));
  append_number(body, (megabytes << 20) + stated);
  return body;
}

}  // namespace tenon::test
