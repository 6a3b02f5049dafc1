// `tenon drain`, `tenon resume` and `tenon health` with a `tenon serve` process, and curl as a probe.
#include <fstream>
#include <regex>

#include "asking.hpp"
#include "support/child_process.hpp"

namespace tenon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::ChildProcess;
using test::eventually;

class DrainTest : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(sockets_.file("m.yaml"))
        << "application: sleepy\nplugins:\n  search: [\"" << PLUGIN_DIR << "\", \"" << SLOW_DIR << "\"]\n"
        << "  load: [transport-tcp, protocol-tenon, protocol-http, serialize-json, test-slow]\n"
        << "server:\n  listen: [ { use: tcp, address: \"127.0.0.1:0\", protocols: [tenon] } ]\n"
        << "  services: [ { name: test.Slow } ]\n"
        << "admin: { listen: \"" << sockets_.address("a.sock") << "\", protocols: [tenon, http] }\n";
  }
  void serve() {
    server_ = std::make_unique<ChildProcess>(TENON_PROGRAM,
                                             std::vector<std::string>{"serve", "--manifest", sockets_.file("m.yaml")});
    const std::string line = server_->line();
    ASSERT_EQ(line.rfind("listening on tcp ", 0), 0u) << line << server_->end(milliseconds(0)).err;
    address_ = "tcp:" + line.substr(17);
  }
  std::unique_ptr<ChildProcess> tool(std::vector<std::string> words) const {
    words.insert(words.end(), {"--plugin-dir", PLUGIN_DIR});
    return std::make_unique<ChildProcess>(TENON_PROGRAM, words);
  }
  ChildProcess::End tenon(std::vector<std::string> words) const { return tool(std::move(words))->end(seconds(20)); }
  std::unique_ptr<ChildProcess> nap(int ms) const {
    return tool({"call", "test.Slow/nap", "[" + std::to_string(ms) + "]", "--address", address_, "--timeout", "60s",
                 "--serializer", "json"});
  }
  void await_calls(int count) const {
    const std::string wanted = "calls being served " + std::to_string(count) + " ";
    ASSERT_TRUE(eventually(
        [&] {
          return tenon({"stats", sockets_.address("a.sock"), "state"}).out.find(wanted) != std::string::npos;
        },
        seconds(20)));
  }
  ChildProcess::End curl(const std::string& method) const {
    return ChildProcess(TENON_TEST_CURL, {"-s", "-f", "-X", "POST", "--unix-socket", sockets_.file("a.sock"),
                                          "http://admin/tenon.Admin/" + method})
        .end(seconds(20));
  }

  test::SocketFolder sockets_;
  std::unique_ptr<ChildProcess> server_;
  std::string address_;
};

bool has(const std::string& text, const std::string& pattern) { return std::regex_search(text, std::regex(pattern)); }

TEST_F(DrainTest, TheProcessFinishesAndGoes) {
  ASSERT_NO_FATAL_FAILURE(serve());
  const auto caller = nap(1500);
  ASSERT_NO_FATAL_FAILURE(await_calls(1));
  const ChildProcess::End drained = tenon({"drain", sockets_.address("a.sock")});
  EXPECT_EQ(drained.code, 0) << drained.err;
  EXPECT_TRUE(has(drained.out,
                  "^sleepy, pid \\d+: told to stop; 1 call in flight, 1 connection\n"
                  "(.*\n)*draining: 1 call in flight, 1 connection\n(.*\n)*gone after .*s\n$"))
      << drained.out;
  const ChildProcess::End served = server_->end(seconds(1));
  EXPECT_EQ(served.code, 0) << served.err;
  EXPECT_TRUE(has(served.err, "received tenon drain; finishing calls in flight, at most \\d+ ms")) << served.err;
  EXPECT_EQ(caller->end(seconds(20)).code, 0) << "its call was answered";
}

TEST_F(DrainTest, ItsGraceMayBeAnother) {
  ASSERT_NO_FATAL_FAILURE(serve());
  const auto caller = nap(60000);
  ASSERT_NO_FATAL_FAILURE(await_calls(1));
  const ChildProcess::End drained = tenon({"drain", "--manifest", sockets_.file("m.yaml"), "--grace", "200ms"});
  EXPECT_EQ(drained.code, 0) << drained.err;
  EXPECT_EQ(server_->end(seconds(1)).code, 1) << "a call was cut off";
}

