// Serializer msgpack over messages of every family.
#include <google/protobuf/util/message_differencer.h>

#include "interop.pb.h"
#include "msgpack_samples.hpp"
#include "tenon/protobuf.hpp"
#include "tenon/schema.hpp"

namespace samples::packed {
namespace {

TEST(MsgpackMessages, AreMapsByMemberName) {
  EXPECT_EQ(hex(encode(msgpack, Inner{"ray", 300})), hex(octets("82 a474657874 a3726179 a66e756d626572 cd012c")));
  EXPECT_EQ(hex(encode(msgpack, tenon::Void{})), "80");
  EXPECT_EQ(bytes_of(std::vector<Inner>{{"", 1}}), "9182a474657874a0a66e756d62657201");
}

TEST(MsgpackMessages, MembersInAnyOrderUnknownOnesSkipped) {
  EXPECT_EQ(decode<Inner>(msgpack, octets("82 a66e756d626572 05 a474657874 a161")).value(), (Inner{"a", 5}));
  EXPECT_EQ(decode<Inner>(msgpack, octets("80")).value(), Inner{});
  // Unknown: a nested map, an array, an integer and a nil for a name, a long text.
  EXPECT_EQ(
      decode<Inner>(msgpack, octets("85 a17a 81a1619201c3 07 90 c0 a178 a5756e6b6e6f d903787878 a66e756d626572 05"))
          .value(),
      (Inner{"", 5}));
  // Nil: missing.
  EXPECT_EQ(decode<Inner>(msgpack, octets("82 a474657874 c0 a66e756d626572 c0")).value(), Inner{});
  // The last of a repeated scalar stays.
  EXPECT_EQ(decode<Inner>(msgpack, octets("82 a66e756d626572 05 a66e756d626572 06")).value(), (Inner{"", 6}));
}

TEST(MsgpackMessages, NilIsAbsent) {
  EXPECT_EQ(bytes_of(std::optional<std::string>{}), "c0");
  EXPECT_EQ(value_of<std::optional<std::int64_t>>("c0"), std::nullopt);
  EXPECT_EQ(value_of<std::optional<std::int64_t>>("00"), 0);
  EXPECT_EQ(decode<Inner>(msgpack, "\xC0").value(), Inner{}) << "a whole message: its default";
  EXPECT_TRUE(decode<tenon::Void>(msgpack, "\xC0").ok());
  EXPECT_EQ(value_of<Inner>("c0"), Inner{});
  value_refusal<std::vector<std::string>>("91 c0");
  value_refusal<std::vector<Inner>>("91 c0");
  value_refusal<std::map<std::string, std::string>>("81 a161 c0");
}

TEST(MsgpackArguments, AreArrays) {
  using Call = tenon::Arguments<std::int32_t, std::optional<std::string>, std::optional<bool>>;
  EXPECT_EQ(hex(encode(msgpack, Call{{5, std::nullopt, true}})), "9305c0c3");
  EXPECT_EQ(hex(encode(msgpack, Call{{5, std::nullopt, std::nullopt}})), "9305c0c0");
  EXPECT_EQ(hex(encode(msgpack, tenon::Arguments<>{})), "90");
  EXPECT_EQ(decode<Call>(msgpack, octets("91 05")).value().values, (Call{{5, std::nullopt, std::nullopt}}.values));
  EXPECT_NE(refusal<Call>("90").find("argument 1 (i32) is missing"), std::string::npos);
  EXPECT_NE(refusal<Call>("94 05 c0 c0 c0").find("4 arguments for 3"), std::string::npos);
  EXPECT_NE(refusal<Call>("92 05 07").find("argument 2: 0x07 (integer) where string is wanted"), std::string::npos);
  refusal<Call>("05");
  refusal<Call>("81 a161 05");
  refusal<Call>("c0");
  using Nested = tenon::Bare<tenon::Arguments<std::int32_t, std::optional<std::string>>>;
  EXPECT_EQ(hex(encode(msgpack, Nested{{{7, std::nullopt}}})), "9207c0");
  EXPECT_EQ(decode<Nested>(msgpack, octets("92 07 a178")).value().value.values, (std::tuple(7, std::optional("x"))));
}

TEST(MsgpackKinds, IntegersAreReadFromEveryFormatThatFits) {
  for (const char* seven : {"07", "cc07", "cd0007", "ce00000007", "cf0000000000000007", "d007", "d10007", "d200000007",
                            "d30000000000000007"}) {
    EXPECT_EQ(value_of<std::int8_t>(seven), 7);
    EXPECT_EQ(value_of<std::uint8_t>(seven), 7);
    EXPECT_EQ(value_of<std::int16_t>(seven), 7);
    EXPECT_EQ(value_of<std::uint32_t>(seven), 7u);
    EXPECT_EQ(value_of<std::int64_t>(seven), 7);
    EXPECT_EQ(value_of<std::uint64_t>(seven), 7u);
    EXPECT_EQ(value_of<tenon::ByteSize>(seven), 7u);
    EXPECT_EQ(value_of<std::chrono::nanoseconds>(seven).count(), 7);
    EXPECT_EQ(value_of<Color>(seven), static_cast<Color>(7));
  }
  EXPECT_NE(value_refusal<std::int8_t>("cc80").find("0xcc (integer) holds 128, which does not fit i8"),
            std::string::npos);
  EXPECT_NE(value_refusal<std::uint8_t>("ff").find("0xff (integer) holds -1, which does not fit u8"),
            std::string::npos);
  value_refusal<std::uint64_t>("d3 ffffffffffffffff");
  value_refusal<tenon::ByteSize>("ff");
  EXPECT_NE(value_refusal<std::int64_t>("cf ffffffffffffffff").find("holds 18446744073709551615"), std::string::npos);
  value_refusal<std::int64_t>("ca 3f800000");
  value_refusal<std::int64_t>("a131");
  value_refusal<std::int64_t>("c3");
}

TEST(MsgpackKinds, FloatsAreReadFromFloats) {
  EXPECT_EQ(value_of<double>("ca 3fc00000"), 1.5);
  EXPECT_EQ(value_of<float>("cb 3ff8000000000000"), 1.5f) << "nothing is lost";
  EXPECT_EQ(value_of<float>("cb 7ff0000000000000"), HUGE_VALF);
  EXPECT_NE(value_refusal<float>("cb 3fb999999999999a").find("f32 cannot say exactly"), std::string::npos);
  value_refusal<float>("cb 7e37e43c8800759c");
  value_refusal<double>("01");
  value_refusal<float>("01");
}

TEST(MsgpackKinds, TextsAndBytesAreDifferent) {
  EXPECT_EQ(bytes_of(std::string("x")), "a178");
  EXPECT_EQ(bytes_of(tenon::Bytes{"x"}), "c40178");
  EXPECT_NE(value_refusal<std::string>("c40178").find("0xc4 (bin) where string is wanted"), std::string::npos);
  EXPECT_NE(value_refusal<tenon::Bytes>("a178").find("0xa1 (string) where bytes (bin) is wanted"), std::string::npos);
  EXPECT_NE(value_refusal<std::string>("a1ff").find("not UTF-8"), std::string::npos);
  value_refusal<std::string>("a3eda080");
}

TEST(MsgpackKinds, EnumerationsAndDurations) {
  EXPECT_EQ(bytes_of(Color::GREEN), "05");
  EXPECT_EQ(value_of<Color>("a5475245454e"), Color::GREEN) << "its name";
  EXPECT_NE(value_refusal<Color>("a14e").find("(RED, GREEN, BLUE)"), std::string::npos);
  value_refusal<Color>("cf 0000000100000000");
  EXPECT_EQ(bytes_of(std::chrono::milliseconds(1)), "ce000f4240");
  EXPECT_EQ(value_of<std::chrono::milliseconds>("ce000f4240"), std::chrono::milliseconds(1));
  EXPECT_FALSE(decode<tenon::Bare<std::chrono::milliseconds>>(msgpack, octets("01")).ok()) << "a nanosecond";
}

TEST(MsgpackKinds, DynamicIntegersAreI64UnlessTheyNeedMore) {
  EXPECT_EQ(value_of<tenon::Value>("cd012c").kind(), tenon::Kind::i64);
  EXPECT_EQ(value_of<tenon::Value>("cf7fffffffffffffff").kind(), tenon::Kind::i64);
  EXPECT_EQ(value_of<tenon::Value>("cf8000000000000000").kind(), tenon::Kind::u64);
  EXPECT_EQ(value_of<tenon::Value>("ca3fc00000").kind(), tenon::Kind::f32);
  EXPECT_EQ(value_of<tenon::Value>("cb3ff8000000000000").kind(), tenon::Kind::f64);
}

TEST(MsgpackErrors, SayWhere) {
  const std::string why = refusal<Everything>("81 a6 696e6e657273 92 80 81 a66e756d626572 a178");
  EXPECT_NE(why.find("inners[1].number: 0xa1 (string) where i64 is wanted"), std::string::npos) << why;
  using Lists = tenon::Bare<std::map<std::string, std::vector<std::string>>>;
  const std::string in_map = refusal<Lists>("81 a16b 92 a0 05");
  EXPECT_NE(in_map.find("[\"k\"][1]: 0x05 (integer) where string is wanted"), std::string::npos) << in_map;
}

TEST(MsgpackProtobuf, RoundTrip) {
  interop::Everything sent;
  ASSERT_TRUE(sent.ParseFromString(encode(protobuf, everything())));
  const auto back = decode<interop::Everything>(msgpack, encode(msgpack, sent));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(*back, sent)) << back->DebugString();
  EXPECT_FALSE(decode<interop::Everything>(msgpack, encode(msgpack, interop::Everything()))->has_maybe());
  EXPECT_TRUE(decode<interop::Everything>(msgpack, encode(msgpack, sent))->has_maybe());
  interop::Inner inner;
  inner.set_text("ray");
  inner.set_number(1);
  EXPECT_EQ(hex(encode(msgpack, inner)), hex(encode(msgpack, Inner{"ray", 1}))) << "the same bytes as the struct";
  const auto list = decode<tenon::Bare<std::vector<interop::Inner>>>(
      msgpack, encode(msgpack, tenon::Bare<std::vector<interop::Inner>>{{inner, {}}}));
  ASSERT_TRUE(list.ok()) << list.error().text();
  EXPECT_EQ(list->value[0].text(), "ray");
  inner.set_text("\xFF");
  EXPECT_NE(encode(msgpack, inner).find("UTF-8"), std::string::npos);
}

TEST(MsgpackDynamic, TypesMadeAtRunTime) {
  using Call = tenon::Arguments<std::int8_t, Inner, std::optional<std::int32_t>>;
  tenon::Schema schema;
  const std::string name = add_message(schema, tenon::message_type<Call>());
  const std::string big = add_message(schema, tenon::message_type<Everything>());
  const auto types = tenon::DynamicTypes::create(schema);
  ASSERT_TRUE(types.ok()) << types.error().text();
  for (const auto& [type, bytes] :
       {std::pair{name, encode(msgpack, Call{{-5, {"a", 1}, {}}})}, std::pair{big, encode(msgpack, everything())}}) {
    tenon::Value value;
    const auto done = msgpack.decode(bytes, *(*types)->find(type), &value);
    ASSERT_TRUE(done.ok()) << done.error().text();
    EXPECT_EQ(hex(encode(msgpack, *(*types)->find(type), &value)), hex(bytes)) << to_text(value);
  }
}

TEST(MsgpackBuffers, AWarmEncodeAllocatesNothing) {
  const Everything value = everything();
  tenon::OutBuffer out;
  ASSERT_TRUE(msgpack.encode(tenon::message_type<Everything>(), &value, out).ok());
  const char* const memory = out.data();
  const std::size_t room = out.capacity();
  out.clear();
  ASSERT_TRUE(msgpack.encode(tenon::message_type<Everything>(), &value, out).ok());
  EXPECT_EQ(out.data(), memory);
  EXPECT_EQ(out.capacity(), room);
}

}  // namespace
}  // namespace samples::packed
