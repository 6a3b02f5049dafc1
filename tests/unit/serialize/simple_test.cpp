// Serializer simple against bodies that real peers sent, and over messages of every family.
#include <google/protobuf/util/message_differencer.h>

#include "interop.pb.h"
#include "simple_samples.hpp"
#include "tenon/protobuf.hpp"
#include "tenon/schema.hpp"

namespace samples {
namespace {

// `bytes` (hex) read as a T are `value`, and `value` is written as these bytes.
template <class T>
void same(std::string_view bytes, const T& value) {
  const auto back = decode<T>(simple, octets(bytes));
  ASSERT_TRUE(back.ok()) << bytes << ": " << back.error().text();
  if constexpr (requires { value.values; }) {
    EXPECT_EQ(back->values, value.values);
  } else if constexpr (requires { value.value; }) {
    EXPECT_EQ(back->value, value.value);
  } else {
    EXPECT_EQ(*back, value);
  }
  EXPECT_EQ(hex(encode(simple, value)), hex(octets(bytes)));
}

using Texts = std::map<std::string, std::string>;

TEST(SimpleCaptured, Strings) {
  same("01 00000003 526179", tenon::Arguments<std::string>{{"Ray"}});
  same("01 00000009 68656c6c6f20526179", tenon::Bare<std::string>{"hello Ray"});
  same("01 00000001 78", tenon::Arguments<std::string>{{"x"}});
  same("01 00000008 6e616d653d726179", tenon::Bare<std::string>{"name=ray"});
}

TEST(SimpleCaptured, Integers) {
  same("08 05 09 d804", tenon::Arguments<std::int32_t, std::int64_t>{{-3, 300}});
  same("09 d204", tenon::Bare<std::int64_t>{297});
  same("08 05 09 d804", tenon::Arguments<tenon::Value, tenon::Value>{{std::int32_t{-3}, std::int64_t{300}}});
}

TEST(SimpleCaptured, StringMap) {
  const std::string_view body = "02 0000000f 00000004 6e616d65 00000003 726179";
  same(body, tenon::Arguments<Texts>{{{{"name", "ray"}}}});
  tenon::Value value;
  value["name"] = "ray";
  same(body, value);
}

TEST(SimpleCaptured, EveryTagInOneList) {
  tenon::Value texts;
  texts["k"] = "v";
  tenon::Value numbers;
  numbers["k2"] = std::int32_t{5};
  const tenon::Value list =
      tenon::Value::of_list({"s", tenon::Bytes{"\x01\x02"}, true, std::int8_t{7}, std::int16_t{-2}, std::int32_t{-1},
                             std::int64_t{1} << 40, 1.5f, -2.25, texts, tenon::Value::of_list({"a", ""}), numbers});
  const std::string_view body =
      "15 00000056 01 00000001 73 03 00000002 0102 0501 0607 07fffe 0801 09808080808040 0a3fc00000"
      "0bc002000000000000 02 0000000a 00000001 6b 00000001 76 04 00000009 00000001 61 00000000"
      "14 00000009 01 00000002 6b32 080a";
  same(body, tenon::Arguments<tenon::Value>{{list}});
  same(body, list);
}

TEST(SimpleCaptured, NullReply) {
  same("00", tenon::Value());
  same("00", tenon::Void{});
  same("00", tenon::Bare<std::optional<std::string>>{});
  EXPECT_EQ(value_of<std::string>("00"), "");
  EXPECT_EQ(value_of<Inner>("00"), Inner{});
  EXPECT_TRUE(decode<Inner>(simple, octets("00")).ok());
}

TEST(SimpleCaptured, MapListAndBytes) {
  same("02 0000000f 00000004 6e616d65 00000003 726179 04 0000000a 00000001 78 00000001 79 03 00000002 0908",
       tenon::Arguments<Texts, std::vector<std::string>, tenon::Bytes>{
           {{{"name", "ray"}}, {"x", "y"}, tenon::Bytes{"\x09\x08"}}});
  same("02 00000028 00000001 62 00000001 32 00000001 6c 00000006 5b782c20795d 00000004 6e616d65 00000003 726179",
       tenon::Bare<Texts>{{{"b", "2"}, {"l", "[x, y]"}, {"name", "ray"}}});
}

TEST(SimpleCaptured, WrongArgument) {
  const std::string why = refusal<tenon::Arguments<std::int32_t, std::int64_t>>("01 00000008 6e6f74616e696e74 09 02");
  EXPECT_NE(why.find("argument 1: tag 1 (string) where i32 is wanted"), std::string::npos) << why;
  same("01 00000008 6e6f74616e696e74 09 02", tenon::Arguments<std::string, std::int64_t>{{"notanint", 1}});
}

TEST(SimpleCaptured, NoArgumentsAndAnEmptyMap) {
  same("", tenon::Arguments<>{});
  same("14 00000000", tenon::Value::of_map());
  EXPECT_EQ(value_of<Texts>("14 00000000"), Texts{});
}

template <class T>
T there_and_back(const T& object) {
  const std::string bytes = encode(simple, object);
  EXPECT_NE(bytes.substr(0, 6), "error:") << bytes;
  tenon::Result<T> back = decode<T>(simple, bytes);
  EXPECT_TRUE(back.ok()) << back.error().text() << "\n" << hex(bytes);
  return back.ok() ? *back : T{};
}

TEST(SimpleMessages, EveryKind) {
  EXPECT_EQ(there_and_back(simple_everything()), simple_everything());
  EXPECT_EQ(there_and_back(Everything{}), Everything{});
}

TEST(SimpleMessages, WhatProtobufHasNoWordFor) {
  const Odd back = there_and_back(simple_odd());
  EXPECT_EQ(back.grid, simple_odd().grid);
  EXPECT_EQ(back.any, simple_odd().any) << to_text(back.any);
  EXPECT_EQ(back, simple_odd());
  EXPECT_EQ(there_and_back(Odd{}), Odd{});
}

TEST(SimpleMessages, AStructIsAMapByName) {
  same("14 0000001e 01 00000004 74657874 01 00000003 726179 01 00000006 6e756d626572 09 02", Inner{"ray", 1});
  // Without inner tags, in another order, with unknown members, with null for missing ones, and not at all.
  EXPECT_EQ(decode<Inner>(simple, octets("02 0000000f 00000004 74657874 00000003 726179"))->text, "ray");
  const std::string_view strange =
      "14 0000003f 01 00000006 6e756d626572 08 0e 01 00000001 78 15 0000000e 02 00000000 14 00000004 05 00 09 01"
      "01 00000001 7a 0b 3ff0000000000000 01 00000004 74657874 00";
  const auto back = decode<Inner>(simple, octets(strange));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(*back, (Inner{"", 7}));
  EXPECT_EQ(*decode<Inner>(simple, octets("14 00000000")), Inner{});
}

TEST(SimpleMessages, Arguments) {
  using Call =
      tenon::Arguments<std::int64_t, Inner, std::optional<std::string>, std::vector<std::string>, std::optional<bool>>;
  const Call sent{{42, {"in", 1}, std::nullopt, {"a", "b"}, std::nullopt}};
  EXPECT_EQ(there_and_back(sent).values, sent.values);
  using Holes = tenon::Arguments<std::optional<std::int32_t>, std::int32_t, std::optional<std::int32_t>>;
  same("00 08 04 00", Holes{{std::nullopt, 2, std::nullopt}});
  EXPECT_EQ(decode<Holes>(simple, octets("00 08 04"))->values, (Holes{{std::nullopt, 2, std::nullopt}}.values));
  // A null takes the default, what follows the last argument is nobody's.
  EXPECT_EQ(decode<Holes>(simple, octets("00 00"))->values, (Holes{{std::nullopt, 0, std::nullopt}}.values));
  EXPECT_EQ(decode<Holes>(simple, octets("00 08 04 00 01 ff"))->values,
            (Holes{{std::nullopt, 2, std::nullopt}}.values));
  EXPECT_TRUE(decode<tenon::Arguments<>>(simple, octets("08 04")).ok());
  // As a value of its own an argument list is a list.
  using Inside = tenon::Arguments<std::int32_t, std::vector<std::string>>;
  EXPECT_EQ(bytes_of(Inside{{1, {}}}),
            "1500000007080204"
            "00000000");
  EXPECT_EQ(value_of<Inside>("15 00000007 08 02 04 00000000").values, (Inside{{1, {}}}.values));
}

TEST(SimpleMessages, Void) {
  EXPECT_EQ(hex(encode(simple, tenon::Bare<tenon::Void>{})), "00");
  for (const char* bytes : {"", "00", "08 02", "01 00000001 78", "14 00000004 05 01 05 00", "04 00000004 00000000"}) {
    EXPECT_TRUE(decode<tenon::Void>(simple, octets(bytes)).ok()) << bytes;
    EXPECT_TRUE(decode<tenon::Bare<tenon::Void>>(simple, octets(bytes)).ok()) << bytes;
  }
  refusal<tenon::Void>("00 00");
  refusal<tenon::Bare<tenon::Void>>("08 02 00");
  refusal<tenon::Void>("01 00000002 78");
  same("14 00000000", tenon::Arguments<tenon::Void>{});
}

TEST(SimpleMessages, ListsReplaceTheirDefault) {
  Odd o;
  o.maybe_list = {"x"};
  EXPECT_EQ(there_and_back(o), o);
  Tree tree;
  for (int i = 0; i < 31; ++i) {
    Tree outer;
    outer.kids.push_back(std::move(tree));
    tree = std::move(outer);
  }
  EXPECT_EQ(there_and_back(tree), tree);
}

interop::Everything generated() {
  interop::Everything m;
  EXPECT_TRUE(m.ParseFromString(encode(protobuf, simple_everything())));
  return m;
}

TEST(SimpleProtobuf, GeneratedClass) {
  const interop::Everything sent = generated();
  const auto back = decode<interop::Everything>(simple, encode(simple, sent));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(*back, sent)) << back->DebugString();
  EXPECT_FALSE(decode<interop::Everything>(simple, encode(simple, interop::Everything()))->has_maybe());
  EXPECT_TRUE(decode<interop::Everything>(simple, encode(simple, sent))->has_maybe());
}

TEST(SimpleProtobuf, SameBytesAsTheStruct) {
  interop::Inner inner;
  inner.set_text("ray");
  inner.set_number(1);
  EXPECT_EQ(hex(encode(simple, inner)), hex(encode(simple, Inner{"ray", 1})));
  // A google.protobuf.Duration is a message like any other: the one member that differs.
  Everything e = simple_everything();
  e.wait = {};
  e.counts = {{"k", -5}};  // of several the order is arbitrary
  interop::Everything m;
  ASSERT_TRUE(m.ParseFromString(encode(protobuf, e)));
  m.clear_wait();
  const auto from_struct = decode<tenon::Value>(simple, encode(simple, e));
  const auto from_message = decode<tenon::Value>(simple, encode(simple, m));
  ASSERT_TRUE(from_struct.ok() && from_message.ok());
  for (const auto& [name, value] : *from_message->map()) {
    ASSERT_NE(from_struct->find_key(name), nullptr) << to_text(name);
    EXPECT_EQ(*from_struct->find_key(name), value) << to_text(name);
  }
  EXPECT_EQ(from_message->size() + 1, from_struct->size());
}

TEST(SimpleProtobuf, AsAResultAndAnArgument) {
  interop::Inner inner;
  inner.set_text("ray");
  const auto back = decode<tenon::Bare<std::vector<interop::Inner>>>(
      simple, encode(simple, tenon::Bare<std::vector<interop::Inner>>{{inner, {}}}));
  ASSERT_TRUE(back.ok()) << back.error().text();
  ASSERT_EQ(back->value.size(), 2u);
  EXPECT_EQ(back->value[0].text(), "ray");
  inner.set_text("\xFF");
  EXPECT_NE(encode(simple, inner).find("UTF-8"), std::string::npos);
}

TEST(SimpleDynamic, TypesMadeAtRunTime) {
  using Call = tenon::Arguments<std::int8_t, Inner, std::optional<std::int32_t>>;
  tenon::Schema schema;
  const std::string name = add_message(schema, tenon::message_type<Call>());
  const std::string big = add_message(schema, tenon::message_type<Everything>());
  const auto types = tenon::DynamicTypes::create(schema);
  ASSERT_TRUE(types.ok()) << types.error().text();
  for (const auto& [type, bytes] : {std::pair{name, encode(simple, Call{{-5, {"a", 1}, {}}})},
                                    std::pair{big, encode(simple, simple_everything())}}) {
    tenon::Value value;
    const auto done = simple.decode(bytes, *(*types)->find(type), &value);
    ASSERT_TRUE(done.ok()) << done.error().text();
    EXPECT_EQ(hex(encode(simple, *(*types)->find(type), &value)), hex(bytes)) << to_text(value);
  }
}

}  // namespace
}  // namespace samples
