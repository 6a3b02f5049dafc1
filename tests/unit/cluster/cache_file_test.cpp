#include "cache_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "support/temporary_folder.hpp"

namespace tenon::cluster {
namespace {

const CacheKey key{"instances", "shop", "main", {"demo.Greeter", "blue", "1.0"}};

Instance odd_one() {
  Instance odd;
  odd.id = "a\"\\\n\x01/\xff";
  odd.transport = "tcp";
  odd.address = "[2001:db8::7]:4080";
  odd.protocols = {"tenon", "http"};
  odd.weight = 4294967295u;
  odd.serving = false;
  odd.metadata = {{"zone", "a"}, {"", "gr\xc3\xbc\xc3\x9f"}};
  return odd;
}

std::vector<Instance> some() {
  Instance plain;
  plain.id = "b";
  plain.address = "10.0.0.7:1";
  return {odd_one(), plain};
}

TEST(CacheText, KeepsEveryFieldOfEveryInstance) {
  for (const auto& list : {some(), std::vector<Instance>()}) {
    const auto read = instances_of_cache(key, to_cache_text(key, list, WallClock::now()));
    ASSERT_TRUE(read.ok()) << read.error().text();
    EXPECT_EQ(read->content, list);
  }
}

TEST(CacheText, IsForPeopleToo) {
  Instance plain;
  plain.id = "b";
  plain.address = "10.0.0.7:1";
  EXPECT_EQ(to_cache_text(key, std::vector<Instance>{plain}, WallClock::time_point(std::chrono::hours(24))),
            "{\n"
            "  \"format\": \"tenon cache\",\n"
            "  \"version\": 1,\n"
            "  \"written\": \"1970-01-02T00:00:00Z\",\n"
            "  \"kind\": \"instances\",\n"
            "  \"application\": \"shop\",\n"
            "  \"registry\": \"main\",\n"
            "  \"service\": \"demo.Greeter\",\n"
            "  \"group\": \"blue\",\n"
            "  \"service_version\": \"1.0\",\n"
            "  \"instances\": [\n"
            "    {\"id\":\"b\",\"transport\":\"\",\"address\":\"10.0.0.7:1\",\"protocols\":[],\"weight\":100,"
            "\"serving\":true,\"metadata\":{}}\n"
            "  ]\n"
            "}\n");
}

TEST(CacheText, KeepsADocument) {
  const CacheKey of_document{"document.command", "shop", "main", {"", "blue", ""}};
  const Document document{"document.command", "blue", "{\"clientCommandList\": [\n]} \xfe", 1ull << 63};
  const auto read = document_of_cache(of_document, to_cache_text(of_document, document, WallClock::now()));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->content.text, document.text);
  EXPECT_EQ(read->content.version, document.version);
  EXPECT_EQ(read->content.group, "blue");
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

struct Corruption {
  std::string name;
  std::string text;
  Errc code;
  std::string says;
};

std::vector<Corruption> corruptions() {
  const std::string good = to_cache_text(key, some(), WallClock::now());
  const CacheKey other_service{"instances", "shop", "main", {"demo.Users", "blue", "1.0"}};
  const CacheKey other_application{"instances", "store", "main", {"demo.Greeter", "blue", "1.0"}};
  const auto all = std::vector<Corruption>{
      {"empty", "", Errc::malformed, "not JSON"},
      {"zeroes", std::string(good.size(), '\0'), Errc::malformed, "not JSON"},
      {"trailing", good + "x", Errc::malformed, "not JSON"},
      {"twice", good + good, Errc::malformed, "not JSON"},
      {"deep", std::string(100000, '['), Errc::malformed, "not JSON"},
      {"foreign_json", "{\"a\": 1}", Errc::malformed, "something else"},
      {"a_list", "[1, 2]", Errc::malformed, "something else"},
      {"foreign_format", replaced(good, "tenon cache", "other cache"), Errc::malformed, "something else"},
      {"newer", replaced(good, "\"version\": 1", "\"version\": 2"), Errc::malformed, "has version 2 of the format"},
      {"no_version", replaced(good, "\"version\": 1,", ""), Errc::malformed, "no version"},
      {"odd_version", replaced(good, "\"version\": 1", "\"version\": \"1\""), Errc::malformed, "no version"},
      {"other_service", to_cache_text(other_service, some(), {}), Errc::not_found, "another service"},
      {"other_application", to_cache_text(other_application, some(), {}), Errc::not_found, "another application"},
      {"no_list", replaced(good, "\"instances\": [", "\"others\": ["), Errc::malformed, "no list"},
      {"no_object", replaced(good, "{\"id\":\"b\"", "7, {\"id\":\"b\""), Errc::malformed, "instance 2"},
      {"missing_field", replaced(good, "\"serving\":false,", ""), Errc::malformed, "instance 1"},
      {"field_too_many", replaced(good, "\"serving\":false,", "\"serving\":false,\"x\":1,"), Errc::malformed,
       "instance 1"},
      {"weight_too_large", replaced(good, "4294967295", "4294967296"), Errc::malformed, "instance 1"},
      {"weight_negative", replaced(good, "4294967295", "-1"), Errc::malformed, "instance 1"},
      {"weight_a_text", replaced(good, "4294967295", "\"1\""), Errc::malformed, "instance 1"},
      {"no_id", replaced(good, "\"id\":\"b\"", "\"id\":\"\""), Errc::malformed, "no id"},
      {"no_address", replaced(good, "\"10.0.0.7:1\"", "\"\""), Errc::malformed, "no address"},
  };
  return all;
}

class CorruptCache : public testing::TestWithParam<Corruption> {};

TEST_P(CorruptCache, IsRefusedWithAReason) {
  const auto read = instances_of_cache(key, GetParam().text);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code(), GetParam().code);
  EXPECT_NE(read.error().text().find(GetParam().says), std::string::npos) << read.error().text();
}

INSTANTIATE_TEST_SUITE_P(Texts, CorruptCache, testing::ValuesIn(corruptions()),
                         [](const testing::TestParamInfo<Corruption>& info) { return info.param.name; });

TEST(CacheText, CutAnywhereItIsRefused) {
  const std::string good = to_cache_text(key, some(), WallClock::now());
  const std::size_t end = good.rfind('}');
  for (std::size_t size = 0; size <= end; ++size)
    EXPECT_FALSE(instances_of_cache(key, std::string_view(good).substr(0, size)).ok()) << size;
}

TEST(CacheText, NoFlippedBitIsFatal) {
  const std::string good = to_cache_text(key, some(), WallClock::now());
  for (std::size_t at = 0; at < good.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
      const auto read = instances_of_cache(key, bad);
      if (read.ok()) {
        EXPECT_EQ(read->content.size(), 2u);
      }
    }
}

TEST(CacheFile, NamesAreSafeAndDiffer) {
  std::set<std::string> names;
  const std::vector<std::string> parts{"",
                                       ".",
                                       "..",
                                       "../../etc/passwd",
                                       "/",
                                       "a",
                                       "A",
                                       "a_",
                                       "a/b",
                                       "a-b",
                                       "\xff\n\x01%",
                                       "a.b",
                                       "CON.x",
                                       "~/",
                                       std::string(5000, 'x'),
                                       std::string(5001, 'x'),
                                       std::string("\0", 1)};
  for (const std::string& a : parts)
    for (const std::string& b : parts) {
      for (const CacheKey& one :
           {CacheKey{"instances", "shop", a, {b, "", ""}}, CacheKey{"instances", "shop", "r", {a, b, ""}},
            CacheKey{"instances", a, "r2", {"s", "", b}}, CacheKey{"document." + a, "shop", "r3", {"", b, ""}}}) {
        const std::string name = cache_file_name(one);
        EXPECT_LE(name.size(), 100u);
        EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"),
                  std::string::npos)
            << name;
        EXPECT_NE(name.front(), '.');
        names.insert(name);
      }
    }
  EXPECT_EQ(names.size(), parts.size() * parts.size() * 4);
}

