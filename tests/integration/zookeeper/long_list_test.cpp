// REG-22. A list of which the names alone are longer than a server takes in one request (jute.maxbuffer, 1 MiB).
#include <cstdio>
#include <mutex>

#include "fixture.hpp"
#include "provider_node.hpp"

namespace tenon::test {
namespace {

const ServiceName service{"demo.Greeter", "blue", "1.0"};

TEST(SlowZookeeperList, FiveThousandInstancesWithLongNames) {
  constexpr int count = 5000;
  ZookeeperServer server;
  server.start();
  zk::ZkOptions options = zk_options(server.address());
  options.session_timeout = seconds(4);
  std::vector<Instance> all;
  // As if their owners never went away.
  const auto create = [&](Hand& hand, int number) {
    Instance instance = provider("host-" + std::to_string(number) + "." + std::string(240, 'n') + ":4080");
    const std::string node = "/motan/blue/demo.Greeter/server/" + instance.address;
    ASSERT_EQ(hand.create(node, zk::write_provider(service, instance)), ZOK);
    all.push_back(std::move(instance));
  };
  {
    Hand hand(server.address());
    for (int i = 0; i < count; ++i) create(hand, i);
  }
  std::mutex mutex;
  std::vector<Instance> latest;
  RegistryMember consumer(connect_to(options));
  auto watching = consumer.on([&] {
    return consumer.registry->watch({service, "test"}, [&](const Result<Snapshot>& news) {
      if (!news.ok()) return;
      const std::lock_guard lock(mutex);
      latest = news->instances;
    });
  });
  ASSERT_TRUE(watching.ok());
  const auto shows = [&](const char* what, milliseconds limit) {
    const auto begun = std::chrono::steady_clock::now();
    const bool shown = eventually(
        [&] {
          const std::lock_guard lock(mutex);
          return latest.size() == all.size() && same_instances(latest, all);
        },
        limit);
    std::printf("%s: %zu instances are known after %.2f s\n", what, latest.size(),
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
    return shown;
  };
  EXPECT_TRUE(shows("at first", seconds(20)));
  {
    Hand hand(server.address());
    create(hand, count);
    EXPECT_TRUE(shows("one more", seconds(5)));
  }
  // It has more watches than fit into what a client may tell a server when it comes back.
  server.kill();
  server.start();
  Hand hand(server.address());
  create(hand, count + 1);
  EXPECT_TRUE(shows("after a restart", seconds(30)));
  create(hand, count + 2);
  EXPECT_TRUE(shows("one more", seconds(5)));
  consumer.on([&] { watching->reset(); });
}

}  // namespace
}  // namespace tenon::test
