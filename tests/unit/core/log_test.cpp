#include "log/log.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "plugin_folder.hpp"

namespace tenon {
namespace {

using namespace std::chrono_literals;

class LogTest : public testing::Test {
 protected:
  std::unique_ptr<Log> make(LogOptions options = {}) {
    LogSink sink;
    sink.write = [this](Log::Level level, std::string_view line) {
      lines.emplace_back(line);
      levels.push_back(level);
    };
    sink.now = [this] { return now; };
    return make_log(options, std::move(sink));
  }
  std::vector<std::string> lines;
  std::vector<Log::Level> levels;
  std::chrono::steady_clock::time_point now{1000s};
};

TEST_F(LogTest, LevelsBelowTheChosenOneAreNotWritten) {
  LogOptions options;
  options.level = LogLevel::warn;
  const auto log = make(options);
  EXPECT_FALSE(log->enabled(Log::Level::info));
  EXPECT_TRUE(log->enabled(Log::Level::warn));
  log->info("start", "no");
  log->error("start", "yes");
  EXPECT_EQ(lines, (std::vector<std::string>{"[start] yes"}));
  options.level = LogLevel::off;
  EXPECT_FALSE(make(options)->enabled(Log::Level::error));
}

TEST_F(LogTest, TenLinesASecondPerCause) {
  const auto log = make();
  for (int i = 0; i < 25; ++i) log->warn("malformed-frame", "frame " + std::to_string(i));
  log->info("other-cause", "is not affected");
  ASSERT_EQ(lines.size(), 11u);
  EXPECT_EQ(lines[9], "[malformed-frame] frame 9");
  EXPECT_EQ(lines[10], "[other-cause] is not affected");
  now += 1s;
  log->info("malformed-frame", "again");
  ASSERT_EQ(lines.size(), 13u);
  EXPECT_EQ(lines[11], "[malformed-frame] ... 15 similar suppressed");
  EXPECT_EQ(levels[11], Log::Level::warn);
  EXPECT_EQ(lines[12], "[malformed-frame] again");
}

TEST_F(LogTest, SuppressedLinesOfAQuietCauseAreToldByTheNextLineOfAny) {
  const auto log = make();
  for (int i = 0; i < 12; ++i) log->warn("noisy", "x");
  now += 5s;
  log->info("calm", "y");
  EXPECT_EQ(lines.at(10), "[noisy] ... 2 similar suppressed");
  EXPECT_EQ(lines.at(11), "[calm] y");
}

TEST_F(LogTest, SuppressedLinesAreToldAtTheEnd) {
  auto log = make();
  for (int i = 0; i < 11; ++i) log->warn("noisy", "x");
  log.reset();
  EXPECT_EQ(lines.back(), "[noisy] ... 1 similar suppressed");
}

TEST_F(LogTest, CausesMadeFromInputDoNotGrowMemoryOrEscapeTheLimit) {
  const auto log = make();
  for (int i = 0; i < 100000; ++i) log->warn("cause " + std::to_string(i), "x");
  EXPECT_LT(lines.size(), 600u);
}

TEST_F(LogTest, ControlBytesAreEscaped) {
  const auto log = make();
  log->warn("peer",
            "a\r\nFAKE LINE\x1b[31m\x7f\tb\xc2\x9b"
            "c\xff\xc3\xa9");
  EXPECT_EQ(lines.at(0), "[peer] a\\r\\nFAKE LINE\\x1b[31m\\x7f\\tb\\xc2\\x9bc\\xff\xc3\xa9");
}

TEST_F(LogTest, LongTextIsCutAtACharacter) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "\xc3\xa9";
  const std::string line = one_line(text);
  EXPECT_LE(line.size(), 1024u + 32u);
  EXPECT_NE(line.find(" more bytes)"), std::string::npos);
  const std::size_t kept = line.find(" ... (");
  EXPECT_EQ(kept % 2, 0u) << "no half character";
  EXPECT_EQ(line.substr(kept), " ... (" + std::to_string(4000 - kept) + " more bytes)");
  EXPECT_EQ(one_line(std::string(1000, 'x')), std::string(1000, 'x'));
}

TEST_F(LogTest, WritesToAFileFromManyThreads) {
  PluginFolder folder;
  LogOptions options;
  options.file = folder.path() + "/log.txt";
  options.per_second = 0;
  {
    auto log = open_log(options);
    ASSERT_TRUE(log.ok()) << log.error().text();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 250; ++i) (*log)->info("thread", "a line");
      });
    for (std::thread& thread : threads) thread.join();
  }
  std::ifstream in(options.file);
  int count = 0;
  for (std::string line; std::getline(in, line); ++count) {
    ASSERT_TRUE(line.ends_with("Z info  [thread] a line")) << line;
    ASSERT_EQ(line[10], 'T') << line;
  }
  EXPECT_EQ(count, 1000);
}

TEST_F(LogTest, AFileThatCannotBeOpened) {
  LogOptions options;
  options.file = "/proc/nowhere/log.txt";
  const auto log = open_log(options);
  ASSERT_FALSE(log.ok());
  EXPECT_TRUE(log.error().text().starts_with("log.file: ")) << log.error().text();
}

}  // namespace
}  // namespace tenon
