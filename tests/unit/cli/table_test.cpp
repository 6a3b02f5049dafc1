#include "table.hpp"

#include <gtest/gtest.h>

#include "stats_text.hpp"

namespace tenon::cli {
namespace {

using namespace std::chrono_literals;

TEST(Table, ColumnsAreAsWideAsTheirWidestCell) {
  Table table({"NAME", ">N", "END"});
  EXPECT_TRUE(table.empty());
  table.row({"a", "1", "x"});
  table.row({"größer", "1000", ""});
  EXPECT_EQ(table.text(),
            "  NAME       N  END\n"
            "  a          1  x\n"
            "  größer  1000\n");
}

TEST(Table, CellsCannotSpeakToTheTerminal) {
  Table table({"A"});
  table.row({"\x1b[2Jred\n\xff"});
  EXPECT_EQ(table.text(), "  A\n  \\x1b[2Jred\\n\\xff\n");
}

TEST(Table, ClippingKeepsCodePointsWhole) {
  EXPECT_EQ(clipped("größer", 3), "grö");
  EXPECT_EQ(clipped("größer", 6), "größer");
  EXPECT_EQ(clipped("größer", 99), "größer");
  EXPECT_EQ(clipped("größer", 0), "");
  EXPECT_EQ(clipped("", 5), "");
  EXPECT_EQ(width_of("größer"), 6u);
}

TEST(Table, SizesAndTimesForPeople) {
  EXPECT_EQ(human_size(0), "0 B");
  EXPECT_EQ(human_size(1023), "1023 B");
  EXPECT_EQ(human_size(1024), "1.0 KiB");
  EXPECT_EQ(human_size(1536u << 10), "1.5 MiB");
  EXPECT_EQ(human_size(std::uint64_t{5} << 50), "5120.0 TiB");
  EXPECT_EQ(human_time(0ms), "0ms");
  EXPECT_EQ(human_time(999ms), "999ms");
  EXPECT_EQ(human_time(1s), "1.0s");
  EXPECT_EQ(human_time(59'999ms), "59.9s") << "never 60.0s";
  EXPECT_EQ(human_time(60s), "1m00s");
  EXPECT_EQ(human_time(3599s), "59m59s");
  EXPECT_EQ(human_time(3h + 5min), "3h05m");
  EXPECT_EQ(human_time(55h), "2d07h");
}

TEST(StatsText, RatesAreOfTheTimeBetweenTwoLooks) {
  admin::EndpointState endpoint;
  endpoint.id = endpoint.address = "h:1";
  endpoint.calls = 100;
  admin::ReferenceState reference;
  reference.name = "r";
  reference.endpoints = {endpoint};
  const std::vector<admin::ReferenceState> before{reference};
  reference.endpoints[0].calls = 150;
  std::vector<admin::ReferenceState> now{reference};
  EXPECT_NE(references_text(now, &before, 2).find(" 150     25.0 "), std::string::npos)
      << references_text(now, &before, 2);
  EXPECT_NE(references_text(now).find(" 150        - "), std::string::npos) << references_text(now);
  now[0].endpoints[0].calls = 20;  // the process has started anew
  EXPECT_NE(references_text(now, &before, 2).find(" 20        - "), std::string::npos)
      << references_text(now, &before, 2);
}

TEST(StatsText, SilentIoThreadsAreNamed) {
  admin::AppState state;
  state.application = "shop";
  state.io_threads = 4;
  EXPECT_EQ(state_text(state).find("no answer"), std::string::npos);
  state.silent = {1, 3};
  EXPECT_NE(state_text(state).find("\nno answer from io thread 1 3: a handler blocks it?"), std::string::npos);
}

TEST(StatsText, OriginsStandBelowEachOther) {
  EXPECT_EQ(config_text({{"a", "1", "default"}, {"long.path", "", "m.yaml:1:2"}}),
            "a = 1          default\n"
            "long.path =    m.yaml:1:2\n");
}

}  // namespace
}  // namespace tenon::cli
