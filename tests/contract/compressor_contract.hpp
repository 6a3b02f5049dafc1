#pragma once
// What every Compressor must do. Used with
//   INSTANTIATE_TEST_SUITE_P(Gzip, CompressorContract, testing::Values(CompressorCase{"gzip", make}), …);
// For one source file of each test program.

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tenon/serializer.hpp"

namespace tenon::test {

struct CompressorCase {
  std::string name;
  std::function<std::unique_ptr<Compressor>()> make;
};

class CompressorContract : public testing::TestWithParam<CompressorCase> {
 protected:
  void SetUp() override { compressor_ = GetParam().make(); }
  std::string compress(std::string_view bytes) const {
    OutBuffer out;
    Result<void> done = compressor_->compress(bytes, out);
    EXPECT_TRUE(done.ok()) << done.error().text();
    return std::string(out.view());
  }
  static std::string text(std::size_t size, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::string made(size, ' ');
    for (char& c : made) c = "etaoin shrdlu"[random() % 13];
    return made;
  }
  static std::string noise(std::size_t size, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::string made(size, ' ');
    for (char& c : made) c = static_cast<char>(random());
    return made;
  }
  std::unique_ptr<Compressor> compressor_;
};

TEST_P(CompressorContract, HasANameForTheWire) { EXPECT_FALSE(compressor_->encoding().empty()); }

TEST_P(CompressorContract, WhatGoesInComesOut) {
  for (const std::size_t size : {0u, 1u, 100u, 4096u, 65537u, 1u << 20})
    for (const std::string& bytes : {text(size, size), noise(size, size), std::string(size, 'a')}) {
      OutBuffer out;
      out.append("before");
      Result<void> done = compressor_->decompress(compress(bytes), out, size);
      ASSERT_TRUE(done.ok()) << size << ": " << done.error().text();
      ASSERT_TRUE(out.view().starts_with("before"));
      EXPECT_TRUE(out.view().substr(6) == bytes) << size;
    }
  EXPECT_LT(compress(std::string(100'000, 'a')).size(), 50'000u);
}

// A small body that unfolds into a huge one is stopped at the limit, whatever it claims.
TEST_P(CompressorContract, TheLimitHoldsWhileInflating) {
  const std::string bomb = compress(std::string(64u << 20, '\0'));
  for (const std::size_t limit : {0u, 1u, 1000u, 1u << 20}) {
    OutBuffer out;
    Result<void> done = compressor_->decompress(bomb, out, limit);
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().code(), Errc::too_large) << done.error().text();
    EXPECT_LE(out.capacity(), 2 * limit + (64u << 10));
  }
}

TEST_P(CompressorContract, TruncatedBytesAreMalformed) {
  const std::string bytes = compress(text(3000, 1));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    OutBuffer out;
    Result<void> done = compressor_->decompress(std::string_view(bytes).substr(0, size), out, 1u << 20);
    ASSERT_FALSE(done.ok()) << size;
    EXPECT_EQ(done.error().code(), Errc::malformed) << done.error().text();
  }
}

TEST_P(CompressorContract, DamagedBytesNeverPassForTheOriginal) {
  const std::string original = text(3000, 2);
  const std::string bytes = compress(original);
  std::mt19937_64 random(5);
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] ^= static_cast<char>(1u << random() % 8);
    OutBuffer out;
    Result<void> done = compressor_->decompress(damaged, out, 1u << 20);
    if (!done.ok()) {
      EXPECT_TRUE(done.error().code() == Errc::malformed || done.error().code() == Errc::too_large);
    } else {
      EXPECT_TRUE(out.view() == original);  // a bit that means nothing
    }
  }
}

TEST_P(CompressorContract, ServesManyThreadsAtOnce) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 50; ++i) {
        const std::string bytes = text(5000, t * 100 + i);
        OutBuffer small;
        OutBuffer back;
        if (!compressor_->compress(bytes, small).ok() ||
            !compressor_->decompress(small.view(), back, bytes.size()).ok() || back.view() != bytes)
          ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace tenon::test
