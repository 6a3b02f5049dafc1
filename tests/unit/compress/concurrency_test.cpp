// One compressor, many threads.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "bodies.hpp"

namespace tenon::test {
namespace {

TEST(GzipConcurrency, ManyThreadsShareOneCompressor) {
  const gzip::GzipCompressor fast = gzip_of_level(1);
  const gzip::GzipCompressor small = gzip_of_level(6);
  std::vector<std::thread> threads;
  std::vector<int> good(16, 0);
  for (std::size_t number = 0; number < good.size(); ++number) {
    threads.emplace_back([&, number] {
      for (std::size_t round = 0; round < 60; ++round) {
        const std::size_t size = (number * 7919 + round * 104729) % 60'000;
        const std::string bytes = round % 3 ? text_bytes(size, number) : random_bytes(size, number);
        const gzip::GzipCompressor& sender = round % 2 ? fast : small;
        OutBuffer body, out;
        if (!sender.compress(bytes, body).ok()) continue;
        // What fails in between must not be felt by the next.
        if (fast.decompress(body.view().substr(0, body.size() - 1), out, size).ok()) continue;
        if (!fast.decompress(body.view(), out, size).ok()) continue;
        good[number] += out.view() == bytes;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : good) EXPECT_EQ(count, 60);
}

}  // namespace
}  // namespace tenon::test
