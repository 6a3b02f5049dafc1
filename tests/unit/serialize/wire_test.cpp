// The protobuf wire format of described types, byte by byte.
#include <gtest/gtest.h>

#include "samples.hpp"

namespace samples {
namespace {

template <class T>
std::string bytes_of(const T& object) {
  return hex(encode(protobuf, object));
}

TEST(Wire, GoldenBytes) {
  EXPECT_EQ(bytes_of(tenon::Arguments<std::int64_t>{{1234567890}}), "08d285d8cc04");
  EXPECT_EQ(bytes_of(Inner{"ab", -1}), "0a02616210ffffffffffffffffff01");
  EXPECT_EQ(bytes_of(Inner{}), "0a001000");  // zero values are sent
  EXPECT_EQ(bytes_of(tenon::Bare<std::vector<std::int32_t>>{{3, 270, 86942}}), "0a06038e029ea705");
  EXPECT_EQ(bytes_of(tenon::Bare<std::vector<std::string>>{{"a", ""}}), "0a01610a00");
  EXPECT_EQ(bytes_of(tenon::Bare<std::map<std::string, bool>>{{{"k", true}}}), "0a050a016b1001");
  EXPECT_EQ(bytes_of(tenon::Bare<float>{1.0f}), "0d0000803f");
  EXPECT_EQ(bytes_of(tenon::Bare<double>{1.0}), "09000000000000f03f");
  EXPECT_EQ(bytes_of(tenon::Bare<std::chrono::milliseconds>{std::chrono::milliseconds(1500)}), "0a0808011080cab5ee01");
  EXPECT_EQ(bytes_of(tenon::Bare<Color>{Color::GREEN}), "0805");
  EXPECT_EQ(bytes_of(tenon::Bare<std::optional<bool>>{}), "");
  EXPECT_EQ(bytes_of(tenon::Void{}), "");
  // list of list: each inner list is a message with field 1
  EXPECT_EQ(bytes_of(tenon::Bare<std::vector<std::vector<std::int32_t>>>{{{1}, {}}}), "0a030a01010a00");
  // dynamic: i64 is field 6, a list field 18
  EXPECT_EQ(bytes_of(tenon::Value(std::int64_t{5})), "0a023005");
  EXPECT_EQ(bytes_of(tenon::Value::of_list({true})), "0a079201040a021001");
}

TEST(Wire, LongPartsGetLongLengths) {
  const tenon::Bare<Inner> sent{{std::string(20000, 'x'), 1}};
  const tenon::Result<tenon::Bare<Inner>> back = decode<tenon::Bare<Inner>>(protobuf, encode(protobuf, sent));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->value, sent.value);
}

TEST(Wire, PiecesOfAListAreJoined) {
  using List = tenon::Bare<std::vector<std::int32_t>>;
  // packed, single, packed, single
  const tenon::Result<List> back = decode<List>(protobuf, unhex("0a0201020803"
                                                                "0a01040805"));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(back->value, (std::vector<std::int32_t>{1, 2, 3, 4, 5}));
}

TEST(Wire, MessagesSplitInTwoAreMerged) {
  // bare field 1 {text "a"}, field 1 {number 7}
  const auto back = decode<tenon::Bare<Inner>>(protobuf, unhex("0a030a01610a021007"));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(back->value, (Inner{"a", 7}));
}

TEST(Wire, UnknownFieldsOfEveryTypeAreSkipped) {
  // 15: varint, fixed64, bytes, nested groups, fixed32; then text "a"
  const auto back = decode<Inner>(protobuf, unhex("7b"
                                                  "0801"
                                                  "8401"
                                                  "0a0161"));
  EXPECT_FALSE(back.ok());  // group 15 closed as 16
  const auto good = decode<Inner>(protobuf, unhex("78ff01"
                                                  "790102030405060708"
                                                  "7a0161"
                                                  "7b83010801"
                                                  "8401"
                                                  "7c"
                                                  "7d01020304"
                                                  "0a0161"));
  ASSERT_TRUE(good.ok()) << good.error().text();
  EXPECT_EQ(good->text, "a");
}

TEST(Wire, AKnownNumberWithAnotherWireTypeIsUnknown) {
  const auto back = decode<Inner>(protobuf, unhex("0801"
                                                  "1203616263"
                                                  "1005"));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(*back, (Inner{"", 5}));
}

TEST(Wire, MapEntriesMayLackParts) {
  using Map = tenon::Bare<std::map<std::int32_t, Inner>>;
  const auto back = decode<Map>(protobuf, unhex("0a00"
                                                "0a020805"
                                                "0a0412031001"));
  EXPECT_FALSE(back.ok());  // the last entry's value announces more than there is
  const auto good = decode<Map>(protobuf, unhex("0a00"
                                                "0a020805"
                                                "0a06120210010807"));
  ASSERT_TRUE(good.ok()) << good.error().text();
  EXPECT_EQ(good->value, (std::map<std::int32_t, Inner>{{0, {}}, {5, {}}, {7, {"", 1}}}));
}

TEST(Wire, OutOfRangeNumbersAreRefused) {
  EXPECT_FALSE(decode<tenon::Bare<std::int8_t>>(protobuf, unhex("088001")).ok());
  EXPECT_FALSE(decode<tenon::Bare<std::uint32_t>>(protobuf, unhex("088080808010")).ok());
  EXPECT_FALSE(decode<tenon::Bare<std::int32_t>>(protobuf, unhex("088080808008")).ok());
  EXPECT_FALSE(decode<tenon::Bare<std::chrono::seconds>>(protobuf, unhex("0a03108094")).ok());
  EXPECT_FALSE(decode<tenon::Bare<std::string>>(protobuf, unhex("0a01ff")).ok());
}

}  // namespace
}  // namespace samples
