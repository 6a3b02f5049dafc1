#include "figures.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

Figures sample() {
  Figures figures;
  figures.workload = Workload{"tenon", "coroutine", 100, 10000, 1, 2};
  figures.seconds = 2;
  figures.errors = 3;
  for (int i = 0; i < 1000; ++i) figures.latency.add(64'000);
  return figures;
}

TEST(Figures, OneObjectWithTheAgreedMembers) {
  EXPECT_EQ(to_json(sample()),
            "{\"workload\":\"echo 100 B x 10000, coroutine, 2 providers\",\"peer\":\"tenon\",\"mode\":\"coroutine\","
            "\"size\":100,\"concurrency\":10000,\"connections\":1,\"providers\":2,\"calls\":1000,\"errors\":3,"
            "\"seconds\":2.000,\"qps\":500.0,\"mb_s\":0.050,\"mean_us\":64.000,\"p50_us\":64.000,\"p90_us\":64.000,"
            "\"p99_us\":64.000,\"p999_us\":64.000,\"max_us\":64.000}");
}

TEST(Figures, ResultsAreAList) {
  EXPECT_EQ(to_json(std::vector<Figures>{}), "{\"results\":[]}");
  const std::string two = to_json(std::vector<Figures>{sample(), sample()});
  EXPECT_EQ(two, "{\"results\":[" + to_json(sample()) + ",\n" + to_json(sample()) + "]}");
}

TEST(Figures, TextIsEscaped) { EXPECT_EQ(quoted("a\"b\\c\n\x01"), "\"a\\\"b\\\\c\\u000a\\u0001\""); }

TEST(Figures, WindowIsAfterTheWarmUp) {
  const std::uint64_t before = now();
  const Window window = Window::after(0.5, 2);
  EXPECT_GE(window.open, before + 500'000'000);
  EXPECT_EQ(window.close - window.open, 2'000'000'000u);
  EXPECT_EQ(window.seconds(), 2.0);
}

}  // namespace
}  // namespace bench
