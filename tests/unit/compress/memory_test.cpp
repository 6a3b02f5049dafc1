// What a call takes from the heap. Each measurement runs on a thread of its own, so that its zlib streams are new.
#include <gtest/gtest.h>

#include <thread>

#include "bodies.hpp"
#include "counted_memory.hpp"

namespace tenon::test {
namespace {

constexpr std::size_t streams = 512u << 10;  // more than a thread's zlib streams of one level take

template <class Action>
std::size_t peak_of(Action action) {
  std::size_t peak = 0;
  std::thread([&] {
    const CountedMemory memory;
    action();
    peak = memory.peak();
  }).join();
  return peak;
}

class GzipMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (!memory_is_counted()) GTEST_SKIP() << "a sanitizer has its own allocator";
  }
};

TEST_F(GzipMemory, CounterSeesZlibAndBuffers) {
  const std::size_t peak = peak_of([] {
    OutBuffer out;
    out.prepare(3u << 20);
    EXPECT_TRUE(gzip_of_level(1).compress("hello", out).ok());
  });
  EXPECT_GE(peak, (3u << 20) + (200u << 10));
  EXPECT_LE(peak, (3u << 20) + streams);
}

// Whatever size the bomb states, less than twice the limit is taken.
TEST_F(GzipMemory, BombTakesNoMoreThanTwiceTheLimit) {
  for (const std::size_t limit : {std::size_t{100'000}, (std::size_t{1} << 20) + 1, std::size_t{4u << 20}}) {
    const auto of_limit = static_cast<std::uint32_t>(limit);
    for (const std::uint32_t stated : {1u << 30, 0u, 1u, of_limit / 2, of_limit - 1, of_limit, of_limit + 1}) {
      const std::string body = bomb(1024, stated - (1u << 30));
      const std::size_t peak = peak_of([&] {
        OutBuffer out;
        const Result<void> done = gzip_of_level(1).decompress(body, out, limit);
        EXPECT_EQ(done.error().code(), Errc::too_large);
      });
      EXPECT_LE(peak, 2 * limit) << limit << " stated " << stated;
    }
  }
}

// The stated size is not believed when so few bytes cannot make it.
TEST_F(GzipMemory, SmallBodyCannotClaimMuch) {
  std::string body = compressed("hello");
  body[body.size() - 2] = 0x3f;  // 4 MiB
  const std::size_t peak = peak_of([&] {
    OutBuffer out;
    EXPECT_EQ(gzip_of_level(1).decompress(body, out, 8u << 20).error().code(), Errc::malformed);
  });
  EXPECT_LE(peak, 100u << 10);
}

TEST_F(GzipMemory, HonestBodiesTakeOneBlock) {
  const std::string bytes = text_bytes(5'000'000, 1);
  const auto part = [&](std::size_t from, std::size_t size) {
    return compressed(std::string_view(bytes).substr(from, size));
  };
  const std::string one = part(0, 5'000'000);
  const std::string small_last = part(0, 4'900'000) + part(4'900'000, 100'000);
  const std::string large_last = part(0, 100'000) + part(100'000, 4'900'000);
  for (const std::string& body : {one, small_last, large_last}) {
    const std::size_t peak = peak_of([&] {
      OutBuffer out;
      EXPECT_TRUE(gzip_of_level(1).decompress(body, out, bytes.size()).ok());
      EXPECT_TRUE(out.view() == bytes);
    });
    EXPECT_LE(peak, bytes.size() + (200u << 10));
  }
}

TEST_F(GzipMemory, SecondCallAllocatesNothing) {
  const std::string bytes = text_bytes(20'000, 1);
  std::thread([&] {
    const gzip::GzipCompressor gzip = gzip_of_level(1);
    OutBuffer body, out;
    for (int call = 0; call < 3; ++call) {
      const CountedMemory memory;
      body.clear();
      EXPECT_TRUE(gzip.compress(bytes, body).ok());
      out.clear();
      EXPECT_TRUE(gzip.decompress(body.view(), out, bytes.size()).ok());
      if (call == 0) {
        EXPECT_GT(memory.allocations(), 5u);
      } else {
        EXPECT_EQ(memory.allocations(), 0u);
      }
    }
  }).join();
}

TEST_F(GzipMemory, StreamsGoWithTheirThread) {
  const std::string bytes = text_bytes(20'000, 1);
  const auto work = [&] {
    std::thread([&] {
      for (const int level : {1, 9}) EXPECT_TRUE(inflated(compressed(bytes, level) + compressed("")) == bytes);
    }).join();
  };
  work();
  const std::size_t before = memory_in_use();
  for (int i = 0; i < 40; ++i) work();
  // Forty inflate streams are 1.6 MiB, the deflate streams 21 MiB.
  EXPECT_LT(memory_in_use(), before + (512u << 10));
}

}  // namespace
}  // namespace tenon::test
