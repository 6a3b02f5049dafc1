// Serializer msgpack against the format's specification: every format byte, both ways.
#include <cmath>

#include "msgpack_samples.hpp"

namespace samples::packed {
namespace {

// `bytes` (hex) read as a dynamic value are `value`, and that is written as `bytes`.
void same(std::string_view bytes, const tenon::Value& value) {
  EXPECT_EQ(value_of<tenon::Value>(bytes), value) << bytes;
  EXPECT_EQ(hex(encode(msgpack, value)), hex(octets(bytes)));
}
// A longer form than needed: read, but never written.
void reads(std::string_view bytes, const tenon::Value& value) {
  EXPECT_EQ(value_of<tenon::Value>(bytes), value) << bytes;
  EXPECT_LE(encode(msgpack, value).size(), octets(bytes).size());
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}
tenon::Value list_of(std::size_t size) {
  tenon::Value list = tenon::Value::of_list();
  for (std::size_t i = 0; i < size; ++i) list.push_back(true);
  return list;
}
tenon::Value map_of(std::size_t size) {
  tenon::Value::Map entries;
  for (std::size_t i = 0; i < size; ++i) entries.emplace_back(std::int64_t{1}, true);
  return tenon::Value::of_map(std::move(entries));
}

TEST(MsgpackFormat, NilAndBooleans) {
  same("c0", tenon::Value());
  same("c2", false);
  same("c3", true);
}

TEST(MsgpackFormat, PositiveIntegers) {
  const auto i = [](std::int64_t value) { return tenon::Value(value); };
  for (int n = 0; n < 0x80; ++n) same(hex(std::string(1, static_cast<char>(n))), i(n));
  same("cc 80", i(128));
  same("cc ff", i(255));
  same("cd 0100", i(256));
  same("cd ffff", i(65535));
  same("ce 00010000", i(65536));
  same("ce ffffffff", i(4294967295));
  same("cf 0000000100000000", i(4294967296));
  same("cf 7fffffffffffffff", i(INT64_MAX));
  same("cf 8000000000000000", tenon::Value(std::uint64_t{1} << 63));
  same("cf ffffffffffffffff", tenon::Value(UINT64_MAX));
}

TEST(MsgpackFormat, NegativeIntegers) {
  const auto i = [](std::int64_t value) { return tenon::Value(value); };
  for (int n = -32; n < 0; ++n) same(hex(std::string(1, static_cast<char>(n))), i(n));
  same("d0 df", i(-33));
  same("d0 80", i(-128));
  same("d1 ff7f", i(-129));
  same("d1 8000", i(-32768));
  same("d2 ffff7fff", i(-32769));
  same("d2 80000000", i(INT32_MIN));
  same("d3 ffffffff7fffffff", i(std::int64_t{INT32_MIN} - 1));
  same("d3 8000000000000000", i(INT64_MIN));
}

TEST(MsgpackFormat, IntegersInLongerFormsThanNeeded) {
  const auto i = [](std::int64_t value) { return tenon::Value(value); };
  for (const char* bytes : {"cc 07", "cd 0007", "ce 00000007", "cf 0000000000000007", "d0 07", "d1 0007", "d2 00000007",
                            "d3 0000000000000007"})
    reads(bytes, i(7));
  for (const char* bytes : {"d0 ff", "d1 ffff", "d2 ffffffff", "d3 ffffffffffffffff"}) reads(bytes, i(-1));
}

TEST(MsgpackFormat, Floats) {
  same("ca 3fc00000", 1.5f);
  same("ca 7f800000", tenon::Value(HUGE_VALF));
  same("cb bfe0000000000000", -0.5);
  same("cb 3fb999999999999a", 0.1);
  same("cb fff0000000000000", -HUGE_VAL);
  EXPECT_TRUE(std::isnan(value_of<double>("cb 7ff8000000000000")));
}

TEST(MsgpackFormat, Strings) {
  for (std::size_t size = 0; size < 32; ++size) {
    const std::string text(size, 'x');
    same(hex(std::string(1, static_cast<char>(0xa0 | size)) + text), text);
  }
  same("d9 20" + repeated("78", 32), std::string(32, 'x'));
  same("d9 ff" + repeated("78", 255), std::string(255, 'x'));
  same("da 0100" + repeated("78", 256), std::string(256, 'x'));
  same("da ffff" + repeated("78", 65535), std::string(65535, 'x'));
  same("db 00010000" + repeated("78", 65536), std::string(65536, 'x'));
  for (const char* bytes : {"d9 01 78", "da 0001 78", "db 00000001 78"}) reads(bytes, "x");
  same("a6 e5908de5898d", "\xE5\x90\x8D\xE5\x89\x8D");
}

TEST(MsgpackFormat, Bytes) {
  const auto bytes = [](std::size_t size) { return tenon::Value(tenon::Bytes{std::string(size, '\xFF')}); };
  same("c4 00", bytes(0));
  same("c4 ff" + repeated("ff", 255), bytes(255));
  same("c5 0100" + repeated("ff", 256), bytes(256));
  same("c5 ffff" + repeated("ff", 65535), bytes(65535));
  same("c6 00010000" + repeated("ff", 65536), bytes(65536));
  reads("c5 0001 ff", bytes(1));
  reads("c6 00000001 ff", bytes(1));
}

TEST(MsgpackFormat, Arrays) {
  for (std::size_t size = 0; size < 16; ++size)
    same(hex(std::string(1, static_cast<char>(0x90 | size))) + repeated("c3", size), list_of(size));
  same("dc 0010" + repeated("c3", 16), list_of(16));
  same("dc ffff" + repeated("c3", 65535), list_of(65535));
  same("dd 00010000" + repeated("c3", 65536), list_of(65536));
  reads("dc 0001 c3", list_of(1));
  reads("dd 00000001 c3", list_of(1));
}

TEST(MsgpackFormat, Maps) {
  for (std::size_t size = 0; size < 16; ++size)
    same(hex(std::string(1, static_cast<char>(0x80 | size))) + repeated("01c3", size), map_of(size));
  same("de 0010" + repeated("01c3", 16), map_of(16));
  same("de ffff" + repeated("01c3", 65535), map_of(65535));
  same("df 00010000" + repeated("01c3", 65536), map_of(65536));
  reads("de 0001 01c3", map_of(1));
  reads("df 00000001 01c3", map_of(1));
}

TEST(MsgpackFormat, KeysOfEveryScalarKind) {
  tenon::Value::Map entries;
  entries.emplace_back("text", std::int64_t{1});
  entries.emplace_back(std::int64_t{-3}, std::int64_t{2});
  entries.emplace_back(UINT64_MAX, std::int64_t{3});
  entries.emplace_back(true, std::int64_t{4});
  entries.emplace_back(1.5, std::int64_t{5});
  entries.emplace_back(tenon::Bytes{"\x01"}, std::int64_t{6});
  same("86 a474657874 01 fd 02 cfffffffffffffffff 03 c3 04 cb3ff8000000000000 05 c40101 06",
       tenon::Value::of_map(std::move(entries)));
  EXPECT_EQ((bytes_of<std::map<std::string, bool>>({{"a", true}, {"b", false}})), "82a161c3a162c2");
  EXPECT_EQ((bytes_of<std::map<std::int32_t, std::string>>({{-1, "x"}, {300, ""}})), "82ffa178cd012ca0");
  EXPECT_EQ((bytes_of<std::map<bool, std::uint8_t>>({{false, 0}, {true, 200}})), "82c200c3ccc8");
  EXPECT_EQ((value_of<std::map<std::int32_t, bool>>("81 d3 0000000000000007 c3")),
            (std::map<std::int32_t, bool>{{7, true}}));
  for (const char* bytes : {"81 90 c3", "81 80 c3", "81 c0 c3", "81 d4 01 00 c3"}) {
    EXPECT_NE(value_refusal<tenon::Value>(bytes).find("[entry 1]"), std::string::npos);
    value_refusal<std::map<std::string, bool>>(bytes);
  }
  EXPECT_NE(value_refusal<tenon::Value>("81 90 c3").find("0x90 (array) where a key (of a scalar kind) is wanted"),
            std::string::npos);
  const tenon::Value list_key = tenon::Value::of_map({{tenon::Value::of_list(), true}});
  EXPECT_NE(encode(msgpack, list_key).find("no map key"), std::string::npos);
  const tenon::Value null_key = tenon::Value::of_map({{tenon::Value(), true}});
  EXPECT_NE(encode(msgpack, null_key).find("key of a map entry is null"), std::string::npos);
}

// Extensions belong to nobody here: skipped where nobody asked for them, refused elsewhere.
TEST(MsgpackFormat, Extensions) {
  const std::string name = "81 a1 7a";
  for (const char* extension :
       {"d4 01 ff", "d5 01 ffff", "d6 ff 00000001", "d7 ff 0000000800000001", "d8 05 000102030405060708090a0b0c0d0e0f",
        "c7 00 05", "c7 03 05 616263", "c8 0003 05 616263", "c9 00000003 05 616263"}) {
    EXPECT_EQ(decode<Inner>(msgpack, octets(name + extension)).value(), Inner{}) << extension;
    EXPECT_EQ(decode<Inner>(msgpack, octets("82 a1 7a 92" + std::string(extension) + "01 a6 6e756d626572 05")).value(),
              (Inner{"", 5}));
    EXPECT_NE(value_refusal<tenon::Value>(extension).find("(extension) where a value is wanted"), std::string::npos);
    value_refusal<std::string>(extension);
    value_refusal<tenon::Bytes>(extension);
    value_refusal<std::int64_t>(extension);
    value_refusal<std::chrono::nanoseconds>(extension);
    value_refusal<std::vector<tenon::Value>>("91" + std::string(extension));
    // Cut by one byte.
    const std::string whole = octets(name + extension);
    EXPECT_FALSE(decode<Inner>(msgpack, whole.substr(0, whole.size() - 1)).ok());
  }
}

TEST(MsgpackFormat, TheByteThatIsNeverUsed) {
  EXPECT_NE(value_refusal<tenon::Value>("c1").find("0xc1 (never used) where a value is wanted"), std::string::npos);
  value_refusal<std::string>("c1");
  refusal<Inner>("81 a1 7a c1");
  refusal<Inner>("81 c1 00");
}

// Messages as other implementations write them, recorded.
TEST(MsgpackFormat, FromMsgpackPython) {
  const std::string bytes = octets(
      "de0015a4666c6167c3a5736d616c6cf9a56c61726765d38000000000000000a675736d616c6cceffffffffa6756c61726765cfffffffff"
      "ffffffffa166cb3ff8000000000000a164cb3fb999999999999aa474657874ab68c3a96c6c6f202277220aa3726177c40300ff01a5636f"
      "6c6f72ffa477616974d2a697d0ffa76e756d626572739400ffcf7fffffffffffffffcd012ca5746578747393a0a161d9c8" +
      repeated("78", 200) +
      "a6696e6e6572739282a474657874a36f6e65a66e756d6265720182a474657874a0a66e756d62657200a6636f756e747382a000a16bfba5"
      "62795f696481fd82a474657874a56d696e7573a66e756d62657203a56d6179626500a5696e6e657282a474657874a2696ea66e756d6265"
      "72cf0020000000000001a5666c61677392c3c2a7646f75626c657392cb7e37e43c8800759ccbbfe0000000000000a6636f6c6f72739205"
      "00");
  const auto back = decode<Everything>(msgpack, bytes);
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(*back, everything());
  // Python has no float 32; everything else it writes as Tenon does.
  std::string ours = encode(msgpack, everything());
  const std::size_t at = ours.find(octets("a166ca3fc00000"));
  ASSERT_NE(at, std::string::npos);
  ours.replace(at, 7, octets("a166cb3ff8000000000000"));
  EXPECT_EQ(hex(ours), hex(bytes));
  same(
      "86a46e756c6cc0a3796573c3a16ed3ffdfffffffffffffa474657874a174a46c6973749401a374776fcb400400000000000090a36d617081"
      "a46465657081a6646565706572cfffffffffffffffff",
      any_value());
}

TEST(MsgpackFormat, FromMsgpackJavaScript) {
  tenon::Value value;
  value["text"] = "r\xC3\xA4y";
  value["number"] = std::int64_t{-300};
  value["raw"] = tenon::Bytes{"\x01\x02"};
  value["list"] = tenon::Value::of_list({1.5, true, nullptr, "x", std::int64_t{4294967296}});
  value["map"]["a"]["b"] = tenon::Value::of_list();
  same(
      "85a474657874a472c3a479a66e756d626572d1fed4a3726177c4020102a46c69737495cb3ff8000000000000c3c0a178cf0000000100"
      "000000a36d617081a16181a16290",
      value);
}

}  // namespace
}  // namespace samples::packed
