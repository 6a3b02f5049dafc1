// Several routers as one: commands first, then rules, and routers of other people's plugins anywhere.
#include "routing/router_chain.hpp"

#include "routing_fixture.hpp"
#include "traffic/router.hpp"

namespace tenon::cluster::routing {
namespace {

/// Somebody else's: instances whose id begins with a letter of the method's name; no explanation of its own.
class Initials final : public Router {
 public:
  explicit Initials(std::vector<std::string> groups = {}) : groups_(std::move(groups)) {}
  std::vector<std::string> document_kinds() const override { return {"initials"}; }
  Result<std::vector<std::string>> groups(const std::vector<Document>& documents) override {
    given = documents;
    return groups_;
  }
  Result<std::unique_ptr<Table>> compile(const Members& members, const std::vector<Document>&) override {
    seen.clear();
    for (const auto& member : members) seen += member->instance().id;
    if (members.empty()) return Error(Errc::unavailable, "initials: nobody", Delivery::not_run);
    return std::unique_ptr<Table>(std::make_unique<Letters>(members));
  }

  std::vector<Document> given;
  std::string seen;

 private:
  class Letters final : public Table {
   public:
    explicit Letters(const Members& members) {
      for (const auto& member : members) subsets_.push_back({member});
    }
    std::span<const Members> subsets() const noexcept override { return subsets_; }
    int choose(const Request& request) const noexcept override {
      for (std::size_t i = 0; i < subsets_.size(); ++i)
        if (subsets_[i][0]->instance().id[0] == request.target->method->name[0]) return static_cast<int>(i);
      return -1;
    }
    // Round and round, from wherever a call began.
    int next(const Request&, int subset) const noexcept override {
      return (subset + 1) % static_cast<int>(subsets_.size());
    }

