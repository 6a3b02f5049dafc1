// The gzip command reads what we write, and we read what it writes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "bodies.hpp"

namespace tenon::test {
namespace {

class GzipTool : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("gzip --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no gzip command";
    folder_ = std::filesystem::path(testing::TempDir()) / ("tenon-gzip-" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  /// What `gzip OPTIONS` makes of `input`.
  std::string run(const std::string& options, const std::string& input) {
    const std::filesystem::path in = folder_ / "in", out = folder_ / "out";
    std::ofstream(in, std::ios::binary) << input;
    const std::string command = "gzip " + options + " <'" + in.string() + "' >'" + out.string() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::ostringstream text;
    text << std::ifstream(out, std::ios::binary).rdbuf();
    return text.str();
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(GzipTool, ReadsWhatWeWrite) {
  for (const int level : {1, 6, 9}) {
    for (const std::string& bytes : {std::string("hello"), text_bytes(300'000, 1), random_bytes(100'000, 2)}) {
      EXPECT_TRUE(run("-dc", compressed(bytes, level)) == bytes) << level;
      EXPECT_TRUE(run("-dc", compressed(bytes, level) + compressed("end")) == bytes + "end") << level;
    }
  }
}

TEST_F(GzipTool, WritesWhatWeRead) {
  for (const std::string& bytes :
       {std::string(), std::string("hello"), text_bytes(300'000, 1), random_bytes(100'000, 2)}) {
    EXPECT_TRUE(inflated(run("-c", bytes)) == bytes);
    EXPECT_TRUE(inflated(run("-9 -c", bytes) + run("-1 -c", bytes)) == bytes + bytes);
  }
}

}  // namespace
}  // namespace tenon::test
