// Commands in ZooKeeper's nodes, changed by hand.
#include <algorithm>
#include <chrono>

#include "../zookeeper/hand.hpp"
#include "fixture.hpp"
#include "support/zookeeper_server.hpp"

namespace tenon::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

// CMD-8. Whatever becomes of the node: an outcome within a second, and no watch that nobody needs.
TEST(ZookeeperCommands, ANodeThatIsDeletedEmptiedOrCorrupt) {
  ZookeeperServer server;
  server.start();
  const Store zookeeper{"registry-zk",
                        "{ use: zookeeper, session_timeout: 2s, servers: \"" + server.address() + "\" }"};
  Provider yf("yf", "yf", zookeeper);
  Provider tc("tc", "tc", zookeeper);
  Consumer consumer("yf", zookeeper);
  Hand hand(server.address());
  const std::string node = "/motan/yf/command";
  const std::string to_tc = R"({"clientCommandList":[{"index":1,"pattern":"*","mergeGroups":["tc:1"]}]})";
  const auto heard_within_a_second = [&](const std::string& who) {
    const auto begun = steady_clock::now();
    if (!eventually([&] { return consumer.call() == who; }) || steady_clock::now() > begun + seconds(1)) return false;
    return consumer.calls(30) == std::map<std::string, int>{{who, 30}};
  };
  // Of a node, not of its folder: that is what the server shows. Its provider watches it, too.
  const auto watched = [&] {
    const std::string all = server.ask("wchp");
    const std::size_t begin = all.find("/motan/tc/test.Who/server/" + tc.address() + "\n");
    if (begin == std::string::npos) return false;
    const std::size_t end = std::min(all.find("\n/", begin), all.size());
    return std::count(all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(end),
                      '\t') == 2;
  };
  const auto shift = [&] {
    if (hand.set(node, to_tc) == ZNONODE) {
      ASSERT_EQ(hand.create(node, to_tc), ZOK);
    }
    ASSERT_TRUE(heard_within_a_second("tc"));
    EXPECT_TRUE(eventually(watched));
  };
  struct Case {
    const char* what;
    std::function<void()> change;
    const char* outcome;
  };
  const Case cases[] = {
      {"deleted", [&] { EXPECT_EQ(hand.remove(node), ZOK); }, "yf"},
      {"emptied", [&] { EXPECT_EQ(hand.set(node, ""), ZOK); }, "yf"},
      {"an empty object", [&] { EXPECT_EQ(hand.set(node, "{}"), ZOK); }, "yf"},
      {"an empty list", [&] { EXPECT_EQ(hand.set(node, R"({"clientCommandList":[]})"), ZOK); }, "yf"},
      {"in Java's form, empty", [&] { EXPECT_EQ(hand.set(node, std::string("\xAC\xED\x00\x05t\x00\x00", 7)), ZOK); },
       "yf"},
      {"no JSON", [&] { EXPECT_EQ(hand.set(node, "{"), ZOK); }, "tc"},
      {"in Java's form, cut short", [&] { EXPECT_EQ(hand.set(node, std::string("\xAC\xED\x00\x05t\x00", 6)), ZOK); },
       "tc"},
      {"its group deleted", [&] { hand.remove_all("/motan/yf"); }, "yf"},
      {"everything deleted", [&] { hand.remove_all("/motan"); }, "yf"},
  };
  Load load(consumer, 1, milliseconds(1));
  for (const Case& each : cases) {
    shift();
    each.change();
    EXPECT_TRUE(heard_within_a_second(each.outcome)) << each.what;
    const bool needed = std::string(each.outcome) == "tc";
    EXPECT_TRUE(eventually([&] { return watched() == needed; }, seconds(4))) << each.what;
  }
  shift();  // and it is followed still
  EXPECT_EQ(errors_of(load.stop()), "");
  EXPECT_EQ(yf.connections(), 1u);
}

}  // namespace
}  // namespace tenon::test
