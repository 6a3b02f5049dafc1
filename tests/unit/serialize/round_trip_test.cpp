#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "msgpack_samples.hpp"
#include "samples.hpp"

namespace samples {
namespace {

class RoundTrip : public testing::TestWithParam<const tenon::Serializer*> {
 protected:
  template <class T>
  T there_and_back(const T& object) {
    const std::string bytes = encode(*GetParam(), object);
    EXPECT_NE(bytes.substr(0, 6), "error:") << bytes;
    tenon::Result<T> back = decode<T>(*GetParam(), bytes);
    EXPECT_TRUE(back.ok()) << back.error().text() << "\n" << bytes;
    return back.ok() ? *back : T{};
  }
};
INSTANTIATE_TEST_SUITE_P(Serializers, RoundTrip, testing::Values(&protobuf, &json, &msgpack),
                         [](const auto& info) { return std::string(info.param->content_type()); });

TEST_P(RoundTrip, EveryKind) { EXPECT_EQ(there_and_back(everything()), everything()); }
TEST_P(RoundTrip, EveryKindAtItsDefault) { EXPECT_EQ(there_and_back(Everything{}), Everything{}); }
TEST_P(RoundTrip, WhatProtobufHasNoWordFor) {
  const Odd back = there_and_back(odd());
  const Odd sent = odd();
  EXPECT_EQ(back.grid, sent.grid);
  EXPECT_EQ(back.maybe_list, sent.maybe_list);
  EXPECT_EQ(back.holes, sent.holes);
  EXPECT_EQ(back.any, sent.any) << to_text(back.any);
  EXPECT_EQ(back, sent);
}
TEST_P(RoundTrip, OddAtItsDefault) { EXPECT_EQ(there_and_back(Odd{}), Odd{}); }

TEST_P(RoundTrip, SpecialFloats) {
  for (const double d : {HUGE_VAL, -HUGE_VAL, 5e-324, 1.7976931348623157e308, 0.30000000000000004, 123456789012345680.0,
                         9.0, 2.2250738585072014e-308}) {
    EXPECT_EQ(there_and_back(tenon::Bare<double>{d}).value, d);
  }
  EXPECT_TRUE(std::isnan(there_and_back(tenon::Bare<double>{std::nan("")}).value));
  EXPECT_TRUE(std::signbit(there_and_back(tenon::Bare<double>{-0.0}).value));
  for (const float f : {3.4028235e38f, 1e-45f, 0.1f}) EXPECT_EQ(there_and_back(tenon::Bare<float>{f}).value, f);
}

TEST_P(RoundTrip, IntegersAreExact) {
  for (const std::int64_t i :
       {INT64_MIN, INT64_MIN + 1, std::int64_t{-9007199254740993}, std::int64_t{9007199254740993}, INT64_MAX})
    EXPECT_EQ(there_and_back(tenon::Bare<std::int64_t>{i}).value, i);
  for (const std::uint64_t i : {std::uint64_t{1} << 63, UINT64_MAX, UINT64_MAX - 1})
    EXPECT_EQ(there_and_back(tenon::Bare<std::uint64_t>{i}).value, i);
}

TEST_P(RoundTrip, ArgumentLists) {
  using Call =
      tenon::Arguments<std::int64_t, Inner, std::optional<std::string>, std::vector<std::string>, std::optional<bool>>;
  const Call sent{{42, {"in", 1}, std::nullopt, {"a", "b"}, std::nullopt}};
  EXPECT_EQ(there_and_back(sent).values, sent.values);
  EXPECT_EQ(there_and_back(tenon::Arguments<>{}).values, std::tuple<>());
}

TEST_P(RoundTrip, BareValues) {
  EXPECT_EQ(there_and_back(tenon::Bare<Inner>{{"x", 1}}).value, (Inner{"x", 1}));
  EXPECT_EQ(there_and_back(tenon::Bare<std::vector<Inner>>{{{"x", 1}, {}}}).value.size(), 2u);
  EXPECT_EQ(there_and_back(tenon::Bare<std::optional<std::string>>{}).value, std::nullopt);
  EXPECT_EQ((there_and_back(tenon::Bare<std::map<std::string, Color>>{{{"a", Color::GREEN}}}).value.at("a")),
            Color::GREEN);
  EXPECT_EQ(there_and_back(tenon::Void{}), tenon::Void{});
  EXPECT_EQ(there_and_back(any_value()), any_value());
  EXPECT_EQ(there_and_back(tenon::Value()), tenon::Value());
}

TEST_P(RoundTrip, UnknownEnumeratorsAreKept) {
  EXPECT_EQ(there_and_back(tenon::Bare<Color>{static_cast<Color>(77)}).value, static_cast<Color>(77));
}

TEST_P(RoundTrip, NestingUpToTheLimitOnly) {
  const auto chain = [](int depth) {
    tenon::Value v = true;
    for (int i = 0; i < depth; ++i) {
      tenon::Value outer;
      outer.push_back(std::move(v));
      v = std::move(outer);
    }
    return v;
  };
  EXPECT_EQ(there_and_back(chain(30)), chain(30));
  EXPECT_EQ(encode(*GetParam(), chain(66)).substr(0, 6), "error:");
  EXPECT_EQ(encode(*GetParam(), chain(100000)).substr(0, 6), "error:");
  Tree tree;
  for (int i = 0; i < 31; ++i) {
    Tree outer;
    outer.kids.push_back(std::move(tree));
    tree = std::move(outer);
  }
  EXPECT_EQ(there_and_back(tree), tree);
}

TEST_P(RoundTrip, TextThatIsNotUtf8IsRefused) {
  EXPECT_NE(encode(*GetParam(), tenon::Bare<std::string>{"\xFF"}).find("UTF-8"), std::string::npos);
  EXPECT_NE(encode(*GetParam(), tenon::Bare<std::string>{"\xED\xA0\x80"}).find("UTF-8"), std::string::npos);
}

struct WithDefaults {
  std::vector<std::int32_t> list{1, 2};
  std::string text = "default";
  bool operator==(const WithDefaults&) const = default;
};
BOOST_DESCRIBE_STRUCT(WithDefaults, (), (list, text))

TEST_P(RoundTrip, ListsReplaceTheirDefault) {
  WithDefaults sent;
  sent.list = {7, 8, 9};
  sent.text = "";
  EXPECT_EQ(there_and_back(sent), sent);
  EXPECT_EQ(there_and_back(WithDefaults{}), WithDefaults{});
}

}  // namespace
}  // namespace samples
