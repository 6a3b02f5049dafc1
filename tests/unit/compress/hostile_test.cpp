// Bodies that are no gzip, not whole, not true or far too large.
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <cstdio>

#include "bodies.hpp"

namespace tenon::test {
namespace {

TEST(GzipHostile, Empty) {
  EXPECT_EQ(inflated(""), "malformed: gzip: the body is empty; even nothing has 20 bytes in gzip format");
}

TEST(GzipHostile, NotGzipAtAll) {
  EXPECT_EQ(inflated("{\"a\": 1}"),
            "malformed: gzip: a body of 8 bytes is not in gzip format: it starts with 7b 22 61 22, not 1f 8b");
  EXPECT_EQ(inflated("x"), "malformed: gzip: a body of 1 byte is not in gzip format: it starts with 78, not 1f 8b");
  // zlib's own format, which zlib could detect by itself.
  EXPECT_EQ(inflated(std::string("\x78\x9c\x03\0\0\0\0\x01", 8)),
            "malformed: gzip: a body of 8 bytes is not in gzip format: it starts with 78 9c 03 00, not 1f 8b");
}

TEST(GzipHostile, CutAnywhere) {
  for (const std::string& bytes :
       {std::string("hello"), text_bytes(3000, 1), std::string(70'000, 'a'), std::string()}) {
    const std::string body = compressed(bytes);
    for (std::size_t size = 1; size < body.size(); ++size) {
      const std::string got = inflated(body.substr(0, size));
      ASSERT_TRUE(got.starts_with("malformed: gzip: a body of ")) << size << got.substr(0, 200);
      ASSERT_NE(got.find("is truncated: it ends inside a member"), std::string::npos) << size << got.substr(0, 200);
    }
    // The second member's first two bytes tell that it is one.
    const std::string twice = body + body;
    for (std::size_t size = body.size() + 2; size < twice.size(); ++size)
      ASSERT_NE(inflated(twice.substr(0, size)).find("is truncated"), std::string::npos) << size;
  }
}

TEST(GzipHostile, SomethingFollows) {
  const std::string body = compressed("hello");
  for (const std::string& rest :
       {std::string(1, '\0'), std::string("\x1f"), std::string(600, '\0'), std::string("HTTP")}) {
    const std::string got = inflated(body + rest);
    EXPECT_NE(got.find("malformed: "), std::string::npos) << got;
    EXPECT_NE(got.find("is followed by something else: at byte 25 comes "), std::string::npos) << got;
  }
}

TEST(GzipHostile, WrongChecksumAndSize) {
  const std::string bytes = text_bytes(5000, 1);
  const std::string body = compressed(bytes);
  for (std::size_t i = body.size() - 8; i < body.size(); ++i) {
    for (const int flip : {1, 0x80, 0xff}) {
      std::string wrong = body;
      wrong[i] = static_cast<char>(wrong[i] ^ flip);
      const std::string got = inflated(wrong);
      EXPECT_TRUE(got.starts_with("malformed: ")) << got.substr(0, 200);
      const bool checksum = i < body.size() - 4;
      EXPECT_NE(got.find(checksum ? "(incorrect data check)" : "(incorrect length check)"), std::string::npos) << got;
    }
  }
}

TEST(GzipHostile, WrongHeaderAndBlocks) {
  const std::string body = compressed("hello");
  std::string wrong = body;
  wrong[2] = 7;
  EXPECT_EQ(inflated(wrong), "malformed: gzip: a body of 25 bytes is damaged at byte 4 (unknown compression method)");
  wrong = body;
  wrong[3] = static_cast<char>(0xe0);
  EXPECT_NE(inflated(wrong).find("(unknown header flags set)"), std::string::npos) << inflated(wrong);
  wrong = body;
  wrong[10] = 7;  // a last block of the kind that does not exist
  EXPECT_NE(inflated(wrong).find("(invalid block type)"), std::string::npos) << inflated(wrong);
}

// Every bit of a body matters: the change is seen, or it is one that does not change the content.
TEST(GzipHostile, EveryBitFlip) {
  const std::string bytes = text_bytes(400, 3);
  const std::string body = compressed(bytes);
  for (std::size_t bit = 0; bit < body.size() * 8; ++bit) {
    std::string wrong = body;
    wrong[bit / 8] = static_cast<char>(wrong[bit / 8] ^ 1 << bit % 8);
    const std::string got = inflated(wrong, 1u << 20);
    const bool seen = got.starts_with("malformed: gzip: ") || got.starts_with("too_large: gzip: ");
    const std::size_t at = bit / 8;
    // Flags, time, system; the bits that fill the last byte before the trailer.
    const bool may_differ = (at >= 3 && at < 10) || at == body.size() - 9;
    ASSERT_TRUE(seen || (may_differ && got == bytes)) << bit << ": " << got.substr(0, 200);
  }
}

TEST(GzipHostile, RandomBytesAfterTheHeader) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const std::string got = inflated(compressed("").substr(0, 10) + random_bytes(seed % 200, seed), 1u << 20);
    ASSERT_TRUE(got.starts_with("malformed: gzip: ") || got.starts_with("too_large: gzip: ")) << seed;
  }
}

TEST(GzipHostile, BombIsRefused) {
  for (const std::uint32_t lie : {0u, 5u, 0u - (1u << 30), 0u - (1u << 30) + 1000, 0u - (1u << 30) + (4u << 20)}) {
    const std::string body = bomb(1024, lie);
    ASSERT_LT(body.size(), 1100u << 10);
    EXPECT_EQ(inflated(body, 4u << 20),
              "too_large: gzip: a body of " + std::to_string(body.size()) +
                  " bytes inflates to more than the limit of 4194304 bytes; send less at once or raise the receiver's "
                  "limit");
  }
}

// The bomb of this test is what it says, so that what refuses it is the limit.
TEST(GzipHostile, SmallerBombsAreCorrectBodies) {
  EXPECT_TRUE(inflated(bomb(3), 3u << 20) == std::string(3u << 20, '\0'));
  EXPECT_NE(inflated(bomb(3, 1), 4u << 20).find("(incorrect length check)"), std::string::npos);
}

TEST(GzipHostile, ManyEmptyMembers) {
  std::string body;
  const std::string empty = compressed("");
  for (int i = 0; i < 50'000; ++i) body += empty;
  EXPECT_EQ(inflated(body, 10), "");
  EXPECT_EQ(inflated(body + compressed("hello"), 5), "hello");
  EXPECT_EQ(inflated(body + compressed("hello"), 4).substr(0, 9), "too_large");
}

double now() {  // of this thread, so that others' work does not count
  timespec time = {};
  EXPECT_EQ(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time), 0);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

TEST(SlowGzipHostile, BombIsRefusedWithinFiftyMilliseconds) {
  // Truthful; claiming just what is allowed, which costs most; claiming little.
  for (const std::uint32_t stated : {1u << 30, 4u << 20, 1000u}) {
    const std::string body = bomb(1024, stated - (1u << 30));
    double best = 1e9;
    for (int i = 0; i < 5; ++i) {
      const double start = now();
      EXPECT_EQ(inflated(body, 4u << 20).substr(0, 9), "too_large");
      best = std::min(best, now() - start);
    }
    std::printf("stated size %u: refused after %.1f ms\n", stated, best);
    EXPECT_LE(best, 50);
  }
}

TEST(SlowGzipHostile, GigabyteBombIsACorrectBody) {
  const std::string body = bomb(1024);
  z_stream stream = {};
  ASSERT_EQ(::inflateInit2(&stream, 15 + 16), Z_OK);
  std::string scratch(1u << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
  stream.avail_in = static_cast<uInt>(body.size());
  int code = Z_OK;
  while (code == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(scratch.data());
    stream.avail_out = static_cast<uInt>(scratch.size());
    code = ::inflate(&stream, Z_NO_FLUSH);
  }
  EXPECT_EQ(code, Z_STREAM_END);
  EXPECT_EQ(stream.total_out, 1u << 30);
  ::inflateEnd(&stream);
}

}  // namespace
}  // namespace tenon::test
