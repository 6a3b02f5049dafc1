#include "cache.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <set>

#include "support/cluster_fakes.hpp"
#include "support/temporary_folder.hpp"

namespace tenon::cluster {
namespace {

using fake::instance;
using std::chrono::milliseconds;

const ServiceName service{"demo.Greeter", "", ""};

class CacheTest : public testing::Test {
 protected:
  std::vector<Instance> read(const std::string& registry = "main", const ServiceName& of = service) {
    Cache cache(folder.path(), "shop", log);
    return cache.instances(registry, of, "asked").value_or(std::vector<Instance>());
  }
  ino_t inode_of_greeter() {
    struct stat facts {};
    const std::string name = cache_file_name({"instances", "shop", "main", service});
    return ::stat((folder.path() + '/' + name).c_str(), &facts) == 0 ? facts.st_ino : 0;
  }
  int others = 0;
  test::TemporaryFolder folder;
  fake::ListLog log;
};

TEST_F(CacheTest, TheLastWordIsOnDiskWhenItEnds) {
  {
    Cache cache(folder.path(), "shop", log, std::chrono::hours(1));
    for (int i = 0; i < 100; ++i) cache.keep("main", service, {instance("a" + std::to_string(i))});
    cache.keep("backup", service, {instance("b")});
    cache.keep("main", Document{"command", "blue", "text", 3});
  }
  EXPECT_EQ(read(), std::vector<Instance>{instance("a99")});
  EXPECT_EQ(read("backup"), std::vector<Instance>{instance("b")});
  Cache cache(folder.path(), "shop", log);
  const auto document = cache.document("main", "command", "blue", "asked");
  ASSERT_TRUE(document);
  EXPECT_EQ(document->kind + document->group + document->text + std::to_string(document->version), "commandbluetext3");
  EXPECT_FALSE(cache.document("main", "rule", "blue", "asked"));
  EXPECT_FALSE(cache.document("main", "command", "green", "asked"));
  EXPECT_EQ(folder.names().size(), 3u);
}

TEST_F(CacheTest, TheSameWordsAreNotWrittenAgain) {
  Cache cache(folder.path(), "shop", log, milliseconds(0));
  const auto written = [this] { return !folder.names().empty(); };
  cache.keep("main", service, {instance("a")});
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!written() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  ASSERT_TRUE(written());
  const auto after = [&](const std::vector<Instance>& list) {
    cache.keep("main", service, list);
    cache.keep("main", {"other", "", ""}, {instance("x" + std::to_string(++others))});
    while (std::chrono::steady_clock::now() < until) {
      Cache look(folder.path(), "shop", log);
      const auto other = look.instances("main", {"other", "", ""}, "asked");
      if (other && other->front().id == "x" + std::to_string(others)) break;
    }
    return inode_of_greeter();
  };
  const ino_t first = after({instance("a")});
  EXPECT_NE(first, 0u);
  EXPECT_EQ(after({instance("a")}), first);
  EXPECT_NE(after({instance("b")}), first);
}

TEST_F(CacheTest, APauseLiesBetweenWrites) {
  Cache cache(folder.path(), "shop", log, std::chrono::hours(1));
  cache.keep("main", service, {instance("a")});
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (read().empty() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  cache.keep("main", service, {instance("b")});
  EXPECT_EQ(read(), std::vector<Instance>{instance("a")}) << "not before the hour is over";
}

TEST_F(CacheTest, ARegistryWithoutANameIsNotKept) {
  {
    Cache cache(folder.path(), "shop", log);
    cache.keep("", service, {instance("a")});
  }
  EXPECT_TRUE(folder.names().empty());
  EXPECT_TRUE(read("").empty());
}

TEST_F(CacheTest, WhatIsTooLargeIsSaidOnce) {
  {
    Cache cache(folder.path(), "shop", log, milliseconds(0));
    Instance large = instance("a");
    large.metadata["x"] = std::string(max_cache_file, 'x');
    cache.keep("main", service, {large});
    large.weight = 1;
    cache.keep("main", service, {large});
  }
  EXPECT_TRUE(folder.names().empty());
  ASSERT_EQ(log.lines.size(), 1u);
  EXPECT_NE(log.lines[0].text.find("more than are read again"), std::string::npos) << log.lines[0].text;
}

TEST_F(CacheTest, TwoThatShareAFolderDoNotDisturbEachOther) {
  std::vector<std::thread> processes;
  for (int i = 0; i < 4; ++i)
    processes.emplace_back([this, i] {
      fake::ListLog own;
      for (int times = 0; times < 20; ++times) {
        Cache cache(folder.path(), "shop", own, milliseconds(0));
        cache.keep("main", service, {instance("a" + std::to_string(i)), instance("b")});
        if (const auto seen = cache.instances("main", service, "asked")) {
          EXPECT_EQ(seen->size(), 2u);
        }
      }
      for (const auto& line : own.lines) EXPECT_NE(line.text.find("going on with"), std::string::npos) << line.text;
    });
  for (std::thread& process : processes) process.join();
  EXPECT_EQ(folder.names().size(), 1u);
  EXPECT_EQ(read().size(), 2u);
}

}  // namespace
}  // namespace tenon::cluster
