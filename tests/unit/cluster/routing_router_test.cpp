// Router "rules": the examples of cluster/README.md, and what any list of rules does.
#include "routing/table.hpp"
#include "routing_fixture.hpp"

namespace tenon::cluster::routing {
namespace {

class RoutingExamples : public RoutingTest {};

TEST_F(RoutingExamples, ReadsGoToReplicasAndWritesToThePrimary) {
  add("p", {{"role", "primary"}});
  add("r", {{"role", "replica"}});
  add("s", {{"role", "replica"}});
  const Table table = rules(readme_example("reads"));
  EXPECT_EQ(way(*table), "rs p prs");
  call("setUser");
  EXPECT_EQ(way(*table), "p prs");
  call("getUser");
  close("r");
  EXPECT_EQ(first(*table), "rs") << "one of them can";
  close("s");
  EXPECT_EQ(first(*table), "p");
}

TEST_F(RoutingExamples, GreyReleaseByHeaderAndByPercentage) {
  add("o", {{"release", "1.0"}});
  add("n", {{"release", "2.0"}});
  const Table table = rules(readme_example("grey"));
  for (int i = 0; i < 50; ++i) {
    request.headers.set("tester", "");
    EXPECT_EQ(first(*table), "n");
    request.headers.erase("tester");
  }
  auto shares = counts(*table, 10000);
  EXPECT_NEAR(shares["n"], 500, 6) << "spread evenly, and testers did not count";
  EXPECT_EQ(shares["n"] + shares["o"], 10000);
  // With a key the same user gets the same, also from another client.
  const Table other = rules(readme_example("grey"));
  int grey = 0;
  for (std::uint64_t key = 1; key <= 10000; ++key) {
    request.hash_key = key;
    const std::string chosen = first(*table);
    EXPECT_EQ(first(*table), chosen);
    EXPECT_EQ(first(*other), chosen);
    grey += chosen == "n";
  }
  EXPECT_NEAR(grey, 500, 100);
}

TEST_F(RoutingExamples, IsolationFailsRatherThanLeavingItsMachines) {
  add("a", {}, "own", "10.0.1.1:4080");
  add("b", {}, "own", "10.0.9.1:4080");
  const Table table = rules(readme_example("isolation"));
  EXPECT_EQ(way(*table), "a") << "and there is nowhere to go on";
  request.headers.set("kind", "batch");
  EXPECT_EQ(way(*table), "b");
  close("b");
  EXPECT_EQ(way(*table), "b") << "the call fails there";
  members.pop_back();
  const Table without = rules(readme_example("isolation"));
  EXPECT_EQ(way(*without), "nobody");
  EXPECT_EQ(serves(*without, "a"), Serving::no);
}

TEST_F(RoutingExamples, TagsFallBackToInstancesWithoutOne) {
  add("p");
  add("r", {{"tag", "red"}});
  add("b", {{"tag", "blue"}});
  const Table table = rules(readme_example("tags"));
  EXPECT_EQ(way(*table), "p") << "a call without a tag never takes a tagged one";
  request.headers.set("tag", "red");
  EXPECT_EQ(way(*table), "r p");
  request.headers.set("tag", "green");
  EXPECT_EQ(way(*table), "p");
  request.headers.set("tag", "blue");
  close("b");
  EXPECT_EQ(way(*table), "p");
}

TEST_F(RoutingExamples, SandboxGreyAndBackupGroups) {
  add("a");
  add("s", {}, "sandbox");
  add("g", {}, "grey");
  add("b", {}, "backup");
  const std::string text = readme_example("groups");
  EXPECT_EQ(*rules_router()->groups({document(text)}), (std::vector<std::string>{"backup", "grey", "sandbox"}));
  const Table table = rules(text);
  EXPECT_EQ(way(*table), "a b a") << "the end of the list is the own group again";
  close("a");
  EXPECT_EQ(first(*table), "b");
  request.headers.set("motan-route-group", "sandbox");
  EXPECT_EQ(way(*table), "s");
  request.headers.set("motan-route-group", "grey");
  EXPECT_EQ(first(*table), "g");
  close("g");
  EXPECT_EQ(first(*table), "b");
  endpoint("a").state = Health::open;
  EXPECT_EQ(first(*table), "a");
  // The own group is gone altogether, and so is the backup: nobody else's group takes its calls.
  std::erase_if(members, [](const auto& each) { return each->instance().id == "a" || each->instance().id == "b"; });
  request.headers.clear();
  EXPECT_EQ(way(*rules(text)), "nobody");
}

class RoutingRouter : public RoutingTest {};

TEST_F(RoutingRouter, WithoutRulesEverybodyServes) {
  add("a");
  add("b");
  auto table = rules_router()->compile(members, {});
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(way(**table), "ab");
  members.clear();
  EXPECT_EQ(way(*rules("{}")), "nobody");
}

TEST_F(RoutingRouter, TheDocumentsRulesComeBeforeTheManifests) {
  add("a");
  add("b");
  options.groups = {"more"};
  options.rules = {{.name = "manifest", .to = {{.attribute = "id", .equals = "a"}}}};
  EXPECT_EQ(first(*rules("")), "a");
  EXPECT_EQ(first(*rules(R"({"rules":[{"to":[{"attribute":"id","equals":"b"}]}]})")), "b");
  EXPECT_EQ(first(*rules(R"({"rules":[{"when":[{"attribute":"method","equals":"x"}],
                                       "to":[{"attribute":"id","equals":"b"}]}]})")),
            "a");
  EXPECT_EQ(*rules_router()->groups({document(R"({"groups":["other","own"]})")}),
            (std::vector<std::string>{"more", "other"}))
      << "the own group is none";
}

