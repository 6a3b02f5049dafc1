// Subscribing to groups as rules name them, and changing rules.
#include "traffic_fixture.hpp"

namespace tenon::cluster {
namespace {

using fake::instance;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(TrafficGroupsTest, GroupsAreSubscribedAsCommandsNameThem) {
  start();
  EXPECT_EQ(registry->watched(), "own ");
  EXPECT_EQ(shares(4), "a 4 ");
  merge(R"("own:1","g1:1")");
  EXPECT_EQ(registry->watched(), "g1 own ");
  EXPECT_EQ(shares(4), "a 4 ") << "nobody is known there yet";
  tell("g1", {instance("b")});
  expect_shares({{"a", 5}, {"b", 5}});
  merge(R"("own:0","g1:1")");
  EXPECT_EQ(shares(4), "b 4 ") << "0 drains";
  EXPECT_EQ(dialer->dials["a"], 1);
  merge(R"("own:1")");
  EXPECT_EQ(shares(4), "a 4 ");
  executor.go(milliseconds(1100));
  EXPECT_EQ(registry->watched(), "own ") << "it is not needed any more";
  EXPECT_EQ(dialer->endpoint("b"), nullptr);
  EXPECT_NE(dialer->endpoint("a"), nullptr);
  EXPECT_EQ(dialer->dials["a"], 1) << "who stays keeps its connections";
}

TEST_F(TrafficGroupsTest, FlippingKeepsSubscriptionsAndConnections) {
  start();
  for (int i = 0; i < 200; ++i) {
    merge(i % 2 ? R"("own:1")" : R"("g1:1")");
    if (i == 0) tell("g1", {instance("b")});
    EXPECT_EQ(call(), i % 2 ? "a" : "b");
    executor.go(milliseconds(10));
  }
  EXPECT_EQ(dialer->dials["a"], 1);
  EXPECT_EQ(dialer->dials["b"], 1);
  EXPECT_EQ(registry->subscriptions.size(), 2u);
  EXPECT_EQ(registry->subscriptions[1].service.text(), "g1/demo.Greeter");
}

TEST_F(TrafficGroupsTest, CallsStayUntilANewGroupIsKnownAndConnected) {
  start();
  merge(R"("g1:1")");
  EXPECT_EQ(call(), "a");
  tell("g1", {instance("b")});
  EXPECT_EQ(call(), "b");

  merge(R"("g2:1")");
  Instance late = instance("c");
  registry->say_to("g2", ++revision, {late});
  dialer->endpoint("c")->state = Health::busy;
  executor.run();
  EXPECT_EQ(call(), "c") << "it was open when it was looked at";

  merge(R"("g3:1")");
  executor.go(milliseconds(900));
  EXPECT_EQ(call(), "c") << "g3 has not answered yet";
  executor.go(milliseconds(200));
  EXPECT_EQ(call(), "c") << "g3 leaves nobody: the last good rules stay";
  EXPECT_EQ(logged("routing"), 1u);
}

TEST_F(TrafficGroupsTest, DeletedEmptiedAndEmptyDocumentsMeanNoRules) {
  start();
  for (const char* none : {"", " \n", "{}", R"({"clientCommandList":[]})"}) {
    merge(R"("g1:1")");
    tell("g1", {instance("b")});
    EXPECT_EQ(call(), "b");
    command(none);
    EXPECT_EQ(call(), "a") << none;
  }
  EXPECT_EQ(logged("routing"), 0u);
  EXPECT_EQ(logged("rules"), 0u);
  executor.go(seconds(2));
  EXPECT_EQ(registry->watched(), "own ");
}

TEST_F(TrafficGroupsTest, ACorruptDocumentLeavesTheLastInForceAndIsReportedOnce) {
  start();
  merge(R"("g1:1")");
  tell("g1", {instance("b")});
  for (const char* corrupt : {"{", "[]", "5", "null"}) {
    command(corrupt);
    EXPECT_EQ(call(), "b") << corrupt;
  }
  tell("g1", {instance("b"), instance("c")});
  EXPECT_EQ(shares(4), "b 2 c 2 ") << "with the members of now";
  EXPECT_GE(logged("routing"), 2u);
  const std::size_t lines = logged("routing");
  tell("g1", {instance("b")});
  EXPECT_EQ(logged("routing"), lines) << "what has been said is not said again";
  executor.go(seconds(3));
  EXPECT_EQ(registry->watched(), "g1 own ");
  command("");
  EXPECT_EQ(call(), "a");
}

TEST_F(TrafficGroupsTest, ACorruptDocumentFromTheStartMeansNoRules) {
  join();
  registry->say_to("own", 1, {instance("a")});
  command("{");
  EXPECT_EQ(call(), "a");
  EXPECT_EQ(logged("routing"), 1u);
}

TEST_F(TrafficGroupsTest, AStaleDocumentIsKept) {
  start();
  merge(R"("g1:1")");
  tell("g1", {instance("b")});
  registry->say(Result<Document>(Error(Errc::unavailable, "session lost")));
  EXPECT_EQ(call(), "b");
  EXPECT_EQ(logged("document"), 1u);
}

TEST_F(TrafficGroupsTest, AnEmptyResultKeepsServingAndEndsByItself) {
  start();
  merge(R"("own:1","g1:1")");
  tell("g1", {instance("b")});
  merge(R"("unknown:1")");
  executor.go(milliseconds(1100));
  expect_shares({{"a", 5}, {"b", 5}});  // the last good rules
  EXPECT_EQ(logged("routing"), 1u);
  tell("unknown", {instance("c")});
  EXPECT_EQ(shares(4), "c 4 ");
  executor.go(milliseconds(1100));
  EXPECT_EQ(registry->watched(), "own unknown ");
}

TEST_F(TrafficGroupsTest, WhenTheMergedGroupLeavesTheOwnOneServes) {
  start();
  merge(R"("g1:1")");
  tell("g1", {instance("b")});
  EXPECT_EQ(call(), "b");
  tell("g1", {}, {"b"});
  EXPECT_EQ(call(), "a");
  EXPECT_EQ(logged("routing"), 1u);
  tell("g1", {instance("b")});
  EXPECT_EQ(call(), "b") << "at once when somebody is back";
}

TEST_F(TrafficGroupsTest, OnEmptyMayFail) {
  traffic::TrafficOptions options;
  options.on_empty = traffic::OnEmpty::fail;
  join(options);
  registry->say_to("own", 1, {instance("a")});
  command("");
  EXPECT_EQ(call(), "a");
  merge(R"("unknown:1")");
  tell("unknown", {});
  EXPECT_NE(call().find("routing rules allow none"), std::string::npos) << call();
  command("");
  EXPECT_EQ(call(), "a");
}

TEST_F(TrafficGroupsTest, AGroupThatCannotBeWatchedHasNobody) {
  start();
  merge(R"("own:1","refused:1")");
  EXPECT_EQ(shares(4), "a 4 ");
  EXPECT_EQ(logged("group"), 1u);
  merge(R"("refused:1")");
  EXPECT_EQ(shares(4), "a 4 ");
  EXPECT_EQ(logged("routing"), 1u);
}

TEST_F(TrafficGroupsTest, AThousandUnknownGroupsLeaveNothingBehind) {
  start();
  std::string groups;
  for (int i = 0; i < 200; ++i) groups += (i ? ",\"u" : "\"u") + std::to_string(i) + ":1\"";
  for (int round = 0; round < 5; ++round) {
    merge(groups + ",\"own:1\"");
    EXPECT_EQ(registry->watchers(), 202u);
    EXPECT_EQ(call(), "a");
    command("");
    executor.go(milliseconds(1100));
    EXPECT_EQ(registry->watchers(), 2u);
  }
}

TEST_F(TrafficGroupsTest, WhatHasNoEffectIsSaidOnce) {
  start();
  merge(R"("own:1","g1:x")");
  tell("own", {instance("a"), instance("d")});
  ASSERT_EQ(logged("rules"), 1u);
  const auto line = std::find_if(log.lines.begin(), log.lines.end(), [](const auto& l) { return l.cause == "rules"; });
  EXPECT_NE(line->text.find("g1:x"), std::string::npos) << line->text;
}

}  // namespace
}  // namespace tenon::cluster
