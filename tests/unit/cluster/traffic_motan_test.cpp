// Every case of Motan's traffic commands: what a document does here, and where that is not what Motan does.
//
// The own group "own" has a and b, "g1" has c, "g2" has d; "empty" has nobody. The client is at 10.75.9.9. Those who
// answer do so at 10.75.0.1:81, 10.75.0.2:80, 10.76.0.1:80 and tokyo-1:80.
#include <fstream>
#include <sstream>

#include "traffic_fixture.hpp"

namespace tenon::cluster {
namespace {

struct Case {
  const char* name;
  /// What Motan does, where that differs between its two clients or from here.
  const char* motan;
  /// The row of the README's table of differences that this is an instance of; "": as in Motan in Java.
  const char* difference;
  std::string document;
  /// Who answers, and how often: "a 5 b 5". "error: …" with a part of the text.
  std::string answers;
  std::string before{};      ///< the document in force before
  std::string mix_groups{};  ///< of the router, separated by spaces
  std::string closed{};      ///< who is not connected when the calls are made
  bool fails = false;        ///< on_empty: fail
};

void PrintTo(const Case& shown, std::ostream* out) { *out << shown.name; }

std::string commands(const std::string& entries) { return R"({"clientCommandList":[)" + entries + "]}"; }
std::string merging(const std::string& groups) {
  return commands(R"({"index":1,"pattern":"*","mergeGroups":[)" + groups + "]}");
}
std::string ruling(const std::string& rules) {
  return commands(R"({"index":1,"pattern":"*","routeRules":[)" + rules + "]}");
}
std::string matching(const std::string& pattern) {
  return commands(R"({"index":1,"pattern":")" + pattern + R"(","mergeGroups":["g1"]})");
}

constexpr const char* weight_0 = "weight 0";
constexpr const char* bad_weight = "weight not in 0–100, not a number, `g:`, `g:2:3`, a group twice";
constexpr const char* bad_json = "malformed JSON";
constexpr const char* no_text = "empty document";
constexpr const char* bad_pattern = "a bad pattern";
constexpr const char* exact_name = "`com.x.Foo`";
constexpr const char* nobody_there = "a weighted group without instances";
constexpr const char* nobody_open = "chosen group has nobody available";
constexpr const char* no_groups = "no `mergeGroups`";
constexpr const char* word_to = "`to` in a rule";
constexpr const char* hosts = "hosts in a rule";
constexpr const char* result_empty = "result empty";

const Case cases[] = {
    // The document.
    {"TheManagersDocument", "", "",
     commands(R"({"index":1,"version":"1.0","dc":"all","commandType":0,"pattern":"demo.*","mergeGroups":["g1:4",)"
              R"("g2:1"],"routeRules":["10.75.* to !10.75.0.1"],"remark":"x"})"),
     "c 16 d 4"},
    {"VersionAndDcAreNotLookedAt", "", "",
     commands(R"({"index":1,"version":"9","dc":"elsewhere","pattern":"*","mergeGroups":["g1"]})"), "c 4"},
    {"UnknownFieldsAreIgnored", "", "", R"({"x":1,"clientCommandList":[{"y":{},"pattern":"*","mergeGroups":["g1"]}]})",
     "c 4"},
    {"NoTypeIsTraffic", "", "", commands(R"({"commandType":null,"pattern":"*","mergeGroups":["g1"]})"), "c 4"},
    {"Degrading", "Go refuses the calls; Java passes over it", "",
     commands(R"({"commandType":1,"pattern":"*"},{"pattern":"*","mergeGroups":["g1"]})"), "c 4"},
    {"Switching", "Go sets switches; Java passes over it", "",
     commands(R"({"commandType":2,"pattern":"a:true"},{"pattern":"*","mergeGroups":["g1"]})"), "c 4"},

    // Which command.
    {"TheLowestIndexFirst", "Go's sorting is not stable", "",
     commands(R"({"index":7,"pattern":"*","mergeGroups":["g2"]},{"index":2,"pattern":"*","mergeGroups":["g1"]})"),
     "c 4"},
    {"NoIndexBeforeAll", "", "",
     commands(R"({"index":-5,"pattern":"*","mergeGroups":["g2"]},{"pattern":"*","mergeGroups":["g1"]})"), "c 4"},
    {"EqualIndexesAsWritten", "Go: either", "",
     commands(R"({"index":1,"pattern":"*","mergeGroups":["g1"]},{"index":1,"pattern":"*","mergeGroups":["g2"]})"),
     "c 4"},
    {"OnlyOneApplies", "", "",
     commands(R"({"index":1,"pattern":"*","mergeGroups":["own"]},{"index":2,"pattern":"*","mergeGroups":["g1"],)"
              R"("routeRules":["* to !a"]})"),
     "a 4 b 4"},
    {"OneThatDoesNotMatchIsPassedOver", "", "",
     commands(R"({"index":1,"pattern":"demo.Other","mergeGroups":["g2"]},{"index":2,"pattern":"demo.*",)"
              R"("mergeGroups":["g1"]})"),
     "c 4"},
    {"NoneMatches", "", "", commands(R"({"index":1,"pattern":"com.*","mergeGroups":["g1"]})"), "a 4 b 4"},
    {"TheFirstCountsThoughItLeavesNobody", "", "",
     commands(R"({"index":1,"pattern":"*","mergeGroups":["empty"]},{"index":2,"pattern":"*","mergeGroups":["g1"]})"),
     "d 4", merging(R"("g2")")},
    {"FixedGroups", "", "", "", "a 4 b 4 c 4", "", "g1"},
    {"FixedGroupsUntilACommandMatches", "", "", commands(R"({"pattern":"com.*","mergeGroups":["g2"]})"), "a 4 b 4 c 4",
     "", "g1"},
    {"ACommandBeatsFixedGroups", "", "", merging(R"("g2")"), "d 4", "", "g1"},

    // Patterns.
    {"APrefix", "", "", matching("demo.Gre*"), "c 4"},
    {"WhatFollowsAnAsteriskDoesNotCount", "Go: a regular expression", "", matching("demo.*Other"), "c 4"},
    {"Everything", "", "", matching("*"), "c 4"},
    {"ItsName", "", "", matching("demo.Greeter"), "c 4"},
    {"TheBeginningOfItsName", "Go: it matches", exact_name, matching("demo.Greet"), "a 4 b 4"},
    {"AndNot", "Go: a regular expression that matches nothing", "", matching("demo.* & !demo.Other"), "c 4"},
    {"NotItself", "", "", matching("demo.* & !demo.Greeter"), "a 4 b 4"},
    {"OrBindsWeakest", "", "", matching("demo.Greeter | com.* & !demo.*"), "c 4"},
    {"Parentheses", "", "", matching("(demo.Greeter | com.*) & !demo.*"), "a 4 b 4"},
    {"NoPattern", "", "", commands(R"({"mergeGroups":["g1"]})"), "a 4 b 4"},
    {"AnEmptyPattern", "", "", matching(" "), "a 4 b 4"},
    {"ABadCharacter", "Java: the event is lost, or the client does not start; Go: a regular expression", bad_pattern,
     commands(R"({"index":1,"pattern":"demo-x","mergeGroups":["g1"]},{"index":2,"pattern":"*","mergeGroups":["g2"]})"),
     "d 4"},
    {"BadSyntax", "Java: the event is lost", bad_pattern,
     commands(R"({"index":1,"pattern":"(a","mergeGroups":["g1"]},{"index":2,"pattern":"*","mergeGroups":["g2"]})"),
     "d 4"},

    // Groups and their weights.
    {"Shares", "", "", merging(R"("g1:3","g2:1")"), "c 15 d 5"},
    {"SharesWithACommonDivisor", "", "", merging(R"("g1:60","g2:20")"), "c 15 d 5"},
    {"TheInstancesOfAGroupShareItsShare", "", "", merging(R"("own:1","g1:1")"), "a 5 b 5 c 10"},
    {"OneWithoutWeightAmongOthersHas1", "", "", merging(R"("g1","g2:3")"), "c 5 d 15"},
    {"WithoutWeightsOnePool", "", "", merging(R"("own","g1")"), "a 6 b 6 c 6"},
    {"TheOwnGroupOnlyWhereListed", "", "", merging(R"("g1:1","g2:1")"), "c 10 d 10"},
    {"OneGroup", "", "", merging(R"("g1:5")"), "c 4"},
    {"WeightZeroDrains", "1 each: half of the calls go to g1", weight_0, merging(R"("g1:0","g2:1")"), "d 20"},
    {"WeightZeroOfTheOwnGroup", "half of the calls stay", weight_0, merging(R"("own:0","g1:1")"), "c 20"},
    {"WeightAbove100", "100", bad_weight, merging(R"("g1:101","g2:1")"), "d 20"},
    {"WeightBelowZero", "1", bad_weight, merging(R"("g1:-5","g2:1")"), "d 20"},
    {"WeightThatIsNoNumber", "Java: the command does not apply; Go: 1", bad_weight, merging(R"("g1:x","g2:1")"),
     "d 20"},
    {"WeightThatIsMissing", "1", bad_weight, merging(R"("g1:","g2:1")"), "d 20"},
    {"TwoWeights", "the first", bad_weight, merging(R"("g1:2:3","g2:1")"), "d 20"},
    {"AGroupTwice", "twice in the ring", bad_weight, merging(R"("g1:1","g2:1","g1:8")"), "c 10 d 10"},
    {"NoGroupInAnEntry", "Java: an exception, the command is lost", bad_weight, merging(R"(":","","g2:1")"), "d 20"},
    {"AGroupOfNobody", "Java: the notification is dropped; Go: it is left out", nobody_there,
     merging(R"("empty:9","g1:1")"), "c 20"},
    {"AGroupOfNobodyInOnePool", "", "", merging(R"("empty","g1")"), "c 4"},
    {"TheChosenGroupIsNotConnected", "the call, or the try, fails", nobody_open, merging(R"("g1:9","g2:1")"), "d 20",
     "", "", "c"},

    // Rules.
    {"EverybodyAvoidsOne", "", "", ruling(R"("* to !10.75.0.1")"), "b 4"},
    {"TheSameCentre", "", "",
     commands(R"({"pattern":"*","mergeGroups":["own","g1"],"routeRules":)"
              R"(["10.75.* to 10.75.*"]})"),
     "a 4 b 4"},
    {"RulesForOthersDoNotCount", "", "", ruling(R"("10.76.* to 10.75.0.1","!10.75.* to 10.75.0.1")"), "a 4 b 4"},
    {"EachRuleMustAllowIt", "", "",
     commands(R"({"pattern":"*","mergeGroups":["own","g1","g2"],"routeRules":["* to !10.75.0.1","* to !10.76.*"]})"),
     "b 4 d 4"},
    {"ABadRuleAlone", "", "", ruling(R"("nonsense","* to !10.75.0.1")"), "b 4"},
    {"RulesWithoutGroups", "Go: no rules", no_groups, ruling(R"("* to 10.75.0.2")"), "b 4"},
    {"AnEmptyListOfGroups", "Go: no rules", no_groups,
     commands(R"({"pattern":"*","mergeGroups":[],"routeRules":["* to 10.75.0.2"]})"), "b 4"},
    {"ToWithoutSpaces", "it is split at the letters", word_to, ruling(R"("*to!10.75.0.1")"), "a 4 b 4"},
    {"ToWithinAName", "Java: it is split within the name, and skipped", word_to,
     commands(R"({"pattern":"*","mergeGroups":["g1","g2"],"routeRules":["* to !tokyo-1"]})"), "c 4"},
    {"ANetwork", "skipped", hosts, ruling(R"("10.75.0.0/16 to !10.75.0.0/31")"), "b 4"},
    {"AHostWithAPort", "skipped", hosts, ruling(R"("* to !10.75.0.*:81")"), "b 4", merging(R"("g2")")},
    {"RulesThatLeaveNobody", "", result_empty, ruling(R"("* to 10.99.*")"), "d 4", merging(R"("g2")")},
    {"GroupsThatLeaveNobody", "", result_empty, merging(R"("empty:1")"), "d 4", merging(R"("g2")")},
    {"NobodyFromTheBeginning", "", result_empty, merging(R"("empty:1")"), "a 4 b 4"},
    {"NobodyMayFail", "not to be had", result_empty, merging(R"("empty:1")"), "error: routing rules allow none",
     merging(R"("g2")"), "", "", true},

    // Bad or missing documents.
    {"NoJson", "as no command", bad_json, "{", "d 4", merging(R"("g2")")},
    {"JsonThatIsNoObject", "as no command", bad_json, "[]", "d 4", merging(R"("g2")")},
    {"JsonOfAnotherShape", "as no command", bad_json, R"({"clientCommandList":5})", "d 4", merging(R"("g2")")},
    {"NoText", "Go: ignored", no_text, "", "a 4 b 4", merging(R"("g2")")},
    {"AnEmptyObject", "", no_text, "{}", "a 4 b 4", merging(R"("g2")")},
    {"NoCommands", "", "", commands(""), "a 4 b 4", merging(R"("g2")")},
    {"ABadEntryAlone", "Java: the whole document is as no command", "",
     commands(R"(7,{"pattern":5},{"pattern":"*","mergeGroups":["g1"]})"), "c 4"},
};

class TrafficMotan : public TrafficGroupsTest, public testing::WithParamInterface<Case> {
 protected:
  static Instance at(const std::string& id, const std::string& address) {
    Instance made = fake::instance(id);
    made.address = address;
    return made;
  }
  static std::vector<std::string> words(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> all;
    for (std::string word; stream >> word;) all.push_back(word);
    return all;
  }
  void everybody() {
    tell("own", {at("a", "10.75.0.1:81"), at("b", "10.75.0.2:80")});
    tell("g1", {at("c", "10.76.0.1:80")});
    tell("g2", {at("d", "tokyo-1:80")});
    tell("empty", {});
  }
};

TEST_P(TrafficMotan, Case) {
  const Case& given = GetParam();
  traffic::TrafficOptions options;
  options.addresses = {"10.75.9.9"};
  options.mix_groups = words(given.mix_groups);
  if (given.fails) options.on_empty = traffic::OnEmpty::fail;
  join(options);
  command(given.before);
  everybody();
  ASSERT_EQ(call().find("error"), std::string::npos);
  command(given.document);
  everybody();  // the groups it has named are known now
  executor.go(std::chrono::milliseconds(1100));
  for (const std::string& id : words(given.closed)) dialer->endpoint(id)->state = Health::closed;

  const std::string wanted = given.answers;
  if (wanted.starts_with("error: ")) {
    EXPECT_NE(call().find(wanted.substr(7)), std::string::npos) << call();
    return;
  }
  std::map<std::string, int> shares;
  const std::vector<std::string> parts = words(wanted);
  for (std::size_t i = 0; i + 1 < parts.size(); i += 2) shares[parts[i]] = std::stoi(parts[i + 1]);
  expect_shares(shares);
}
INSTANTIATE_TEST_SUITE_P(Commands, TrafficMotan, testing::ValuesIn(cases),
                         [](const auto& info) { return std::string(info.param.name); });

// What users are told is different is what is tested to be.
TEST(TrafficMotanDifferences, EachOfTheReadmesHasItsCases) {
  std::ifstream readme(CLUSTER_README);
  ASSERT_TRUE(readme) << CLUSTER_README;
  std::set<std::string> documented;
  bool within = false;
  for (std::string line; std::getline(readme, line);) {
    if (line.starts_with('#')) within = line == "### What Motan does otherwise";
    if (!within || !line.starts_with("| ") || line.starts_with("| |")) continue;
    documented.insert(line.substr(2, line.find(" |", 2) - 2));
  }
  std::set<std::string> tested;
  for (const Case& each : cases)
    if (*each.difference) tested.insert(each.difference);
  EXPECT_EQ(documented, tested);
}

}  // namespace
}  // namespace tenon::cluster
