// The short form of what live_outage_test.cpp and live_providers_test.cpp measure: outcomes only.
#include "live_fixture.hpp"

namespace tenon::test {
namespace {

TEST_F(Live, NoCallFailsWhileTheServerSleepsAndAProviderIsKilled) {
  ZookeeperServer server;
  server.start();
  meet_at(server.address());
  provide("a");
  provide("b");
  auto mortal = std::make_unique<MortalProvider>(server.address(), session, "m");
  consume();
  ASSERT_TRUE(agrees(seconds(20), "", {mortal->address()}));
  ASSERT_TRUE(answer({"a", "b", "m"}));
  Load load(consumer(), 1, milliseconds(1));
  mortal->signal(SIGKILL);
  EXPECT_TRUE(answer({"a", "b"}));
  EXPECT_TRUE(agrees(seconds(20))) << "it goes from the list";
  server.pause();
  std::this_thread::sleep_for(session + seconds(1));
  EXPECT_TRUE(answer({"a", "b"}));
  server.resume();
  provide("c");
  EXPECT_TRUE(agrees(seconds(20)));
  EXPECT_TRUE(answer({"a", "b", "c"}));
  expect_undisturbed(load, {});  // whose session has expired is not listed for a moment, and may be connected anew
}

}  // namespace
}  // namespace tenon::test
