// Instances that come and go while they are called.

#include <iostream>

#include "conversation.hpp"
#include "support/raw_socket.hpp"

namespace tenon::test {
namespace {

using namespace std::chrono_literals;

AppOptions with_registry(AppOptions options) {
  options.plugins.load.push_back("registry-memory");
  options.registries["here"] = Component("memory");
  return options;
}

class Instances : public testing::TestWithParam<Tongue> {
 protected:
  std::unique_ptr<App> provider(const std::string& address = "127.0.0.1:0") {
    AppOptions chosen = with_registry(fault_server_options(GetParam(), address));
    ServiceOptions offered;
    offered.name = counted_interface;
    offered.registry = {"here"};
    chosen.server.services = {offered};
    return start(std::move(chosen), {counted.service()});
  }
  std::unique_ptr<App> consumer(Duration heartbeat = 5s) {
    AppOptions chosen = with_registry(fault_options("client"));
    ReferenceOptions reference = fault_reference_options(GetParam(), "");
    reference.registry = {"here"};
    reference.heartbeat = heartbeat;
    reference.timeout = 5s;
    chosen.client.references["r"] = reference;
    return start(std::move(chosen));
  }
  CountedRuns counted;
};

const auto tongue_name = [](const testing::TestParamInfo<Tongue>& info) { return std::string(info.param.protocol); };
INSTANTIATE_TEST_SUITE_P(Memory, Instances, testing::Values(Tongue{"tenon", "protobuf"}, Tongue{"motan2", "simple"}),
                         tongue_name);

// CON-2. Who has left is not connected to any more, not even by the heartbeat.
TEST_P(Instances, NobodyConnectsToOneThatHasLeft) {
  auto stays = provider();
  auto leaves = provider();
  auto client = consumer(50ms);
  ASSERT_TRUE(stays && leaves && client);
  ASSERT_TRUE(eventually([&] { return leaves->counts().server_connections == 1; }));
  const std::string address = leaves->addresses()[0];
  EXPECT_TRUE(leaves->stop(5s));
  leaves.reset();
  // A stranger takes the port over.
  AppOptions chosen = fault_server_options(GetParam(), address);
  auto stranger = start(std::move(chosen), {counted.service()});
  ASSERT_TRUE(stranger);
  const Conversation::Echo echo(client->reference("r"), "echo");
  for (const auto until = std::chrono::steady_clock::now() + 400ms; std::chrono::steady_clock::now() < until;) {
    ASSERT_TRUE(echo(1, "x").ok());
    ASSERT_EQ(stranger->counts().server_connections, 0u);
  }
}

class LeavingInstances : public Instances {};
INSTANTIATE_TEST_SUITE_P(LeavingMemory, LeavingInstances,
                         testing::Values(Tongue{"tenon", "protobuf"}, Tongue{"motan2", "simple"}), tongue_name);

// SHD-1, SHD-2, I14. Each provider is stopped and replaced in turn under load: no call fails.
TEST_P(LeavingInstances, ARollingRestartFailsNoCall) {
  std::vector<std::unique_ptr<App>> providers;
  for (int i = 0; i < 3; ++i) providers.push_back(provider());
  auto client = consumer();
  ASSERT_TRUE(client && providers[0] && providers[1] && providers[2]);
  const Conversation::Echo echo(client->reference("r"), "echo");
  std::atomic<bool> stop = false;
  std::atomic<std::int64_t> number = 0;
  std::atomic<int> failed = 0;
  std::mutex guard;
  std::string why;
  std::vector<std::thread> callers;
  for (int t = 0; t < 3; ++t)
    callers.emplace_back([&] {
      while (!stop) {
        const Result<std::string> answer = echo(number++, "x");
        if (answer.ok()) continue;
        ++failed;
        const std::lock_guard lock(guard);
        why = answer.error().text();
      }
    });
  for (int round = 0; round < 2; ++round)
    for (auto& one : providers) {
      const std::int64_t before = number;
      EXPECT_TRUE(eventually([&] { return number > before + 50; }));
      EXPECT_TRUE(one->stop(5s));
      one = provider();
      EXPECT_TRUE(one);
      EXPECT_TRUE(eventually([&] { return one->counts().server_connections > 0; }));
    }
  stop = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(failed, 0) << why << " (of " << number << " calls)";
  ASSERT_LT(number, static_cast<std::int64_t>(most_calls));
  for (std::int64_t n = 0; n < number; ++n) ASSERT_EQ(counted.runs(n), 1);
}

// CON-5. Registrations flip while providers restart on their ports and are called; the end state works.
TEST_P(LeavingInstances, FlippingAndRestartingEndsInAStateThatWorks) {
  auto steady = provider();
  auto client = consumer();
  ASSERT_TRUE(steady && client);
  const std::string address = provider()->addresses()[0];
  const Conversation::Echo echo(client->reference("r"), "echo");
  std::atomic<bool> stop = false;
  std::atomic<std::int64_t> good = 0, bad = 0, number = 0;
  std::vector<std::thread> callers;
  for (int t = 0; t < 2; ++t)
    callers.emplace_back([&] {
      while (!stop) {
        const Result<std::string> answer = echo(number++, "x");
        EXPECT_TRUE(answer.ok() || answer.error().code() != Errc::deadline_exceeded) << answer.error().text();
        ++(answer.ok() ? good : bad);
      }
    });
  int restarts = 0;
  const auto until = std::chrono::steady_clock::now() + 15s;
  for (; std::chrono::steady_clock::now() < until; ++restarts) {
    auto flips = provider(address);
    std::this_thread::sleep_for(std::chrono::milliseconds(restarts % 50));
    if (flips && restarts % 3 == 0) (void)flips->stop(100ms);  // else it goes without a word
  }
  stop = true;
  for (std::thread& caller : callers) caller.join();
  std::cout << restarts << " restarts, " << good << " calls answered, " << bad << " failed\n";
  EXPECT_GT(good, 100 * bad);
  steady.reset();
  auto last = provider(address);
  ASSERT_TRUE(last);
  EXPECT_TRUE(eventually([&] { return echo(1, "x").ok(); }));
  EXPECT_TRUE(eventually([&] { return idle(*client) && idle(*last); }));
}

}  // namespace
}  // namespace tenon::test
