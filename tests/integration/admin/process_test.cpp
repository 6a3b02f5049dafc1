// A `tenon serve` process asked by `tenon stats`, `tenon top`, `tenon call` and curl.

#include <sys/stat.h>

#include <fstream>
#include <regex>

#include "asking.hpp"
#include "pty.hpp"
#include "support/child_process.hpp"

namespace tenon {
namespace {

using std::chrono::seconds;
using test::ChildProcess;
using test::eventually;
using test::SocketFolder;
using test::TerminalProgram;

class ProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string manifest = sockets_.file("m.yaml");
    std::ofstream(manifest) << "application: sleepy\n"
                               "plugins:\n"
                               "  search: [\"" PLUGIN_DIR "\", \"" SLOW_DIR
                               "\"]\n"
                               "  load: [transport-tcp, protocol-tenon, protocol-http, serialize-json, test-slow]\n"
                               "server:\n"
                               "  pools: { naps: { threads: 2, queue: 5 } }\n"
                               "  listen: [ { use: tcp, address: \"127.0.0.1:0\", protocols: [tenon] } ]\n"
                               "  services: [ { name: test.Slow, pool: naps, metadata: { token: s3cret } } ]\n"
                               "admin: { listen: \""
                            << sockets_.address("a.sock") << "\", protocols: [tenon, http] }\n";
    server_ = std::make_unique<ChildProcess>(TENON_PROGRAM, std::vector<std::string>{"serve", "--manifest", manifest});
    const std::string line = server_->line();
    ASSERT_EQ(line.rfind("listening on tcp ", 0), 0u) << line << server_->end(std::chrono::milliseconds(0)).err;
    address_ = line.substr(17);
  }
  ChildProcess::End tenon(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--plugin-dir", PLUGIN_DIR});
    return ChildProcess(TENON_PROGRAM, arguments).end(seconds(20));
  }
  std::string stats(const std::vector<std::string>& words) const {
    std::vector<std::string> arguments{"stats", sockets_.address("a.sock")};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const ChildProcess::End ended = tenon(std::move(arguments));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.err, "");
    return ended.out;
  }
  std::vector<std::string> top(std::vector<std::string> words) const {
    words.insert(words.begin(), {"top", sockets_.file("a.sock"), "--plugin-dir", PLUGIN_DIR});
    return words;
  }

  SocketFolder sockets_;
  std::unique_ptr<ChildProcess> server_;
  std::string address_;
};

bool has(const std::string& text, const std::string& pattern) { return std::regex_search(text, std::regex(pattern)); }

TEST_F(ProcessTest, ASlowCallIsSeenAndGoes) {
  EXPECT_EQ(test::mode_of(sockets_.file("a.sock")), 0600u);
  EXPECT_TRUE(has(stats({"state"}), "^sleepy  ready  pid \\d+  up .*\ncalls being served 0 ")) << stats({"state"});
  {
    ChildProcess caller(TENON_PROGRAM, {"call", "test.Slow/nap", "[60000]", "--address", "tcp:" + address_, "--timeout",
                                        "60s", "--serializer", "json", "--plugin-dir", PLUGIN_DIR});
    ASSERT_TRUE(eventually([&] { return has(stats({"state"}), "calls being served 1 "); }, seconds(20)));
    const std::string all = stats({});
    EXPECT_TRUE(has(all, "LISTENERS\n.*\n  127\\.0\\.0\\.1:\\d+ +tcp +tenon\n")) << all;
    EXPECT_TRUE(has(all,
                    "NAME +THREADS +BUSY +RUNNING +QUEUED +OF +REJECTED +EXPIRED\n"
                    "  naps +2 +\\d +1 +0 +5 +0 +0\n"))
        << all;
    EXPECT_TRUE(has(all, "REFERENCES\n  none\n")) << all;
    EXPECT_TRUE(has(all, "CONNECTIONS 1\n.*\n  127\\.0\\.0\\.1:\\d+ +tenon +peer +\\S+ +1 +0 B +0\n")) << all;
  }  // it is killed: the server learns that nobody waits any more
  EXPECT_TRUE(eventually(
      [&] {
        const std::string all = stats({});
        return has(all, "calls being served 0 ") && has(all, "naps +2 +\\d +0 +0 +5 +0 +0\n") &&
               has(all, "CONNECTIONS 0\n  none\n");
      },
      seconds(20)));
}

