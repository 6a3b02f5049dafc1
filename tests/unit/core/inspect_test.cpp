#include <gtest/gtest.h>

#include "plugin_folder.hpp"
#include "tenon/plugin.hpp"
#include "tenon/plugins.hpp"

namespace tenon {
namespace {

TEST(Inspect, SaysWhatEveryFileIsWithoutLoadingIt) {
  PluginFolder folder;
  folder.copy("good").copy("throwing_initialiser").copy("wrong_abi");
  folder.write("script", "no");
  const auto reports = inspect(folder.options());
  ASSERT_TRUE(reports.ok()) << reports.error().text();
  ASSERT_EQ(reports->size(), 4u);
  const PluginReport& good = (*reports)[0];
  EXPECT_EQ(good.path, folder.file("good"));
  EXPECT_EQ(good.refusal, "");
  EXPECT_EQ(good.name, "good");
  EXPECT_EQ(good.version, "1.2.3");
  EXPECT_EQ(good.stamp, stamp);
  ASSERT_EQ(good.entries.size(), 3u);
  EXPECT_EQ(good.entries[0].kind, "greeting");
  EXPECT_EQ(good.entries[0].name, "hello");
  const auto& options = good.entries[0].options;
  ASSERT_EQ(options.size(), 7u);
  EXPECT_EQ(options[0].name, "word");
  EXPECT_EQ(options[0].type, "string");
  EXPECT_EQ(options[0].help, "what is said");
  EXPECT_EQ(options[2].value, "1500ms");
  EXPECT_EQ(options[3].value, "64KiB");
  EXPECT_EQ(options[4].type, "plain|loud|very_loud");
  EXPECT_EQ(options[6].type, "component greeting");
  EXPECT_TRUE(good.entries[1].options.empty());
  EXPECT_EQ((*reports)[1].refusal, folder.file("script") + " is not an ELF file");
  EXPECT_EQ((*reports)[2].refusal, folder.file("throwing_initialiser") +
                                       " cannot be loaded: its initialiser threw std::runtime_error: no licence file");
  EXPECT_TRUE((*reports)[2].entries.empty());
  EXPECT_TRUE((*reports)[3].refusal.starts_with(folder.file("wrong_abi") + " is built for ABI 999"));
}

TEST(Inspect, UnreadableDirectory) {
  PluginOptions options;
  options.search = {"/nowhere/at/all"};
  const auto reports = inspect(options);
  ASSERT_FALSE(reports.ok());
  EXPECT_EQ(reports.error().text(), "plugins.search: /nowhere/at/all: No such file or directory");
}

}  // namespace
}  // namespace tenon
