// Merge groups and route rules: one entry each.
#include <gtest/gtest.h>

#include <string>

#include "traffic/merge_group.hpp"
#include "traffic/route_rule.hpp"

namespace tenon::cluster::traffic {
namespace {

TEST(TrafficMergeGroup, EntriesAreReadOrRefused) {
  struct Case {
    const char* text;
    const char* group;  // null: refused
    std::optional<std::uint32_t> weight;
  };
  const Case cases[] = {
      {"g", "g", {}},
      {"g:3", "g", 3},
      {"g:0", "g", 0},
      {"g:100", "g", 100},
      {" openapi-tc-test-rpc : 12 ", "openapi-tc-test-rpc", 12},
      {"g:007", "g", 7},
      {":3", nullptr, {}},
      {":", nullptr, {}},
      {"", nullptr, {}},
      {"  ", nullptr, {}},
      {"g:", nullptr, {}},
      {"g: ", nullptr, {}},
      {"g:abc", nullptr, {}},
      {"g:-5", nullptr, {}},
      {"g:+5", nullptr, {}},
      {"g:1.5", nullptr, {}},
      {"g:101", nullptr, {}},
      {"g:4294967297", nullptr, {}},
      {"g:99999999999999999999", nullptr, {}},
      {"g:2:3", nullptr, {}},
      {"g h:1", nullptr, {}},
      {"g/../h:1", nullptr, {}},
      {"g\n:1", "g", 1},
      {"g\x01:1", nullptr, {}},
  };
  for (const Case& each : cases) {
    const auto merged = MergeGroup::parse(each.text);
    ASSERT_EQ(merged.ok(), each.group != nullptr) << each.text;
    if (!merged.ok()) {
      EXPECT_EQ(merged.error().code(), Errc::malformed);
      EXPECT_NE(merged.error().text().find(each.text), std::string::npos) << merged.error().text();
      continue;
    }
    EXPECT_EQ(merged->group, each.group);
    EXPECT_EQ(merged->weight, each.weight) << each.text;
  }
  EXPECT_FALSE(MergeGroup::parse(std::string(256, 'g')).ok());
  EXPECT_TRUE(MergeGroup::parse(std::string(255, 'g')).ok());
}

/// "yes": the client is concerned and may call the server; "no": concerned and may not; "-": not concerned; "bad".
std::string verdict(const std::string& rule, const std::string& client, const std::string& server) {
  const auto read = RouteRule::parse(rule);
  if (!read.ok()) return "bad";
  if (!read->concerns({Place::of(client)})) return "-";
  return read->to.contains(Place::of(server)) ? "yes" : "no";
}

TEST(TrafficRouteRule, CasesOfTheField) {
  struct Case {
    const char* rule;
    const char* client;
    const char* server;
    const char* verdict;
  };
  const Case cases[] = {
      // The plain ones.
      {"* to !10.75.0.1", "10.1.1.1", "10.75.0.1:80", "no"},
      {"* to !10.75.0.1", "10.1.1.1", "10.75.0.10:80", "yes"},
      {"10.75.* to 10.75.*", "10.75.1.1", "10.75.2.2:80", "yes"},
      {"10.75.* to 10.75.*", "10.75.1.1", "10.76.2.2:80", "no"},
      {"10.75.* to 10.75.*", "10.76.1.1", "10.76.2.2:80", "-"},
      {"!10.1.1.1 to *", "10.1.1.1", "10.2.2.2:80", "-"},
      {"!10.1.1.1 to *", "10.1.1.2", "10.2.2.2:80", "yes"},
      {"* to !*", "10.1.1.2", "10.2.2.2:80", "no"},
      {"!* to 10.1.1.1", "10.1.1.2", "10.2.2.2:80", "-"},
      // `to` is a word.
      {"tokyo-1 to tokyo-*", "tokyo-1", "tokyo-7:80", "yes"},
      {"* to !tokyo-1", "10.1.1.1", "tokyo-1:80", "no"},
      {"* to !TOKYO-1", "10.1.1.1", "Tokyo-1:80", "no"},
      {"to to toto", "to", "toto:1", "yes"},
      {"10.1.*to10.2.*", "10.1.1.1", "10.2.1.1:80", "bad"},
      {"10.1.* TO 10.2.*", "10.1.1.1", "10.2.1.1:80", "bad"},
      {"a to b to c", "a", "b", "bad"},
      {"\t10.1.*  \t to\t 10.2.* ", "10.1.1.1", "10.2.1.1:80", "yes"},
      {"* to ! 10.75.0.1", "10.1.1.1", "10.75.0.1:80", "no"},
      {"to", "a", "b", "bad"},
      {"", "a", "b", "bad"},
      {"a to ", "a", "b", "bad"},
      {" to b", "a", "b", "bad"},
      {"a b", "a", "b", "bad"},
      {"! to b", "a", "b", "bad"},
      {"a to !", "a", "b", "bad"},
      {"a to !!b", "a", "b", "bad"},
      // A prefix is one of the text.
      {"* to 10.1.1.*", "x", "10.1.1.10:80", "yes"},
      {"* to 10.1.1.*", "x", "10.1.11.1:80", "no"},
      {"* to 10.1.1*", "x", "10.1.11.1:80", "yes"},
      {"* to 10.*.1", "x", "10.1.11.1:80", "bad"},
      {"* to **", "x", "10.1.11.1:80", "bad"},
      {"* to 10.1.1", "x", "10.1.1.1:80", "bad"},
      {"* to 10.1.1.256", "x", "10.1.1.1:80", "bad"},
      // Networks.
      {"* to 10.75.0.0/16", "x", "10.75.255.1:80", "yes"},
      {"* to 10.75.0.0/16", "x", "10.76.0.1:80", "no"},
      {"* to 10.75.1.2/12", "x", "10.79.0.1:80", "yes"},
      {"* to 10.75.1.2/12", "x", "10.80.0.1:80", "no"},
      {"* to 10.75.1.2/31", "x", "10.75.1.3:80", "yes"},
      {"* to 10.75.1.2/31", "x", "10.75.1.4:80", "no"},
      {"* to 0.0.0.0/0", "x", "10.75.1.4:80", "yes"},
      {"* to 0.0.0.0/0", "x", "[fd00::1]:80", "no"},
      {"* to 10.75.1.2/32", "x", "10.75.1.2:80", "yes"},
      {"* to 10.75.1.2/32", "x", "10.75.1.3:80", "no"},
      {"* to 10.75.1.2/33", "x", "10.75.1.2:80", "bad"},
      {"* to 10.75.1.2/-1", "x", "10.75.1.2:80", "bad"},
      {"* to 10.75.1.2/", "x", "10.75.1.2:80", "bad"},
      {"* to 10.75.*/16", "x", "10.75.1.2:80", "bad"},
      {"* to 10.75.0.0/16", "x", "tokyo-1:80", "no"},
      {"10.0.0.0/8 to !10.0.0.0/8", "10.3.4.5", "10.3.3.3:80", "no"},
      // IPv6.
      {"* to fd00::1", "x", "[fd00:0:0::1]:80", "yes"},
      {"* to [fd00::1]", "x", "[fd00::1]:80", "yes"},
      {"* to fd00::1", "x", "[fd00::2]:80", "no"},
      {"* to fd00::/8", "x", "[fdab::2]:80", "yes"},
      {"* to !fd00::/8", "x", "[fdab::2]:80", "no"},
      {"* to ::/0", "x", "[fdab::2]:80", "yes"},
      {"* to ::/0", "x", "10.1.1.1:80", "no"},
      {"* to fd00::/129", "x", "[fdab::2]:80", "bad"},
      {"* to fd00:*", "x", "[fd00::2]:80", "bad"},
      {"* to fd00::2::", "x", "[fd00::2]:80", "bad"},
      {"* to 10.1.1.1", "x", "[::ffff:10.1.1.1]:80", "yes"},
      {"fd00::5 to *", "fd00::5", "10.1.1.1:80", "yes"},
      // Ports.
      {"* to 192.168.1.*:90", "x", "192.168.1.7:90", "yes"},
      {"* to 192.168.1.*:90", "x", "192.168.1.7:91", "no"},
      {"* to !192.168.1.7:90", "x", "192.168.1.7:91", "yes"},
      {"* to !192.168.1.7:90", "x", "192.168.1.7:90", "no"},
      {"* to *:90", "x", "tokyo-1:90", "yes"},
      {"* to [fd00::1]:90", "x", "[fd00::1]:90", "yes"},
      {"* to [fd00::1]:90", "x", "[fd00::1]:91", "no"},
      {"* to [fd00::/8]:90", "x", "[fd77::1]:90", "yes"},
      {"* to [fd00::1", "x", "[fd00::1]:90", "bad"},
      {"* to [fd00::1]x", "x", "[fd00::1]:90", "bad"},
      {"* to [10.1.1.*]", "x", "10.1.1.1:90", "bad"},
      {"* to 10.1.1.1:", "x", "10.1.1.1:90", "bad"},
      {"* to 10.1.1.1:65536", "x", "10.1.1.1:90", "bad"},
      {"* to 10.1.1.1:http", "x", "10.1.1.1:90", "bad"},
      {"10.1.1.1:90 to *", "10.1.1.1", "10.1.1.1:90", "bad"},
      {"* to a$b", "x", "a$b:90", "bad"},
      {"* to memory", "x", "memory:greeter", "yes"},
      {"* to *", "x", "/run/greeter.sock", "yes"},
      {"* to 10.*", "x", "/run/greeter.sock", "no"},
  };
  for (const Case& each : cases)
    EXPECT_EQ(verdict(each.rule, each.client, each.server), each.verdict)
        << "\"" << each.rule << "\" from " << each.client << " for " << each.server;
}

TEST(TrafficRouteRule, AHostHasSeveralAddresses) {
  const std::vector<Place> client = {Place::of("10.1.1.1"), Place::of("fd00::5")};
  const auto concerns = [&](const char* from) {
    return RouteRule::parse(std::string(from) + " to *")->concerns(client);
  };
  EXPECT_TRUE(concerns("10.1.1.1"));
  EXPECT_TRUE(concerns("fd00::/8"));
  EXPECT_FALSE(concerns("10.2.*"));
  EXPECT_FALSE(concerns("!10.1.1.1"));
  EXPECT_TRUE(concerns("!10.2.*"));
  EXPECT_FALSE(RouteRule::parse("10.1.* to *")->concerns({}));
  EXPECT_TRUE(RouteRule::parse("* to *")->concerns({Place::of("10.9.9.9")}));
}

TEST(TrafficRouteRule, ComplaintsNameTheRuleAndAreShort) {
  const auto rule = RouteRule::parse("* to 10.75.1.2/33");
  ASSERT_FALSE(rule.ok());
  EXPECT_NE(rule.error().text().find("10.75.1.2/33"), std::string::npos) << rule.error().text();
  EXPECT_LT(RouteRule::parse(std::string(100000, 'a') + " to b").error().text().size(), 300u);
}

}  // namespace
}  // namespace tenon::cluster::traffic
