// SHD-11, I16. The time of day jumps, and processes that were stopped for long go on.
#include <fstream>
#include <sstream>

#include "support/child_process.hpp"
#include "support/test_apps.hpp"
#include "tenon/scope.hpp"

namespace tenon::test {
namespace {

using namespace std::chrono_literals;

constexpr const char* faketime = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";

/// What paced_client says at its end.
struct Seen {
  int calls = 0;
  int failed = -1;
  std::size_t answered_by = 0;
  double slowest_timeout = 0;
  double longest_gap = 0;
  std::string first_error;
};
Seen end(ChildProcess& client) {
  client.signal(SIGTERM);
  const ChildProcess::End ended = client.end(5s);
  EXPECT_EQ(ended.code, 0) << ended.err;
  std::istringstream words(ended.out);
  Seen seen;
  std::string name;
  words >> name >> seen.calls >> name >> seen.failed >> name >> seen.answered_by >> name >> seen.slowest_timeout >>
      name >> seen.longest_gap >> name;
  std::getline(words, seen.first_error);
  std::printf("%s", ended.out.c_str());
  return seen;
}

Task<Result<std::int64_t>> sleep_for(std::int64_t milliseconds, std::int64_t answer) {
  Clock& clock = Executor::current()->clock();
  sleep_until nap(clock, clock.now() + std::chrono::milliseconds(milliseconds));
  co_await nap;
  co_return answer;
}

std::unique_ptr<App> server(std::int64_t number) {
  auto slow = std::make_shared<Functions>("test.Slow");
  slow->add("sleep", [](std::int64_t milliseconds, std::int64_t answer) { return sleep_for(milliseconds, answer); });
  slow->add("begun", [number] { return number; });  // who it is
  return start(server_options(), {slow});
}

// A client that did nothing for half a minute: the servers have given it up by then. It notices, connects to each
// again, once, and goes on with all of them.
TEST(SlowClocks, AClientThatWasStoppedForHalfAMinuteGoesOn) {
  constexpr std::size_t count = 5;
  std::vector<std::unique_ptr<App>> servers;
  std::string addresses;
  for (std::size_t i = 0; i < count; ++i) {
    servers.push_back(server(static_cast<std::int64_t>(i)));
    ASSERT_TRUE(servers.back());
    addresses += (i ? "," : "") + servers.back()->addresses()[0];
  }
  ChildProcess client(PACED_CLIENT, {addresses});
  ASSERT_EQ(client.line(), "calling");
  const auto connections = [&] {
    std::size_t all = 0;
    for (const auto& each : servers) all += each->counts().server_connections;
    return all;
  };
  EXPECT_TRUE(eventually([&] { return connections() == count; }));
  std::this_thread::sleep_for(2s);
  client.signal(SIGSTOP);
  std::this_thread::sleep_for(30s);
  client.signal(SIGCONT);
  EXPECT_TRUE(eventually([&] { return connections() == count; }));
  std::this_thread::sleep_for(3s);
  EXPECT_EQ(connections(), count) << "no storm of connections";
  const Seen seen = end(client);
  EXPECT_GT(seen.calls, 200);
  EXPECT_LE(seen.failed, 1) << "the one that was under way, whose deadline has passed: " << seen.first_error;
  EXPECT_EQ(seen.answered_by, count);
  EXPECT_GE(seen.longest_gap, 29'000);
  for (const auto& each : servers) EXPECT_TRUE(eventually([&] { return idle(*each); }, 15s));
}

// Neither side's timers, time-outs and heartbeats follow the time of day.
TEST(SlowClocks, TheTimeOfDayJumpsAndNothingHappens) {
  if (!std::filesystem::exists(faketime)) GTEST_SKIP() << "there is no " << faketime << "; it is package libfaketime's";
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(TENON_UNDER_TSAN)
  GTEST_SKIP() << "a sanitizer's library must be the first one";
#endif
  const std::string offset = testing::TempDir() + "tenon-offset-" + std::to_string(::getpid());
  const auto jump = [&](const std::string& by) {
    std::ofstream(offset + ".new") << by << "\n";
    std::filesystem::rename(offset + ".new", offset);
  };
  jump("+0");
  const std::string manifest = testing::TempDir() + "tenon-clocks-" + std::to_string(::getpid()) + ".yaml";
  std::ofstream(manifest) << "application: slow-server\n"
                             "plugins: { search: [\"" TENON_TEST_PLUGIN_DIR
                             "\"], load: [transport-tcp, protocol-tenon, serialize-pb], probe: false }\n"
                             "log: { level: error }\n"
                             "server:\n"
                             "  heartbeat: 200ms\n"
                             "  listen: [ { use: tcp, address: \"127.0.0.1:0\", protocols: [tenon] } ]\n"
                             "  services: [ { name: test.Slow } ]\n";
  const auto under_faketime = [&](const std::string& program, const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {std::string("LD_PRELOAD=") + faketime, "FAKETIME_DONT_FAKE_MONOTONIC=1",
                                      "FAKETIME_NO_CACHE=1", "FAKETIME_TIMESTAMP_FILE=" + offset, program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return std::make_unique<ChildProcess>("/usr/bin/env", words);
  };
  auto serving = under_faketime(SLOW_SERVER, {"--manifest", manifest});
  const std::string ready = serving->line();
  ASSERT_TRUE(ready.starts_with("listening on ")) << ready << serving->end(0s).err;
  auto client = under_faketime(PACED_CLIENT, {ready.substr(ready.rfind(' ') + 1)});
  ASSERT_EQ(client->line(), "calling") << client->end(0s).err;
  for (const char* by : {"+0", "+1h", "-1h", "+365d", "-365d", "+0"}) {
    jump(by);
    std::this_thread::sleep_for(1500ms);
  }
  const Seen seen = end(*client);
  EXPECT_GT(seen.calls, 200);
  EXPECT_EQ(seen.failed, 0) << seen.first_error;
  EXPECT_LE(seen.slowest_timeout, 200 + 250);
  EXPECT_LE(seen.longest_gap, 1000);
  serving->signal(SIGTERM);
  const ChildProcess::End ended = serving->end(5s);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_LT(ended.took, 4s) << "nor does the grace";
  std::remove(offset.c_str());
  std::remove(manifest.c_str());
}

}  // namespace
}  // namespace tenon::test
