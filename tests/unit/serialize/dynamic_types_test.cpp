// A caller without generated code: a schema sent over the wire becomes types whose objects are Values.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "interop.pb.h"
#include "samples.hpp"
#include "tenon/protobuf.hpp"
#include "tenon/schema.hpp"

namespace samples {
namespace {

template <class T>
std::unique_ptr<tenon::DynamicTypes> received(std::string& name) {
  tenon::Schema schema;
  name = add_message(schema, tenon::message_type<T>());
  const auto arrived = decode<tenon::Schema>(protobuf, encode(protobuf, schema));
  EXPECT_TRUE(arrived.ok()) << arrived.error().text();
  EXPECT_EQ(*arrived, schema);
  auto types = tenon::DynamicTypes::create(*arrived);
  EXPECT_TRUE(types.ok()) << types.error().text();
  return std::move(*types);
}

template <class T>
void json_value_protobuf_value_json(const T& object) {
  std::string name;
  const auto types = received<T>(name);
  const tenon::MessageType* type = types->find(name);
  ASSERT_NE(type, nullptr);
  const std::string text = encode(json, object);
  tenon::Value from_json;
  tenon::Result<void> done = json.decode(text, *type, &from_json);
  ASSERT_TRUE(done.ok()) << done.error().text();
  const std::string bytes = encode(protobuf, *type, &from_json);
  EXPECT_EQ(hex(bytes), hex(encode(protobuf, object)));  // right numbers, exact kinds
  tenon::Value from_protobuf;
  done = protobuf.decode(bytes, *type, &from_protobuf);
  ASSERT_TRUE(done.ok()) << done.error().text();
  const std::string again = encode(json, *type, &from_protobuf);
  const auto back = decode<T>(json, again);
  ASSERT_TRUE(back.ok()) << back.error().text() << again;
  EXPECT_EQ(encode(protobuf, *back), encode(protobuf, object)) << again;
}

TEST(DynamicTypes, JsonToValueToProtobufAndBack) {
  json_value_protobuf_value_json(everything());
  json_value_protobuf_value_json(Inner{"x", 9007199254740993});
  json_value_protobuf_value_json(tenon::Arguments<std::int8_t, Inner, std::optional<int>>{{-5, {"a", 1}, {}}});
  json_value_protobuf_value_json(tenon::Bare<std::vector<Inner>>{{{"a", 1}, {}}});
  json_value_protobuf_value_json(tenon::Bare<std::uint64_t>{UINT64_MAX});
  json_value_protobuf_value_json(odd());
  Tree tree;
  tree.kids.resize(2);
  tree.kids[0].kids.resize(1);
  json_value_protobuf_value_json(tree);
}

TEST(DynamicTypes, ValuesMustFit) {
  std::string name;
  const auto types = received<Everything>(name);
  const auto error = [&](tenon::Value value) { return encode(protobuf, *types->find(name), &value); };
  tenon::Value v;
  v["small"] = std::int64_t{1} << 40;
  EXPECT_EQ(error(v).substr(0, 6), "error:");
  v["small"] = std::uint8_t{7};
  v["color"] = "GREEN";
  v["f"] = 3;
  v["inner"]["number"] = 1;
  EXPECT_NE(error(v).substr(0, 6), "error:");
  const auto struct_back = decode<Everything>(protobuf, error(v));
  ASSERT_TRUE(struct_back.ok());
  EXPECT_EQ(struct_back->color, Color::GREEN);
  EXPECT_EQ(struct_back->f, 3.0f);
  v["colour"] = 1;
  EXPECT_NE(error(v).find("no member \"colour\""), std::string::npos);
  EXPECT_EQ(error(tenon::Value(5)).substr(0, 6), "error:");
}

TEST(DynamicTypes, MissingArgumentsAreErrors) {
  std::string name;
  const auto types = received<tenon::Arguments<int, std::optional<int>>>(name);
  const tenon::Value none = tenon::Value::of_list();
  EXPECT_NE(encode(json, *types->find(name), &none).find("argument arg1 is missing"), std::string::npos);
  const tenon::Value one = tenon::Value::of_list({1});
  EXPECT_EQ(encode(json, *types->find(name), &one), "[1,null]");
}

TEST(DynamicTypes, HostileSchemasAreRefused) {
  using tenon::Kind;
  const auto refused = [](const tenon::Schema& schema) {
    const auto types = tenon::DynamicTypes::create(schema);
    EXPECT_FALSE(types.ok());
    return types.ok() ? tenon::Errc::ok : types.error().code();
  };
  const auto field = [](std::uint32_t number, std::string name, tenon::SchemaType type) {
    return tenon::SchemaField{number, std::move(name), std::move(type), {}};
  };
  const tenon::SchemaType i32{Kind::i32, false, {}, {}};
  tenon::Schema schema;
  schema.messages = {{"M", tenon::Form::message, {field(1, "a", i32), field(1, "b", i32)}}};
  EXPECT_EQ(refused(schema), tenon::Errc::invalid_argument);
  schema.messages[0].fields[1] = field(2, "a", i32);
  EXPECT_EQ(refused(schema), tenon::Errc::invalid_argument);
  schema.messages[0].fields[1] = field(0, "b", i32);
  EXPECT_EQ(refused(schema), tenon::Errc::invalid_argument);
  schema.messages[0].fields[1] = field(2, "b", {Kind::message, false, "Missing", {}});
  EXPECT_EQ(refused(schema), tenon::Errc::invalid_argument);
  schema.messages[0].fields[1] = field(2, "b", {Kind::list, false, {}, {}});
  EXPECT_EQ(refused(schema), tenon::Errc::invalid_argument);
  schema.messages[0].fields[1] = field(2, "b", {Kind::map, false, {}, {{Kind::f64, false, {}, {}}, i32}});
  EXPECT_EQ(refused(schema), tenon::Errc::invalid_argument);
  schema.messages[0].fields[1] = field(2, "b", {static_cast<Kind>(99), false, {}, {}});
  EXPECT_EQ(refused(schema), tenon::Errc::invalid_argument);
  schema.messages[0].fields[1] = field(2, "b", {Kind::component, false, {}, {}});
  EXPECT_EQ(refused(schema), tenon::Errc::invalid_argument);
  tenon::SchemaType deep = i32;
  for (int i = 0; i < 20; ++i) deep = {Kind::list, false, {}, {deep}};
  schema.messages[0].fields[1] = field(2, "b", deep);
  EXPECT_EQ(refused(schema), tenon::Errc::too_large);
  schema.messages.assign(20000, {"M", tenon::Form::message, {}});
  EXPECT_EQ(refused(schema), tenon::Errc::too_large);
  schema.messages.assign(2, {"M", tenon::Form::message, {}});
  EXPECT_EQ(refused(schema), tenon::Errc::invalid_argument);
  // A bare value that is itself: legal to say, impossible to write.
  schema.messages = {{"B", tenon::Form::bare, {field(1, "value", {Kind::message, false, "B", {}})}}};
  const auto types = tenon::DynamicTypes::create(schema);
  ASSERT_TRUE(types.ok());
  const tenon::Value value = 1;
  EXPECT_EQ(encode(protobuf, *(*types)->find("B"), &value).substr(0, 6), "error:");
  EXPECT_EQ(encode(json, *(*types)->find("B"), &value).substr(0, 6), "error:");
  tenon::Value back;
  EXPECT_FALSE(json.decode("1", *(*types)->find("B"), &back).ok());
}

TEST(DynamicTypes, ServiceIsDescribed) {
  const tenon::Method methods[] = {{"add", tenon::Shape::unary, &tenon::message_type<tenon::Arguments<Inner>>(),
                                    &tenon::message_type<tenon::Bare<bool>>(), false},
                                   {"all", tenon::Shape::unary, &tenon::message_type<tenon::Arguments<>>(),
                                    &tenon::message_type<tenon::Bare<std::vector<Inner>>>(), true}};
  const tenon::SchemaService service = tenon::describe_service("demo.Users", methods);
  EXPECT_EQ(service.methods[0].input, "(samples.Inner)");
  EXPECT_EQ(service.methods[0].output, "boolean");
  EXPECT_EQ(service.methods[1].output, "list of samples.Inner");
  const auto back = decode<tenon::SchemaService>(json, encode(json, service));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(*back, service);
  EXPECT_TRUE(tenon::DynamicTypes::create(back->types).ok());
}

TEST(DynamicTypes, SameNameOtherParameterNames) {
  const std::string_view names[] = {"uid"};
  const auto named = tenon::arguments_type<int>(names);
  tenon::Schema schema;
  EXPECT_EQ(add_message(schema, tenon::message_type<tenon::Arguments<int>>()), "(i32)");
  EXPECT_EQ(add_message(schema, *named), "(i32)#2");
  EXPECT_EQ(add_message(schema, *named), "(i32)#2");
}

TEST(ProtobufTypes, MessagesFromADescriptorSet) {
  std::ifstream file(INTEROP_DESCRIPTORS, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  tenon::ProtobufTypes types;
  const auto added = types.add_files(content.str());
  ASSERT_TRUE(added.ok()) << added.error().text();
  const tenon::MessageType* type = types.find("interop.Everything");
  ASSERT_NE(type, nullptr);
  EXPECT_EQ(types.find("interop.Nothing"), nullptr);
  const std::string bytes = encode(protobuf, everything());
  void* object = type->create();
  ASSERT_TRUE(protobuf.decode(bytes, *type, object).ok());
  const std::string text = encode(json, *type, object);
  EXPECT_NE(text.find(R"("large":"-9223372036854775808")"), std::string::npos) << text;
  void* copy = type->create();
  const auto read = json.decode(text, *type, copy);
  EXPECT_TRUE(read.ok()) << read.error().text();
  const auto back = decode<Everything>(protobuf, encode(protobuf, *type, copy));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(*back, everything());
  type->move(copy, object);
  type->copy(object, copy);
  type->destroy(object);
  type->destroy(copy);
  EXPECT_EQ(types.add_files("\xFF").error().code(), tenon::Errc::malformed);
}

TEST(ProtobufTypes, GeneratedDescriptorsKeepTheirClass) {
  tenon::ProtobufTypes types;
  const tenon::MessageType& type = types.of(*interop::Inner::descriptor());
  void* object = type.create();
  EXPECT_NE(dynamic_cast<interop::Inner*>(type.as_protobuf(object)), nullptr);
  type.destroy(object);
}

}  // namespace
}  // namespace samples