   private:
    std::vector<Members> subsets_;
  };
  const std::vector<std::string> groups_;
};

class RouterChainTest : public RoutingTest {
 protected:
  RouterChainTest() { options.addresses = {"10.1.1.1"}; }
  std::shared_ptr<Router> chain(std::vector<std::shared_ptr<Router>> routers) {
    auto all = RouterChain::of(routers);
    auto bound = all->for_service(service);
    return bound ? bound : all;
  }
  std::shared_ptr<Router> traffic_router(traffic::TrafficOptions wanted = {}) {
    wanted.addresses = {"10.1.1.1"};
    return std::move(*traffic::TrafficRouter::create(wanted, Environment{executor, log, executor.clock()}));
  }
  std::shared_ptr<Router> unbound_rules() {
    return std::move(*RulesRouter::create(options, Environment{executor, log, executor.clock()}));
  }
  /// [traffic, rules] with these documents.
  std::vector<Document> documents(const std::string& merge, const std::string& rules_text,
                                  const std::string& route_rules = {}) {
    return {{"rule", "own", rules_text, 1},
            {"command", "own",
             R"({"clientCommandList":[{"index":1,"pattern":"*","mergeGroups":[)" + merge + R"(],"routeRules":[)" +
                 route_rules + R"(],"remark":"shift"}]})",
             1}};
  }
  Table both(const std::vector<Document>& given) {
    auto table = chain({traffic_router(), unbound_rules()})->compile(members, given);
    EXPECT_TRUE(table.ok()) << table.error().text();
    return table.ok() ? std::move(*table) : nullptr;
  }
};

TEST_F(RouterChainTest, NoneIsNoneAndOneIsItself) {
  EXPECT_EQ(RouterChain::of({}), nullptr);
  const auto only = traffic_router();
  EXPECT_EQ(RouterChain::of({only}), only);
}

TEST_F(RouterChainTest, RulesChooseWithinTheShareOfACommand) {
  add("a", {{"role", "replica"}});
  add("b");
  add("c", {{"role", "replica"}}, "tc");
  add("d", {}, "tc");
  const Table table = both(documents(R"("own:3","tc:1")", readme_example("reads")));
  auto shares = counts(*table, 4000);
  EXPECT_NEAR(shares["a"], 3000, 6);
  EXPECT_NEAR(shares["c"], 1000, 6);
  EXPECT_EQ(shares.size(), 2u) << "reads only";
  call("setUser");
  shares = counts(*table, 4000);
  EXPECT_NEAR(shares["ab"], 3000, 6) << "nobody is called primary, so anybody of the group";
  EXPECT_NEAR(shares["cd"], 1000, 6);
}

TEST_F(RouterChainTest, ACallGoesOnInItsShareAndThenInTheNextOne) {
  add("a", {{"role", "replica"}});
  add("b");
  add("c", {{"role", "replica"}}, "tc");
  const Table table = both(documents(R"("own:1","tc:1")", readme_example("reads")));
  std::set<std::string> ways;
  for (int i = 0; i < 4; ++i) ways.insert(way(*table).substr(0, 10));
  EXPECT_EQ(ways, (std::set<std::string>{"a ab c c a", "c c a ab c"}));
}

TEST_F(RouterChainTest, IsolationIsNotLeftForAnotherShare) {
  add("a", {{"x", "1"}});
  add("b");
  add("c", {}, "tc");
  const Table table = both(documents(
      R"("own:1","tc:1")", R"({"rules":[{"to":[{"attribute":"metadata.x","equals":"1"}],"otherwise":"fail"}]})"));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(way(*table).substr(0, 1), "a") << "nobody of tc may";
  EXPECT_EQ(serves(*table, "c"), Serving::no);
  EXPECT_EQ(serves(*table, "b"), Serving::no);
  EXPECT_EQ(serves(*table, "a"), Serving::yes);
}

TEST_F(RouterChainTest, GroupsOfRulesAreThereBesideEveryShare) {
  add("a");
  add("c", {}, "tc");
  add("s", {}, "sandbox");
  const std::vector<Document> given = documents(R"("own:1","tc:1")", readme_example("groups"));
  const auto router = chain({traffic_router(), unbound_rules()});
  EXPECT_EQ(*router->groups(given), (std::vector<std::string>{"tc", "backup", "grey", "sandbox"}));
  const Table table = both(given);
  EXPECT_NEAR(counts(*table, 1000)["a"], 500, 5);
  EXPECT_NEAR(counts(*table, 1000)["c"], 500, 5);
  request.headers.set("motan-route-group", "sandbox");
  EXPECT_EQ(counts(*table, 100), (std::map<std::string, int>{{"s", 100}}));
  EXPECT_EQ(serves(*table, "s"), Serving::yes);
  request.headers.clear();
  EXPECT_EQ(serves(*table, "s"), Serving::no);
  // Without a command the own group serves, and the sandbox is still there.
  const Table without = both({document(readme_example("groups"))});
  EXPECT_EQ(first(*without), "a");
  request.headers.set("motan-route-group", "sandbox");
  EXPECT_EQ(first(*without), "s");
}

TEST_F(RouterChainTest, ABackupGroupStandsInForAnOwnGroupThatIsGone) {
  add("b", {}, "backup");
  const Table table = both({document(readme_example("groups"))});
  EXPECT_EQ(first(*table), "b");
}

TEST_F(RouterChainTest, AGroupOfBothServesWhatARuleSendsThereOnly) {
  add("a");
  add("s", {}, "sandbox");
  const Table table = both(documents(R"("own:1","sandbox:1")", readme_example("groups")));
  EXPECT_EQ(counts(*table, 100), (std::map<std::string, int>{{"a", 100}})) << "its share is the other's";
  request.headers.set("motan-route-group", "sandbox");
  EXPECT_EQ(counts(*table, 100), (std::map<std::string, int>{{"s", 100}}));
}

TEST_F(RouterChainTest, ABadDocumentOfEitherIsAnError) {
  add("a");
  const auto router = chain({traffic_router(), unbound_rules()});
  EXPECT_EQ(router->document_kinds(), (std::vector<std::string>{"command", "rule"}));
  for (const Document& bad : {Document{"command", "own", "{", 1}, Document{"rule", "own", "{", 1}}) {
    EXPECT_EQ(router->compile(members, {bad}).error().code(), Errc::malformed) << bad.kind;
    EXPECT_EQ(router->groups({bad}).error().code(), Errc::malformed) << bad.kind;
  }
  auto nobody = router->compile(members, documents(R"("nowhere:1")", ""));
  EXPECT_EQ(nobody.error().code(), Errc::unavailable);
}

TEST_F(RouterChainTest, ComplaintsThatHoldInEveryShareAreTold) {
  add("a", {{"x", "1"}});
  add("c", {{"y", "1"}}, "tc");
  const auto rule = [](const std::string& name) {
    return R"({"name":")" + name + R"(","to":[{"attribute":"metadata.)" + name + R"(","exists":true}]})";
  };
  const Table table =
      both(documents(R"("own:1","tc:1","gone:1")", R"({"rules":[)" + rule("x") + "," + rule("z") + "]}"));
  ASSERT_EQ(table->complaints().size(), 2u);
  EXPECT_NE(table->complaints()[0].find("1 of 3 groups have nobody"), std::string::npos);
  EXPECT_EQ(table->complaints()[1], "rule 2 of the document (z) means none of the known instances that take calls");
}

TEST_F(RouterChainTest, ExplanationsAreJoined) {
  add("a", {{"role", "replica"}});
  add("b");
  add("c", {{"role", "replica"}}, "tc");
  add("d", {}, "tc", "10.9.9.9:80");
  add("e", {}, "else");
  const Table table =
      both(documents(R"("own:3","tc:1","drained:0")", readme_example("reads"), R"("10.1.* to !10.9.9.9")"));
  EXPECT_EQ(
      why(*table, "a"),
      "command 1 (shift) lists group own, which gets 3 of 4 calls; rule 1 of the document (reads) sends such calls "
      "here");
  EXPECT_EQ(
      why(*table, "b"),
      "command 1 (shift) lists group own, which gets 3 of 4 calls; rule 1 of the document (reads) sends such calls "
      "to another instance; it is called if those cannot take them");
  EXPECT_EQ(why(*table, "d"), "route rule 1 of command 1 (shift) keeps this client from it");
  EXPECT_EQ(why(*table, "e"), "command 1 (shift) does not list group else");
  EXPECT_EQ(serves(*table, "a"), Serving::yes);
  EXPECT_EQ(serves(*table, "b"), Serving::fallback);
  EXPECT_EQ(serves(*table, "d"), Serving::no);
  close("c");
  EXPECT_EQ(why(*table, "c"),
            "command 1 (shift) lists group tc, which gets 1 of 4 calls; none of it can take calls, so the others take "
            "them; rule 1 of the document (reads) sends such calls here");
}

TEST_F(RouterChainTest, TrafficAloneExplainsItself) {
  add("a");
  add("c", {}, "tc");
  add("z", {}, "zero");
  const auto router = chain({traffic_router()});
  const auto said = [&](const std::vector<Document>& given, const std::string& id) {
    auto table = router->compile(members, given);
    return table.ok() ? why(**table, id) : table.error().text();
  };
  EXPECT_EQ(said({}, "a"), "no command is in force, so its group serves");
  EXPECT_EQ(said({}, "c"), "no command sends calls to group tc");
  std::vector<Document> given = documents(R"("own","tc")", "");
  given.erase(given.begin());
  EXPECT_EQ(said(given, "c"), "command 1 (shift) makes one pool of 2 groups, this one among them");
  given = documents(R"("own:1","zero:0")", "");
  given.erase(given.begin());
  EXPECT_EQ(said(given, "a"), "command 1 (shift) lists group own");
  EXPECT_EQ(said(given, "z"), "command 1 (shift) gives group zero no calls");
  given = documents("", "");
  given.erase(given.begin());
  EXPECT_EQ(said(given, "a"), "command 1 (shift) lets its group serve");
  EXPECT_EQ(said(given, "c"), "command 1 (shift) is about the own group only");
  Instance drained = fake::instance("w", 0);
  drained.group = "own";
  members.push_back(std::make_shared<fake::ScriptedEndpoint>(drained));
  EXPECT_EQ(said(given, "w"), "command 1 (shift) would send calls here, but it takes none (weight 0)");
}

TEST_F(RouterChainTest, SomebodyElsesRouterFitsAnywhere) {
  for (const char* id : {"ga", "gb", "s"}) add(id);
  add("t", {}, "guests");
  const std::string not_b = R"({"rules":[{"to":[{"attribute":"id","not_in":"gb"}],"otherwise":"fail"}]})";
  const auto before = std::make_shared<Initials>();
  auto table = chain({before, unbound_rules()})->compile(members, {document(not_b)});
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(before->seen, "gagbst") << "nobody else asked for the group";
  EXPECT_TRUE(before->given.empty()) << "the document is not of its kind";
  EXPECT_EQ(first(**table), "ga");
  call("set");
  EXPECT_EQ(way(**table).substr(0, 9), "s t ga s ") << "round, past the one that a rule excludes";
  call("x");
  EXPECT_EQ(first(**table), "nobody");

  const auto behind = std::make_shared<Initials>(std::vector<std::string>{"guests"});
  auto other = chain({unbound_rules(), behind})->compile(members, {document(not_b)});
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(behind->seen, "gagbst") << "what is left of the list, and its own group";
  call("get");
  EXPECT_EQ(first(**other), "ga");
  call("tell");
  EXPECT_EQ(first(**other), "t") << "the group it brought in";
  EXPECT_EQ(why(**other, "t"), "");
  EXPECT_EQ(serves(**other, "t"), Serving::yes);
}

TEST_F(RouterChainTest, ATableThatGoesRoundDoesNotKeepACallInItsShare) {
  add("ga");
  add("gb");
  add("gc", {}, "tc");
  std::vector<Document> given = documents(R"("own:100","tc:1")", "");
  given.erase(given.begin());
  auto table = chain({traffic_router(), std::make_shared<Initials>()})->compile(members, given);
  ASSERT_TRUE(table.ok());
  std::set<std::string> ways;
  for (int i = 0; i < 300; ++i) ways.insert(way(**table));
  EXPECT_EQ(ways, (std::set<std::string>{"ga gb gc ga", "gc ga gb gc"}));
}

TEST_F(RouterChainTest, ThreeInARow) {
  add("ga", {{"role", "replica"}});
  add("sb", {{"role", "replica"}});
  add("gc", {{"role", "primary"}});
  auto table = chain({traffic_router(), unbound_rules(), std::make_shared<Initials>()})
                   ->compile(members, {document(readme_example("reads"))});
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(first(**table), "ga");
  call("set");
  EXPECT_EQ(first(**table), "sb") << "no primary begins with s, and anybody may stand in";
  EXPECT_EQ(why(**table, "ga"),
            "no command is in force, so its group serves; rule 2 of the document (writes) sends such calls to another "
            "instance; it is called if those cannot take them");
}

}  // namespace
}  // namespace tenon::cluster::routing
