#include <gtest/gtest.h>

#include "group.tenon.h"
#include "no.methods.tenon.h"

namespace {

TEST(OddFiles, GroupIsAMessageLikeOthers) {
  const odd::group::Finder::Service finder;
  ASSERT_EQ(finder.methods().size(), 1u);
  EXPECT_EQ(finder.methods()[0].input->name(), "odd.group.Search");
  EXPECT_EQ(finder.methods()[0].output->name(), "odd.group.Search.Result");
}

TEST(OddFiles, DotInTheFilesNameAndNoMethods) {
  const odd::Silent::Service silent;
  EXPECT_EQ(silent.interface(), "odd.Silent");
  EXPECT_TRUE(silent.methods().empty());
  tenon::ProtobufTypes types;
  const auto added = types.add_files(silent.file_descriptor_set());
  EXPECT_TRUE(added.ok()) << added.error().text();
}

}  // namespace
