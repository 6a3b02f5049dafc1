// Documents in ZooKeeper: commands as Motan reads them, and ours.

#include "nodes_fixture.hpp"

namespace tenon::test {
namespace {

TEST_F(ZookeeperNodes, CommandsAreWrittenAsTheirReadersNeed) {
  const std::string command = options.root + "/blue/command";
  const std::string text = "{\"clientCommandList\":[]}";
  const auto encoding = [&] { return zk::read_node_text(hand.get(command))->encoding; };
  const auto here = member();
  EXPECT_TRUE(write(*here, {"command", "blue", text, 0}).ok());
  EXPECT_EQ(hand.get(command), text) << "nobody needs anything else";
  EXPECT_EQ(write(*here, {"command", "blue", text, 0}).error().code(), Errc::already_exists);
  // It keeps what it has.
  hand.set(command, write_node_text(text, TextEncoding::java));
  Document document = read(*here, "command");
  EXPECT_EQ(document.text, text);
  document.text = "{}";
  EXPECT_TRUE(write(*here, document).ok());
  EXPECT_EQ(encoding(), TextEncoding::java);
  // A new one, and an empty one, follows the group.
  hand.create(base + "/server/10.0.0.1:1", zk::sample::go_server);
  hand.create(base + "/client/192.0.2.2", write_node_text(zk::sample::java_client, TextEncoding::java));
  hand.remove(command);
  EXPECT_TRUE(write(*here, {"command", "blue", text, 0}).ok());
  EXPECT_EQ(encoding(), TextEncoding::java) << "that client reads nothing else";
  hand.remove(base + "/client/192.0.2.2");
  hand.set(command, "");
  document = read(*here, "command");
  EXPECT_EQ(document.text, "");
  EXPECT_NE(document.version, 0u) << "empty is not absent";
  EXPECT_TRUE(write(*here, document).ok());
  EXPECT_EQ(encoding(), TextEncoding::plain);
  // Unless the option says so.
  options.command_encoding = zk::CommandEncoding::java;
  const auto strict = member();
  hand.remove(command);
  EXPECT_TRUE(write(*strict, {"command", "blue", text, 0}).ok());
  EXPECT_EQ(encoding(), TextEncoding::java);
  EXPECT_EQ(write(*strict, {"command", "blue", std::string(1'000'001, 'x'), 0}).error().code(), Errc::too_large);
}

TEST_F(ZookeeperNodes, DocumentsOverTheirLife) {
  const std::string command = options.root + "/blue/command";
  const auto here = member();
  Ears<Document> ears;
  auto watching = watch_document(*here, "command", ears);
  const auto shows = [&](const std::string& text) {
    return eventually([&] { return ears.count() > 0 && ears.latest().text == text && !ears.stale(); });
  };
  EXPECT_TRUE(shows(""));
  EXPECT_EQ(ears.latest().version, 0u);
  hand.create(command, "one");
  EXPECT_TRUE(shows("one"));
  const std::uint64_t first = ears.latest().version;
  hand.set(command, write_node_text("two \xE2\x82\xAC", TextEncoding::java));
  EXPECT_TRUE(shows("two \xE2\x82\xAC"));
  hand.set(command, "");
  EXPECT_TRUE(shows(""));
  EXPECT_NE(ears.latest().version, 0u);
  hand.set(command, write_node_text("cut", TextEncoding::java).substr(0, 8));
  EXPECT_TRUE(eventually([&] { return ears.stale(); })) << "what cannot be read is said, the last text stays";
  EXPECT_EQ(ears.latest().text, "");
  hand.remove(command);
  EXPECT_TRUE(shows(""));
  EXPECT_EQ(ears.latest().version, 0u);
  hand.create(command, "three");
  EXPECT_TRUE(shows("three"));
  EXPECT_GT(ears.latest().version, first) << "a new node of the same name is another document";
  // Other kinds stand below it, where Motan does not look.
  Ears<Document> rules;
  auto watching_rules = watch_document(*here, "rule", rules);
  EXPECT_TRUE(write(*here, {"rule", "blue", "r", 0}).ok());
  EXPECT_TRUE(eventually([&] { return rules.latest().text == "r"; }));
  EXPECT_EQ(hand.get(command + "/rule"), "r");
  EXPECT_EQ(ears.latest().text, "three");
  // With those below it, a command can only be emptied.
  const auto remove = [&](const Document& document) {
    return here->run([&] { return here->registry->admin()->remove(document); });
  };
  EXPECT_TRUE(remove(read(*here, "command")).ok());
  EXPECT_TRUE(shows(""));
  EXPECT_EQ(hand.get(command + "/rule"), "r");
  EXPECT_TRUE(remove(read(*here, "rule")).ok());
  EXPECT_EQ(hand.get(command + "/rule"), "(none)");
  EXPECT_TRUE(remove(read(*here, "command")).ok());
  EXPECT_EQ(hand.get(command), "(none)");
  EXPECT_EQ(remove({"command", "blue", "", 1}).error().code(), Errc::not_found);
  end(*here, watching);
  end(*here, watching_rules);
}

}  // namespace
}  // namespace tenon::test
