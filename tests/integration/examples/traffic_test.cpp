// The consumer of examples/traffic on its own; apps/demo.sh runs all of the example.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "edited_manifest.hpp"
#include "program.hpp"

namespace examples_test {
namespace {

constexpr const char* in_center = "main: { use: center, server: \"127.0.0.1:4070\" }";

/// What the consumer writes down for programs: one second each.
struct Second {
  unsigned number = 0;
  int answered = 0;
  int failed = 0;
  std::map<std::string, int> answers;
};

std::vector<Second> seconds_of(const std::string& file) {
  std::vector<Second> seconds;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    Second second;
    words >> second.number >> second.answered >> second.failed;
    std::string name;
    for (int answers = 0; words >> name >> answers;) second.answers[name] = answers;
    seconds.push_back(second);
  }
  return seconds;
}

/// An instance of examples/traffic/provider.yaml, without the registry.
class Provider {
 public:
  explicit Provider(const std::string& name) : manifest_("traffic/provider.yaml") {
    manifest_.replace("north-1", name)
        .replace("127.0.0.1:4091", "127.0.0.1:0")
        .replace(in_center, "main: { use: static }");
    program_.emplace("tenon", std::vector<std::string>{"serve", "--manifest", manifest_.write()});
  }
  std::string address() { return program_->listening_address(); }
  std::string process() const { return "process " + std::to_string(program_->pid()); }
  Outcome stop() { return program_->stop(); }

 private:
  EditedManifest manifest_;
  std::optional<Program> program_;
};

/// The consumer with a fixed list of instances.
Outcome consume(const std::string& addresses, std::vector<std::string> arguments) {
  EditedManifest manifest("traffic/consumer.yaml");
  manifest.replace(in_center, "main: { use: static, addresses: { north/demo.Greeter: [" + addresses + "] } }");
  arguments.insert(arguments.end(), {"--manifest", manifest.write()});
  return Program("traffic-client", arguments).wait();
}

/// The line of `name` in the only block: its bar, its percentage and its process, made of what was written down.
std::string expected_line(const std::string& name, const Second& second, const std::string& process, bool ascii) {
  const double share = static_cast<double>(second.answers.at(name)) / second.answered;
  const long length = ascii ? 8 * std::lround(36 * share) : std::lround(36 * 8 * share);  // in eighths of a column
  constexpr const char* parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  std::string bar;
  for (long i = 0; i < length / 8; ++i) bar += ascii ? "#" : "█";
  bar += parts[length % 8];
  bar.append(static_cast<std::size_t>(36 - (length + 7) / 8), ' ');
  char percent[16];
  std::snprintf(percent, sizeof percent, "%5.1f", 100 * share);
  return "\n  " + name + "      " + bar + " " + percent + " %  " + process + "\n";
}

class TrafficClient : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(In, TrafficClient, testing::Values("C", "C.UTF-8"),
                         [](const auto& info) { return info.param[1] == 0 ? "Ascii" : "Utf8"; });

TEST_P(TrafficClient, ShowsWhoAnswersHowMuch) {
  ASSERT_EQ(::setenv("LC_ALL", GetParam(), 1), 0);
  const bool ascii = GetParam() == std::string("C");
  Provider first("north-1");
  Provider second("north-2");
  const std::string log = std::string(EXAMPLES_DIR) + "/shares-" + std::to_string(::getpid()) + ".log";
  const std::string addresses = "\"" + first.address() + "\", \"" + second.address() + "\"";
  const Outcome ended = consume(addresses, {"--seconds", "1", "--rate", "100", "--log", log});
  const std::vector<Second> seconds = seconds_of(log);
  ::unlink(log.c_str());

  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  ASSERT_EQ(seconds.size(), 1u) << ended.out;
  const Second& only = seconds.front();
  EXPECT_EQ(only.number, 1u);
  EXPECT_EQ(only.failed, 0);
  ASSERT_EQ(only.answers.size(), 2u) << ended.out;
  EXPECT_EQ(only.answers.at("north-1") + only.answers.at("north-2"), only.answered);
  const std::string heading = "second 1: " + std::to_string(only.answered) + " calls answered, 0 failed\n";
  EXPECT_TRUE(ended.out.starts_with(heading)) << ended.out;
  EXPECT_NE(ended.out.find(expected_line("north-1", only, first.process(), ascii)), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find(expected_line("north-2", only, second.process(), ascii)), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find(" calls, 0 failed calls"), std::string::npos) << ended.out;
  EXPECT_EQ(ended.out.find('\x1b'), std::string::npos) << "no terminal, no escape sequences";
  for (Provider* provider : {&first, &second}) EXPECT_EQ(provider->stop().code, 0);
}

TEST(TrafficClientAlone, FailsWhenCallsFailAndSaysWhy) {
  // Port 1 is privileged, and nothing listens there.
  const Outcome ended = consume("\"127.0.0.1:1\"", {"--seconds", "1", "--rate", "50"});
  EXPECT_EQ(ended.code, 1) << ended.out << ended.err;
  EXPECT_NE(ended.out.find("failed: "), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("127.0.0.1:1"), std::string::npos) << ended.out;
  EXPECT_EQ(ended.out.find(" 0 failed calls"), std::string::npos) << ended.out;
}

TEST(TrafficClientAlone, WrongCommandLineIsTwo) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"--no-such-option"}, {"--rate", "0"}, {"--rate", "many"}, {"--seconds"}, {"--seconds", "100000"}})
    EXPECT_EQ(Program("traffic-client", arguments).wait().code, 2) << arguments.front();
  EXPECT_EQ(consume("\"127.0.0.1:1\"", {"--log", "/no/such/folder/shares.log"}).code, 2);
}

}  // namespace
}  // namespace examples_test
