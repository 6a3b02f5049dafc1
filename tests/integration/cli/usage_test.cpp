// The command line itself: help, version, mistakes, exit codes.
#include <gtest/gtest.h>

#include "process.hpp"

namespace cli_test {
namespace {

constexpr const char* subcommands[] = {"serve", "call",  "check", "plugins",  "bench",
                                       "stats", "top",   "registry", "command", "rule", "route", "center"};

TEST(Usage, HelpNamesEverySubcommandAndTheExitCodes) {
  const Outcome outcome = tenon({"--help"});
  EXPECT_EQ(outcome.code, 0);
  for (const char* name : subcommands) EXPECT_NE(outcome.out.find(name), std::string::npos) << name;
  EXPECT_NE(outcome.out.find("Exit codes:\n"), std::string::npos);
}

TEST(Usage, EverySubcommandHasHelpWithExamples) {
  for (const char* name : subcommands) {
    const Outcome outcome = tenon({name, "--help"});
    EXPECT_EQ(outcome.code, 0) << name;
    EXPECT_NE(outcome.out.find("Examples:\n  tenon " + std::string(name)), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("Exit codes: 0 "), std::string::npos) << outcome.out;
  }
}

TEST(Usage, Version) {
  const Outcome outcome = tenon({"--version"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out.find("tenon "), 0u) << outcome.out;
  EXPECT_NE(outcome.out.find("abi"), std::string::npos) << outcome.out;
}

TEST(Usage, UnknownSubcommandSuggestsTheNearest) {
  const Outcome near = tenon({"serv"});
  EXPECT_EQ(near.code, 2);
  EXPECT_EQ(near.err, "tenon: no subcommand \"serv\", did you mean \"serve\"?\n");
  const Outcome far = tenon({"frobnicate"});
  EXPECT_EQ(far.code, 2);
  EXPECT_EQ(far.err,
            "tenon: no subcommand \"frobnicate\"; there are: bench, call, center, check, command, drain, health, new, "
            "plugins, registry, resume, route, rule, serve, stats, top\n");
}

TEST(Usage, MistakesEndWithTwo) {
  const std::vector<std::vector<std::string>> mistakes{
      {},
      {"call"},
      {"call", "noslash", "{}", "--address", "tcp:127.0.0.1:1"},
      {"call", "a.B/c", "{}"},
      {"call", "a.B/c", "{}", "--address", "tcp:127.0.0.1:1", "--timeout", "soon"},
      {"call", "a.B/c", "{}", "--address", "tcp:127.0.0.1:1", "--header", "novalue"},
      {"call", "a.B/c", "{}", "--address", "tcp:127.0.0.1:1", "--no-such-flag"},
      {"check"},
      {"serve"},
      {"serve", "--listen", "tcp:127.0.0.1:0"},
      {"bench"},
      {"bench", "--spawn", "--address", "tcp:127.0.0.1:1"},
      {"bench", "--spawn", "--mode", "fast"},
      {"bench", "--spawn", "--mode", "sync", "--concurrency", "10000"},
      {"bench", "--spawn", "--concurrency", "0"},
  };
  for (const std::vector<std::string>& words : mistakes) {
    const Outcome outcome = tenon(words);
    std::string line;
    for (const std::string& word : words) line += word + " ";
    EXPECT_EQ(outcome.code, 2) << line;
    EXPECT_NE(outcome.err, "") << line;
    EXPECT_EQ(outcome.out, "") << line;
  }
}

}  // namespace
}  // namespace cli_test