TEST_F(RoutingRouter, WhoTakesNoCallsIsNobodyForARule) {
  add("a", {{"x", "1"}});
  add("b");
  Instance drained = fake::instance("c", 0);
  drained.metadata["x"] = "1";
  drained.group = "own";
  members.push_back(std::make_shared<fake::ScriptedEndpoint>(drained));
  const std::string text = R"({"rules":[{"name":"x","to":[{"attribute":"metadata.x","exists":true}]}]})";
  EXPECT_EQ(first(*rules(text)), "a");
  members.erase(members.begin());
  const Table table = rules(text);
  EXPECT_EQ(first(*table), "bc");
  ASSERT_EQ(table->complaints().size(), 1u);
  EXPECT_EQ(table->complaints()[0], "rule 1 of the document (x) means none of the known instances that take calls");
}

TEST_F(RoutingRouter, ConditionsOnTheReferenceAreAskedOnce) {
  add("a");
  add("b");
  options.addresses = {"10.1.1.1"};
  options.application = "shop";
  const auto chosen = [&](const std::string& condition) {
    return first(*rules(R"({"rules":[{"when":[{)" + condition + R"(}],"to":[{"attribute":"id","equals":"b"}]}]})"));
  };
  EXPECT_EQ(chosen(R"("attribute":"client","equals":"10.1.0.0/16")"), "b");
  EXPECT_EQ(chosen(R"("attribute":"client","equals":"10.2.0.0/16")"), "ab");
  EXPECT_EQ(chosen(R"("attribute":"application","in":["shop","till"])"), "b");
  EXPECT_EQ(chosen(R"("attribute":"application","equals":"till")"), "ab");
  EXPECT_EQ(chosen(R"("attribute":"interface","prefix":"demo.")"), "b");
  EXPECT_EQ(chosen(R"("attribute":"group","equals":"own")"), "b");
  EXPECT_EQ(chosen(R"("attribute":"version","equals":"2.0")"), "ab");
  options.application.clear();
  const Table table = rules(R"({"rules":[{"when":[{"attribute":"application","equals":"shop"}]}]})");
  ASSERT_EQ(table->complaints().size(), 1u);
  EXPECT_NE(table->complaints()[0].find("asks for the application"), std::string::npos);
}

