#include <gtest/gtest.h>

#include "layout.hpp"
#include "servers.hpp"
#include "support/manual_executor.hpp"
#include "support/recording_log.hpp"
#include "zk_registry.hpp"

namespace tenon::zk {
namespace {

TEST(ServersTest, AsTheLibraryWantsThem) {
  for (const auto& [given, wanted] : {std::pair("zk1:2181,zk2:2182", "zk1:2181,zk2:2182"), std::pair("zk1", "zk1:2181"),
                                      std::pair("[::1]:2181,10.0.0.1", "::1:2181,10.0.0.1:2181"),
                                      std::pair("[fe80::1]", "fe80::1:2181"), std::pair("h:02181", "h:2181")}) {
    const auto servers = parse_servers(given);
    ASSERT_TRUE(servers.ok()) << servers.error().text();
    EXPECT_EQ(client_text(*servers), wanted);
  }
}

TEST(ServersTest, BadOnesAreNamed) {
  for (const auto& [given, part] :
       {std::pair("127.0.0.1:99999", "no port between 1 and 65535"), std::pair("h:0", "no port"),
        std::pair("h:80x", "no port"), std::pair("h:-1", "no port"), std::pair("h: 80", "no port"),
        std::pair("h:", "no port"), std::pair("a:1,,b:2", "a comma too many"), std::pair("a:1,", "a comma too many"),
        std::pair(",", "a comma too many"), std::pair("a:1/motan", "give it as root"),
        std::pair("::1:2181", "too many colons"), std::pair("[::1:2181", "IPv6"), std::pair("[x]:1", "IPv6"),
        std::pair("[::1]2181", "IPv6"), std::pair("[]:1", "IPv6"), std::pair(":2181", "no host"),
        std::pair("a b:1", "no host name"), std::pair("a:1, b:1", "no host name")}) {
    const auto servers = parse_servers(given);
    ASSERT_FALSE(servers.ok()) << given;
    EXPECT_EQ(servers.error().code(), Errc::config);
    EXPECT_NE(servers.error().text().find(part), std::string::npos) << servers.error().text();
    EXPECT_NE(servers.error().text().find(given), std::string::npos) << servers.error().text();
  }
}

TEST(OptionsTest, BadOnesAreRefusedWithASentence) {
  test::ManualExecutor executor;
  test::RecordingLog log;
  const auto refused = [&](const std::function<void(ZkOptions&)>& spoil, const std::string& part) {
    ZkOptions options;
    options.servers = "127.0.0.1:1";
    spoil(options);
    const auto made = ZkRegistry::create(options, Environment{executor, log, executor.clock()});
    ASSERT_FALSE(made.ok()) << part;
    EXPECT_EQ(made.error().code(), Errc::config);
    EXPECT_NE(made.error().text().find(part), std::string::npos) << made.error().text();
  };
  refused([](ZkOptions& o) { o.servers = ""; }, "servers is missing");
  refused([](ZkOptions& o) { o.servers = "h:99999"; }, "h:99999");
  refused([](ZkOptions& o) { o.root = "motan"; }, "must be a path");
  refused([](ZkOptions& o) { o.root = "/"; }, "must be a path");
  refused([](ZkOptions& o) { o.root = "/motan/"; }, "must not end");
  refused([](ZkOptions& o) { o.root = "/a//b"; }, "is empty");
  refused([](ZkOptions& o) { o.root = "/a/../b"; }, "cannot be the name");
  refused([](ZkOptions& o) { o.root = "/zookeeper/x"; }, "belongs to ZooKeeper");
  refused([](ZkOptions& o) { o.session_timeout = std::chrono::milliseconds(99); }, "session_timeout is 99 ms");
  refused([](ZkOptions& o) { o.session_timeout = std::chrono::milliseconds(-1); }, "session_timeout is -1 ms");
  refused([](ZkOptions& o) { o.connect_timeout = std::chrono::hours(2); }, "connect_timeout is");
  refused([](ZkOptions& o) { o.digest_auth = "secret"; }, "user:password");
  refused([](ZkOptions& o) { o.access = Access::owner; }, "digest");
  refused([](ZkOptions& o) { o.host = "a/b"; }, "no host name");
}

TEST(LayoutTest, AsInMotan) {
  const Layout layout("/motan");
  const ServiceName service{"demo.Greeter", "yf", "2.0"};
  EXPECT_EQ(layout.service(service), "/motan/yf/demo.Greeter");
  EXPECT_EQ(layout.service({"demo.Greeter", "", ""}), "/motan/default_rpc/demo.Greeter");
  EXPECT_EQ(layout.document("command", "yf"), "/motan/yf/command");
  EXPECT_EQ(layout.document("rule", "yf"), "/motan/yf/command/rule");
  EXPECT_EQ(parent_of("/a/b"), "/a");
  EXPECT_EQ(parent_of("/a"), "");
  EXPECT_EQ(name_of("/a/b"), "b");
}

TEST(LayoutTest, NamesThatZooKeeperDoesNotTake) {
  for (const std::string& name :
       {std::string(""), std::string("."), std::string(".."), std::string("a/b"), std::string("a\nb"),
        std::string("nul\0byte", 8), std::string("\x7F"), std::string("\xC2\x80"), std::string("\xFF"),
        std::string("\xEE\x80\x80"), std::string("\xEF\xBF\xBF"), std::string("\xF0\x9F\x98\x80")})
    EXPECT_EQ(check_name("name", name).error().code(), Errc::config) << name;
  for (const std::string& name : {std::string("a b"), std::string("%2F"), std::string("a:b?c#d"), std::string("..."),
                                  std::string("\xE5\x90\x8D"), std::string("\xC3\xA9"), std::string(1024, 'n')})
    EXPECT_TRUE(check_name("name", name).ok()) << name;
  EXPECT_FALSE(check_service({"command", "g", ""}).ok());
}

}  // namespace
}  // namespace tenon::zk
