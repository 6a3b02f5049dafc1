// Every tests/golden/manifests/NAME.yaml is refused with exactly the text of NAME.expected.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <vector>

#include "tenon/options.hpp"

namespace tenon {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<std::string> manifests() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(MANIFEST_DIR))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

class BadManifest : public testing::TestWithParam<std::string> {};

TEST_P(BadManifest, IsRefusedWithExactlyThisText) {
  const fs::path base = fs::path(MANIFEST_DIR) / GetParam();
  const Result<AppOptions> options = parse_manifest(GetParam() + ".yaml", contents(base.string() + ".yaml"));
  ASSERT_FALSE(options.ok()) << "it was accepted";
  EXPECT_EQ(options.error().text() + '\n', contents(base.string() + ".expected"));
  EXPECT_EQ(options.error().code(), Errc::config);
  const std::regex position(GetParam() + "\\.yaml:[1-9][0-9]*:[1-9][0-9]*: .+");
  std::istringstream lines(options.error().text());
  for (std::string line; std::getline(lines, line);) EXPECT_TRUE(std::regex_match(line, position)) << line;
}

INSTANTIATE_TEST_SUITE_P(Golden, BadManifest, testing::ValuesIn(manifests()),
                         [](const testing::TestParamInfo<std::string>& info) { return info.param; });

TEST(BadManifests, AreEnough) { EXPECT_GE(manifests().size(), 14u); }

}  // namespace
}  // namespace tenon
