// The short form of what live_outage_test.cpp and live_providers_test.cpp measure: outcomes only.
#include "live_fixture.hpp"

namespace tenon::test {
namespace {

TEST_P(LiveAt, NoCallFailsWhileTheServerSleepsAndAProviderIsKilled) {
  server_.start();
  meet_at(server_.address());
  provide("a");
  provide("b");
  auto mortal = std::make_unique<MortalProvider>(store_, "m");
  consume();
  ASSERT_TRUE(agrees(seconds(20), "", {mortal->address()}));
  ASSERT_TRUE(answer({"a", "b", "m"}));
  Load load(consumer(), 1, milliseconds(1));
  mortal->signal(SIGKILL);
  EXPECT_TRUE(answer({"a", "b"}));
  EXPECT_TRUE(agrees(seconds(20))) << "it goes from the list";
  server_.pause();
  std::this_thread::sleep_for(session + seconds(1));
  EXPECT_TRUE(answer({"a", "b"}));
  server_.resume();
  provide("c");
  EXPECT_TRUE(agrees(seconds(20)));
  EXPECT_TRUE(answer({"a", "b", "c"}));
  expect_undisturbed(load, {});  // whose session has expired is not listed for a moment, and may be connected anew
}
INSTANTIATE_TEST_SUITE_P(, LiveAt, testing::ValuesIn(ready_places()), place_name);
INSTANTIATE_TEST_SUITE_P(SlowPlaces, LiveAt, testing::ValuesIn(fetched_places()), place_name);

}  // namespace
}  // namespace tenon::test
