// Shares over many calls, and commands that change a hundred times a second. Rates and memory: slow.
#include <chrono>

#include "../faults/measures.hpp"
#include "fixture.hpp"

namespace tenon::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(TENON_UNDER_TSAN)
constexpr bool memory_is_given_back = false;  // sanitizers keep what is freed
#else
constexpr bool memory_is_given_back = true;
#endif

class Flips : public testing::Test {
 protected:
  const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
  const Store registry = memory(name);
  Provider yf{"yf", "yf", registry};
  Provider tc{"tc", "tc", registry};
  Provider ali{"ali", "ali", registry};
  Consumer consumer{"yf", registry};
  Desk desk{registry};
};

TEST_F(Flips, SharesAreKeptWithinTwoPointsOverTenThousandCalls) {
  const std::vector<std::map<std::string, int>> shares = {
      {{"yf", 30}, {"tc", 70}}, {{"yf", 1}, {"tc", 99}}, {{"yf", 5}, {"tc", 1}}, {{"yf", 2}, {"tc", 3}, {"ali", 5}}};
  for (const auto& wanted : shares) {
    std::string groups;
    double total = 0;
    for (const auto& [group, weight] : wanted) {
      groups += (groups.empty() ? "\"" : ",\"") + group + ":" + std::to_string(weight) + "\"";
      total += weight;
    }
    desk.merge("yf", "\"tc:1\"");
    ASSERT_TRUE(consumer.hears_only("tc"));
    desk.merge("yf", groups);
    ASSERT_TRUE(consumer.hears("yf"));
    ASSERT_TRUE(!wanted.contains("ali") || consumer.hears("ali"));
    std::map<std::string, int> got = consumer.calls(10000);
    EXPECT_EQ(errors_of(got), "");
    for (const auto& [group, weight] : wanted)
      EXPECT_NEAR(got[group] / 10000.0, weight / total, 0.02) << group << " of " << groups;
    std::printf("%s:", groups.c_str());
    for (const auto& [group, count] : got) std::printf(" %s %.2f %%", group.c_str(), count / 100.0);
    std::printf("\n");
  }
}

TEST_F(Flips, AHundredASecondForHalfAMinuteFailNoCallAndKeepMemoryFlat) {
  const char* const shapes[] = {R"("yf:1")",          R"("tc:1")",         R"("yf:30","tc:70")",
                                R"("yf","tc","ali")", R"("ali:1","tc:0")", R"("yf:1","nowhere:3")"};
  desk.merge("yf", R"("yf:1","tc:1","ali:1")");
  ASSERT_TRUE(consumer.hears("ali"));
  Load load(consumer, 2);
  // Task frames that end on another thread than they began on are kept there, up to a limit: it is reached first.
  const auto so_far = [&] {
    int calls = 0;
    for (const auto& [answer, count] : load.so_far()) calls += count;
    return calls;
  };
  EXPECT_TRUE(eventually([&] { return so_far() > 400000; }, seconds(90)));
  const std::size_t warm_kib = resident_kib();
  const auto began = steady_clock::now();
  int flips = 0;
  for (; steady_clock::now() < began + seconds(30); ++flips) {
    desk.merge("yf", shapes[flips % 6], flips % 5 == 4 ? R"("10.9.* to 10.9.*","* to !192.168.1.*:90")" : "");
    std::this_thread::sleep_until(began + milliseconds(10) * (flips + 1));
  }
  const std::size_t end_kib = resident_kib();
  const std::map<std::string, int> answers = load.stop();
  int calls = 0;
  for (const auto& [answer, count] : answers) calls += count;
  std::printf("%d flips, %d calls (yf %d, tc %d, ali %d), resident %zu -> %zu KiB, connections %zu %zu %zu\n", flips,
              calls, answers.at("yf"), answers.at("tc"), answers.at("ali"), warm_kib, end_kib, yf.connections(),
              tc.connections(), ali.connections());
  EXPECT_GE(flips, 2700);
  EXPECT_EQ(errors_of(answers), "");
  EXPECT_TRUE(!memory_is_given_back || end_kib < warm_kib + warm_kib / 20 + 2048) << end_kib;
  EXPECT_EQ(yf.connections(), 1u);
  EXPECT_EQ(tc.connections(), 1u);
  EXPECT_EQ(ali.connections(), 1u);

  desk.write("yf", "");
  const auto cleared = steady_clock::now();
  EXPECT_TRUE(consumer.hears_only("yf"));
  EXPECT_LT(steady_clock::now() - cleared, seconds(1));
  EXPECT_TRUE(eventually([&] { return desk.subscribers("nowhere").empty() && desk.subscribers("tc").empty(); }));
  EXPECT_EQ(desk.subscribers("yf"), std::vector<std::string>{"consumer"});
}

}  // namespace
}  // namespace tenon::test
