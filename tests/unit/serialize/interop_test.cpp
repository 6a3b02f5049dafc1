// A described struct and the generated class of the equivalent .proto read each other's bytes.
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "interop.pb.h"
#include "samples.hpp"
#include "tenon/protobuf.hpp"

namespace samples {
namespace {

using google::protobuf::util::MessageDifferencer;

interop::Everything generated() {
  interop::Everything m;
  const Everything e = everything();
  m.set_flag(e.flag);
  m.set_small(e.small);
  m.set_large(e.large);
  m.set_usmall(e.usmall);
  m.set_ularge(e.ularge);
  m.set_f(e.f);
  m.set_d(e.d);
  m.set_text(e.text);
  m.set_raw(e.raw.data);
  m.set_color(interop::BLUE);
  m.mutable_wait()->set_seconds(-1);
  m.mutable_wait()->set_nanos(-500000001);
  for (const auto n : e.numbers) m.add_numbers(n);
  for (const auto& t : e.texts) m.add_texts(t);
  const auto fill = [](interop::Inner* to, const Inner& from) {
    to->set_text(from.text);
    to->set_number(from.number);
  };
  for (const auto& i : e.inners) fill(m.add_inners(), i);
  for (const auto& [k, v] : e.counts) (*m.mutable_counts())[k] = v;
  for (const auto& [k, v] : e.by_id) fill(&(*m.mutable_by_id())[k], v);
  m.set_maybe(0);
  fill(m.mutable_inner(), e.inner);
  for (const bool b : e.flags) m.add_flags(b);
  for (const double d : e.doubles) m.add_doubles(d);
  m.add_colors(interop::GREEN);
  m.add_colors(interop::RED);
  return m;
}

TEST(Interop, StructReadsWhatTheGeneratedClassWrote) {
  const auto back = decode<Everything>(protobuf, encode(protobuf, generated()));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(*back, everything());
}

TEST(Interop, GeneratedClassReadsWhatTheStructWrote) {
  const auto back = decode<interop::Everything>(protobuf, encode(protobuf, everything()));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_TRUE(MessageDifferencer::Equals(*back, generated()));
}

TEST(Interop, CanonicalJsonOfTheGeneratedClass) {
  interop::Everything m;
  m.set_large(9007199254740993);
  (*m.mutable_counts())["k"] = 1;
  m.mutable_wait()->set_seconds(1);
  m.set_color(interop::GREEN);
  const std::string text = encode(json, m);
  EXPECT_EQ(text, R"({"large":"9007199254740993","color":"GREEN","wait":"1s","counts":{"k":"1"}})");
  const auto back = decode<interop::Everything>(json, text);
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_TRUE(MessageDifferencer::Equals(*back, m));
  const auto number = decode<interop::Everything>(json, R"({"large":9007199254740993,"new_member":[1]})");
  ASSERT_TRUE(number.ok()) << number.error().text();
  EXPECT_EQ(number->large(), 9007199254740993);
  const auto full = decode<interop::Everything>(json, encode(json, generated()));
  ASSERT_TRUE(full.ok()) << full.error().text();
  EXPECT_TRUE(MessageDifferencer::Equals(*full, generated()));
}

// A stand-in for a serializer that knows nothing of protobuf: walks the message into another MessageType's object.
class Walk final : public tenon::MessageType {
 public:
  explicit Walk(const tenon::MessageType& type) : type_(type) {}
  std::string_view name() const noexcept override { return type_.name(); }
  tenon::Form form() const noexcept override { return type_.form(); }
  std::span<const tenon::Field> fields() const noexcept override { return type_.fields(); }
  void* create() const override { return type_.create(); }
  void destroy(void* object) const noexcept override { type_.destroy(object); }
  void clear(void* object) const override { type_.clear(object); }
  void copy(const void* from, void* to) const override { type_.copy(from, to); }
  void move(void* from, void* to) const override { type_.move(from, to); }
  void write(const void* object, tenon::Writer& writer) const override { type_.write(object, writer); }
  void read(void* object, tenon::Reader& reader) const override { type_.read(object, reader); }

 private:
  const tenon::MessageType& type_;
};

TEST(Interop, GeneratedClassThroughTheGenericWalk) {
  const Walk type(tenon::message_type<interop::Everything>());
  const interop::Everything sent = generated();
  for (const tenon::Serializer* serializer :
       {static_cast<const tenon::Serializer*>(&protobuf), static_cast<const tenon::Serializer*>(&json)}) {
    const std::string bytes = encode(*serializer, type, &sent);
    interop::Everything back;
    const tenon::Result<void> done = serializer->decode(bytes, type, &back);
    ASSERT_TRUE(done.ok()) << done.error().text() << bytes;
    EXPECT_TRUE(MessageDifferencer::Equals(back, sent)) << back.DebugString();
  }
}

TEST(Interop, GeneratedClassAsMessageType) {
  const tenon::MessageType& type = tenon::message_type<interop::Everything>();
  EXPECT_EQ(type.name(), "interop.Everything");
  ASSERT_NE(type.find("by_id"), nullptr);
  EXPECT_EQ(type.find("by_id")->number, 16u);
  EXPECT_EQ(tenon::type_text(*type.find("by_id")->type), "map of i32 to interop.Inner");
  EXPECT_EQ(tenon::type_text(*type.find("maybe")->type), "optional i64");
  EXPECT_EQ(tenon::type_text(*type.find(10u)->type), "RED|GREEN|BLUE");
  void* object = type.create();
  ASSERT_NE(type.as_protobuf(object), nullptr);
  interop::Everything sent = generated();
  type.move(&sent, object);
  EXPECT_TRUE(MessageDifferencer::Equals(*type.as_protobuf(object), generated()));
  type.clear(object);
  EXPECT_EQ(type.as_protobuf(object)->ByteSizeLong(), 0u);
  type.destroy(object);
  EXPECT_EQ(tenon::type_text(tenon::type_of<std::vector<interop::Inner>>()), "list of interop.Inner");
}

}  // namespace
}  // namespace samples
