#include <gtest/gtest.h>

#include <cmath>

#include "interop.pb.h"
#include "samples.hpp"
#include "tenon/protobuf.hpp"

namespace samples {
namespace {

TEST(Json, GoldenTexts) {
  EXPECT_EQ(encode(json, Inner{"a\"b\\\x01\n", 9007199254740993}),
            R"({"text":"a\"b\\\u0001\n","number":9007199254740993})");
  EXPECT_EQ(encode(json, tenon::Arguments<std::int64_t, Inner>{{7, {}}}), R"([7,{"text":"","number":0}])");
  EXPECT_EQ(encode(json, tenon::Arguments<>{}), "[]");
  EXPECT_EQ(
      encode(json, tenon::Arguments<std::optional<int>, int, std::optional<int>>{{std::nullopt, 2, std::nullopt}}),
      "[null,2,null]");
  EXPECT_EQ(encode(json, tenon::Bare<std::int64_t>{-1}), "-1");
  EXPECT_EQ(encode(json, tenon::Bare<std::string>{"x"}), "\"x\"");
  EXPECT_EQ(encode(json, tenon::Bare<std::optional<int>>{}), "null");
  EXPECT_EQ(encode(json, tenon::Void{}), "{}");
  EXPECT_EQ(encode(json, tenon::Bare<tenon::Bytes>{{"\xFB\xFF"}}), "\"+/8=\"");
  EXPECT_EQ(encode(json, tenon::Bare<std::chrono::nanoseconds>{std::chrono::milliseconds(1500)}), "\"1.500s\"");
  EXPECT_EQ(encode(json, tenon::Bare<std::chrono::nanoseconds>{std::chrono::nanoseconds(-1)}), "\"-0.000000001s\"");
  EXPECT_EQ(encode(json, tenon::Bare<Color>{Color::GREEN}), "\"GREEN\"");
  EXPECT_EQ(encode(json, tenon::Bare<Color>{static_cast<Color>(9)}), "9");
  EXPECT_EQ(encode(json, tenon::Bare<double>{HUGE_VAL}), "\"Infinity\"");
  EXPECT_EQ(encode(json, tenon::Bare<float>{0.1f}), "0.1");
  EXPECT_EQ(encode(json, tenon::Bare<std::map<std::int32_t, bool>>{{{-1, true}}}), R"({"-1":true})");
}

template <class T>
T read(std::string_view text) {
  const auto back = decode<tenon::Bare<T>>(json, text);
  EXPECT_TRUE(back.ok()) << text << ": " << back.error().text();
  return back.ok() ? back->value : T{};
}
template <class T>
std::string refused(std::string_view text) {
  const auto back = decode<T>(json, text);
  EXPECT_FALSE(back.ok()) << text;
  return back.ok() ? "" : back.error().text();
}
template <class T>
std::string refused_value(std::string_view text) {
  return refused<tenon::Bare<T>>(text);
}

TEST(Json, LenientWhereProto3Is) {
  EXPECT_EQ(read<std::int64_t>("\"9223372036854775807\""), INT64_MAX);
  EXPECT_EQ(read<std::uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(read<std::int32_t>("1.0"), 1);
  EXPECT_EQ(read<std::int32_t>("1e3"), 1000);
  EXPECT_EQ(read<double>("\"-Infinity\""), -HUGE_VAL);
  EXPECT_EQ(read<double>("\"1.5\""), 1.5);
  EXPECT_EQ(read<double>("7"), 7.0);
  EXPECT_EQ(read<Color>("5"), Color::GREEN);
  EXPECT_EQ(read<Color>("\"BLUE\""), Color::BLUE);
  EXPECT_EQ(read<tenon::Bytes>("\"-_8\"").data, "\xFB\xFF");
  EXPECT_EQ(read<std::chrono::milliseconds>("\"-1.5s\""), std::chrono::milliseconds(-1500));
  EXPECT_EQ(read<std::string>(R"("\u00e9\ud83d\ude00")"), "\xC3\xA9\xF0\x9F\x98\x80");
  EXPECT_EQ(read<Inner>(R"( {"number": 1, "unknown": {"x": [1]}, "text": null} )"), (Inner{"", 1}));
  const auto named = decode<tenon::Arguments<int, int>>(json, R"({"arg2": 5})");
  ASSERT_TRUE(named.ok());
  EXPECT_EQ(std::get<1>(named->values), 5);
}

TEST(Json, StrictEverywhereElse) {
  EXPECT_NE(refused<Inner>(R"({"text":"a","text":"b"})").find("\"text\" stands twice"), std::string::npos);
  EXPECT_NE(refused<interop::Inner>(R"({"text":"a","text":"b"})").find("stands twice"), std::string::npos);
  refused<tenon::Value>(R"({"a":{"b":1,"b":1}})");
  refused<tenon::Value>(R"({"a":1,"\u0061":1})");
  refused<Inner>(R"({"text":"\ud800"})");
  refused<interop::Inner>(R"({"text":"\ud800"})");
  refused<interop::Inner>(R"({"text":"\udc00\ud800"})");
  refused<Inner>("{\"text\":\"\xFF\"}");
  refused<interop::Inner>("{\"text\":\"\xFF\"}");
  refused<Inner>("{} x");
  refused<Inner>("{}{}");
  refused<interop::Inner>("{} x");
  refused<Inner>("{\"number\":1,}");
  refused<Inner>("");
  refused<Inner>("// c\n{}");
  refused_value<std::int64_t>("9223372036854775808");
  refused_value<std::int64_t>("1.5");
  refused_value<std::int64_t>("1e30");
  refused_value<std::int64_t>("true");
  refused_value<std::int64_t>("\" 1\"");
  refused_value<std::int8_t>("128");
  refused_value<std::uint64_t>("-1");
  refused_value<std::uint64_t>("18446744073709551616");
  refused_value<float>("1e39");
  refused_value<double>("1e400");
  refused_value<double>("NaN");
  refused_value<double>("\"inf\"");
  refused_value<bool>("1");
  refused_value<std::string>("1");
  refused_value<tenon::Bytes>("\"a\"");
  refused_value<tenon::Bytes>("\"a!==\"");
  refused_value<std::chrono::seconds>("\"1.5s\"");
  refused_value<std::chrono::nanoseconds>("\"1.5\"");
  refused_value<std::chrono::nanoseconds>("\"9223372037s\"");
  refused_value<std::chrono::nanoseconds>("\"--1s\"");
  refused_value<std::vector<int>>("{}");
  refused_value<std::vector<int>>("[1,null]");
  refused<tenon::Arguments<int>>("[1,2]");
}

TEST(Json, ErrorsSayWhere) {
  const std::string text = refused<Everything>(R"({"inners":[{"number":1},{"number":"x"}]})");
  EXPECT_NE(text.find("$.inners[1].number"), std::string::npos) << text;
  EXPECT_NE(text.find("samples.Everything"), std::string::npos) << text;
  const std::string color = refused<Everything>(R"({"color":"GREY"})");
  EXPECT_NE(color.find("\"GREY\" is no samples.Color (RED, GREEN, BLUE)"), std::string::npos) << color;
}

TEST(Json, ManyUnknownMembersAreSkipped) {
  std::string text = "{";
  for (int i = 0; i < 50000; ++i) text += "\"k" + std::to_string(i) + "\":1,";
  text += "\"number\":3}";
  const auto back = decode<Inner>(json, text);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->number, 3);
}

}  // namespace
}  // namespace samples
