// Rules as texts: what is understood, what is refused and how that is said.
#include <gtest/gtest.h>

#include "routing/compiled_rule.hpp"
#include "routing/glob.hpp"
#include "routing/router.hpp"
#include "support/cluster_fakes.hpp"
#include "support/manual_executor.hpp"

namespace tenon::cluster::routing {
namespace {

std::string refused(const std::string& text) {
  const auto parsed = parse_rules(text);
  return parsed.ok() ? "accepted" : parsed.error().text();
}
std::string rule(const std::string& inside) { return R"({"rules":[{)" + inside + "}]}"; }
std::string when(const std::string& condition) { return rule(R"("when":[{)" + condition + "}]"); }
std::string to(const std::string& condition) { return rule(R"("to":[{)" + condition + "}]"); }

Predicate predicate(const Condition& condition, Subject subject = Subject::call) {
  auto parsed = Predicate::parse(condition, subject);
  EXPECT_TRUE(parsed.ok()) << parsed.error().text();
  return parsed.ok() ? std::move(*parsed) : Predicate();
}
Condition header() { return {.attribute = "header.x"}; }

TEST(RoutingRules, NothingMeansNoRules) {
  for (const char* text : {"", " \n", "{}", R"({"rules":[]})", R"({"rules":null,"groups":null})"}) {
    const auto parsed = parse_rules(text);
    ASSERT_TRUE(parsed.ok()) << text << parsed.error().text();
    EXPECT_TRUE(parsed->rules.empty());
  }
}

TEST(RoutingRules, ADocumentIsUnderstood) {
  const auto parsed = parse_rules(
      R"({"groups":"grey","rules":[{"name":"a","when":[{"attribute":"percent","below":5.5},
          {"attribute":"method","in":["x","y"]},{"attribute":"group","equals":"g"}],
          "to":[{"attribute":"metadata.level","equals":3}],"otherwise":"fail"},{}]})");
  ASSERT_TRUE(parsed.ok()) << parsed.error().text();
  EXPECT_EQ(parsed->groups, std::vector<std::string>{"grey"});
  ASSERT_EQ(parsed->rules.size(), 2u);
  const CompiledRule& first = parsed->rules[0];
  EXPECT_EQ(first.name, "rule 1 of the document (a)");
  EXPECT_EQ(first.here.size(), 1u);
  ASSERT_EQ(first.each_call.size(), 2u);
  EXPECT_EQ(first.each_call[1].tenths(), std::pair(0, 55)) << "percent comes last";
  EXPECT_EQ(first.otherwise, Otherwise::fail);
  Instance instance;
  EXPECT_FALSE(first.means(instance));
  instance.metadata["level"] = "3";
  EXPECT_TRUE(first.means(instance)) << "a number is a text where one is wanted";
  EXPECT_EQ(parsed->rules[1].name, "rule 2 of the document");
}

