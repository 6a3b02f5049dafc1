// Serializer simple: which kind is which tag, and what is read where another was written.
#include <cmath>

#include "simple_samples.hpp"

namespace samples {
namespace {

TEST(SimpleKinds, Scalars) {
  EXPECT_EQ(bytes_of(true), "0501");
  EXPECT_EQ(bytes_of(std::int8_t{-2}), "06fe");
  EXPECT_EQ(bytes_of(std::uint8_t{254}), "06fe");
  EXPECT_EQ(bytes_of(std::int16_t{-2}), "07fffe");
  EXPECT_EQ(bytes_of(std::uint16_t{65535}), "08feff07");
  EXPECT_EQ(bytes_of(std::int32_t{INT32_MIN}), "08ffffffff0f");
  EXPECT_EQ(bytes_of(std::uint32_t{UINT32_MAX}), "09feffffff1f");
  EXPECT_EQ(bytes_of(INT64_MIN), "09ffffffffffffffffff01");
  EXPECT_EQ(bytes_of(std::uint64_t{INT64_MAX}), "09feffffffffffffffff01");
  EXPECT_EQ(bytes_of(tenon::ByteSize(1)), "0902");
  EXPECT_EQ(bytes_of(std::chrono::nanoseconds(-1)), "0901");
  EXPECT_EQ(bytes_of(std::chrono::milliseconds(1)), "0980897a");
  EXPECT_EQ(bytes_of(1.5f), "0a3fc00000");
  EXPECT_EQ(bytes_of(-2.25), "0bc002000000000000");
  EXPECT_EQ(bytes_of(Color::BLUE), "0801");
  EXPECT_EQ(bytes_of(std::string()), "0100000000");
  EXPECT_EQ(bytes_of(tenon::Bytes{"\xFF"}), "0300000001ff");
  EXPECT_EQ(bytes_of(std::optional<std::int32_t>()), "00");
  EXPECT_EQ(bytes_of(std::optional<std::int32_t>(1)), "0802");
  EXPECT_EQ(bytes_of(tenon::Value()), "00");
}

TEST(SimpleKinds, ListsAndMaps) {
  EXPECT_EQ(bytes_of(std::vector<std::string>{}), "0400000000");
  EXPECT_EQ(bytes_of(std::vector<std::string>{""}), "040000000400000000");
  EXPECT_EQ(bytes_of(std::vector<std::int32_t>{}), "1500000000");
  EXPECT_EQ(bytes_of(std::vector<std::int32_t>{1}), "15000000020802");
  EXPECT_EQ(bytes_of(std::vector<std::uint8_t>{1}), "15000000020601");
  EXPECT_EQ(bytes_of(std::vector<std::optional<std::string>>{"", std::nullopt}), "1500000006010000000000");
  EXPECT_EQ(bytes_of(std::vector<std::vector<std::string>>{{}}), "15000000050400000000");
  EXPECT_EQ(bytes_of(std::map<std::string, std::string>{}), "0200000000");
  EXPECT_EQ(bytes_of(std::map<std::string, std::string>{{"a", ""}}), "0200000009000000016100000000");
  EXPECT_EQ(bytes_of(std::map<std::string, bool>{}), "1400000000");
  EXPECT_EQ(bytes_of(std::map<std::int16_t, bool>{{1, true}}), "14000000050700010501");
}

// Lists and maps of dynamic values take the short form when all they hold is text, and something.
TEST(SimpleKinds, DynamicListsAndMaps) {
  using tenon::Value;
  EXPECT_EQ(bytes_of(std::vector<Value>{}), "1500000000");
  EXPECT_EQ(bytes_of(std::vector<Value>{"a", ""}), bytes_of(std::vector<std::string>{"a", ""}));
  EXPECT_EQ(bytes_of(std::vector<Value>{"", nullptr}), "1500000006010000000000");
  EXPECT_EQ(bytes_of(std::map<std::string, Value>{}), "1400000000");
  EXPECT_EQ(bytes_of(std::map<std::string, Value>{{"a", "b"}, {"c", ""}}),
            bytes_of(std::map<std::string, std::string>{{"a", "b"}, {"c", ""}}));
  EXPECT_EQ(bytes_of(std::map<std::string, Value>{{"a", true}}),
            "140000000801000000016105"
            "01");
  EXPECT_EQ(bytes_of(std::map<std::int8_t, Value>{{1, "b"}}),
            "140000000806010100000001"
            "62");
  EXPECT_EQ(bytes_of(Value::of_list()), "1500000000");
  EXPECT_EQ(bytes_of(Value::of_map()), "1400000000");
  EXPECT_EQ(bytes_of(Value::of_map({{true, "b"}})),
            "140000000805010100000001"
            "62");
  // Inside each other, with what follows unharmed.
  const Value inner = Value::of_map({{"k", Value::of_list({"x", "yy"})}, {"l", "m"}});
  const Value outer = Value::of_list({inner, Value::of_map({{"p", "q"}}), Value::of_list({"z"}), "end"});
  const auto back = decode<Value>(simple, encode(simple, outer));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(*back, outer) << to_text(*back);
}

TEST(SimpleKinds, ValuesKeepTheirExactKind) {
  using tenon::Value;
  const std::vector<Value> scalars{nullptr,
                                   true,
                                   std::int8_t{-128},
                                   std::int16_t{-2},
                                   std::int32_t{7},
                                   INT64_MIN,
                                   1.5f,
                                   0.1,
                                   "text",
                                   tenon::Bytes{std::string("\0\xFF", 2)},
                                   std::int64_t{7}};
  for (const Value& value : scalars) {
    const auto back = decode<Value>(simple, encode(simple, value));
    ASSERT_TRUE(back.ok()) << back.error().text();
    EXPECT_EQ(*back, value);
    EXPECT_EQ(back->kind(), value.kind());
  }
  const Value list = Value::of_list({scalars.begin(), scalars.end()});
  Value map = Value::of_map({{std::int8_t{1}, list}, {INT64_MAX, "x"}, {true, list}, {2.5f, nullptr}});
  map["nested"]["deeper"] = Value::of_list({list, map});
  const auto back = decode<Value>(simple, encode(simple, map));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(*back, map) << to_text(*back);
  // The encoding has no word for these: the next wider kind comes back.
  EXPECT_EQ(*decode<Value>(simple, encode(simple, Value(std::uint8_t{255}))), Value(std::int8_t{-1}));
  EXPECT_EQ(*decode<Value>(simple, encode(simple, Value(std::uint16_t{65535}))), Value(std::int32_t{65535}));
  EXPECT_EQ(*decode<Value>(simple, encode(simple, Value(std::uint32_t{7}))), Value(std::int64_t{7}));
  EXPECT_EQ(*decode<Value>(simple, encode(simple, Value(tenon::ByteSize(7)))), Value(std::int64_t{7}));
  EXPECT_EQ(*decode<Value>(simple, encode(simple, Value(std::chrono::nanoseconds(7)))), Value(std::int64_t{7}));
}

TEST(SimpleKinds, IntegersOfAnyWidthThatFit) {
  for (const char* bytes : {"0607", "070007", "080e", "090e", "08 8e80808000", "09 8e808080808080808000"}) {
    EXPECT_EQ(value_of<std::int8_t>(bytes), 7) << bytes;
    EXPECT_EQ(value_of<std::int16_t>(bytes), 7) << bytes;
    EXPECT_EQ(value_of<std::int32_t>(bytes), 7) << bytes;
    EXPECT_EQ(value_of<std::int64_t>(bytes), 7) << bytes;
    EXPECT_EQ(value_of<std::uint8_t>(bytes), 7u) << bytes;
    EXPECT_EQ(value_of<std::uint16_t>(bytes), 7u) << bytes;
    EXPECT_EQ(value_of<std::uint32_t>(bytes), 7u) << bytes;
    EXPECT_EQ(value_of<std::uint64_t>(bytes), 7u) << bytes;
    EXPECT_EQ(value_of<tenon::ByteSize>(bytes).bytes, 7u) << bytes;
    EXPECT_EQ(value_of<std::chrono::nanoseconds>(bytes).count(), 7) << bytes;
    EXPECT_EQ(value_of<Color>(bytes), static_cast<Color>(7)) << bytes;
  }
  for (const char* bytes : {"06ff", "07ffff", "0801", "0901"}) {
    EXPECT_EQ(value_of<std::int8_t>(bytes), -1) << bytes;
    EXPECT_EQ(value_of<std::int64_t>(bytes), -1) << bytes;
    value_refusal<std::uint16_t>(bytes);
    value_refusal<std::uint64_t>(bytes);
  }
  EXPECT_EQ(value_of<std::uint8_t>("06ff"), 255u);
  EXPECT_EQ(value_of<std::int32_t>("08ffffffff0f"), INT32_MIN);
  EXPECT_EQ(value_of<std::int64_t>("09ffffffffffffffffff01"), INT64_MIN);
  const std::string why = value_refusal<std::int8_t>("08d804");
  EXPECT_NE(why.find("the value: tag 8 (i32) holds 300, which does not fit i8"), std::string::npos) << why;
  value_refusal<std::uint8_t>("070100");
  value_refusal<std::int16_t>("08808008");
  value_refusal<std::int32_t>("0980808080 10");
  value_refusal<std::uint32_t>("09 8080808020");
}

TEST(SimpleKinds, IntegersThatAreTooLong) {
  for (const char* bytes : {"08", "0880", "088080808080 00", "08ffffffff1f", "08ffffffff7f", "09", "09ff",
                            "09 8080808080808080808000", "09ffffffffffffffffff02", "09ffffffffffffffffff7f"}) {
    value_refusal<std::int64_t>(bytes);
    refusal<tenon::Value>(bytes);
    refusal<tenon::Void>(bytes);
  }
}

TEST(SimpleKinds, NothingElseIsConverted) {
  value_refusal<std::int32_t>("0501");
  value_refusal<std::int32_t>("0a3f800000");
  value_refusal<std::int32_t>("01 00000001 31");
  value_refusal<double>("080e");
  value_refusal<float>("0b3ff0000000000000");
  EXPECT_EQ(value_of<double>("0a3fc00000"), 1.5);
  EXPECT_EQ(value_of<float>("0a3fc00000"), 1.5f);
  value_refusal<bool>("0601");
  value_refusal<bool>("0502");
  value_refusal<std::string>("03 00000001 61");
  value_refusal<std::string>("0802");
  value_refusal<tenon::Bytes>("01 00000001 61");
  value_refusal<tenon::Bytes>("15 00000000");
  value_refusal<std::vector<std::string>>("02 00000000");
  value_refusal<std::vector<std::string>>("01 00000000");
  value_refusal<std::vector<std::int32_t>>("04 00000000");
  value_refusal<std::vector<std::int32_t>>("03 00000001 01");
  value_refusal<std::map<std::string, std::string>>("04 00000000");
  value_refusal<std::map<std::int32_t, std::string>>("02 00000000");
  value_refusal<std::map<std::string, bool>>("02 00000000");
  refusal<Inner>("15 00000000");
  refusal<Inner>("04 00000000");
  refusal<Inner>("0802");
  value_refusal<Inner>("01 00000000");
}

TEST(SimpleKinds, TextsWithAndWithoutTags) {
  using Texts = std::map<std::string, std::string>;
  const Texts texts{{"a", "b"}};
  EXPECT_EQ(value_of<Texts>("14 0000000c 01 00000001 61 01 00000001 62"), texts);
  EXPECT_EQ(value_of<Texts>("02 0000000a 00000001 61 00000001 62"), texts);
  const std::vector<std::string> list{"a", ""};
  EXPECT_EQ(value_of<std::vector<std::string>>("15 0000000b 01 00000001 61 01 00000000"), list);
  using Maybe = std::vector<std::optional<std::string>>;
  EXPECT_EQ(value_of<Maybe>("04 00000009 00000001 61 00000000"), (Maybe{"a", ""}));
  EXPECT_EQ(value_of<std::vector<Color>>("04 00000010 00000005 475245454e 00000003 524544"),
            (std::vector<Color>{Color::GREEN, Color::RED}));
  EXPECT_EQ((value_of<std::map<std::string, tenon::Value>>("02 00000009 00000001 61 00000000").at("a")),
            tenon::Value(""));
}

TEST(SimpleKinds, BytesAsSmallIntegers) {
  EXPECT_EQ(value_of<std::vector<std::uint8_t>>("03 00000002 01ff"), (std::vector<std::uint8_t>{1, 255}));
  EXPECT_EQ(value_of<std::vector<std::int8_t>>("03 00000002 01ff"), (std::vector<std::int8_t>{1, -1}));
  EXPECT_EQ(value_of<std::vector<std::uint8_t>>("03 00000000"), std::vector<std::uint8_t>());
  EXPECT_EQ(value_of<std::vector<std::uint8_t>>("15 00000007 06ff 070007 0802"),
            (std::vector<std::uint8_t>{255, 7, 1}));
}

TEST(SimpleKinds, Enumerations) {
  EXPECT_EQ(value_of<Color>("01 00000005 475245454e"), Color::GREEN);
  EXPECT_EQ(value_of<Color>("080a"), Color::GREEN);
  EXPECT_EQ(value_of<Color>("0801"), Color::BLUE);
  EXPECT_EQ(value_of<Color>("089a01"), static_cast<Color>(77));
  EXPECT_EQ(bytes_of(static_cast<Color>(77)), "089a01");
  const std::string why = value_refusal<Color>("01 00000004 47524559");
  EXPECT_NE(why.find("samples.Color (RED, GREEN, BLUE)"), std::string::npos) << why;
  value_refusal<Color>("0980808080 10");
  value_refusal<Color>("0501");
}

TEST(SimpleKinds, SpecialFloats) {
  for (const double d : {HUGE_VAL, -HUGE_VAL, 5e-324, 1.7976931348623157e308, 0.1})
    EXPECT_EQ(decode<tenon::Bare<double>>(simple, encode(simple, tenon::Bare<double>{d}))->value, d);
  EXPECT_TRUE(std::isnan(value_of<double>("0b7ff8000000000000")));
  EXPECT_TRUE(std::signbit(value_of<double>("0b8000000000000000")));
  for (const float f : {3.4028235e38f, 1e-45f, 0.1f, HUGE_VALF})
    EXPECT_EQ(decode<tenon::Bare<float>>(simple, encode(simple, tenon::Bare<float>{f}))->value, f);
}

TEST(SimpleKinds, WhatCannotBeWritten) {
  const std::string big = bytes_of(UINT64_MAX);
  EXPECT_NE(big.find("18446744073709551615 (u64)"), std::string::npos) << big;
  tenon::OutBuffer out;
  const tenon::Value value = UINT64_MAX;
  EXPECT_EQ(simple.encode(tenon::message_type<tenon::Value>(), &value, out).error().code(),
            tenon::Errc::invalid_argument);
  EXPECT_NE(bytes_of(std::string("\xFF")).find("UTF-8"), std::string::npos);
  EXPECT_NE(bytes_of(std::vector<std::string>{"\xED\xA0\x80"}).find("UTF-8"), std::string::npos);
  EXPECT_NE(bytes_of(tenon::Value::of_map({{nullptr, 1}})).find("key of a map entry is null"), std::string::npos);
  tenon::Value deep = true;
  for (int i = 0; i < 64; ++i) deep = tenon::Value::of_list({std::move(deep)});
  EXPECT_EQ(*decode<tenon::Value>(simple, encode(simple, deep)), deep);
  deep = tenon::Value::of_list({std::move(deep)});
  EXPECT_NE(encode(simple, deep).find("deeper than 64"), std::string::npos);
}

TEST(SimpleKinds, ErrorsSayWhere) {
  using Nested = tenon::Arguments<std::int32_t, Odd, std::map<std::string, std::vector<Tree>>>;
  Odd o;
  o.any_map = {};
  const auto found = [](const std::string& text, std::string_view what) {
    EXPECT_NE(text.find(what), std::string::npos) << text << "\nlacks: " << what;
  };
  found(refusal<Nested>("08 02"), "argument 2 (samples.Odd) is missing");
  found(refusal<Nested>("08 02 08 02"), "argument 2: tag 8 (i32) where samples.Odd is wanted");
  // {grid: [[], ["x"]]}
  found(refusal<Nested>(
            "08 02 14 00000021 01 00000004 67726964 15 00000013 15 00000000 15 00000009 08 02 01 0000000278 78"),
        "argument 2.grid[1][1]: tag 1 (string) where i32 is wanted");
  found(refusal<Nested>("08 02 00 14 00000023 01 00000003 6b6579 15 00000016 14 00000011"
                        "01 00000005 76616c7565 01 00000002 7879 00"),
        "argument 3[\"key\"][0].value: tag 1 (string) where i32 is wanted");
  found(refusal<Nested>("08 02 00 14 0000000b 01 00000003 0a6579 08 02 00"), "argument 3[entry 1]: tag 8 (i32) where");
  found(refusal<Inner>("14 0000000a 01 00000003 6e6577 11 00"), "new: tag 17 (unknown)");
  found(refusal<Inner>("14 00000004 08 02 00 00"), "[entry 1]: tag 8 (i32) where a member's name is wanted");
  found(refusal<Everything>("14 00000000 00"), "samples.Everything: simple: the value: 1 byte left over");
}

}  // namespace
}  // namespace samples
