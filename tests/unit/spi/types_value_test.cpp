#include <gtest/gtest.h>

#include "tenon/utf8.hpp"
#include "tenon/value.hpp"

namespace {

using tenon::Kind;
using tenon::Value;

TEST(Value, KeepsExactKinds) {
  EXPECT_EQ(Value().kind(), Kind::null);
  EXPECT_EQ(Value(true).kind(), Kind::boolean);
  EXPECT_EQ(Value(std::int8_t{1}).kind(), Kind::i8);
  EXPECT_EQ(Value(1).kind(), Kind::i32);
  EXPECT_EQ(Value(1LL).kind(), Kind::i64);
  EXPECT_EQ(Value(std::uint16_t{1}).kind(), Kind::u16);
  EXPECT_EQ(Value(1.5f).kind(), Kind::f32);
  EXPECT_EQ(Value(1.5).kind(), Kind::f64);
  EXPECT_EQ(Value("text").kind(), Kind::string);
  EXPECT_EQ(Value(tenon::Bytes{"b"}).kind(), Kind::bytes);
  EXPECT_EQ(Value(tenon::ByteSize(1)).kind(), Kind::size);
  EXPECT_EQ(Value(std::chrono::nanoseconds(1)).kind(), Kind::duration);
  EXPECT_NE(Value(1), Value(1LL));
  EXPECT_NE(Value("b"), Value(tenon::Bytes{"b"}));
  EXPECT_EQ(Value("b"), Value(std::string("b")));
}

TEST(Value, ConvertsOnlyWhatFits) {
  EXPECT_EQ(Value(UINT64_MAX).integer(), std::nullopt);
  EXPECT_EQ(Value(std::uint8_t{7}).integer(), 7);
  EXPECT_EQ(Value(-1).unsigned_integer(), std::nullopt);
  EXPECT_EQ(Value(5).unsigned_integer(), 5u);
  EXPECT_EQ(Value(5).floating(), 5.0);
  EXPECT_EQ(Value("5").integer(), std::nullopt);
  EXPECT_EQ(Value(std::chrono::nanoseconds(5)).integer(), std::nullopt);
  EXPECT_EQ(Value(5).string(), nullptr);
}

TEST(Value, MapsKeepTheirOrder) {
  Value v;
  v["z"] = 1;
  v["a"] = 2;
  v["z"] = 3;
  ASSERT_EQ(v.size(), 2u);
  EXPECT_EQ(*(*v.map())[0].first.string(), "z");
  EXPECT_EQ(*v.find("z"), Value(3));
  EXPECT_EQ(v.find("q"), nullptr);
  v["list"].push_back(1);
  v["list"].push_back("two");
  EXPECT_EQ(to_text(v), "{z: 3, a: 2, list: [1, two]}");
  const Value numbers = Value::of_map({{Value(1), Value("one")}});
  EXPECT_EQ(*numbers.find_key(Value(1)), Value("one"));
  EXPECT_EQ(numbers.find_key(Value(1LL)), nullptr);
}

TEST(Value, MovedFromIsNull) {
  Value a = Value::of_list({1, 2});
  Value b = std::move(a);
  EXPECT_TRUE(a.is_null());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(b.size(), 2u);
  b = Value(5);
  EXPECT_EQ(b, Value(5));
  Value c = b;
  EXPECT_EQ(c, b);
}

TEST(Value, DestroyingDeepNestingDoesNotRecurse) {
  Value deep = 1;
  for (int i = 0; i < 200000; ++i) {
    Value outer;
    if (i % 2) {
      outer.push_back(std::move(deep));
    } else {
      outer["k"] = std::move(deep);
    }
    deep = std::move(outer);
  }
  deep = Value();
  EXPECT_TRUE(deep.is_null());
}

TEST(Value, TextsOfDurationsAndSizes) {
  using std::chrono::nanoseconds;
  EXPECT_EQ(tenon::to_text(nanoseconds(0)), "0s");
  EXPECT_EQ(tenon::to_text(nanoseconds(1500000000)), "1500ms");
  EXPECT_EQ(tenon::to_text(nanoseconds(7200000000000)), "2h");
  EXPECT_EQ(tenon::to_text(nanoseconds(-5)), "-5ns");
  EXPECT_EQ(tenon::to_text(tenon::ByteSize(0)), "0");
  EXPECT_EQ(tenon::to_text(tenon::ByteSize(4u << 20)), "4MiB");
  EXPECT_EQ(tenon::to_text(tenon::ByteSize(1500)), "1500");
  EXPECT_EQ(tenon::to_text(Value(0.1f)), "0.1");
  EXPECT_EQ(tenon::to_text(Value(tenon::Bytes{"\x01\xFF"})), "0x01ff");
}

TEST(Utf8, AcceptsAndRefuses) {
  for (const char* good : {"", "plain ascii, longer than a word", "h\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
                           "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF"})
    EXPECT_TRUE(tenon::is_utf8(good)) << good;
  for (const char* bad : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
                          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xC3", "\xE2\x82", "\xFF", "12345678\xC3"})
    EXPECT_FALSE(tenon::is_utf8(bad)) << bad;
}

}  // namespace
