#include "tenon/payload.hpp"

#include <gtest/gtest.h>

#include "samples.hpp"

namespace samples {
namespace {

// Doubles every byte; enough of a compressor to see where Payload applies one.
class Doubling final : public tenon::Compressor {
 public:
  std::string_view encoding() const noexcept override { return "doubling"; }
  std::size_t min_size() const noexcept override { return 0; }
  tenon::Result<void> compress(std::string_view bytes, tenon::OutBuffer& out) const override {
    for (const char c : bytes) out.append(std::string(2, c));
    return {};
  }
  tenon::Result<void> decompress(std::string_view bytes, tenon::OutBuffer& out, std::size_t limit) const override {
    if (bytes.size() / 2 > limit) return tenon::Error(tenon::Errc::too_large, "too much");
    for (std::size_t i = 0; i < bytes.size(); i += 2) out.push_back(bytes[i]);
    return {};
  }
};
const Doubling doubling;
const tenon::Encoding pb{&protobuf};
const tenon::Encoding text{&json};
const tenon::Encoding packed{&protobuf, &doubling};
const tenon::MessageType& inner = tenon::message_type<Inner>();

TEST(Payload, ValueIsCopiedWhenBorrowedAndMovedWhenOwned) {
  Inner source{std::string(100, 'x'), 1};
  tenon::Payload borrowed = tenon::Payload::borrow(inner, &source);
  Inner taken;
  ASSERT_TRUE(borrowed.take_into(inner, &taken).ok());
  EXPECT_EQ(taken, source);
  tenon::Payload owned = borrowed.clone();
  EXPECT_NE(owned.value(), borrowed.value());
  const char* characters = static_cast<const Inner*>(owned.value())->text.data();
  ASSERT_TRUE(owned.take_into(inner, &taken).ok());
  EXPECT_EQ(taken.text.data(), characters);
}

TEST(Payload, DecodedOnceAndKept) {
  const std::string bytes = encode(protobuf, Inner{"a", 5});
  tenon::Payload payload = tenon::Payload::borrow_encoded(pb, bytes);
  EXPECT_TRUE(payload.is_encoded());
  EXPECT_EQ(payload.bytes(), bytes);
  const auto first = payload.get(inner);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(*static_cast<const Inner*>(*first), (Inner{"a", 5}));
  EXPECT_TRUE(payload.has_value());
  EXPECT_EQ(*payload.get(inner), *first);
}

TEST(Payload, BrokenBytesStayEncoded) {
  tenon::Payload payload = tenon::Payload::borrow_encoded(pb, "\x0A\x7F");
  const auto got = payload.get(inner);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code(), tenon::Errc::malformed);
  EXPECT_TRUE(payload.is_encoded());
}

TEST(Payload, TakenIntoAnObjectThatHoldsSomethingAlready) {
  tenon::Payload payload = tenon::Payload::borrow_encoded(text, "{\"number\":2}");
  Inner object{"old", 1};
  ASSERT_TRUE(payload.take_into(inner, &object).ok());
  EXPECT_EQ(object, (Inner{"", 2}));
}

TEST(Payload, OwnOutlivesTheBorrowed) {
  tenon::Payload value;
  tenon::Payload bytes;
  {
    const Inner source{"gone", 1};
    std::string encoded = encode(json, source);
    value = tenon::Payload::borrow(inner, &source);
    bytes = tenon::Payload::borrow_encoded(text, encoded);
    value.own();
    bytes.own();
    encoded.assign(encoded.size(), 'x');
  }
  tenon::Payload moved = std::move(bytes);
  EXPECT_TRUE(bytes.empty());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(static_cast<const Inner*>(*value.get(inner))->text, "gone");
  EXPECT_EQ(static_cast<const Inner*>(*moved.get(inner))->text, "gone");
}

TEST(Payload, EncodesAndForwards) {
  const Inner source{"a", 5};
  const tenon::Payload value = tenon::Payload::borrow(inner, &source);
  tenon::OutBuffer out;
  out.append("head");
  ASSERT_TRUE(value.encode(pb, out).ok());
  EXPECT_EQ(out.view(), "head" + encode(protobuf, source));
  tenon::OutBuffer compressed;
  ASSERT_TRUE(value.encode(packed, compressed).ok());
  EXPECT_EQ(compressed.size(), 2 * encode(protobuf, source).size());
  tenon::Payload received = tenon::Payload::adopt_encoded(packed, std::move(compressed));
  tenon::OutBuffer plain;
  ASSERT_TRUE(received.encode(pb, plain).ok());  // decompressed, not decoded
  EXPECT_EQ(plain.view(), encode(protobuf, source));
  EXPECT_TRUE(received.is_encoded());
  tenon::OutBuffer refused;
  const auto other = received.encode(text, refused);
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().text().find("protobuf"), std::string::npos);
  EXPECT_EQ(*static_cast<const Inner*>(*received.get(inner)), source);
}

TEST(Payload, LimitsHoldWithAndWithoutCompression) {
  const std::string bytes = encode(protobuf, Inner{std::string(100, 'x'), 1});
  const tenon::Encoding small{&protobuf, nullptr, 50};
  const tenon::Encoding small_packed{&protobuf, &doubling, 50};
  EXPECT_EQ(tenon::Payload::borrow_encoded(small, bytes).get(inner).error().code(), tenon::Errc::too_large);
  const std::string twice = bytes + bytes;
  EXPECT_EQ(tenon::Payload::borrow_encoded(small_packed, twice).get(inner).error().code(), tenon::Errc::too_large);
}

TEST(Payload, WrongTypeAndNothing) {
  const Inner source{"a", 5};
  tenon::Payload value = tenon::Payload::borrow(inner, &source);
  EXPECT_EQ(value.get(tenon::message_type<Tree>()).error().code(), tenon::Errc::invalid_argument);
  tenon::Payload nothing;
  EXPECT_FALSE(nothing.get(inner).ok());
  tenon::OutBuffer out;
  EXPECT_FALSE(nothing.encode(pb, out).ok());
}

TEST(Payload, OneClassMayHaveSeveralTypes) {
  const std::string_view names[] = {"uid", "user"};
  using Call = tenon::Arguments<int, Inner>;
  const auto named = tenon::arguments_type<int, Inner>(names);
  EXPECT_EQ(named->fields()[1].name, "user");
  const Call call{{1, {"a", 2}}};
  tenon::Payload payload = tenon::Payload::borrow(tenon::message_type<Call>(), &call);
  EXPECT_TRUE(payload.get(*named).ok());
}

}  // namespace
}  // namespace samples
