#include "command_document.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace tenon::cli {
namespace {

TEST(CommandDocumentTest, EntriesInTheOrderInWhichTheyApply) {
  const auto entries = read_entries(R"({"clientCommandList":[
    {"index":2,"pattern":"b"}, {"index":-1,"pattern":"a","mergeGroups":["yf:5","tc"],"routeRules":["* to !1.2.3.4"]},
    7, {"pattern":"first","remark":"no index"}, {"index":2,"pattern":"c","mergeGroups":[3]}]})");
  ASSERT_TRUE(entries.ok()) << entries.error().text();
  ASSERT_EQ(entries->size(), 4u);
  EXPECT_EQ((*entries)[0].pattern, "first");
  EXPECT_EQ((*entries)[0].position, 4u);
  EXPECT_EQ((*entries)[1].pattern, "a");
  EXPECT_EQ((*entries)[1].merge_groups, (std::vector<std::string>{"yf:5", "tc"}));
  EXPECT_EQ((*entries)[1].route_rules, std::vector<std::string>{"* to !1.2.3.4"});
  EXPECT_EQ((*entries)[2].pattern, "b");
  EXPECT_EQ((*entries)[3].pattern, "c") << "equal ones as they were written";
  EXPECT_EQ((*entries)[3].merge_groups, std::vector<std::string>{"3"}) << "shown as it is";
}

TEST(CommandDocumentTest, WithoutAListThereAreNone) {
  for (const char* text : {"", " \n", "{}", "[]", "5", "null", R"({"clientCommandList":null})",
                           R"({"clientCommandList":{}})", R"({"clientCommandList":[]})"}) {
    const auto entries = read_entries(text);
    ASSERT_TRUE(entries.ok()) << text;
    EXPECT_TRUE(entries->empty()) << text;
  }
  EXPECT_EQ(read_entries("{").error().code(), Errc::malformed);
}

TEST(CommandDocumentTest, DrainedGroupsAreThoseOfWeightZero) {
  const auto entries = read_entries(
      R"({"clientCommandList":[{"mergeGroups":["a:0","b:10","c"," d : 0 ","e:x"]},{"mergeGroups":["a:0"]}]})");
  ASSERT_TRUE(entries.ok());
  EXPECT_EQ(drained_groups(*entries), (std::vector<std::string>{"a", "d"}));
}

TEST(CommandDocumentTest, PrettyJsonIsTheSameDocument) {
  EXPECT_EQ(*pretty_json(R"({"a":[{"b":["x","y:1"],"c":null,"d":{}}],"e":[],"f":1.5,"g":"\u20ac\n"})"),
            "{\n"
            "  \"a\": [\n"
            "    {\n"
            "      \"b\": [\"x\", \"y:1\"],\n"
            "      \"c\": null,\n"
            "      \"d\": {}\n"
            "    }\n"
            "  ],\n"
            "  \"e\": [],\n"
            "  \"f\": 1.5E0,\n"
            "  \"g\": \"€\\n\"\n"
            "}");
  EXPECT_FALSE(pretty_json("").ok());
  EXPECT_EQ(json_text("a\"b\\\x01"), R"("a\"b\\\u0001")");
  EXPECT_EQ(json_text("x\xFFy"), R"("x?y")");
}

TEST(CommandDocumentTest, SourcesAreFilesOrTheDocumentItself) {
  const std::string path = testing::TempDir() + "command_document_test.json";
  std::ofstream(path) << "\n {\"a\":1}\n\n";
  EXPECT_EQ(*read_source(path), "{\"a\":1}");
  EXPECT_EQ(*read_source("  {\"b\":2} "), "{\"b\":2}");
  std::ofstream(path) << " \n";
  EXPECT_NE(read_source(path).error().text().find("nothing in it"), std::string::npos);
  std::ofstream(path) << "{" << std::string((1 << 20) + 5, 'x') << "}";
  EXPECT_NE(read_source(path).error().text().find("more than 1 MiB"), std::string::npos);
  std::filesystem::remove(path);
  const auto missing = read_source(path);
  EXPECT_EQ(missing.error().code(), Errc::config);
  EXPECT_NE(missing.error().text().find("No such file"), std::string::npos) << missing.error().text();
  EXPECT_EQ(read_source(testing::TempDir()).error().code(), Errc::config) << "a folder";
}

}  // namespace
}  // namespace tenon::cli
