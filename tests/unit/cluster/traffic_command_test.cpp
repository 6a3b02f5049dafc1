#include <gtest/gtest.h>

#include <string>

#include "traffic/command.hpp"

namespace tenon::cluster::traffic {
namespace {

std::string list(const std::string& entries) { return R"({"clientCommandList":[)" + entries + "]}"; }

std::string complaints(const CommandList& commands) {
  std::string all;
  for (const std::string& complaint : commands.complaints) all += complaint + "\n";
  return all;
}

/// Remarks of the commands in their order.
std::string order(const std::string& text) {
  const auto read = parse_commands(text);
  if (!read.ok()) return "error: " + read.error().text();
  std::string all;
  for (const Command& command : read->commands) all += command.remark;
  return all;
}

TEST(TrafficCommands, ADocumentAsTheManagerWritesIt) {
  const auto read = parse_commands(
      R"({"clientCommandList":[{"index":1,"version":"1.0","dc":"all","commandType":0,"pattern":"com.weibo.Foo*",)"
      R"("mergeGroups":["g1:4","g2:1"],"routeRules":["10.75.* to !10.75.0.1"],"remark":"x","later":{"a":[1]}}]})");
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(complaints(*read), "");
  ASSERT_EQ(read->commands.size(), 1u);
  const Command& command = read->commands[0];
  EXPECT_EQ(command.index, 1);
  EXPECT_EQ(command.version, "1.0");
  EXPECT_EQ(command.dc, "all");
  EXPECT_EQ(command.remark, "x");
  EXPECT_EQ(command.pattern_text, "com.weibo.Foo*");
  EXPECT_EQ(command.merge_groups, (std::vector<MergeGroup>{{"g1", 4}, {"g2", 1}}));
  EXPECT_FALSE(command.mixes());
  EXPECT_EQ(command.route_rules.size(), 1u);
  EXPECT_EQ(read->find("com.weibo.FooBar"), &command);
  EXPECT_EQ(read->find("com.weibo.Bar"), nullptr);
}

TEST(TrafficCommands, NothingThereMeansNoCommand) {
  for (const char* text :
       {"", " \n", "{}", R"({"clientCommandList":null})", R"({"clientCommandList":[]})", R"({"other":1})"}) {
    const auto read = parse_commands(text);
    ASSERT_TRUE(read.ok()) << text << read.error().text();
    EXPECT_TRUE(read->commands.empty()) << text;
    EXPECT_TRUE(read->complaints.empty()) << text;
  }
}

TEST(TrafficCommands, AnythingElseIsNoDocument) {
  for (const char* text : {"[]", "5", "null", "\"x\"", "{", "{} {}", "not json", R"({"clientCommandList":5})",
                           R"({"clientCommandList":{}})", "{\"clientCommandList\":[\x80]}", "{'a':1}"}) {
    const auto read = parse_commands(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().code(), Errc::malformed) << text;
  }
  EXPECT_EQ(parse_commands(std::string(10 << 20, ' ') + "{}").error().code(), Errc::too_large);
  EXPECT_EQ(parse_commands(list(std::string(100000, '[') + std::string(100000, ']'))).error().code(), Errc::malformed);
  std::string many = "{}";
  for (int i = 0; i < 1000; ++i) many += ",{}";
  EXPECT_EQ(parse_commands(list(many)).error().code(), Errc::too_large);
}

TEST(TrafficCommands, AMalformedEntryIsLeftOutAloneAndReported) {
  struct Case {
    const char* entry;
    const char* complaint;
  };
  const Case cases[] = {
      {"5", "no JSON object"},
      {"null", "no JSON object"},
      {R"({"pattern":"*","index":"1"})", "index"},
      {R"({"pattern":"*","index":1.5})", "index"},
      {R"({"pattern":"a-b"})", "pattern"},
      {R"({"pattern":7})", "pattern is no text"},
      {R"({"pattern":"*","remark":[]})", "remark is no text"},
      {R"({"pattern":"*","mergeGroups":"g"})", "mergeGroups is no list"},
      {R"({"pattern":"*","routeRules":{}})", "routeRules is no list"},
      {R"({"pattern":"*","mergeGroups":[":3",":"]})", "none of its merge groups"},
      {R"({"pattern":"*","commandType":1})", "commandType is 1"},
      {R"({"pattern":"*","commandType":2})", "commandType is 2"},
      {R"({"pattern":"*","commandType":"0"})", "commandType is no integer"},
  };
  for (const Case& each : cases) {
    const auto read = parse_commands(
        list(R"({"pattern":"a","remark":"1"},)" + std::string(each.entry) + R"(,{"pattern":"b","remark":"2"})"));
    ASSERT_TRUE(read.ok()) << each.entry << read.error().text();
    ASSERT_EQ(read->commands.size(), 2u) << each.entry;
    EXPECT_EQ(read->commands[0].remark, "1");
    EXPECT_EQ(read->commands[1].remark, "2");
    EXPECT_NE(complaints(*read).find(each.complaint), std::string::npos) << each.entry << ": " << complaints(*read);
    EXPECT_NE(complaints(*read).find("entry 2: "), std::string::npos) << complaints(*read);
  }
}

TEST(TrafficCommands, BadPartsOfAnEntryAreLeftOutAndReported) {
  const auto read = parse_commands(
      list(R"({"pattern":"*","mergeGroups":["a:1",":3","b:abc","c:-5","d:0","e:101","f:2:3","a:7","",9,"g"],)"
           R"("routeRules":["* to !10.1.1.1","nonsense",3,"a to b to c"]})"));
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->commands.size(), 1u);
  EXPECT_EQ(read->commands[0].merge_groups, (std::vector<MergeGroup>{{"a", 1}, {"d", 0}, {"g", {}}}));
  EXPECT_FALSE(read->commands[0].mixes());
  EXPECT_EQ(Command::weight(read->commands[0].merge_groups[2]), 1u);
  EXPECT_EQ(read->commands[0].route_rules.size(), 1u);
  EXPECT_EQ(read->complaints.size(), 11u) << complaints(*read);
}

TEST(TrafficCommands, ComplaintsAreCounted) {
  std::string rules = R"("x")";
  for (int i = 1; i < 1000; ++i) rules += R"(,"x")";
  const auto read = parse_commands(list(R"({"pattern":"*","routeRules":[)" + rules + "]}"));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->complaints.size(), 21u);
  EXPECT_EQ(read->complaints.back(), "and 980 more");
  EXPECT_EQ(read->commands.size(), 1u);
}

