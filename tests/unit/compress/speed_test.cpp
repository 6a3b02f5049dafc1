// The figures of the plugin's README, and what must hold of them on any machine.
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <cstdio>

#include "bodies.hpp"

namespace tenon::test {
namespace {

/// Microseconds that this thread spends on `action`, at best. Others' work does not count.
template <class Action>
double time_of(int rounds, Action action) {
  const auto now = [] {
    timespec time = {};
    EXPECT_EQ(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time), 0);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
  };
  double best = 1e12;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const double start = now();
    for (int i = 0; i < rounds; ++i) action();
    best = std::min(best, (now() - start) / rounds);
  }
  return best;
}

TEST(SlowGzipSpeed, LevelsAreATradeOfTimeAndSize) {
  double fast = 0, small = 0;
  for (const std::size_t size : {std::size_t{1} << 10, std::size_t{1} << 14, std::size_t{1} << 20}) {
    for (const int level : {1, 6, 9}) {
      const std::string bytes = text_bytes(size, 1);
      const gzip::GzipCompressor gzip = gzip_of_level(level);
      OutBuffer body, out;
      const int rounds = static_cast<int>(std::max<std::size_t>(1, (1u << 21) / size / static_cast<unsigned>(level)));
      const double there = time_of(rounds, [&] {
        body.clear();
        ASSERT_TRUE(gzip.compress(bytes, body).ok());
      });
      const double back = time_of(rounds, [&] {
        out.clear();
        ASSERT_TRUE(gzip.decompress(body.view(), out, size).ok());
      });
      const auto length = static_cast<double>(size);
      std::printf("%8zu bytes, level %d: %4.1f %%, compress %8.0f us %4.0f MB/s, inflate %6.0f us %4.0f MB/s\n", size,
                  level, 100 * static_cast<double>(body.size()) / length, there, length / there, back, length / back);
      EXPECT_LT(back, there);
      (level == 1 ? fast : small) = there;
    }
  }
  EXPECT_LT(2 * fast, small);
}

}  // namespace
}  // namespace tenon::test