TEST(RoutingRules, WhatIsWrongIsNamedWithRuleAndField) {
  const std::pair<std::string, std::string> cases[] = {
      {"{", "is no JSON"},
      {"[]", "expected an object, found a list"},
      {R"({"rulez":[]})", "there is no field \"rulez\"; there are groups, rules"},
      {R"({"rules":{}})", "rules: expected a list, found an object"},
      {R"({"rules":[5]})", "rules[0]: expected an object, found 5"},
      {R"({"rules":[null]})", "rules[0]: has no value"},
      {rule(R"("whn":[])"), "rules[0]: there is no field \"whn\"; there are name, when, to, otherwise"},
      {rule(R"("otherwise":"stop")"), "rules[0].otherwise: expected next or fail, found \"stop\""},
      {rule(R"("name":[])"), "rules[0].name: expected a text, found a list"},
      {when(R"("attribute":"method","from":"1")"), "rules[0].when[0].from: expected a number, found \"1\""},
      {when(R"("attribute":"method","exists":1)"), "rules[0].when[0].exists: expected true or false, found 1"},
      {when(R"("equals":"x")"),
       "rule 1 of the document: when[0]: attribute: is missing; a call has method, header.NAME"},
      {when(R"("attribute":"metod","equals":"x")"), "when[0]: attribute: a call has no \"metod\"; there are method"},
      {when(R"("attribute":"header.","equals":"x")"), "a call has no \"header.\""},
      {when(R"("attribute":"weight","equals":"x")"), "a call has no \"weight\""},
      {to(R"("attribute":"method","equals":"x")"), "to[0]: attribute: an instance has no \"method\""},
      {when(R"("attribute":"method")"), "when[0]: has no operator; there are equals, in"},
      {when(R"("attribute":"method","equals":"a","in":"b")"), "when[0]: in: stands beside equals"},
      {when(R"("attribute":"header.x","from":3,"below":3)"), "when[0]: below: nothing is at least"},
      {when(R"("attribute":"percent","below":101)"), "when[0]: below: a percentage is a number from 0 to 100"},
      {when(R"("attribute":"percent","from":-1)"), "when[0]: from: a percentage"},
      {when(R"("attribute":"percent","below":0.25)"), "with at most one decimal"},
      {when(R"("attribute":"percent","equals":"5")"), "percent takes `from` and `below` only"},
      {when(R"("attribute":"client","equals":"!10.0.0.1")"), "say not_in instead of '!'"},
      {when(R"("attribute":"client","in":["10.0.0.1:80"])"), "when[0]: in: \"10.0.0.1:80\" has a port"},
      {when(R"("attribute":"method","same_as":"header.x")"), "same_as: is for conditions in `to`"},
      {to(R"("attribute":"metadata.x","same_as":"hash_key")"),
       "same_as: \"hash_key\" is neither method nor header.NAME"},
      {to(R"("attribute":"metadata.x","same_as":"method","prefix":"a")"), "same_as: takes no other operator"},
      {to(R"("attribute":"weight","same_as":"method")"), "to[0]: same_as: is not for weights"},
      {rule(R"("to":[{"attribute":"id","same_as":"method"},{"attribute":"id","same_as":"method"}])"),
       "to[1]: same_as: one condition of a rule may have it"},
      {R"({"groups":["a b"]})", "groups: \"a b\" is no group's name"},
      {R"({"groups":["a:3"]})", "groups: \"a:3\" is no group's name"},
      {when(R"("attribute":"method","matches":")" + std::string(129, 'a') + "\""), "at most 128 bytes"},
  };
  for (const auto& [text, said] : cases) EXPECT_NE(refused(text).find(said), std::string::npos) << refused(text);
}

TEST(RoutingRules, BoundsAreKept) {
  EXPECT_NE(refused(std::string(70000, ' ') + "{}").find("at most 65536"), std::string::npos)
      << refused(std::string(70000, ' ') + "{}");
  EXPECT_EQ(parse_rules("{\"rules\":[" + std::string(70000, ' ') + "]}").error().code(), Errc::too_large);
  const auto repeated = [](int times, const std::string& text) {
    std::string all;
    for (int i = 0; i < times; ++i) all += (i == 0 ? "" : ",") + text;
    return all;
  };
  EXPECT_EQ(refused(R"({"rules":[)" + repeated(256, "{}") + "]}"), "accepted");
  EXPECT_NE(refused(R"({"rules":[)" + repeated(257, "{}") + "]}").find("more than 256"), std::string::npos);
  const std::string condition = R"({"attribute":"method","equals":"x"})";
  EXPECT_EQ(refused(rule(R"("when":[)" + repeated(32, condition) + "]")), "accepted");
  EXPECT_NE(refused(rule(R"("when":[)" + repeated(33, condition) + "]")).find("when: its conditions are more than 32"),
            std::string::npos);
  EXPECT_EQ(parse_rules(R"({"groups":[)" + repeated(65, "\"g\"") + "]}").error().code(), Errc::too_large);
  EXPECT_NE(refused(std::string(100, '[') + std::string(100, ']')).find("no JSON"), std::string::npos);
}

TEST(RoutingRules, OptionsAreRefusedTheSameWay) {
  test::ManualExecutor executor;
  fake::ListLog log;
  const Environment environment{executor, log, executor.clock()};
  const auto bad = RulesRouter::create({.rules = {{}, {.name = "x", .to = {{.attribute = "hots"}}}}}, environment);
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code(), Errc::config);
  EXPECT_EQ(bad.error().text().find("rule 2 (x): to[0]: attribute: an instance has no \"hots\""), 0u)
      << bad.error().text();
  EXPECT_FALSE(RulesRouter::create({.addresses = {"tokyo"}}, environment).ok());
}

