// tenon center: its command line, its ready line, its ends. What it does for its clients: tests/integration/center.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "process.hpp"

namespace cli_test {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A folder for one test, gone with it.
class CenterCommand : public testing::Test {
 protected:
  CenterCommand() { std::filesystem::create_directories(folder_); }
  ~CenterCommand() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  static Outcome center(std::vector<std::string> words) {
    words.insert(words.begin(), "center");
    return tenon(words);
  }
  static std::string registry(const ServerProcess& center) {
    return "center://" + center.address().substr(std::string("tcp:").size());
  }

 private:
  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("tenon-center-" + std::to_string(::getpid()));
};

TEST_F(CenterCommand, MistakesEndWithTwoAndSayWhat) {
  const struct {
    std::vector<std::string> words;
    std::string said;
  } mistakes[] = {
      {{"now"}, "now"},
      {{"--listne", "127.0.0.1:0"}, "--listne"},
      {{"--manifest", path("none.yaml")}, "none.yaml"},
      {{"--manifest", path("none.yaml"), "--listen", "127.0.0.1:0"}, "--listen"},
      {{"--listen", "127.0.0.1:0", "--lease", "soon"}, "lease"},
      {{"--listen", "127.0.0.1:0", "--lease", "1ms"}, "lease"},
      {{"--listen", "127.0.0.1:0", "--token-file", path("none")}, "cannot read a token from " + path("none")},
      {{"--listen", "127.0.0.1:0", "--token-file", file("short", "secret\n")}, "a token has 16 to 256 characters"},
  };
  for (const auto& mistake : mistakes) {
    const Outcome outcome = center(mistake.words);
    EXPECT_EQ(outcome.code, 2) << mistake.said;
    EXPECT_TRUE(has(outcome.err, mistake.said)) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST_F(CenterCommand, ATypoInItsManifestIsPointedAt) {
  const std::string manifest =
      file("center.yaml", "plugins: { search: [\"" PLUGIN_DIR
                          "\"], load: [transport-tcp, protocol-tenon, serialize-pb, registry-center] }\n"
                          "components: { service: { tenon.Center: { use: tenon.Center, laese: 5s } } }\n"
                          "server:\n"
                          "  listen: [ { use: tcp, address: \"127.0.0.1:0\", protocols: [tenon] } ]\n"
                          "  services: [ { name: tenon.Center } ]\n");
  const Outcome outcome = center({"--manifest", manifest});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(has(outcome.err, manifest + ":2:")) << outcome.err;
  EXPECT_TRUE(has(outcome.err, "\"laese\"") && has(outcome.err, "did you mean \"lease\"?")) << outcome.err;
  EXPECT_EQ(outcome.out, "");
}

TEST_F(CenterCommand, OtherHostsNeedATokenOrOpen) {
  for (const char* everywhere : {"0.0.0.0:0", "tcp:0.0.0.0:0", "[::]:0"}) {
    const Outcome refused = center({"--listen", everywhere});
    EXPECT_EQ(refused.code, 2) << everywhere;
    EXPECT_TRUE(has(refused.err, "can be reached from other hosts") && has(refused.err, "--token-file FILE") &&
                has(refused.err, "--open"))
        << refused.err;
  }
  ServerProcess open({"--listen", "0.0.0.0:0", "--open"}, "center");
  EXPECT_TRUE(has(open.ready_line(), "listening on tcp ")) << open.ready_line();

  const std::string token = "0123456789abcdef";
  ServerProcess guarded({"--listen", "0.0.0.0:0", "--token-file", file("token", token + "\n")}, "center");
  const std::string port = guarded.address().substr(guarded.address().rfind(':'));
  const std::string at = "center://127.0.0.1" + port;
  const Outcome stranger = tenon({"registry", "ls", "--registry", at + "?connect_timeout=300ms"});
  EXPECT_EQ(stranger.code, 1);
  EXPECT_TRUE(has(stranger.err, "token")) << stranger.err;
  const Outcome known = tenon({"registry", "ls", "--registry", at + "?token=" + token});
  EXPECT_EQ(known.code, 0) << known.err;
}

TEST_F(CenterCommand, AUsedPortIsSaid) {
  ServerProcess first({"--listen", "127.0.0.1:0"}, "center");
  ASSERT_NE(first.address(), "");
  const std::string address = first.address().substr(std::string("tcp:").size());
  const Outcome second = center({"--listen", address});
  EXPECT_EQ(second.code, 1);
  EXPECT_TRUE(has(second.err, address) && has(second.err, "in use")) << second.err;
  EXPECT_EQ(second.out, "");
  EXPECT_EQ(first.stop().code, 0);
}

TEST_F(CenterCommand, ItsStoreSurvivesKill) {
  const std::string command =
      R"({"clientCommandList":[{"index":1,"pattern":"*","mergeGroups":["north:5","south:1"]}]})";
  ServerProcess first({"--listen", "127.0.0.1:0", "--store", path("store")}, "center");
  EXPECT_EQ(first.ready_line(), "listening on tcp " + first.address().substr(std::string("tcp:").size()));
  const Outcome set = tenon({"command", "set", "north", command, "--force", "--registry", registry(first)});
  ASSERT_EQ(set.code, 0) << set.err;
  const Outcome before = tenon({"command", "get", "north", "--registry", registry(first)});
  EXPECT_TRUE(has(before.out, "\"south:1\"")) << before.out << before.err;
  first.kill();

  ServerProcess again({"--listen", "127.0.0.1:0", "--store", path("store")}, "center");
  ASSERT_NE(again.address(), "");
  const Outcome after = tenon({"command", "get", "north", "--registry", registry(again)});
  EXPECT_EQ(after.code, 0) << after.err;
  EXPECT_EQ(after.out, before.out);
  EXPECT_EQ(after.err, before.err) << "its version, too";
  const Outcome ended = again.stop();
  EXPECT_EQ(ended.code, 0) << ended.err;
}

}  // namespace
}  // namespace cli_test
