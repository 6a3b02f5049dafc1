// How a server process ends: told by signals, with calls in flight, with handlers that are stuck.

#include <filesystem>
#include <fstream>
#include <iostream>

#include "support/child_process.hpp"
#include "support/test_apps.hpp"

namespace tenon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Signals : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "tenon-signals-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override {
    ::unsetenv("ASAN_OPTIONS");
    sleep.reset();
    client.reset();
    server.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  std::unique_ptr<test::ChildProcess> launch(const std::string& address, const std::string& grace) {
    const std::string manifest = (folder / ("server" + std::to_string(++manifests) + ".yaml")).string();
    std::ofstream(manifest) << "application: slow-server\n"
                               "plugins:\n"
                               "  search: [\"" TENON_TEST_PLUGIN_DIR "\"]\n"
                               "  load: [transport-tcp, protocol-tenon, serialize-pb]\n"
                               "  probe: false\n"
                               "server:\n"
                               "  grace: " << grace << "\n"
                               "  listen: [ { use: tcp, address: \"" << address << "\", protocols: [tenon] } ]\n"
                               "  services: [ { name: test.Slow } ]\n";
    return std::make_unique<test::ChildProcess>(SLOW_SERVER, std::vector<std::string>{"--manifest", manifest});
  }
  /// A server on a free port; `address` is its.
  void serve(const std::string& grace) {
    server = launch("127.0.0.1:0", grace);
    const std::string ready = server->line();
    constexpr std::string_view begin = "listening on ";
    ASSERT_TRUE(ready.starts_with(begin)) << "\"" << ready << "\" " << server->end(milliseconds(0)).err;
    address = ready.substr(ready.rfind(' ') + 1);
  }
  void connect() {
    AppOptions options = test::client_options("test.Slow", address);
    options.client.references["r"].timeout = seconds(100);
    client = test::start(std::move(options));
    ASSERT_TRUE(client);
    sleep = std::make_unique<ClientFunction<std::int64_t(std::int64_t, std::int64_t)>>(client->reference("r"), "sleep");
  }
  /// Calls in flight: callback i counts as good when its answer is i.
  void begin_calls(int count, std::int64_t ms) {
    for (std::int64_t i = 0; i < count; ++i)
      (*sleep)(ms, i, [this, i](Result<std::int64_t> answer) {
        if (answer.ok() && *answer == i)
          ++good;
        else
          ++bad;
      });
    const ClientFunction<std::int64_t()> begun(client->reference("r"), "begun");
    const bool all_begun = test::eventually([&] {
      const Result<std::int64_t> number = begun();
      return number.ok() && *number == count;
    });
    ASSERT_TRUE(all_begun);
    ASSERT_EQ(good + bad, 0) << "some ended before the signal";
  }
  void drains(int signal, int calls);
  /// A handler that never ends leaves its memory behind on purpose: not for the leak checker of a sanitized server.
  static void expect_left_behind() { ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1); }

  std::filesystem::path folder;
  int manifests = 0;
  std::string address;
  std::unique_ptr<test::ChildProcess> server;
  std::unique_ptr<App> client;
  std::unique_ptr<ClientFunction<std::int64_t(std::int64_t, std::int64_t)>> sleep;
  std::atomic<int> good = 0;
  std::atomic<int> bad = 0;
};

std::int64_t ms(test::ChildProcess::Clock::duration took) {
  return std::chrono::duration_cast<milliseconds>(took).count();
}

void Signals::drains(int signal, int calls) {
  ASSERT_NO_FATAL_FAILURE(serve("10s"));
  ASSERT_NO_FATAL_FAILURE(connect());
  ASSERT_NO_FATAL_FAILURE(begin_calls(calls, 1500));
  server->signal(signal);
  const auto end = server->end(seconds(8));
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_TRUE(test::eventually([&] { return good + bad == calls; }));
  EXPECT_EQ(good, calls);
  std::cout << calls << " calls answered: " << good << ", ended after " << ms(end.took) << " ms\n";
}

TEST_F(Signals, SigtermWithAHundredCallsInFlightAnswersAllAndExitsWithZero) { drains(SIGTERM, 100); }
TEST_F(Signals, SigintDrains) { drains(SIGINT, 7); }
TEST_F(Signals, Sigusr2Drains) { drains(SIGUSR2, 7); }

