// Commands over members: who serves, and in which shares.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "support/cluster_fakes.hpp"
#include "support/manual_executor.hpp"
#include "traffic/router.hpp"
#include "traffic/table.hpp"

namespace tenon::cluster::traffic {
namespace {

using fake::ScriptedEndpoint;

class TrafficRouterTest : public testing::Test {
 protected:
  TrafficRouterTest() { options.addresses = {"10.1.1.1"}; }

  void add(const std::string& group, const std::string& id, std::uint32_t weight = 100,
           const std::string& address = {}) {
    Instance instance = fake::instance(id, weight);
    instance.group = group;
    if (!address.empty()) instance.address = address;
    members.push_back(std::make_shared<ScriptedEndpoint>(instance));
  }
  ScriptedEndpoint& endpoint(const std::string& id) {
    for (const auto& member : members)
      if (member->instance().id == id) return static_cast<ScriptedEndpoint&>(*member);
    throw std::runtime_error("no " + id);
  }
  std::shared_ptr<Router> router(const ServiceName& service = {"com.x.Foo", "own", ""}) {
    auto made = TrafficRouter::create(options, Environment{executor, log, executor.clock()});
    EXPECT_TRUE(made.ok());
    return (*made)->for_service(service);
  }
  Result<std::unique_ptr<Router::Table>> compile(const std::string& entries) {
    return router()->compile(members, {document(entries)});
  }
  static Document document(const std::string& entries) {
    return {"command", "own", R"({"clientCommandList":[)" + entries + "]}", 1};
  }
  /// "ab c": ids of each subset.
  static std::string subsets(const Result<std::unique_ptr<Router::Table>>& table) {
    if (!table.ok()) return "error: " + table.error().text();
    std::string all;
    for (const Members& subset : (*table)->subsets()) {
      if (!all.empty()) all += ' ';
      for (const auto& member : subset) all += member->instance().id;
    }
    return all;
  }
  static std::string entry(const std::string& groups, const std::string& rules = {}) {
    return R"({"index":1,"pattern":"*","mergeGroups":[)" + groups + R"(],"routeRules":[)" + rules + "]}";
  }
  /// How many of so many calls each subset gets.
  static std::map<int, int> counts(const Router::Table& table, int calls) {
    ServiceName service;
    Method method;
    Target target{&service, &method};
    const Request request{target};
    std::map<int, int> counts;
    for (int i = 0; i < calls; ++i) ++counts[table.choose(request)];
    return counts;
  }

