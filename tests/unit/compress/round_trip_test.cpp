// What goes in comes out, whatever its size and content; bodies of other implementations are understood.
#include <gtest/gtest.h>

#include "bodies.hpp"

namespace tenon::test {
namespace {

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return bytes;
}

TEST(GzipRoundTrip, EverySizeAndContent) {
  const std::size_t sizes[] = {0,        1,
                               2,        17,
                               255,      256,
                               257,      1023,
                               1024,     4096,
                               32767,    32768,
                               32769,    65536,
                               100'000,  (1u << 20) - 1,
                               1u << 20, (1u << 20) + 1,
                               8u << 20};
  for (const std::size_t size : sizes) {
    for (const std::string& bytes : {random_bytes(size, size), text_bytes(size, size), std::string(size, 'a')}) {
      const std::string body = compressed(bytes);
      EXPECT_LE(body.size(), size + size / 1000 + 64);
      ASSERT_TRUE(inflated(body, size) == bytes) << size << ": " << inflated(body, size).substr(0, 200);
    }
  }
}

TEST(GzipRoundTrip, EveryLevelAndSmallerIsSmaller) {
  const std::string bytes = text_bytes(300'000, 7);
  for (int level = 1; level <= 9; ++level) ASSERT_TRUE(inflated(compressed(bytes, level)) == bytes) << level;
  EXPECT_LT(compressed(bytes, 9).size(), compressed(bytes, 1).size());
  EXPECT_LT(compressed(bytes, 1).size(), bytes.size() / 2);
}

// A stream belongs to its level: what another level did on this thread in between changes nothing.
TEST(GzipRoundTrip, SameBytesWhateverWasCompressedBefore) {
  const std::string bytes = text_bytes(50'000, 1);
  const std::string fast = compressed(bytes, 1);
  const std::string small = compressed(bytes, 9);
  ASSERT_NE(fast, small);
  EXPECT_EQ(compressed(random_bytes(5000, 1), 9).substr(0, 2), "\x1f\x8b");
  EXPECT_EQ(compressed(bytes, 1), fast);
  EXPECT_EQ(compressed(bytes, 9), small);
}

TEST(GzipRoundTrip, BothFunctionsAppend) {
  const gzip::GzipCompressor gzip = gzip_of_level(1);
  const std::string bytes = text_bytes(10'000, 2);
  OutBuffer body;
  body.append("head");
  ASSERT_TRUE(gzip.compress(bytes, body).ok());
  ASSERT_TRUE(body.view().starts_with("head\x1f\x8b"));
  OutBuffer out;
  out.append("before ");
  ASSERT_TRUE(gzip.decompress(body.view().substr(4), out, bytes.size()).ok());
  EXPECT_TRUE(out.view() == "before " + bytes);
}

TEST(GzipRoundTrip, FailureLeavesTheOutputAlone) {
  OutBuffer out;
  out.append("before");
  const std::string body = compressed(text_bytes(10'000, 2));
  EXPECT_FALSE(gzip_of_level(1).decompress(body, out, 9999).ok());
  EXPECT_FALSE(gzip_of_level(1).decompress(body.substr(0, 100), out, 10'000).ok());
  EXPECT_EQ(out.view(), "before");
}

// No flags, so no name; time 0; compression 8. Java's GZIPInputStream and Go's gzip.Reader want no more.
TEST(GzipRoundTrip, HeaderIsPlain) {
  for (const int level : {1, 6, 9}) {
    const std::string body = compressed("hello", level);
    EXPECT_EQ(body.substr(0, 8), std::string("\x1f\x8b\x08\0\0\0\0\0", 8));
    EXPECT_EQ(body[9], 3);  // system: Unix
  }
}

// A request of a Go client at gzip.BestSpeed, with its flush block, as taken from the wire.
TEST(GzipRoundTrip, GoClientsBody) {
  const std::string body = from_hex(
      "1f8b08000000000004ffecd02901000008"
      "03c0ad1955f8e99f800e68d4f9234051"
      "f3c8ea796f0f0b0000ffff010000ffff"
      "821c2d4545010000");
  std::string text;
  while (text.size() < 320) text += "abcdefgh";
  EXPECT_EQ(inflated(body).substr(0, 80), (std::string("\x01\0\0\x01@", 5) + text).substr(0, 80));
  EXPECT_EQ(inflated(body), std::string("\x01\0\0\x01@", 5) + text);
}

// RFC 1952 2.2: a file is a series of members. Java and Go read them all.
TEST(GzipRoundTrip, SeveralMembers) {
  const std::string a = text_bytes(100'000, 1), b = random_bytes(5000, 2), c = text_bytes(300, 3);
  EXPECT_TRUE(inflated(compressed(a) + compressed(b, 9) + compressed(c)) == a + b + c);
  EXPECT_TRUE(inflated(compressed(c) + compressed(a)) == c + a);
  EXPECT_TRUE(inflated(compressed(a) + compressed("")) == a);
  EXPECT_TRUE(inflated(compressed("") + compressed("") + compressed("x")) == "x");
  EXPECT_EQ(inflated(compressed("") + compressed("")), "");
}

// Extra field, name, comment and header checksum are allowed and skipped.
TEST(GzipRoundTrip, EveryHeaderField) {
  std::string header("\x1f\x8b\x08\x1e\x44\x33\x22\x11\x02\x03", 10);
  header += std::string("\x04\0ab\x00\x00", 6) + std::string("name\0", 5) + std::string("comment\0", 8);
  const uLong crc = ::crc32(0, reinterpret_cast<const Bytef*>(header.data()), static_cast<uInt>(header.size()));
  const std::string checksum = {static_cast<char>(crc & 0xff), static_cast<char>(crc >> 8 & 0xff)};
  const std::string rest = compressed("hello").substr(10);
  EXPECT_EQ(inflated(header + checksum + rest), "hello");
  EXPECT_EQ(inflated(header + "xx" + rest).substr(0, 9), "malformed");
}

TEST(GzipRoundTrip, LimitIsExact) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{16384}, std::size_t{100'000}, std::size_t{3u << 20}}) {
    const std::string bytes = text_bytes(size, size);
    for (const std::string& body : {compressed(bytes), compressed("") + compressed(bytes) + compressed("")}) {
      EXPECT_TRUE(inflated(body, size) == bytes) << size;
      EXPECT_TRUE(inflated(body, SIZE_MAX) == bytes) << size;
      EXPECT_EQ(inflated(body, size - 1).substr(0, 9), "too_large") << size;
    }
  }
  EXPECT_EQ(inflated(compressed(""), 0), "");
  EXPECT_EQ(inflated(compressed("x"), 0).substr(0, 9), "too_large");
}

}  // namespace
}  // namespace tenon::test
