// tenon bench: short runs, for the shape of what is printed.
#include <gtest/gtest.h>

#include <regex>

#include "process.hpp"

namespace cli_test {
namespace {

// The number of that member, of the first object that has it; -1: none.
double member(const std::string& json, const std::string& name) {
  std::smatch found;
  return std::regex_search(json, found, std::regex("\"" + name + "\":([0-9.]+)")) ? std::stod(found[1]) : -1;
}

class Mode : public testing::TestWithParam<const char*> {};

TEST_P(Mode, JsonHasTheAgreedMembersAndNoErrors) {
  const Outcome outcome = tenon({"bench", "--spawn", "--mode", GetParam(), "--size", "100", "--concurrency", "4",
                                 "--seconds", "0.3", "--warmup", "0.1", "--json", "--plugin-dir", PLUGIN_DIR});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out.find("{\"results\":[{\"workload\":\"echo 100 B x 4, " + std::string(GetParam()) +
                             "\",\"peer\":\"tenon\","),
            0u)
      << outcome.out;
  EXPECT_EQ(member(outcome.out, "connections"), 1);
  EXPECT_EQ(member(outcome.out, "errors"), 0);
  EXPECT_GT(member(outcome.out, "calls"), 0);
  EXPECT_GT(member(outcome.out, "qps"), 0);
  EXPECT_GT(member(outcome.out, "mb_s"), 0);
  EXPECT_GT(member(outcome.out, "p50_us"), 0);
  EXPECT_GE(member(outcome.out, "p99_us"), member(outcome.out, "p50_us"));
  EXPECT_GE(member(outcome.out, "p999_us"), member(outcome.out, "p99_us"));
}
INSTANTIATE_TEST_SUITE_P(Bench, Mode, testing::Values("coroutine", "callback", "sync", "stream"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Bench, MatrixOfSizesConcurrencyAndProviders) {
  const Outcome outcome =
      tenon({"bench", "--spawn", "--providers", "1,2", "--size", "0,1000", "--concurrency", "1,50", "--connections",
             "2", "--seconds", "0.05", "--warmup", "0", "--json", "--plugin-dir", PLUGIN_DIR});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  std::size_t objects = 0;
  for (std::size_t at = 0; (at = outcome.out.find("\"workload\":", at)) != std::string::npos; ++at) ++objects;
  EXPECT_EQ(objects, 8u) << outcome.out;
  EXPECT_NE(outcome.out.find("\"workload\":\"echo 1000 B x 50, coroutine, 2 providers\""), std::string::npos)
      << outcome.out;
}

TEST(Bench, TableForPeople) {
  const Outcome outcome = tenon(
      {"bench", "--spawn", "--concurrency", "1", "--seconds", "0.05", "--warmup", "0", "--plugin-dir", PLUGIN_DIR});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("p99.9 us"), std::string::npos) << outcome.out;
}

TEST(Bench, ABarForEachInstance) {
  const std::vector<std::string> run{"bench",         "--spawn",      "--providers", "2",   "--per-instance",
                                     "--concurrency", "10",           "--seconds",   "0.2", "--warmup",
                                     "0.05",          "--plugin-dir", PLUGIN_DIR};
  const Outcome text = tenon(run);
  EXPECT_EQ(text.code, 0) << text.err;
  const std::regex bar("  127\\.0\\.0\\.1:\\d+  \\S*█\\S* +\\d+\\.\\d %  +[1-9]\\d* calls  0 errors  p99 \\d+ us\n");
  EXPECT_EQ(std::distance(std::sregex_iterator(text.out.begin(), text.out.end(), bar), std::sregex_iterator()), 2)
      << text.out;
  std::vector<std::string> as_json = run;
  as_json.push_back("--json");
  const Outcome json = tenon(as_json);
  EXPECT_EQ(json.code, 0) << json.err;
  EXPECT_TRUE(std::regex_search(json.out,
                                std::regex("\"instances\":\\[(\\{\"instance\":\"127\\.0\\.0\\.1:\\d+\",\"calls\":\\d+,"
                                           "\"errors\":0,\"share\":0\\.[45]\\d*,\"p99_us\":[0-9.]+\\},?){2}\\]\\}")))
      << json.out;
  const Outcome stream = tenon({"bench", "--spawn", "--mode", "stream", "--per-instance"});
  EXPECT_EQ(stream.code, 2) << stream.err;
}

TEST(Bench, AnotherProtocolSerializerAndCompression) {
  const Outcome outcome = tenon({"bench", "--spawn", "--protocol", "motan2", "--serializer", "simple", "--compress",
                                 "gzip", "--size", "100,5000", "--concurrency", "1,20", "--seconds", "0.05", "--warmup",
                                 "0", "--json", "--plugin-dir", PLUGIN_DIR});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(member(outcome.out, "errors"), 0);
  EXPECT_GT(member(outcome.out, "calls"), 0);
}

TEST(Bench, NobodyThereEndsWithOne) {
  const Outcome outcome =
      tenon({"bench", "--address", "tcp:127.0.0.1:1", "--timeout", "200ms", "--plugin-dir", PLUGIN_DIR});
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_EQ(outcome.err.find("tenon bench: "), 0u) << outcome.err;
}

}  // namespace
}  // namespace cli_test