TEST_F(ProcessTest, SectionsAsTextAndJson) {
  const std::string config = stats({"config"});
  EXPECT_TRUE(has(config, "(^|\n)application = sleepy +\\S*m\\.yaml:1:14\n")) << config;
  EXPECT_TRUE(has(config, "\nserver\\.pools\\.naps\\.threads = 2 +\\S*m\\.yaml:6:\\d+\n")) << config;
  EXPECT_TRUE(has(config, "\nserver\\.grace = 10s +default\n")) << config;
  EXPECT_TRUE(has(config, "\nserver\\.listen\\[0\\]\\.backlog = 4096 +default\n")) << "a plugin's option";
  EXPECT_TRUE(has(config, "\nserver\\.services\\[0\\]\\.metadata\\.token = \\*\\*\\* ")) << config;
  EXPECT_EQ(config.find("s3cret"), std::string::npos);
  const std::string json = stats({"pools", "plugins", "--json"});
  EXPECT_EQ(json.rfind("{\"pools\":[{\"name\":\"naps\",\"threads\":2,", 0), 0u) << json;
  EXPECT_TRUE(has(json,
                  "\"name\":\"test-slow\",\"version\":\"1\\.2\\.3\",\"origin\":\"[^\"]*test-slow\\.so\","
                  "\"entries\":\\[\"service test\\.Slow\"\\]"))
      << json;
  const ChildProcess::End checked =
      tenon({"stats", "--manifest", sockets_.file("m.yaml"), "state", "config", "--json"});
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_EQ(checked.out.rfind("{\"state\":{\"application\":\"sleepy\",\"phase\":\"ready\",", 0), 0u) << checked.out;
  EXPECT_NE(checked.out.find(",\"config\":[{\"path\":\"application\",\"value\":\"sleepy\",\"origin\":"),
            std::string::npos);
}

TEST_F(ProcessTest, CheckPrintsTheSameConfiguration) {
  const ChildProcess::End checked =
      ChildProcess(TENON_PROGRAM, {"check", sockets_.file("m.yaml"), "--effective"}).end(seconds(20));
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_EQ(checked.out, stats({"config"}));
}

TEST_F(ProcessTest, GenericCallersAndCurl) {
  const ChildProcess::End called =
      tenon({"call", "tenon.Admin/pools", "--address", sockets_.address("a.sock"), "--serializer", "json"});
  EXPECT_EQ(called.code, 0) << called.err;
  EXPECT_EQ(called.out.rfind("[{\"name\":\"naps\",\"threads\":2,\"busy\":", 0), 0u) << called.out;
  const std::string curl = TENON_TEST_CURL;
  if (curl.empty()) GTEST_SKIP() << "curl is missing";
  const ChildProcess::End got = ChildProcess(curl, {"-s", "--unix-socket", sockets_.file("a.sock"), "-d", "[7]",
                                                    "http://admin/tenon.Admin/stats"})
                                    .end(seconds(20));
  EXPECT_EQ(got.code, 0);
  EXPECT_EQ(got.out.rfind("{\"app\":{\"application\":\"sleepy\",\"phase\":\"ready\",", 0), 0u) << got.out;
}

TEST_F(ProcessTest, NobodyThere) {
  server_->signal(SIGTERM);
  EXPECT_EQ(server_->end(seconds(10)).code, 0);
  EXPECT_EQ(test::mode_of(sockets_.file("a.sock")), 0u) << "the socket is removed";
  for (const char* subcommand : {"stats", "top"}) {
    const ChildProcess::End ended = tenon({subcommand, sockets_.address("a.sock")});
    EXPECT_EQ(ended.code, 1) << subcommand;
    EXPECT_NE(ended.err.find("there is no such file; is the server running?"), std::string::npos) << ended.err;
    EXPECT_EQ(ended.out, "");
  }
}

TEST_F(ProcessTest, MistakesOnTheCommandLine) {
  const std::string address = sockets_.address("a.sock");
  const struct {
    std::vector<std::string> words;
    const char* complaint;
  } mistakes[] = {
      {{"stats"}, "say whom to ask"},
      {{"stats", address, "nonsense"}, "no section \"nonsense\"; there are: state, listeners"},
      {{"stats", "unix:"}, "names no socket"},
      {{"stats", address, "--timeout", "5"}, "--timeout 5: expected"},
      {{"top", address, "--interval", "1ms"}, "must be from 100ms to 24h"},
      {{"top", address, "--interval", "soon"}, "--interval soon: expected"},
      {{"top", address, "--count", "0"}, "--count"},
      {{"top", address, "--count", "2", "--once"}, "excludes"},
  };
  for (const auto& mistake : mistakes) {
    const ChildProcess::End ended = tenon(mistake.words);
    EXPECT_EQ(ended.code, 2) << mistake.complaint << ": " << ended.out;
    EXPECT_NE(ended.err.find(mistake.complaint), std::string::npos) << ended.err;
  }
  std::ofstream(sockets_.file("plain.yaml")) << "application: plain\n";
  const ChildProcess::End ended = tenon({"stats", "--manifest", sockets_.file("plain.yaml")});
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.err.find("has no admin service; add admin: { listen: "), std::string::npos) << ended.err;
}