TEST_F(Signals, ASecondSignalForcesTheEnd) {
  expect_left_behind();
  ASSERT_NO_FATAL_FAILURE(serve("50s"));
  ASSERT_NO_FATAL_FAILURE(connect());
  ASSERT_NO_FATAL_FAILURE(begin_calls(1, 60000));
  server->signal(SIGTERM);
  // The first one only drains.
  EXPECT_EQ(server->end(milliseconds(500)).code, -1);
  ASSERT_TRUE(server->running());
  server->signal(SIGTERM);
  const auto end = server->end(seconds(10));
  EXPECT_EQ(end.code, 1) << end.err;
  EXPECT_LE(ms(end.took), 2000);
  EXPECT_TRUE(test::eventually([&] { return bad == 1; }));
  EXPECT_NE(end.err.find("1 calls were cut off"), std::string::npos) << end.err;
  std::cout << "ended " << ms(end.took) << " ms after the second signal\n";
}

TEST_F(Signals, AHandlerStuckLongerThanTheGraceIsCutOff) {
  expect_left_behind();
  ASSERT_NO_FATAL_FAILURE(serve("300ms"));
  ASSERT_NO_FATAL_FAILURE(connect());
  ASSERT_NO_FATAL_FAILURE(begin_calls(1, 60000));
  server->signal(SIGTERM);
  const auto end = server->end(seconds(10));
  EXPECT_EQ(end.code, 1) << end.err;
  EXPECT_GE(ms(end.took), 290);
  EXPECT_LE(ms(end.took), 1300);
  EXPECT_TRUE(test::eventually([&] { return bad == 1; }));
  std::cout << "ended after " << ms(end.took) << " ms with 300 ms of grace\n";
}

TEST_F(Signals, AHandlerThatBlocksItsThreadDoesNotKeepTheProcess) {
  ASSERT_NO_FATAL_FAILURE(serve("300ms"));
  ASSERT_NO_FATAL_FAILURE(connect());
  const ClientFunction<std::int64_t(std::int64_t)> block(client->reference("r"), "block");
  ASSERT_TRUE(block(1).ok());
  block(30000, [this](Result<std::int64_t>) { ++bad; });
  std::this_thread::sleep_for(milliseconds(200));  // it cannot say that it has begun
  server->signal(SIGTERM);
  const auto end = server->end(seconds(5));
  EXPECT_EQ(end.code, 1) << end.err;
  EXPECT_LE(ms(end.took), 1300);
  std::cout << "ended after " << ms(end.took) << " ms with 300 ms of grace\n";
}

TEST_F(Signals, AUsedPortIsNamedBeforeAnyReadyLine) {
  ASSERT_NO_FATAL_FAILURE(serve("1s"));
  const auto second = launch(address, "1s");
  const auto end = second->end(seconds(10));
  EXPECT_EQ(end.code, 1);
  EXPECT_EQ(end.out, "");
  EXPECT_NE(end.err.find(address), std::string::npos) << end.err;
  // The first one is not disturbed.
  ASSERT_NO_FATAL_FAILURE(connect());
  EXPECT_EQ(*(*sleep)(0, 5), 5);
}

TEST_F(Signals, SigtermWhileIdleEndsAtOnce) {
  ASSERT_NO_FATAL_FAILURE(serve("10s"));
  ASSERT_NO_FATAL_FAILURE(connect());
  ASSERT_EQ(*(*sleep)(0, 5), 5);
  server->signal(SIGTERM);
  const auto end = server->end(seconds(10));
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_LE(ms(end.took), 1000);
  std::cout << "ended after " << ms(end.took) << " ms\n";
}

// Whoever waits for the ready line may stop the server as soon as it is there.
TEST_F(Signals, SigtermRightAfterTheReadyLineIsAnOrderlyEndToo) {
  for (int i = 0; i < 30; ++i) {
    ASSERT_NO_FATAL_FAILURE(serve("10s"));
    server->signal(SIGTERM);
    const auto end = server->end(seconds(10));
    ASSERT_EQ(end.code, 0) << end.err;
    ASSERT_LE(ms(end.took), 1000);
  }
}

}  // namespace
}  // namespace tenon
