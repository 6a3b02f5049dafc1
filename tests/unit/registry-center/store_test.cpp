// The file: what is in it after a restart, and files that are not as they should be.
#include "store.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "known_clients.hpp"

namespace tenon::center {
namespace {

class CenterStore : public testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("tenon-center-" + std::to_string(getpid()) + "-" +
                                                       testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::unique_ptr<Store> open(std::uint64_t clock = 1000) {
    contents = {};
    auto opened = Store::open(folder.string(), clock, contents);
    EXPECT_TRUE(opened.ok()) << opened.error().text();
    return opened.ok() ? std::move(*opened) : nullptr;
  }
  std::string refusal() {
    Store::Contents unread;
    auto opened = Store::open(folder.string(), 1, unread);
    EXPECT_FALSE(opened.ok());
    if (opened.ok()) return "";
    EXPECT_EQ(opened.error().code(), Errc::config);
    EXPECT_NE(opened.error().text().find("center.db"), std::string::npos) << opened.error().text();
    return opened.error().text();
  }
  std::filesystem::path file() const { return folder / "center.db"; }
  void sql(const char* text) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(file().c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, text, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    sqlite3_close(database);
  }

  std::filesystem::path folder;
  Store::Contents contents;
};

TEST_F(CenterStore, KeepsDocumentsAndWhatOperatorsSet) {
  const Override drained{{greeter, "a"}, 0, {}};
  const Override offline{{greeter, "b"}, {}, false};
  {
    const auto store = open();
    ASSERT_TRUE(store);
    EXPECT_TRUE(contents.documents.empty());
    EXPECT_EQ(contents.sequence, 0u);
    ASSERT_TRUE(store->put(Document{"command", "blue", std::string("text \xE2\x82\xAC\n\0'\"", 12), 1}).ok());
    ASSERT_TRUE(store->put(Document{"command", "", "no group", 2}).ok());
    ASSERT_TRUE(store->put(Document{"command", "blue", std::string(1 << 20, 'x'), 3}).ok());
    ASSERT_TRUE(store->put(Document{"rule", "blue", "removed", 4}).ok());
    ASSERT_TRUE(store->put(Document{"rule", "blue", "", 0}).ok());
    ASSERT_TRUE(store->put(drained).ok());
    ASSERT_TRUE(store->put(offline).ok());
    ASSERT_TRUE(store->put(Override{{greeter, "c"}, 1, true}).ok());
    ASSERT_TRUE(store->put(Override{{greeter, "c"}, {}, {}}).ok()) << "nothing set: taken out";
    ASSERT_TRUE(store->forget({greeter, "nobody"}).ok());
  }
  const auto store = open();
  ASSERT_TRUE(store);
  ASSERT_EQ(contents.documents.size(), 2u);
  for (const Document& document : contents.documents) {
    if (document.group.empty()) {
      EXPECT_EQ(document.text, "no group");
      EXPECT_EQ(document.version, 2u);
    } else {
      EXPECT_EQ(document.text, std::string(1 << 20, 'x'));
      EXPECT_EQ(document.version, 3u);
    }
  }
  EXPECT_EQ(contents.sequence, 4u) << "also of what was removed";
  ASSERT_EQ(contents.overrides.size(), 2u);
  EXPECT_EQ(contents.overrides[0].of.id, "a");
  EXPECT_EQ(contents.overrides[0].of.service, greeter);
  EXPECT_EQ(contents.overrides[0].weight, 0u);
  EXPECT_FALSE(contents.overrides[0].serving.has_value());
  EXPECT_EQ(contents.overrides[1].serving, false);
  EXPECT_FALSE(contents.overrides[1].weight.has_value());
}

TEST_F(CenterStore, EpochsGrowWhateverTheClockSays) {
  (void)open(5000);
  EXPECT_EQ(contents.epoch, 5000u);
  (void)open(7000);
  EXPECT_EQ(contents.epoch, 7000u);
  (void)open(10);
  EXPECT_EQ(contents.epoch, 7001u);
  (void)open(10);
  EXPECT_EQ(contents.epoch, 7002u);
}

TEST_F(CenterStore, BelongsToOneCenter) {
  const auto store = open();
  ASSERT_TRUE(store);
  EXPECT_NE(refusal().find("another process uses it"), std::string::npos);
  EXPECT_TRUE(store->put(Document{"command", "blue", "text", 1}).ok()) << "the first one goes on";
}

TEST_F(CenterStore, DamageIsAnErrorAndNothingIsLost) {
  {
    const auto store = open();
    ASSERT_TRUE(store);
    for (int i = 0; i < 200; ++i) {
      ASSERT_TRUE(store->put(Document{"command", std::to_string(i), std::string(3000, 'x'), 1}).ok());
    }
  }
  const auto size = std::filesystem::file_size(file());
  {
    std::fstream damaged(file(), std::ios::in | std::ios::out | std::ios::binary);
    for (std::uintmax_t at = 4096; at + 100 < size; at += 4096) {
      damaged.seekp(static_cast<std::streamoff>(at));
      damaged << std::string(100, '\xEE');
    }
  }
  EXPECT_NE(refusal().find("damaged"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(file()), size);
  std::ofstream(file(), std::ios::binary | std::ios::trunc) << "this is no database, but a text that is long enough "
                                                               "to be taken for the head of one, or for nothing at all";
  const std::string text = refusal();
  EXPECT_NE(text.find("damaged"), std::string::npos) << text;
  EXPECT_NE(text.find("move center.db* away"), std::string::npos) << text;
}

TEST_F(CenterStore, OtherFilesAreLeftAlone) {
  std::filesystem::create_directory(folder);
  sql("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)");
  EXPECT_NE(refusal().find("somebody else's"), std::string::npos);
  sql("SELECT x FROM theirs");
  std::filesystem::remove_all(folder);
  (void)open();
  sql("PRAGMA user_version=99");
  EXPECT_NE(refusal().find("format 99"), std::string::npos);
}

TEST_F(CenterStore, AFullDiskRefusesAndLosesNothing) {
  {
    const auto store = open();
    ASSERT_TRUE(store);
    ASSERT_TRUE(store->put(Document{"command", "blue", "before", 1}).ok());
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    rlimit full = before;
    full.rlim_cur = 200u << 10;  // no file may grow beyond
    const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
    const auto refused = store->put(Document{"command", "blue", std::string(1 << 20, 'x'), 2});
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, ignored);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code(), Errc::unavailable);
    EXPECT_NE(refused.error().text().find("center.db"), std::string::npos) << refused.error().text();
    EXPECT_TRUE(store->put(Document{"command", "green", "after", 3}).ok()) << "there is room again";
  }
  (void)open();
  ASSERT_EQ(contents.documents.size(), 2u);
  EXPECT_EQ(contents.documents[0].text, "before");
}

TEST_F(CenterStore, FoldersThatCannotBe) {
  Store::Contents unread;
  const auto nowhere = Store::open((folder / "a" / "b").string(), 1, unread);
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().code(), Errc::config);
  std::ofstream(folder) << "a file";
  const auto file_there = Store::open(folder.string(), 1, unread);
  ASSERT_FALSE(file_there.ok());
  EXPECT_EQ(file_there.error().code(), Errc::config);
}

}  // namespace
}  // namespace tenon::center
