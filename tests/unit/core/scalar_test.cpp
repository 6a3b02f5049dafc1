#include "manifest/scalar.hpp"

#include <gtest/gtest.h>

namespace tenon::manifest {
namespace {

using std::chrono::nanoseconds;

std::string duration_error(std::string_view text) {
  nanoseconds value{-1};
  const Wrong wrong = parse_duration(text, value);
  EXPECT_EQ(value, nanoseconds(-1)) << "a refused text must leave the value alone";
  return wrong;
}
nanoseconds duration_of(std::string_view text) {
  nanoseconds value{-1};
  EXPECT_EQ(parse_duration(text, value), "") << text;
  return value;
}
std::uint64_t size_of(std::string_view text) {
  std::uint64_t value = 77;
  EXPECT_EQ(parse_size(text, value), "") << text;
  return value;
}

TEST(Scalar, Durations) {
  using namespace std::chrono_literals;
  EXPECT_EQ(duration_of("5s"), 5s);
  EXPECT_EQ(duration_of("250ms"), 250ms);
  EXPECT_EQ(duration_of("1.5s"), 1500ms);
  EXPECT_EQ(duration_of("0.001s"), 1ms);
  EXPECT_EQ(duration_of("0.25h"), 15min);
  EXPECT_EQ(duration_of("2m"), 2min);
  EXPECT_EQ(duration_of("10us"), 10us);
  EXPECT_EQ(duration_of("7ns"), 7ns);
  EXPECT_EQ(duration_of("5 s"), 5s);
  EXPECT_EQ(duration_of("0"), 0s);
  EXPECT_EQ(duration_of("0s"), 0s);
  EXPECT_EQ(duration_of("9223372036854775807ns"), nanoseconds::max());
}

TEST(Scalar, WrongDurations) {
  EXPECT_EQ(duration_error("5"), "a duration with its unit, found \"5\": write 5s or 5ms");
  EXPECT_EQ(duration_error("5 sec"), "a duration in ns, us, ms, s, m or h, found \"5 sec\"");
  EXPECT_EQ(duration_error("-5s"), "a duration that is not negative, found \"-5s\"");
  EXPECT_EQ(duration_error("fast"), "a duration such as 250ms or 5s, found \"fast\"");
  EXPECT_EQ(duration_error("05s"), "a duration such as 250ms or 5s, found \"05s\"");
  EXPECT_EQ(duration_error("1.s"), "a duration such as 250ms or 5s, found \"1.s\"");
  EXPECT_EQ(duration_error("9223372036854775808ns"), "a duration below 292 years, found \"9223372036854775808ns\"");
  EXPECT_EQ(duration_error("2562048h"), "a duration below 292 years, found \"2562048h\"");
  EXPECT_EQ(duration_error("99999999999999999999s"), "a duration below 292 years, found \"99999999999999999999s\"");
  EXPECT_EQ(duration_error("0.5ns"), "a duration of whole nanoseconds, found \"0.5ns\"");
  EXPECT_EQ(duration_error("1.0000000001s"),
            "a duration with at most six digits after the point, found \"1.0000000001s\"");
}

TEST(Scalar, Sizes) {
  EXPECT_EQ(size_of("0"), 0u);
  EXPECT_EQ(size_of("512"), 512u);
  EXPECT_EQ(size_of("512B"), 512u);
  EXPECT_EQ(size_of("64KiB"), 65536u);
  EXPECT_EQ(size_of("4MiB"), 4u << 20);
  EXPECT_EQ(size_of("0.5KiB"), 512u);
  EXPECT_EQ(size_of("1.25KiB"), 1280u);
  EXPECT_EQ(size_of("1TiB"), 1ull << 40);
  std::uint64_t value = 77;
  EXPECT_EQ(parse_size("64KB", value), "a size in B, KiB, MiB, GiB or TiB, found \"64KB\"");
  EXPECT_EQ(parse_size("-1", value), "a size that is not negative, found \"-1\"");
  EXPECT_EQ(parse_size("0.3KiB", value), "a whole number of bytes, found \"0.3KiB\"");
  EXPECT_EQ(parse_size("9999999TiB", value), "a size below 8 EiB, found \"9999999TiB\"");
  EXPECT_EQ(value, 77u);
}

TEST(Scalar, Numbers) {
  std::int64_t i = 0;
  EXPECT_EQ(parse_integer("-9223372036854775808", i), "");
  EXPECT_EQ(i, std::numeric_limits<std::int64_t>::min());
  for (const char* text : {"010", "+1", "0x10", "1_000", "1e3", "", "-", "--1", "1.0", "9223372036854775808", " 1"})
    EXPECT_NE(parse_integer(text, i), "") << text;
  std::uint64_t u = 0;
  EXPECT_EQ(parse_unsigned("18446744073709551615", u), "");
  EXPECT_EQ(u, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_unsigned("-1", u), "a number that is not negative, found \"-1\"");
  EXPECT_EQ(parse_unsigned("010", u), "a whole number without leading zeros, found \"010\" (octal elsewhere)");
  double d = 0;
  EXPECT_EQ(parse_floating("-0.5e3", d), "");
  EXPECT_EQ(d, -500);
  for (const char* text : {".inf", "nan", "inf", "1e999", "01.5", "1.5x", ".5", ""})
    EXPECT_NE(parse_floating(text, d), "") << text;
}

}  // namespace
}  // namespace tenon::manifest