TEST(CacheFile, IsReplacedAsAWhole) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/x.json";
  EXPECT_EQ(read_cache_file(path).error().code(), Errc::not_found);
  ASSERT_TRUE(write_cache_file(folder.path(), "x.json", "one").ok());
  ASSERT_TRUE(write_cache_file(folder.path(), "x.json", "").ok());
  EXPECT_EQ(*read_cache_file(path), "");
  struct stat facts {};
  ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0600u);
  // Writers in each other's way, and a reader.
  const std::string a(50000, 'a');
  const std::string b(90000, 'b');
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i)
    writers.emplace_back([&, i] {
      for (int times = 0; times < 20; ++times)
        EXPECT_TRUE(write_cache_file(folder.path(), "x.json", i % 2 == 0 ? a : b).ok());
    });
  for (int times = 0; times < 200; ++times) {
    const auto text = read_cache_file(path);
    ASSERT_TRUE(text.ok()) << text.error().text();
    EXPECT_TRUE(text->empty() || *text == a || *text == b) << text->size();
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(folder.names(), std::set<std::string>{"x.json"}) << "nothing is left over";
}

TEST(CacheFile, OnlyRegularFilesOfABoundedSizeAreRead) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/x.json";
  const auto refused = [&path] {
    const auto text = read_cache_file(path);
    return text.ok() ? "it was read" : std::string(to_string(text.error().code()));
  };
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(refused(), "malformed") << "and it does not block";
  ASSERT_EQ(::unlink(path.c_str()), 0);
  ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
  EXPECT_EQ(refused(), "malformed");
  ASSERT_EQ(::rmdir(path.c_str()), 0);
  ASSERT_EQ(::symlink("/etc/passwd", path.c_str()), 0);
  EXPECT_EQ(refused(), "malformed");
  ASSERT_EQ(::unlink(path.c_str()), 0);
  std::ofstream(path).put('x');
  std::filesystem::resize_file(path, max_cache_file);
  EXPECT_EQ(refused(), "it was read");
  std::filesystem::resize_file(path, max_cache_file + 1);
  EXPECT_EQ(refused(), "malformed");
}

TEST(CacheFile, WhatCannotBeWrittenIsSaid) {
  const auto wrote = write_cache_file("/proc/nowhere", "x.json", "text");
  ASSERT_FALSE(wrote.ok());
  EXPECT_EQ(wrote.error().code(), Errc::unavailable);
  EXPECT_NE(wrote.error().text().find("/proc/nowhere/x.json"), std::string::npos) << wrote.error().text();
}

TEST(CacheFile, LeftoversOfCrashesGo) {
  const test::TemporaryFolder folder;
  const auto put = [&folder](const std::string& name, std::chrono::hours old) {
    std::ofstream(folder.path() + '/' + name) << "text";
    std::filesystem::last_write_time(folder.path() + '/' + name, std::filesystem::file_time_type::clock::now() - old);
  };
  put("a.json.0123456789abcdef.tmp", std::chrono::hours(2));
  put("b.json.0123456789abcdef.tmp", std::chrono::hours(0));
  put("a.json", std::chrono::hours(2));
  put("notes.tmp", std::chrono::hours(2));
  remove_cache_leftovers(folder.path());
  EXPECT_EQ(folder.names(), (std::set<std::string>{"a.json", "b.json.0123456789abcdef.tmp", "notes.tmp"}))
      << "others' files and unfinished work are left alone";
  remove_cache_leftovers("/nowhere");
}

}  // namespace
}  // namespace tenon::cluster