TEST_F(RoutingRouter, HashKeysAndHeadersAreAskedOfEachCall) {
  add("a");
  add("b");
  const Table table = rules(R"({"rules":[{"when":[{"attribute":"hash_key","from":10,"below":20},
      {"attribute":"header.level","from":3}],"to":[{"attribute":"address","equals":"b:4080"}]}]})");
  request.headers.set("level", "3");
  EXPECT_EQ(first(*table), "ab");
  request.hash_key = 10;
  EXPECT_EQ(first(*table), "b");
  request.headers.set("level", "2.5");
  EXPECT_EQ(first(*table), "ab");
  const Table none = rules(R"({"rules":[{"when":[{"attribute":"hash_key","exists":false}],
      "to":[{"attribute":"id","equals":"b"}]}]})");
  EXPECT_EQ(first(*none), "ab");
  request.hash_key = 0;
  EXPECT_EQ(first(*none), "b");
}

TEST_F(RoutingRouter, PercentagesDivideCallsExactly) {
  for (const char* id : {"a", "b", "c"}) add(id);
  const Table table = rules(R"({"rules":[
      {"when":[{"attribute":"percent","below":0.1}],"to":[{"attribute":"id","equals":"a"}]},
      {"when":[{"attribute":"percent","from":0.1,"below":20}],"to":[{"attribute":"id","equals":"b"}]},
      {"when":[{"attribute":"percent","from":20}],"to":[{"attribute":"id","equals":"c"}]}]})");
  auto shares = counts(*table, 100'000);
  EXPECT_NEAR(shares["a"], 100, 6);
  EXPECT_NEAR(shares["b"], 19900, 6);
  EXPECT_EQ(shares["a"] + shares["b"] + shares["c"], 100'000) << "every call is in one of them";
}

TEST_F(RoutingRouter, FollowingNextVisitsEachSubsetOnce) {
  std::string rules_text;
  for (int i = 0; i < 40; ++i) {
    add("i" + std::to_string(i) + "-");
    rules_text +=
        std::string(i == 0 ? "" : ",") + R"({"to":[{"attribute":"id","equals":"i)" + std::to_string(i) + R"(-"}]})";
  }
  const Table table = rules(R"({"rules":[)" + rules_text + "]}");
  std::set<int> seen;
  for (int subset = table->choose(request); subset >= 0; subset = table->next(request, subset))
    ASSERT_TRUE(seen.insert(subset).second);
  EXPECT_EQ(seen.size(), 41u) << "each rule's, and everybody";
}

TEST_F(RoutingRouter, BadDocumentsAreErrorsAndTheNextGoodOneCounts) {
  add("a");
  add("b");
  const auto router = rules_router();
  const auto compiled = [&](const std::string& text) { return router->compile(members, {document(text)}); };
  const std::string good = R"({"rules":[{"to":[{"attribute":"id","equals":"b"}]}]})";
  EXPECT_EQ(first(**compiled(good)), "b");
  EXPECT_EQ(compiled("{").error().code(), Errc::malformed);
  EXPECT_EQ(router->groups({document("{")}).error().code(), Errc::malformed);
  EXPECT_EQ(compiled(R"({"rules":[{"to":[{"attribute":"x","equals":"b"}]}]})").error().code(), Errc::invalid_argument);
  EXPECT_EQ(first(**compiled(good)), "b");
  EXPECT_EQ(first(**compiled("")), "ab");
}

TEST_F(RoutingRouter, TooManySetsOfInstancesAreRefused) {
  for (std::size_t i = 0; i < 1200; ++i) add("i" + std::to_string(i));
  const std::string same = R"({"to":[{"attribute":"id","same_as":"header.to"}]})";
  const Table three = rules(R"({"rules":[)" + same + "," + same + "," + same + "]}");
  request.headers.set("to", "i1199");
  EXPECT_EQ(way(*three).substr(0, 17), "i1199 i1199 i1199");
  auto four = rules_router()->compile(members,
                                      {document(R"({"rules":[)" + same + "," + same + "," + same + "," + same + "]}")});
  ASSERT_FALSE(four.ok());
  EXPECT_EQ(four.error().code(), Errc::too_large);
  EXPECT_EQ(four.error().text().find("rule 4 of the document: same_as makes more than 4096"), 0u)
      << four.error().text();
}

TEST_F(RoutingRouter, ExplanationsSayWhichRuleDecides) {
  add("p", {{"role", "primary"}});
  add("r", {{"role", "replica"}});
  const Table reads = rules(readme_example("reads"));
  EXPECT_EQ(why(*reads, "r"), "rule 1 of the document (reads) sends such calls here");
  EXPECT_EQ(why(*reads, "p"),
            "rule 1 of the document (reads) sends such calls to another instance; if those cannot take them, rule 2 of "
            "the document (writes) sends them here");
  EXPECT_EQ(serves(*reads, "r"), Serving::yes);
  EXPECT_EQ(serves(*reads, "p"), Serving::fallback);
  close("r");
  EXPECT_EQ(
      why(*reads, "p"),
      "rule 1 of the document (reads) sends such calls to another instance, which cannot take calls; rule 2 of the "
      "document (writes) sends such calls here");
  EXPECT_EQ(serves(*reads, "p"), Serving::yes);

  const Table isolated = rules(R"({"rules":[{"name":"i","to":[{"attribute":"id","equals":"p"}],"otherwise":"fail"}]})");
  EXPECT_EQ(why(*isolated, "r"), "rule 1 of the document (i) sends such calls to another instance and nowhere else");
  EXPECT_EQ(serves(*isolated, "r"), Serving::no);
  const Table nobody = rules(R"({"rules":[{"name":"i","to":[{"attribute":"id","equals":"x"}],"otherwise":"fail"}]})");
  EXPECT_EQ(why(*nobody, "r"),
            "rule 1 of the document (i) is about such calls, but means none of the known instances, so they fail");
  const Table other = rules(R"({"rules":[{"when":[{"attribute":"method","equals":"x"}]}]})");
  EXPECT_EQ(why(*other, "r"), "no rule is about such calls");
  EXPECT_EQ(why(*rules("{}"), "r"), "there are no rules");
}

TEST_F(RoutingRouter, ExplanationsOfPercentagesAndGroups) {
  add("o");
  add("n", {{"release", "2.0"}});
  add("s", {}, "sandbox");
  const Table table =
      rules(R"({"groups":["sandbox"],"rules":[{"name":"some","when":[{"attribute":"percent","below":7.5}],
      "to":[{"attribute":"metadata.release","equals":"2.0"}]}]})");
  EXPECT_EQ(why(*table, "n"),
            "rule 1 of the document (some) sends 7.5 % of such calls here; the others go to any instance");
  EXPECT_EQ(
      why(*table, "o"),
      "rule 1 of the document (some) sends 7.5 % of such calls to another instance; the others go to any instance");
  EXPECT_EQ(serves(*table, "o"), Serving::yes);
  EXPECT_EQ(why(*table, "s"),
            "rule 1 of the document (some) sends 7.5 % of such calls to another instance; no rule sends such calls to "
            "group sandbox");
  EXPECT_EQ(serves(*table, "s"), Serving::no);
  // With a key there is no share, but a certainty.
  for (request.hash_key = 1; first(*table) != "n";) ++request.hash_key;
  EXPECT_EQ(why(*table, "n"), "rule 1 of the document (some) sends such calls here");
  EXPECT_EQ(serves(*table, "o"), Serving::fallback);
}

TEST_F(RoutingRouter, ExplainingAndGoingOnCountNothing) {
  for (const char* id : {"a", "b"}) add(id);
  const auto parsed = parse_rules(R"({"rules":[{"when":[{"attribute":"percent","below":37.5}],
      "to":[{"attribute":"id","equals":"a"}]}]})");
  ASSERT_TRUE(parsed.ok());
  const auto list = std::make_shared<const std::vector<CompiledRule>>(parsed->rules);
  const Here here{service, "", {}};
  const auto asked = std::move(*RulesTable::make(list, here, {}, members, {}, 7));
  const auto left_alone = std::move(*RulesTable::make(list, here, {}, members, {}, 7));
  for (int i = 0; i < 1000; ++i) {
    const int subset = asked->choose(request);
    ASSERT_EQ(subset, left_alone->choose(request)) << i;
    (void)asked->next(request, subset);
    (void)why(*asked, "a");
    (void)serves(*asked, "b");
  }
}

}  // namespace
}  // namespace tenon::cluster::routing
