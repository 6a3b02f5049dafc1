// Commands that a registry's server keeps, while it comes and goes.
#include <chrono>

#include "../faults/measures.hpp"
#include "fixture.hpp"
#include "support/place.hpp"

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

class KeptCommands : public testing::TestWithParam<PlaceKind> {
 protected:
  KeptCommands() { server.start(); }

 private:
  const std::unique_ptr<Place> place_ = GetParam().make(seconds(2));

 protected:
  Place& server = *place_;
  const Store registry = server.store(server.address(), seconds(3));
  Provider yf{"yf", "yf", registry};
  Provider tc{"tc", "tc", registry};
  Consumer consumer{"yf", registry};
};
INSTANTIATE_TEST_SUITE_P(, KeptCommands, testing::ValuesIn(places()), place_name);

TEST_P(KeptCommands, HoldWhileTheServerIsAwayAndChangeWhenItIsBack) {
  Desk desk(registry);
  const Duration patience = std::chrono::seconds(20);
  const auto hears_only = [&](const std::string& who) {
    return eventually([&] { return consumer.calls(50) == std::map<std::string, int>{{who, 50}}; }, patience);
  };
  EXPECT_TRUE(hears_only("yf"));
  Load load(consumer, 1);
  desk.merge("yf", R"("yf:0","tc:1")");
  EXPECT_TRUE(hears_only("tc"));
  desk.write("yf", "{");
  EXPECT_EQ(consumer.calls(20), (std::map<std::string, int>{{"tc", 20}}));
  desk.merge("yf", R"("yf:1","tc:3")");
  EXPECT_TRUE(eventually([&] { return consumer.call() == "yf"; }, patience));
  // Others call, too, and whose turn is whose is chance: four times the deviation of that.
  std::map<std::string, int> answers = consumer.calls(400);
  EXPECT_NEAR(answers["tc"], 300, 35);

  server.kill();
  std::this_thread::sleep_for(std::chrono::seconds(3));  // longer than the session
  answers = consumer.calls(400);
  EXPECT_NEAR(answers["tc"], 300, 35) << "nobody needs a registry for what he knows";
  server.start();
  EXPECT_TRUE(eventually([&] { return desk.try_write("yf", ""); }, patience));
  EXPECT_TRUE(hears_only("yf"));
  EXPECT_TRUE(eventually([&] { return desk.subscribers("tc").empty(); }, patience)) << "not needed, not watched";
  EXPECT_EQ(errors_of(load.stop()), "");
}

// CMD-8. Whatever becomes of the document: an outcome within a second, and no watch that nobody needs.
TEST_P(KeptCommands, ADocumentThatIsRemovedEmptiedOrCorrupt) {
  Desk desk(registry);
  const auto heard_within_a_second = [&](const std::string& who) {
    const auto begun = steady_clock::now();
    if (!eventually([&] { return consumer.call() == who; }) || steady_clock::now() > begun + seconds(1)) return false;
    return consumer.calls(30) == std::map<std::string, int>{{who, 30}};
  };
  struct Case {
    const char* what;
    std::function<bool()> change;
    const char* outcome;
  };
  const Case cases[] = {
      {"removed", [&] { return desk.try_remove("yf"); }, "yf"},
      {"emptied", [&] { return desk.try_write("yf", ""); }, "yf"},
      {"an empty object", [&] { return desk.try_write("yf", "{}"); }, "yf"},
      {"an empty list", [&] { return desk.try_write("yf", R"({"clientCommandList":[]})"); }, "yf"},
      {"no JSON", [&] { return desk.try_write("yf", "{"); }, "tc"},
      {"removed while it is none", [&] { return desk.try_remove("yf"); }, "yf"},
  };
  ASSERT_TRUE(consumer.hears_only("yf"));
  Load load(consumer, 1, milliseconds(1));
  for (const Case& each : cases) {
    if (std::string(each.what).find("while") == std::string::npos) {
      desk.merge("yf", R"("tc:1")");
      ASSERT_TRUE(heard_within_a_second("tc")) << "before it is " << each.what;
    }
    EXPECT_TRUE(each.change()) << each.what;
    EXPECT_TRUE(heard_within_a_second(each.outcome)) << each.what;
    const bool needed = std::string(each.outcome) == "tc";
    EXPECT_TRUE(eventually([&] { return desk.subscribers("tc").empty() == !needed; }, seconds(4))) << each.what;
  }
  EXPECT_EQ(errors_of(load.stop()), "");
  EXPECT_EQ(yf.connections(), 1u);
}

// CMD-11, as flips_test.cpp, through a server.
TEST_P(KeptCommands, AHundredASecondForHalfAMinuteFailNoCallAndKeepMemoryFlat) {
  Desk desk(registry);
  desk.merge("yf", R"("yf:1","tc:1")");
  ASSERT_TRUE(consumer.hears("tc"));
  const char* const shapes[] = {R"("yf:1")", R"("tc:1")", R"("yf:30","tc:70")", R"("yf","tc")",
                                R"("yf:1","nowhere:3")"};
  Load load(consumer, 1, std::chrono::microseconds(200));
  const auto flip = [&](Duration time) {
    const auto begun = steady_clock::now();
    int flips = 0;
    for (; steady_clock::now() < begun + time; ++flips) {
      desk.merge("yf", shapes[flips % 5], flips % 7 == 6 ? R"("10.9.* to 10.9.*")" : "");
      std::this_thread::sleep_until(begun + milliseconds(10) * (flips + 1));
    }
    return flips;
  };
  (void)flip(seconds(10));  // what is kept for the next use is there then
  const std::size_t warm_kib = resident_kib();
  const int flips = flip(seconds(30));
  const std::size_t end_kib = resident_kib();
  desk.merge("yf", R"("yf:30","tc:70")");
  ASSERT_TRUE(eventually([&] { return consumer.call() == "tc"; }));
  std::this_thread::sleep_for(seconds(1));
  std::map<std::string, int> shares = consumer.calls(10000);
  const std::map<std::string, int> answers = load.stop();
  int calls = 0;
  for (const auto& [answer, count] : answers) calls += count;
  std::printf("%d flips, %d calls, resident %zu -> %zu KiB; then yf %.2f %%, tc %.2f %%\n", flips, calls, warm_kib,
              end_kib, shares["yf"] / 100.0, shares["tc"] / 100.0);
  EXPECT_GE(flips, 2700);
  EXPECT_EQ(errors_of(answers), "");
  EXPECT_NEAR(shares["yf"] / 10000.0, 0.3, 0.02);
  EXPECT_TRUE(!memory_is_given_back || end_kib < warm_kib + warm_kib / 20 + 2048) << end_kib;
  EXPECT_EQ(yf.connections(), 1u);
  EXPECT_EQ(tc.connections(), 1u);
}

}  // namespace
}  // namespace tenon::test