  test::ManualExecutor executor;
  fake::ListLog log;
  TrafficOptions options;
  Members members;
};

TEST_F(TrafficRouterTest, WhoServes) {
  add("own", "a");
  add("own", "b");
  add("g1", "c", 100, "10.2.2.2:80");
  add("g2", "d", 100, "10.3.3.3:80");
  struct Case {
    const char* what;
    std::string entries;
    std::string subsets;
  };
  const Case cases[] = {
      {"no command: the own group", "", "ab"},
      {"no match: the own group", R"({"pattern":"com.y.*","mergeGroups":["g1"]})", "ab"},
      {"no pattern matches nothing", R"({"mergeGroups":["g1"]})", "ab"},
      {"no groups: the own one", entry(""), "ab"},
      {"no groups: rules apply all the same", entry("", R"("* to !a")"), "b"},
      {"mixed: one pool", entry(R"("own","g1")"), "abc"},
      {"weighted: a subset for each", entry(R"("own:1","g1:2")"), "ab c"},
      {"the own group serves only where it is listed", entry(R"("g1:1","g2:1")"), "c d"},
      {"one group", entry(R"("g1:1")"), "c"},
      {"one without weight among others has 1", entry(R"("own","g1:2")"), "ab c"},
      {"weight 0 drains", entry(R"("own:0","g1:1")"), "c"},
      {"a group nobody knows is passed over", entry(R"("own:1","g9:2")"), "ab"},
      {"mixed with one nobody knows", entry(R"("g1","g9")"), "c"},
      {"rules after groups", entry(R"("own:1","g1:1","g2:1")", R"("* to !10.2.2.2","10.1.* to !a")"), "b d"},
      {"rules for other clients", entry(R"("own:1","g1:1")", R"("10.9.* to 10.2.*")"), "ab c"},
      {"each rule must allow it", entry(R"("g1","g2")", R"("* to 10.*","* to 10.2.*")"), "c"},
      {"first by index",
       R"({"index":2,"pattern":"*","mergeGroups":["g1"]},{"index":1,"pattern":"*","mergeGroups":["g2"]})", "d"},
      {"a bad entry is passed over", R"({"index":1,"pattern":"-","mergeGroups":["g1"]},)" + entry(R"("g2")"), "d"},
      {"other types are no traffic", R"({"index":0,"commandType":1,"pattern":"*"},)" + entry(R"("g2")"), "d"},
  };
  for (const Case& each : cases) EXPECT_EQ(subsets(compile(each.entries)), each.subsets) << each.what;
}

TEST_F(TrafficRouterTest, WhichGroupsAreWanted) {
  const auto groups = [&](const std::string& entries) {
    const auto wanted = router()->groups({document(entries)});
    std::string all;
    for (const std::string& group : *wanted) all += group + " ";
    return all;
  };
  EXPECT_EQ(groups(""), "");
  EXPECT_EQ(groups(entry(R"("own:1","g1:2","g2:0")")), "g1 g2 ");
  EXPECT_EQ(groups(R"({"pattern":"com.y.Z","mergeGroups":["g1"]})"), "");
  EXPECT_EQ(router()->groups({Document{"command", "own", "[]", 1}}).error().code(), Errc::malformed);
}

TEST_F(TrafficRouterTest, AServiceWithoutAGroupIsInTheDefaultOne) {
  const auto unnamed = router({"com.x.Foo", "", ""});
  add("", "a");
  add("g1", "b");
  const Document command = document(entry(R"("default_rpc:1","g1:1")"));
  EXPECT_EQ(*unnamed->groups({command}), std::vector<std::string>{"g1"});
  EXPECT_EQ(subsets(unnamed->compile(members, {command})), "a b");
}

TEST_F(TrafficRouterTest, AnEmptyResultIsAnErrorOrFailsTheCalls) {
  add("own", "a");
  for (const std::string& empty : {entry(R"("g9:1")"), entry(R"("g9")"), entry(R"("own:0")"), entry("", R"("* to !a")"),
                                   entry(R"("own")", R"("* to !*")")}) {
    options.on_empty = OnEmpty::keep;
    const auto kept = compile(empty);
    ASSERT_FALSE(kept.ok()) << empty;
    EXPECT_EQ(kept.error().code(), Errc::unavailable) << empty;
    EXPECT_NE(kept.error().text().find("command 1"), std::string::npos) << kept.error().text();
    options.on_empty = OnEmpty::fail;
    const auto failing = compile(empty);
    ASSERT_TRUE(failing.ok()) << empty;
    EXPECT_EQ(counts(**failing, 3), (std::map<int, int>{{-1, 3}})) << empty;
  }
}

TEST_F(TrafficRouterTest, FirstMatchWinsEvenWhenItsResultIsEmpty) {
  add("own", "a");
  EXPECT_FALSE(compile(entry(R"("g9")") + R"(,{"index":2,"pattern":"*","mergeGroups":["own"]})").ok());
}

TEST_F(TrafficRouterTest, AnOwnGroupThatIsEmptyIsNotTheCommandsFault) {
  EXPECT_EQ(subsets(compile("")), "");
  EXPECT_TRUE(compile(entry("", R"("* to !10.75.0.1")")).ok());
}

TEST_F(TrafficRouterTest, AGroupThatIsDrainedByItsInstancesIsPassedOver) {
  add("own", "a");
  add("g1", "b", 0);
  const auto table = compile(entry(R"("own:1","g1:9")"));
  EXPECT_EQ(subsets(table), "a");
  ASSERT_EQ((*table)->complaints().size(), 1u);
  EXPECT_NE((*table)->complaints()[0].find("1 of 2 groups"), std::string::npos) << (*table)->complaints()[0];
}

TEST_F(TrafficRouterTest, OneProviderInTwoGroupsIsMixedInOnce) {
  add("own", "a", 100, "10.2.2.2:80");
  add("g1", "b", 100, "10.2.2.2:80");
  add("g1", "c", 100, "10.2.2.3:80");
  EXPECT_EQ(subsets(compile(entry(R"("own","g1")"))), "ac");
  EXPECT_EQ(subsets(compile(entry(R"("own:1","g1:1")"))), "a bc");
}

TEST_F(TrafficRouterTest, FixedGroupsMixUntilACommandApplies) {
  options.mix_groups = {"g1", "own"};
  add("own", "a");
  add("g1", "b");
  add("g2", "c");
  EXPECT_EQ(subsets(compile("")), "ab");
  EXPECT_EQ(*router()->groups({}), std::vector<std::string>{"g1"});
  EXPECT_EQ(subsets(compile(entry(R"("g2:1")"))), "c");
}

TEST_F(TrafficRouterTest, DocumentsOfSeveralRegistriesAreOneList) {
  add("own", "a");
  add("g1", "b");
  const Document late{"command", "own", R"({"clientCommandList":[{"index":2,"pattern":"*","mergeGroups":["own"]}]})",
                      1};
  EXPECT_EQ(subsets(router()->compile(members, {late, document(entry(R"("g1")"))})), "b");
}

TEST_F(TrafficRouterTest, OptionsAreChecked) {
  const auto refused = [&] {
    auto made = TrafficRouter::create(options, Environment{executor, log, executor.clock()});
    return !made.ok() && made.error().code() == Errc::config;
  };
  options.addresses = {"localhost"};
  EXPECT_TRUE(refused());
  options.addresses = {};
  options.mix_groups = {"g:1"};
  EXPECT_TRUE(refused());
  options.mix_groups = {""};
  EXPECT_TRUE(refused());
}

TEST_F(TrafficRouterTest, SharesAreKeptWithinTwoPoints) {
  for (const char* group : {"g0", "g1", "g2", "g3"}) add(group, group);
  const std::vector<std::vector<int>> shares = {{3, 7}, {1, 99}, {5, 1}, {1, 1}, {100, 100, 100, 1}, {1, 2, 3, 4}};
  for (const std::vector<int>& weights : shares) {
    std::string groups;
    double total = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      groups += (i ? ",\"g" : "\"g") + std::to_string(i) + ":" + std::to_string(weights[i]) + "\"";
      total += weights[i];
    }
    auto table = compile(entry(groups));
    ASSERT_TRUE(table.ok());
    std::map<int, int> got = counts(**table, 10000);
    for (std::size_t i = 0; i < weights.size(); ++i)
      EXPECT_NEAR(got[static_cast<int>(i)] / 10000.0, weights[i] / total, 0.002) << groups;
    // Not in clumps: also of a hundred calls everybody gets his share.
    for (int round = 0; round < 10; ++round) {
      got = counts(**table, 100);
      for (std::size_t i = 0; i < weights.size(); ++i)
        EXPECT_NEAR(got[static_cast<int>(i)], 100 * weights[i] / total, 3) << groups;
    }
  }
}

TEST_F(TrafficRouterTest, TablesMadeAnewFavourNobody) {
  add("own", "a");
  add("g1", "b");
  int to_own = 0;
  for (int i = 0; i < 2000; ++i) to_own += counts(**compile(entry(R"("own:1","g1:3")")), 1)[0];
  EXPECT_NEAR(to_own / 2000.0, 0.25, 0.06);
}

TEST_F(TrafficRouterTest, AGroupThatIsNotConnectedIsPassedOver) {
  for (const char* group : {"g0", "g1", "g2"}) add(group, group);
  auto table = compile(entry(R"("g0:50","g1:30","g2:10")"));
  endpoint("g0").state = Health::closed;
  std::map<int, int> got = counts(**table, 10000);
  EXPECT_EQ(got[0], 0);
  EXPECT_NEAR(got[1] / 10000.0, 0.75, 0.02);
  endpoint("g1").state = endpoint("g2").state = Health::closed;
  got = counts(**table, 9000);
  EXPECT_NEAR(got[0] / 9000.0, 5.0 / 9, 0.02) << "all closed: as if all were open";
  endpoint("g1").state = Health::busy;
  EXPECT_EQ(counts(**table, 10)[1], 10);
}

TEST_F(TrafficRouterTest, FollowingTheSubsetsComesBack) {
  for (const char* group : {"g0", "g1", "g2"}) add(group, group);
  const auto three = compile(entry(R"("g0:50","g1:30","g2:10")"));
  const Target target;
  const Request request(target);
  EXPECT_EQ((*three)->next(request, 0), 1);
  EXPECT_EQ((*three)->next(request, 1), 2);
  EXPECT_EQ((*three)->next(request, 2), 0);
  EXPECT_EQ((*compile(entry(R"("g0:50")")))->next(request, 0), -1);
}

TEST_F(TrafficRouterTest, AsManyGroupsAsACommandMayName) {
  std::string groups;
  for (int i = 0; i < 256; ++i) {
    add("g" + std::to_string(i), "i" + std::to_string(i));
    groups += (i ? ",\"g" : "\"g") + std::to_string(i) + ":100\"";
  }
  const auto table = compile(entry(groups));
  ASSERT_EQ((*table)->subsets().size(), 256u);
  const std::map<int, int> got = counts(**table, 25600);
  ASSERT_EQ(got.size(), 256u);
  for (const auto& [subset, count] : got) EXPECT_NEAR(count, 100, 3) << subset;
}

TEST(TrafficAddresses, AreAddressesAndNotLoopback) {
  for (const std::string& address : own_addresses()) {
    EXPECT_TRUE(Ip::parse(address)) << address;
    EXPECT_NE(address, "127.0.0.1");
  }
}

}  // namespace
}  // namespace tenon::cluster::traffic
