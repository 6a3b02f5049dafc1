#include "stats_text.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "table.hpp"

namespace tenon::cli {
namespace {

using std::chrono::milliseconds;

admin::EndpointState endpoint(const std::string& address) {
  admin::EndpointState state;
  state.id = address;
  state.address = address;
  state.health = admin::EndpointHealth::open;
  state.weight = 100;
  state.effective_weight = 100;
  state.connections = 1;
  state.calls = 1000;
  state.latency_us = 150;
  return state;
}

admin::ReferenceState reference() {
  admin::ReferenceState state;
  state.name = "users";
  state.service = "blue/demo.Users:1.0";
  return state;
}

TEST(ReferencesText, ShowsWhatAnInstanceGetsOfItsWeight) {
  admin::ReferenceState users = reference();
  users.endpoints = {endpoint("10.0.0.1:80"), endpoint("10.0.0.2:80"), endpoint("10.0.0.3:80")};
  users.endpoints[1].effective_weight = 40;
  users.endpoints[2].effective_weight = 0;
  const std::string text = references_text({users});
  EXPECT_NE(text.find("10.0.0.1:80  open          100"), std::string::npos) << text;
  EXPECT_NE(text.find("10.0.0.2:80  open    40 of 100"), std::string::npos) << text;
  EXPECT_NE(text.find("10.0.0.3:80  open     0 of 100"), std::string::npos) << text;
}

TEST(ReferencesText, ShowsOutliersAndFaults) {
  admin::ReferenceState users = reference();
  users.endpoints = {endpoint("10.0.0.1:80"), endpoint("10.0.0.2:80")};
  users.endpoints[0].ejected = true;
  users.endpoints[0].ejected_for = milliseconds(12300);
  users.endpoints[0].faults = 31;
  users.endpoints[0].consecutive_faults = 5;
  users.endpoints[1].ejected = true;
  users.endpoints[1].faults = 7;
  const std::string text = references_text({users});
  EXPECT_NE(text.find("EJECTED 12.3s "), std::string::npos) << text;
  EXPECT_NE(text.find(" 31 (5) "), std::string::npos) << text;
  EXPECT_NE(text.find("EJECTED, to try "), std::string::npos) << "its time is over";
  EXPECT_NE(text.find(" 7 "), std::string::npos) << text;
}

TEST(ReferencesText, ShowsWhatTheClusterCounts) {
  admin::ReferenceState users = reference();
  users.endpoints = {endpoint("10.0.0.1:80")};
  users.counts = {{"retries", 12}, {"retries refused", 3}, {"ejections", 2}, {"hedges\n", 9}};
  const std::string text = references_text({users});
  EXPECT_NE(text.find("\n  users: retries 12, retries refused 3, ejections 2, hedges\\n 9\n"), std::string::npos)
      << text;
  users.counts.clear();
  EXPECT_EQ(references_text({users}).find("users: "), std::string::npos);
}

TEST(ReferencesText, StaysWithin160Columns) {
  admin::ReferenceState users = reference();
  users.endpoints = {endpoint("10.0.0.1:80"), endpoint("10.0.0.2:80")};
  users.endpoints[1].failure = std::string(250, 'x');
  std::istringstream lines(references_text({users}));
  bool cut = false;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(width_of(line), 160u) << line;
    cut = cut || line.ends_with("x…");
  }
  EXPECT_TRUE(cut);
}

}  // namespace
}  // namespace tenon::cli
