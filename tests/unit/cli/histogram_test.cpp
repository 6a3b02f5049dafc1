#include "histogram.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace bench {
namespace {

// One value alone: what is read back is the value, to within 1 %.
TEST(Histogram, KeepsEveryMagnitudeWithinOnePercent) {
  for (std::uint64_t value = 1; value < (std::uint64_t{1} << 62); value += value / 7 + 1) {
    Histogram histogram;
    histogram.add(value);
    histogram.add(std::numeric_limits<std::uint64_t>::max());  // so that max() does not hide the bucket's value
    const double read = histogram.quantile(0.25);
    EXPECT_LE(std::abs(read - static_cast<double>(value)), static_cast<double>(value) * 0.01) << value;
  }
}

TEST(Histogram, ExactBelow128) {
  for (std::uint64_t value = 0; value < 128; ++value) {
    Histogram histogram;
    histogram.add(value);
    EXPECT_EQ(histogram.quantile(0.5), static_cast<double>(value));
  }
}

TEST(Histogram, QuantilesMatchTheSortedList) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> latency(10, 2);
  Histogram histogram;
  std::vector<std::uint64_t> all;
  for (int i = 0; i < 100'000; ++i) {
    all.push_back(static_cast<std::uint64_t>(latency(random)));
    histogram.add(all.back());
  }
  std::sort(all.begin(), all.end());
  for (const double p : {0.01, 0.1, 0.5, 0.9, 0.99, 0.999}) {
    const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(all.size()))) - 1;
    const auto exact = static_cast<double>(all[rank]);
    EXPECT_NEAR(histogram.quantile(p), exact, exact * 0.01) << p;
  }
  EXPECT_NEAR(histogram.quantile(1), static_cast<double>(all.back()), static_cast<double>(all.back()) * 0.01);
  EXPECT_EQ(histogram.max(), all.back());
  EXPECT_EQ(histogram.count(), all.size());
}

TEST(Histogram, MergeIsTheSameAsAddingEverything) {
  Histogram one, two, both;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    (i % 2 ? one : two).add(i * i);
    both.add(i * i);
  }
  one.merge(two);
  EXPECT_EQ(one.count(), both.count());
  EXPECT_EQ(one.mean(), both.mean());
  EXPECT_EQ(one.max(), both.max());
  for (const double p : {0.1, 0.5, 0.9}) EXPECT_EQ(one.quantile(p), both.quantile(p));
}

TEST(Histogram, EmptySaysZero) {
  const Histogram histogram;
  EXPECT_EQ(histogram.quantile(0.5), 0);
  EXPECT_EQ(histogram.mean(), 0);
  EXPECT_EQ(histogram.max(), 0u);
}

}  // namespace
}  // namespace bench
