// A server process with few descriptors, and one that is process 1 of its namespace.

#include <sys/resource.h>

#include <fstream>
#include <sstream>

#include "support/child_process.hpp"
#include "support/raw_socket.hpp"
#include "support/test_apps.hpp"

namespace tenon::test {
namespace {

using namespace std::chrono_literals;

class SlowProcesses : public testing::Test {
 protected:
  void SetUp() override {
    manifest = testing::TempDir() + "tenon-processes-" + std::to_string(::getpid()) + ".yaml";
    log = manifest + ".log";
    std::ofstream(manifest) << "application: slow-server\n"
                               "plugins: { search: [\"" TENON_TEST_PLUGIN_DIR
                               "\"], load: [transport-tcp, protocol-tenon, serialize-pb], probe: false }\n"
                               "log: { file: \"" << log << "\" }\n"
                               "server:\n"
                               "  grace: 2s\n"
                               "  listen: [ { use: tcp, address: \"127.0.0.1:0\", protocols: [tenon] } ]\n"
                               "  services: [ { name: test.Slow } ]\n";
  }
  void TearDown() override {
    std::remove(manifest.c_str());
    std::remove(log.c_str());
  }
  /// Starts SLOW_SERVER behind the words of `wrapper`; false: this machine cannot do that.
  bool launch(const std::vector<std::string>& wrapper) {
    std::vector<std::string> words(wrapper.begin() + 1, wrapper.end());
    words.insert(words.end(), {SLOW_SERVER, "--manifest", manifest});
    server = std::make_unique<ChildProcess>(wrapper[0], words);
    const std::string ready = server->line();
    address = ready.substr(ready.rfind(' ') + 1);
    return ready.starts_with("listening on ");
  }
  std::size_t lines_logged() const {
    std::ifstream file(log);
    std::size_t count = 0;
    for (std::string line; std::getline(file, line);) ++count;
    return count;
  }
  Result<std::int64_t> call() const {
    auto client = start(client_options("test.Slow", address));
    if (!client) return Error(Errc::internal, "no client");
    const ClientFunction<std::int64_t(std::int64_t, std::int64_t)> sleep(client->reference("r"), "sleep");
    return sleep(0, 7);
  }
  std::string manifest, log, address;
  std::unique_ptr<ChildProcess> server;
};

/// Processor time that the children which have ended took.
double seconds_of_children() {
  rusage used{};
  (void)::getrusage(RUSAGE_CHILDREN, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

// CON-11. More connections than descriptors: it waits without spinning, says so now and then, and goes on.
TEST_F(SlowProcesses, OutOfDescriptorsItWaitsAndGoesOn) {
  const double before = seconds_of_children();
  ASSERT_TRUE(launch({"/usr/bin/prlimit", "--nofile=64"})) << server->end(1s).err;
  std::vector<std::unique_ptr<RawSocket>> many;
  for (int i = 0; i < 100; ++i) many.push_back(std::make_unique<RawSocket>(address));
  std::this_thread::sleep_for(3s);
  many.clear();
  const auto freed = std::chrono::steady_clock::now();
  const Result<std::int64_t> answer = call();
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_LT(std::chrono::steady_clock::now() - freed, 1s);
  const std::size_t lines = lines_logged();
  EXPECT_GT(lines, 0u);
  EXPECT_LE(lines, 45u);
  server->signal(SIGTERM);
  EXPECT_EQ(server->end(5s).code, 0);
  EXPECT_LT(seconds_of_children() - before, 0.6 + 0.5);  // a fifth of three seconds, and starting
}

// SHD-10. As the first process of a namespace, where signals without a handler are not delivered.
TEST_F(SlowProcesses, AsProcessOneItEndsWhenToldAndLivesWithoutStandardOutput) {
  if (!launch({"/usr/bin/unshare", "--pid", "--fork", "--kill-child", "--user", "--map-root-user", "/bin/sh", "-c",
               "exec \"$0\" \"$@\""}))
    GTEST_SKIP() << "no namespaces here: " << server->end(1s).err;
  ASSERT_TRUE(call().ok());
  // The child of unshare is process 1 inside; it has another number here.
  std::ostringstream name;
  name << "/proc/" << server->pid() << "/task/" << server->pid() << "/children";
  pid_t inside = 0;
  std::ifstream(name.str()) >> inside;
  ASSERT_GT(inside, 1);
  ::kill(inside, SIGTERM);
  const ChildProcess::End end = server->end(5s);
  EXPECT_EQ(end.code, 0) << end.err;
}

// SHD-10. A log that cannot be written and closed standard streams stop nobody.
TEST_F(SlowProcesses, AFullDiskAndClosedStreamsStopNobody) {
  std::string text;
  {
    std::ifstream file(manifest);
    std::stringstream all;
    all << file.rdbuf();
    text = all.str();
  }
  text.replace(text.find(log), log.size(), "/dev/full");
  std::ofstream(manifest) << text;
  ASSERT_TRUE(launch({"/bin/sh", "-c", "exec \"$0\" \"$@\" 2>&-"}));
  for (int i = 0; i < 20; ++i) {
    RawSocket stranger(address);
    (void)stranger.send("nonsense that is logged\r\n\r\n");
    EXPECT_TRUE(stranger.closed_within(2000));
  }
  const Result<std::int64_t> answer = call();
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  server->signal(SIGTERM);
  EXPECT_EQ(server->end(5s).code, 0);
}

}  // namespace
}  // namespace tenon::test