TEST_F(DrainTest, NobodyNeedWait) {
  ASSERT_NO_FATAL_FAILURE(serve());
  const auto caller = nap(1000);
  ASSERT_NO_FATAL_FAILURE(await_calls(1));
  const ChildProcess::End told = tenon({"drain", sockets_.address("a.sock"), "--no-wait"});
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_EQ(told.out.find("gone"), std::string::npos) << told.out;
  EXPECT_EQ(server_->end(seconds(10)).code, 0);
}

// A supervisor sends its SIGTERM after it: that is no second signal, and no longer wait than server.grace.
TEST_F(DrainTest, ASignalAfterwardsForcesNothing) {
  ASSERT_NO_FATAL_FAILURE(serve());
  const auto caller = nap(1500);
  ASSERT_NO_FATAL_FAILURE(await_calls(1));
  ASSERT_EQ(tenon({"drain", sockets_.address("a.sock"), "--grace", "1h", "--no-wait"}).code, 0);
  server_->signal(SIGTERM);
  EXPECT_EQ(server_->end(seconds(12)).code, 0);
  EXPECT_EQ(caller->end(seconds(20)).code, 0);
}

TEST_F(DrainTest, ItMayStayAndComeBack) {
  ASSERT_NO_FATAL_FAILURE(serve());
  const auto caller = nap(1000);
  ASSERT_NO_FATAL_FAILURE(await_calls(1));
  const ChildProcess::End kept = tenon({"drain", sockets_.address("a.sock"), "--keep"});
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_TRUE(has(kept.out, "told to take no traffic; (.*\n)*paused: 0 calls in flight")) << kept.out;
  EXPECT_EQ(caller->end(seconds(20)).code, 0);
  EXPECT_TRUE(server_->running());
  EXPECT_EQ(tenon({"health", sockets_.address("a.sock")}).out, "not ready: it is paused\n");
  const ChildProcess::End refused = nap(1)->end(seconds(20));
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.err.find("the server is paused"), std::string::npos) << refused.err;
  const ChildProcess::End resumed = tenon({"resume", sockets_.address("a.sock")});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_TRUE(has(resumed.out, "^sleepy, pid \\d+: ready\n$")) << resumed.out;
  EXPECT_EQ(nap(1)->end(seconds(20)).code, 0);
  EXPECT_EQ(tenon({"resume", sockets_.address("a.sock")}).code, 1);
}

TEST_F(DrainTest, Health) {
  const auto waits = tool({"health", sockets_.address("a.sock"), "--wait", "20s"});
  const ChildProcess::End nobody = tenon({"health", "--live", sockets_.address("a.sock")});
  EXPECT_EQ(nobody.code, 1);
  EXPECT_EQ(nobody.out.rfind("not live: no answer: ", 0), 0u) << nobody.out;
  ASSERT_NO_FATAL_FAILURE(serve());
  const ChildProcess::End came = waits->end(seconds(20));
  EXPECT_EQ(came.code, 0) << came.err;
  EXPECT_EQ(came.out, "ready\n");
  const ChildProcess::End live = tenon({"health", "--live", sockets_.address("a.sock")});
  EXPECT_EQ(live.code, 0);
  EXPECT_EQ(live.out, "live\n");
  EXPECT_EQ(tenon({"health", "--live", "--ready", sockets_.address("a.sock")}).code, 2);
  EXPECT_EQ(tenon({"health", sockets_.address("a.sock"), "--wait", "soon"}).code, 2);
  EXPECT_EQ(tenon({"drain", sockets_.address("a.sock"), "--grace", "soon"}).code, 2);
  EXPECT_EQ(tenon({"drain"}).code, 2);
}

TEST_F(DrainTest, CurlAsAProbe) {
  if (std::string(TENON_TEST_CURL).empty()) GTEST_SKIP() << "curl is missing";
  ASSERT_NO_FATAL_FAILURE(serve());
  EXPECT_EQ(curl("ready").out, "\"ready\"");
  EXPECT_EQ(curl("live").code, 0);
  EXPECT_EQ(curl("health").out.rfind("{\"live\":true,\"ready\":true,\"phase\":\"ready\"", 0), 0u) << curl("health").out;
  EXPECT_EQ(curl("pause").code, 0);
  EXPECT_EQ(curl("ready").code, 22) << "HTTP 503";
  EXPECT_EQ(curl("live").code, 0);
}

}  // namespace
}  // namespace tenon