TEST(TrafficCommands, ListsOfOneCommandAreBounded) {
  std::string groups = R"("g")";
  for (int i = 0; i < 256; ++i) groups += ",\"g" + std::to_string(i) + "\"";
  const auto read = parse_commands(list(R"({"pattern":"*","mergeGroups":[)" + groups + "]}"));
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->commands.empty());
  EXPECT_NE(complaints(*read).find("more than 256"), std::string::npos) << complaints(*read);
}

TEST(TrafficCommands, PrecedenceIsTheIndexThenTheOrder) {
  EXPECT_EQ(order(list(R"({"index":3,"remark":"c"},{"index":1,"remark":"a"},{"index":2,"remark":"b"})")), "abc");
  EXPECT_EQ(order(list(R"({"index":1,"remark":"c"},{"remark":"a"},{"index":null,"remark":"b"})")), "abc");
  EXPECT_EQ(order(list(R"({"index":1,"remark":"b"},{"index":1,"remark":"c"},{"index":-1,"remark":"a"})")), "abc");
  const auto read = parse_commands(list(R"({"index":2,"pattern":"*","remark":"all"},)"
                                        R"({"index":1,"pattern":"com.x.*","remark":"x"},{"index":0,"remark":"none"})"));
  EXPECT_EQ(read->find("com.x.Y")->remark, "x");
  EXPECT_EQ(read->find("com.y.Y")->remark, "all");
}

TEST(TrafficCommands, OfAFieldThatStandsTwiceTheLastCounts) {
  EXPECT_EQ(order(list(R"({"remark":"a","remark":"b"})")), "b");
  EXPECT_EQ(order(R"({"clientCommandList":[{"remark":"a"}],"clientCommandList":[{"remark":"b"}]})"), "b");
}

TEST(TrafficCommands, WithoutAnyWeightGroupsAreMixed) {
  const auto read = parse_commands(list(R"({"pattern":"*","mergeGroups":["a","b"]},{"pattern":"*"})"));
  EXPECT_TRUE(read->commands[0].mixes());
  EXPECT_TRUE(read->commands[1].merge_groups.empty());
}

}  // namespace
}  // namespace tenon::cluster::traffic