TEST(RoutingRules, OperatorsOnTexts) {
  Condition c = header();
  c.in = {"b", "a"};
  EXPECT_TRUE(predicate(c).holds("a"));
  EXPECT_FALSE(predicate(c).holds("c"));
  EXPECT_FALSE(predicate(c).holds(std::nullopt));
  c = header();
  c.not_in = {"a"};
  EXPECT_FALSE(predicate(c).holds("a"));
  EXPECT_TRUE(predicate(c).holds("b"));
  EXPECT_TRUE(predicate(c).holds(std::nullopt)) << "nothing is none of them";
  c.exists = true;
  EXPECT_FALSE(predicate(c).holds(std::nullopt));
  c = header();
  c.exists = false;
  EXPECT_TRUE(predicate(c).holds(std::nullopt));
  EXPECT_FALSE(predicate(c).holds("")) << "an empty value is one";
  c = header();
  c.prefix = "ab";
  c.suffix = "bc";
  EXPECT_TRUE(predicate(c).holds("abc"));
  EXPECT_TRUE(predicate(c).holds("ab-bc"));
  EXPECT_FALSE(predicate(c).holds("ab"));
  c = header();
  c.from = 2;
  c.below = 10;
  EXPECT_TRUE(predicate(c).holds("2"));
  EXPECT_TRUE(predicate(c).holds("9.99"));
  for (const char* value : {"10", "1", "", "2x", "nan", "1e999", " 2"})
    EXPECT_FALSE(predicate(c).holds(value)) << value;
  EXPECT_FALSE(predicate(c).holds(std::nullopt));
}

TEST(RoutingRules, HostsAreNetworksNamesAndPrefixes) {
  Condition c{.attribute = "client", .in = {"10.0.0.0/8", "tokyo-*"}, .not_in = {"10.0.0.9"}};
  const Predicate client = predicate(c);
  const auto places = [](std::initializer_list<const char*> texts) {
    std::vector<traffic::Place> all;
    for (const char* text : texts) all.push_back(traffic::Place::of(text));
    return all;
  };
  EXPECT_TRUE(client.holds(places({"10.1.1.1"})));
  EXPECT_TRUE(client.holds(places({"192.168.0.1", "10.1.1.1"}))) << "one of its addresses is enough";
  EXPECT_FALSE(client.holds(places({"10.1.1.1", "10.0.0.9"}))) << "and none may be excluded";
  EXPECT_FALSE(client.holds(places({"192.168.0.1"})));
  EXPECT_FALSE(client.holds(places({})));
  EXPECT_TRUE(predicate(Condition{.attribute = "client", .not_in = {"10.0.0.9"}}).holds(places({})));
  c.attribute = "host";
  EXPECT_TRUE(predicate(c, Subject::instance).holds(traffic::Place::of("10.7.0.1:4080")));
  EXPECT_TRUE(predicate(c, Subject::instance).holds(traffic::Place::of("tokyo-7:4080")));
  EXPECT_FALSE(predicate(c, Subject::instance).holds(traffic::Place::of("osaka-7:4080")));
}

TEST(RoutingRules, PatternsAreNeverSlow) {
  EXPECT_TRUE(glob_matches("get*", "getUser"));
  EXPECT_TRUE(glob_matches("*User*", "getUserById"));
  EXPECT_TRUE(glob_matches("?et*r", "getUser"));
  EXPECT_TRUE(glob_matches("", ""));
  EXPECT_TRUE(glob_matches("**", ""));
  EXPECT_FALSE(glob_matches("?", ""));
  EXPECT_FALSE(glob_matches("get", "getUser"));
  EXPECT_FALSE(glob_matches("*.User", "getUser"));
  // Exponential in a backtracking matcher: this test would not end.
  std::string pattern;
  for (int i = 0; i < 60; ++i) pattern += "*a";
  EXPECT_FALSE(glob_matches(pattern + "b", std::string(8192, 'a')));
}

}  // namespace
}  // namespace tenon::cluster::routing
