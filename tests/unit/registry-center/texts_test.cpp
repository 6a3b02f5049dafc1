// Documents.
#include "texts.hpp"

#include "known_clients.hpp"

namespace tenon::center {
namespace {

/// Plans and applies, as a center does.
Result<void> write(Texts& texts, const Document& document) {
  auto planned = texts.plan_write(document);
  if (!planned.ok()) return std::move(planned).error();
  texts.apply(std::move(*planned));
  return {};
}
Result<void> remove(Texts& texts, const Document& document) {
  auto planned = texts.plan_remove(document);
  if (!planned.ok()) return std::move(planned).error();
  texts.apply(std::move(*planned));
  return {};
}

TEST(CenterTexts, AreComparedAndSet) {
  Texts texts(100, 1000);
  EXPECT_EQ(texts.read("command", "blue").version, 0u);
  EXPECT_EQ(texts.read("command", "blue").group, "blue");
  ASSERT_TRUE(write(texts, {"command", "blue", "one", 0}).ok());
  const Document first = texts.read("command", "blue");
  EXPECT_EQ(first.text, "one");
  const auto stale = write(texts, {"command", "blue", "two", 0});
  ASSERT_FALSE(stale.ok());
  EXPECT_EQ(stale.error().code(), Errc::already_exists);
  EXPECT_NE(stale.error().text().find("has version 1, not 0"), std::string::npos) << stale.error().text();
  ASSERT_TRUE(write(texts, {"command", "blue", "two", first.version}).ok());
  EXPECT_EQ(remove(texts, first).error().code(), Errc::already_exists);
  const Document second = texts.read("command", "blue");
  ASSERT_TRUE(remove(texts, second).ok());
  EXPECT_EQ(remove(texts, second).error().code(), Errc::not_found);
  EXPECT_EQ(texts.read("command", "blue").version, 0u);
  EXPECT_EQ(texts.size(), 0u);
  ASSERT_TRUE(write(texts, {"command", "blue", "three", 0}).ok());
  EXPECT_GT(texts.read("command", "blue").version, second.version) << "another one, not the same again";
}

TEST(CenterTexts, TellWatchers) {
  Texts texts(100, 1000);
  CountingWatcher watcher;
  texts.watch(watcher, "command", "blue");
  EXPECT_EQ(watcher.text->document->version, 0u);
  EXPECT_EQ(watcher.text->document->kind, "command");
  ASSERT_TRUE(write(texts, {"command", "green", "other", 0}).ok());
  EXPECT_EQ(watcher.changes, 0);
  ASSERT_TRUE(write(texts, {"command", "blue", "one", 0}).ok());
  EXPECT_EQ(watcher.changes, 1);
  EXPECT_EQ(watcher.text->document->text, "one");
  ASSERT_TRUE(remove(texts, texts.read("command", "blue")).ok());
  EXPECT_EQ(watcher.changes, 2);
  EXPECT_EQ(watcher.text->document->version, 0u);
  std::set<std::string> groups;
  texts.groups(groups);
  EXPECT_EQ(groups, std::set<std::string>{"green"}) << "who only watches makes no group";
  texts.leave(watcher);
}

TEST(CenterTexts, AreBounded) {
  Texts texts(2, 100);
  ASSERT_TRUE(write(texts, {"command", "a", std::string(60, 'x'), 0}).ok());
  const auto large = write(texts, {"command", "b", std::string(41, 'x'), 0});
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().code(), Errc::overloaded);
  EXPECT_NE(large.error().text().find("100 bytes (max_document_bytes)"), std::string::npos) << large.error().text();
  ASSERT_TRUE(write(texts, {"command", "b", std::string(40, 'x'), 0}).ok());
  EXPECT_NE(write(texts, {"command", "c", "", 0}).error().text().find("2 documents already (max_documents)"),
            std::string::npos);
  // One that shrinks makes room for another.
  ASSERT_TRUE(write(texts, {"command", "a", "", texts.read("command", "a").version}).ok());
  ASSERT_TRUE(write(texts, {"command", "b", std::string(100, 'x'), texts.read("command", "b").version}).ok());
  ASSERT_TRUE(remove(texts, texts.read("command", "a")).ok());
  EXPECT_TRUE(write(texts, {"command", "c", "", 0}).ok());
}

TEST(CenterTexts, GoOnWhereTheStoreWas) {
  Texts texts(100, 1000);
  texts.load({{"command", "blue", "one", 4}}, 9);
  EXPECT_EQ(texts.read("command", "blue").version, 4u);
  ASSERT_TRUE(write(texts, {"command", "green", "new", 0}).ok());
  EXPECT_EQ(texts.read("command", "green").version, 10u);
}

}  // namespace
}  // namespace tenon::center