TEST_F(ProcessTest, TopWithoutATerminal) {
  ChildProcess::End ended = ChildProcess(TENON_PROGRAM, top({"--count", "3", "--interval", "100ms"})).end(seconds(20));
  EXPECT_EQ(ended.code, 0) << ended.err;
  const std::regex heading("(^|\n\n)sleepy  ready  pid ");
  EXPECT_EQ(std::distance(std::sregex_iterator(ended.out.begin(), ended.out.end(), heading), std::sregex_iterator()),
            3);
  EXPECT_EQ(ended.out.find('\x1b'), std::string::npos) << "nothing that only a terminal understands";
  ended = ChildProcess(TENON_PROGRAM, top({"--once"})).end(seconds(20));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(has(ended.out, "^sleepy  ready .*\n.*\n\nPOOLS\n")) << ended.out;
  // For ever, until a signal comes or the process goes.
  ChildProcess forever(TENON_PROGRAM, top({"--interval", "100ms"}));
  EXPECT_NE(forever.line(), "");
  forever.signal(SIGTERM);
  EXPECT_EQ(forever.end(seconds(10)).code, 0);
  ChildProcess left(TENON_PROGRAM, top({"--interval", "100ms"}));
  EXPECT_NE(left.line(), "");
  server_->signal(SIGTERM);
  ended = left.end(seconds(20));
  EXPECT_EQ(ended.code, 1);
  EXPECT_NE(ended.err.find("tenon top: unavailable: "), std::string::npos) << ended.err;
}

const std::string other_screen = "\x1b[?1049h";
const std::string own_screen = "\x1b[?1049l";

TEST_F(ProcessTest, TopPutsTheTerminalBack) {
  for (const char* key : {"q", "\x03"}) {
    TerminalProgram program(TENON_PROGRAM, top({"--interval", "100ms"}), 30, 100);
    ASSERT_TRUE(program.shows(other_screen)) << program.seen();
    ASSERT_TRUE(program.shows("sleepy  ready")) << program.seen();
    EXPECT_TRUE(program.raw());
    program.type(std::string("x") + key);
    EXPECT_EQ(program.code(), 0) << program.seen();
    EXPECT_TRUE(program.shows(own_screen));
    EXPECT_GT(program.seen().rfind("\x1b[?25h"), program.seen().rfind("\x1b[?25l")) << "the cursor is back";
    EXPECT_FALSE(program.raw());
  }
  TerminalProgram program(TENON_PROGRAM, top({"--interval", "10s"}), 30, 100);
  ASSERT_TRUE(program.shows("sleepy  ready"));
  program.signal(SIGTERM);
  EXPECT_EQ(program.code(), 0);
  EXPECT_TRUE(program.shows(own_screen));
  EXPECT_FALSE(program.raw());
}

TEST_F(ProcessTest, TopStopsAndGoesOn) {
  TerminalProgram program(TENON_PROGRAM, top({"--interval", "10s"}), 30, 100);
  ASSERT_TRUE(program.shows("sleepy  ready"));
  program.signal(SIGTSTP);
  ASSERT_TRUE(program.stopped());
  EXPECT_TRUE(program.shows(own_screen));
  EXPECT_FALSE(program.raw()) << "a shell has the terminal as it was";
  program.forget();
  program.signal(SIGCONT);
  ASSERT_TRUE(program.shows(other_screen));
  ASSERT_TRUE(program.shows("sleepy  ready"));
  EXPECT_TRUE(program.raw());
  program.type("q");
  EXPECT_EQ(program.code(), 0);
}

TEST_F(ProcessTest, TopFitsTheTerminal) {
  TerminalProgram program(TENON_PROGRAM, top({"--interval", "10s"}), 5, 30);
  ASSERT_TRUE(program.shows("\x1b[J")) << program.seen();
  EXPECT_EQ(program.seen().find("CONNECTIONS"), std::string::npos) << "four lines and no more";
  EXPECT_EQ(program.seen().find("connections accepted"), std::string::npos) << "thirty columns and no more";
  program.resize(40, 150);
  EXPECT_TRUE(program.shows("CONNECTIONS")) << "drawn anew at once";
  program.type("q");
  EXPECT_EQ(program.code(), 0);
}

TEST_F(ProcessTest, TopWaitsForAProcessThatGoesAway) {
  TerminalProgram program(TENON_PROGRAM, top({"--interval", "100ms"}), 30, 100);
  ASSERT_TRUE(program.shows("sleepy  ready"));
  server_->signal(SIGTERM);
  EXPECT_EQ(server_->end(seconds(10)).code, 0);
  ASSERT_TRUE(program.shows("no answer: "));
  program.forget();
  SetUp();
  EXPECT_TRUE(program.shows("sleepy  ready")) << "it is back";
  program.type("q");
  EXPECT_EQ(program.code(), 0);
}

}  // namespace
}  // namespace tenon
