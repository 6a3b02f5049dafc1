#include "instance_figures.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "table.hpp"

namespace tenon::cli {
namespace {

using std::chrono::microseconds;

Instance at(const std::string& address) {
  Instance instance;
  instance.id = "id of " + address;
  instance.address = address;
  return instance;
}

TEST(InstanceFigures, CountsWhatEndsInsideTheWindow) {
  InstanceFigures figures;
  figures.begin(bench::Window::after(0, 1000));
  for (int i = 0; i < 300; ++i) figures.ended(at("a:1"), microseconds(100), false);
  for (int i = 0; i < 90; ++i) figures.ended(at("b:2"), microseconds(900), false);
  for (int i = 0; i < 10; ++i) figures.ended(at("b:2"), microseconds(5000), true);
  const auto shares = figures.shares();
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_EQ(shares[0].instance, "a:1");
  EXPECT_EQ(shares[0].calls, 300u);
  EXPECT_EQ(shares[0].errors, 0u);
  EXPECT_DOUBLE_EQ(shares[0].percent, 75);
  EXPECT_NEAR(shares[0].p99_us, 100, 1);
  EXPECT_EQ(shares[1].calls, 90u);
  EXPECT_EQ(shares[1].errors, 10u);
  EXPECT_DOUBLE_EQ(shares[1].percent, 25);
  EXPECT_NEAR(shares[1].p99_us, 900, 8) << "of those answered";
  figures.begin(bench::Window::after(1000, 1000));
  figures.ended(at("a:1"), microseconds(100), false);
  EXPECT_TRUE(figures.shares().empty()) << "it is still warming up";
}

TEST(InstanceFigures, BarsAreAsLongAsTheShares) {
  const std::vector<InstanceFigures::Share> shares{{"10.0.0.1:80", 300, 0, 100, 75}, {"10.0.0.2:80", 90, 10, 900, 25}};
  std::istringstream lines(bars_text(shares, 120));
  std::string first;
  std::string second;
  ASSERT_TRUE(std::getline(lines, first) && std::getline(lines, second));
  const auto blocks = [](const std::string& line) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = line.find("█", at)) != std::string::npos; at += 3) ++count;
    return count;
  };
  EXPECT_GE(blocks(first), 8u) << first;
  EXPECT_EQ(blocks(second), blocks(first) / 3) << second;
  EXPECT_NE(first.find(" 75.0 %        300 calls  0 errors  p99 100 us"), std::string::npos) << first;
  EXPECT_NE(second.find(" 25.0 %         90 calls  10 errors  p99 900 us"), std::string::npos) << second;
  for (const std::size_t columns : {0u, 60u, 80u, 200u}) {
    std::istringstream all(bars_text(shares, columns));
    for (std::string line; std::getline(all, line);)
      EXPECT_LE(width_of(line), std::max<std::size_t>(columns, 60)) << line;
  }
  EXPECT_EQ(bars_text({}, 80), "");
}

TEST(InstanceFigures, AsJson) {
  EXPECT_EQ(to_json({}), "[]");
  EXPECT_EQ(to_json({{"a:1", 3, 1, 12.5, 80}, {"b\"", 1, 0, 7, 20}}),
            "[{\"instance\":\"a:1\",\"calls\":3,\"errors\":1,\"share\":0.8000,\"p99_us\":12.500},"
            "{\"instance\":\"b\\\"\",\"calls\":1,\"errors\":0,\"share\":0.2000,\"p99_us\":7.000}]");
}

}  // namespace
}  // namespace tenon::cli
