#include "interface_types.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tenon/functions.hpp"

namespace cli_test {
struct User {
  std::string name;
  std::int64_t uid = 0;
};
BOOST_DESCRIBE_STRUCT(User, (), (name, uid))
}  // namespace cli_test

namespace tenon::cli {
namespace {

class Proto : public testing::Test {
 protected:
  Proto() : folder_(std::filesystem::temp_directory_path() / ("cli-proto-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_ / "imports");
  }
  ~Proto() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  const std::filesystem::path folder_;
};

TEST_F(Proto, ServiceWithAnImport) {
  write("imports/user.proto", "syntax = \"proto3\"; package p; message User { int64 uid = 1; }");
  const std::string file = write("service.proto",
                                 "syntax = \"proto3\"; package p; import \"user.proto\";\n"
                                 "message Query { string text = 1; }\n"
                                 "service Users { rpc Find(Query) returns (User);\n"
                                 "                rpc Watch(Query) returns (stream User); }");
  const auto types = InterfaceTypes::from_proto(file, {(folder_ / "imports").string()}, "p.Users");
  ASSERT_TRUE(types.ok()) << types.error().text();
  const auto find = (*types)->find("Find");
  ASSERT_TRUE(find.ok());
  EXPECT_EQ((*find)->input->name(), "p.Query");
  EXPECT_EQ((*find)->output->name(), "p.User");
  EXPECT_EQ((*find)->shape, Shape::unary);
  EXPECT_EQ((*(*types)->find("Watch"))->shape, Shape::server_stream);
  const auto near = (*types)->find("Fnid");
  ASSERT_FALSE(near.ok());
  EXPECT_EQ(near.error().text(), "p.Users has no method \"Fnid\", did you mean \"Find\"?");
}

TEST_F(Proto, MistakesHaveTheirPlace) {
  const std::string file = write("bad.proto", "syntax = \"proto3\";\nmessage A { int64 x = 1 }\n");
  const auto types = InterfaceTypes::from_proto(file, {}, "p.Users");
  ASSERT_FALSE(types.ok());
  EXPECT_EQ(types.error().text().find("bad.proto:2:25: "), 0u) << types.error().text();
}

TEST_F(Proto, MissingFileAndMissingService) {
  EXPECT_FALSE(InterfaceTypes::from_proto((folder_ / "none.proto").string(), {}, "p.Users").ok());
  const std::string file = write("empty.proto", "syntax = \"proto3\"; package p;");
  const auto types = InterfaceTypes::from_proto(file, {}, "p.Users");
  ASSERT_FALSE(types.ok());
  EXPECT_EQ(types.error().code(), Errc::not_found);
}

TEST(InterfaceTypes, PlainFunctionsBecomeDynamicTypes) {
  Functions service("user.UserService");
  service.add("addUser", [](const cli_test::User&) { return true; });
  const auto types = InterfaceTypes::from_schema(describe_service(service.interface(), service.methods()));
  ASSERT_TRUE(types.ok()) << types.error().text();
  const auto method = (*types)->find("addUser");
  ASSERT_TRUE(method.ok());
  EXPECT_EQ((*method)->input->form(), Form::arguments);
  EXPECT_EQ((*method)->output->form(), Form::bare);
  const auto none = (*types)->find("x");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().text(), "user.UserService has no method \"x\"; it has: addUser");
}

TEST(InterfaceTypes, BrokenSchemasAreRefused) {
  SchemaService schema;
  schema.name = "p.Users";
  schema.types.file_descriptor_set.data = "\xff\xff";
  EXPECT_FALSE(InterfaceTypes::from_schema(schema).ok());
  schema.types.file_descriptor_set.data.clear();
  schema.methods.push_back({"m", 0, false, "nowhere", "nowhere"});
  EXPECT_FALSE(InterfaceTypes::from_schema(schema).ok());
}

}  // namespace
}  // namespace tenon::cli
