// client.cache: where it is, and what it must be.
#include "app/cache_folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "support/temporary_folder.hpp"
#include "tenon/app.hpp"

namespace tenon {
namespace {

namespace fs = std::filesystem;

mode_t mode(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777 : 0;
}

TEST(CacheFolder, IsMadeForItsOwnerAlone) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/a/b/cache";
  ASSERT_TRUE(make_cache_folder(path).ok());
  EXPECT_EQ(mode(path), 0700u);
  EXPECT_EQ(mode(folder.path() + "/a"), 0700u);
  EXPECT_TRUE(make_cache_folder(path).ok()) << "it is there already";
  ::chmod(path.c_str(), 0755);
  EXPECT_TRUE(make_cache_folder(path).ok());
  EXPECT_EQ(mode(path), 0755u) << "who made it knows why";
}

TEST(CacheFolder, IsRefusedWhenItCannotBeTrustedOrMade) {
  const test::TemporaryFolder folder;
  const auto refused = [](const std::string& path) {
    const auto made = make_cache_folder(path);
    return made.ok() ? "it was taken" : made.error().text();
  };
  const std::string open = folder.path() + "/open";
  fs::create_directory(open);
  ::chmod(open.c_str(), 01777);
  EXPECT_NE(refused(open).find("can be written by everybody"), std::string::npos) << refused(open);
  const std::string file = folder.path() + "/file";
  std::ofstream(file) << "x";
  EXPECT_NE(refused(file).find("is no folder"), std::string::npos) << refused(file);
  EXPECT_NE(refused(file + "/below").find("cannot be created: Not a directory"), std::string::npos);
  EXPECT_NE(refused("/proc/nowhere/cache").find("the folder /proc/nowhere/cache cannot be created"), std::string::npos);
}

TEST(CacheFolder, IsRelativeToTheManifestWhichIsToldOfItsErrors) {
  const test::TemporaryFolder folder;
  const std::string manifest = folder.path() + "/m.yaml";
  std::ofstream(manifest) << "client: { cache: kept/here }\n";
  {
    auto app = App::from_manifest(manifest);
    ASSERT_TRUE(app.ok()) << app.error().text();
    EXPECT_EQ((*app)->options().client.cache, folder.path() + "/kept/here");
    EXPECT_EQ(mode(folder.path() + "/kept/here"), 0700u);
  }
  std::ofstream(manifest, std::ios::trunc) << "log: { level: off }\nclient:\n  cache: m.yaml\n";
  auto app = App::from_manifest(manifest);
  ASSERT_FALSE(app.ok());
  EXPECT_EQ(app.error().code(), Errc::config);
  EXPECT_EQ(app.error().text(), manifest + ":3:10: client.cache: the folder " + manifest + " is no folder");
  EXPECT_TRUE(load_manifest(manifest).ok()) << "reading a manifest makes nothing";
}

}  // namespace
}  // namespace tenon
