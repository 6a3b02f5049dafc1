// What a manifest can say about compressor gzip.
#include <gtest/gtest.h>

#include "bodies.hpp"
#include "support/recording_log.hpp"
#include "support/test_executor.hpp"

namespace tenon::test {
namespace {

Result<std::unique_ptr<gzip::GzipCompressor>> made(gzip::GzipOptions options) {
  TestExecutor loop;
  RecordingLog log;
  return gzip::GzipCompressor::create(options, Environment{loop, log, loop.clock()});
}

TEST(GzipOptions, Defaults) {
  const auto gzip = made({});
  ASSERT_TRUE(gzip.ok());
  EXPECT_EQ((*gzip)->encoding(), "gzip");
  EXPECT_EQ((*gzip)->min_size(), 1024u);
  EXPECT_EQ(gzip::GzipOptions().level, 1);
}

TEST(GzipOptions, MinSizeIsTheOptions) { EXPECT_EQ((*made({.min_size = 77}))->min_size(), 77u); }

TEST(GzipOptions, LevelIsUsed) {
  const std::string bytes = text_bytes(100'000, 1);
  OutBuffer body;
  ASSERT_TRUE((*made({.level = 9}))->compress(bytes, body).ok());
  EXPECT_TRUE(body.view() == compressed(bytes, 9));
}

TEST(GzipOptions, LevelOutOfRange) {
  for (const int level : {-1, 0, 10, 1000}) {
    const auto gzip = made({.level = level});
    ASSERT_FALSE(gzip.ok());
    EXPECT_EQ(gzip.error().code(), Errc::config);
    EXPECT_EQ(gzip.error().text(),
              "level is " + std::to_string(level) + "; gzip has the levels 1 (fastest) to 9 (smallest)");
  }
  for (int level = 1; level <= 9; ++level) EXPECT_TRUE(made({.level = level}).ok());
}

TEST(GzipOptions, EveryOptionIsExplained) {
  const MessageType& type = message_type<gzip::GzipOptions>();
  ASSERT_EQ(type.fields().size(), 2u);
  for (const Field& field : type.fields()) EXPECT_FALSE(field.help.empty()) << field.name;
}

}  // namespace
}  // namespace tenon::test
