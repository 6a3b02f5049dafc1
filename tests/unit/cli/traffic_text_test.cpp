#include "traffic_text.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace tenon::cli {
namespace {

TEST(TenthsTest, AlwaysSumToTheWhole) {
  EXPECT_EQ(tenths({1, 1, 1}), (std::vector<int>{334, 333, 333}));
  EXPECT_EQ(tenths({0.8333, 0.1667}), (std::vector<int>{833, 167}));
  EXPECT_EQ(tenths({0.3333, 0.3333, 0.3333}), (std::vector<int>{334, 333, 333}));
  EXPECT_EQ(tenths({0.5, 0, 0.5}), (std::vector<int>{500, 0, 500}));
  EXPECT_EQ(tenths({0, 0}), (std::vector<int>{0, 0})) << "nobody serves";
  EXPECT_TRUE(tenths({}).empty());
  for (int count = 1; count < 300; ++count) {
    const std::vector<int> parts = tenths(std::vector<double>(static_cast<std::size_t>(count), 0.0033));
    EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), 0), 1000) << count;
  }
}

InstanceShare share(const std::string& group, const std::string& address, double of_calls, bool serving = true) {
  InstanceShare made;
  made.instance.id = made.instance.address = address;
  made.instance.group = group;
  made.instance.serving = serving;
  made.share = of_calls;
  return made;
}

Preview preview() {
  Preview made;
  made.service = {"demo.Greeter", "yf", "1.0"};
  made.clients = {"10.0.0.9"};
  made.now.instances = {share("yf", "10.0.0.1:1", 1), share("yf", "10.0.0.2:1", 0, false)};
  made.then.instances = {share("yf", "10.0.0.1:1", 0.8333), share("yf", "10.0.0.2:1", 0, false),
                         share("tc", "10.1.0.1:1", 0.1667)};
  return made;
}

TEST(PreviewTest, NowAndThenSideBySide) {
  EXPECT_EQ(preview_text(preview(), Columns::now_and_then),
            "yf/demo.Greeter:1.0, client 10.0.0.9\n"
            "  GROUP  INSTANCE    STATE    WEIGHT     NOW    THEN\n"
            "  yf     10.0.0.1:1  serving     100  100.0%   83.3%  #################...\n"
            "  yf     10.0.0.2:1  offline     100    0.0%    0.0%  ....................\n"
            "  tc     10.1.0.1:1  serving     100    0.0%   16.7%  ###.................\n"
            "  all                                 100.0%  100.0%  ####################\n");
  Preview now = preview();
  now.clients = {"1", "2", "3", "4", "5", "6", ""};
  now.now.trouble = "it cannot be read";
  EXPECT_EQ(preview_text(now, Columns::now),
            "yf/demo.Greeter:1.0, clients 1, 2, 3, 4, 5 and 2 more\n"
            "  now: it cannot be read\n"
            "  GROUP  INSTANCE    STATE    WEIGHT     NOW\n"
            "  yf     10.0.0.1:1  serving     100  100.0%  ####################\n"
            "  yf     10.0.0.2:1  offline     100    0.0%  ....................\n"
            "  tc     10.1.0.1:1  serving     100    0.0%  ....................\n"
            "  all                                 100.0%  ####################\n");
}

TEST(PreviewTest, ForPrograms) {
  EXPECT_EQ(preview_json(preview(), Columns::now_and_then),
            R"({"service":"yf/demo.Greeter:1.0","clients":["10.0.0.9"],"instances":[)"
            R"({"group":"yf","id":"10.0.0.1:1","address":"10.0.0.1:1","weight":100,"serving":true,"now_percent":100.0,)"
            R"("then_percent":83.3},)"
            R"({"group":"yf","id":"10.0.0.2:1","address":"10.0.0.2:1","weight":100,"serving":false,"now_percent":0.0,)"
            R"("then_percent":0.0},)"
            R"({"group":"tc","id":"10.1.0.1:1","address":"10.1.0.1:1","weight":100,"serving":true,"now_percent":0.0,)"
            R"("then_percent":16.7}]})");
}

TEST(PreviewTest, KnowsWhatChangesAndWhatBreaks) {
  Preview made = preview();
  EXPECT_TRUE(made.changes());
  EXPECT_FALSE(made.breaks());
  made.then = made.now;
  EXPECT_FALSE(made.changes());
  made.then.instances[0].share = 0;
  EXPECT_TRUE(made.breaks());
  made.now = made.then;
  EXPECT_FALSE(made.breaks()) << "nobody served before either";
  made.then.instances.clear();
  EXPECT_NE(preview_text(made, Columns::now_and_then).find("0.0%"), std::string::npos);
  made.now.instances.clear();
  EXPECT_NE(preview_text(made, Columns::now).find("  no instances\n"), std::string::npos);
}

TEST(SubscribersTest, AreNamedOnceWithTheirAddress) {
  EXPECT_EQ(names_of({{"shop", "10.0.0.9", true}, {"shop", "10.0.0.9", true}, {"10.0.0.3", "10.0.0.3", true}}),
            "10.0.0.3, shop (10.0.0.9)");
  std::vector<Subscriber> many;
  for (int i = 10; i < 25; ++i) many.push_back({"s" + std::to_string(i), "", true});
  EXPECT_TRUE(names_of(many).ends_with("s19 and 5 more")) << names_of(many);
}

TEST(EntriesTest, AsATable) {
  CommandEntry one;
  one.position = 2;
  one.pattern = "demo.*";
  one.merge_groups = {"yf:5", "tc:1"};
  EXPECT_EQ(entries_text({one}),
            "  ENTRY  INDEX  PATTERN  GROUPS      RULES  REMARK\n"
            "      2      -  demo.*   yf:5, tc:1  -\n");
  EXPECT_EQ(entries_text({}), "");
}

}  // namespace
}  // namespace tenon::cli
