// Whole calls with the plugin as Apps load it, while ZooKeeper comes and goes.

#include <atomic>
#include <mutex>
#include <set>

#include "options.hpp"
#include "support/test_apps.hpp"
#include "support/zookeeper_server.hpp"

namespace tenon::test {
namespace {

using namespace std::chrono_literals;

AppOptions with_zookeeper(AppOptions options, const std::string& servers) {
  options.plugins.load.push_back("registry-zk");
  zk::ZkOptions registry;
  registry.servers = servers;
  registry.session_timeout = 1s;
  options.registries["main"] = Component::of("zookeeper", registry);
  return options;
}

std::unique_ptr<App> provider(const std::string& servers, const std::string& name) {
  AppOptions options = with_zookeeper(server_options(), servers);
  ServiceOptions offered;
  offered.name = "demo.Who";
  offered.group = "blue";
  offered.registry = {"main"};
  options.server.services = {offered};
  auto service = std::make_shared<Functions>("demo.Who");
  service->add("name", [name] { return name; });
  return start(std::move(options), {service});
}

std::unique_ptr<App> consumer(const std::string& servers) {
  AppOptions options = with_zookeeper(test::options("shop"), servers);
  ReferenceOptions reference;
  reference.service = "demo.Who";
  reference.group = "blue";
  reference.registry = {"main"};
  reference.timeout = 5s;
  options.client.references["who"] = reference;
  return start(std::move(options));
}

/// Calls all the time, and keeps the names that answered.
class Load {
 public:
  explicit Load(App& app) : thread_([this, reference = app.reference("who")] { work(reference); }) {}
  ~Load() {
    stop_ = true;
    thread_.join();
    EXPECT_EQ(failed_, 0) << reason_;
    EXPECT_GT(done_, 0);
  }
  /// Names that answer now are exactly these, within the limit.
  bool answers(const std::set<std::string>& wanted, Duration limit = 20s) {
    return eventually(
        [&] {
          {
            const std::lock_guard lock(mutex_);
            names_.clear();
          }
          const int before = done_;
          eventually([&] { return done_ >= before + 40; });
          const std::lock_guard lock(mutex_);
          return names_ == wanted;
        },
        limit);
  }

 private:
  void work(const std::shared_ptr<Reference>& reference) {
    ClientFunction<std::string()> name{reference, "name"};
    while (!stop_) {
      Result<std::string> who = name();
      {
        const std::lock_guard lock(mutex_);
        if (who.ok()) {
          names_.insert(*who);
        } else {
          ++failed_;
          reason_ = who.error().text();
        }
      }
      ++done_;
      std::this_thread::sleep_for(1ms);
    }
  }
  std::atomic<bool> stop_ = false;
  std::atomic<int> done_ = 0;
  std::mutex mutex_;
  std::set<std::string> names_;
  std::string reason_;
  int failed_ = 0;
  std::thread thread_;
};

TEST(ZookeeperCalls, NoneFailsWhileProvidersAndServersComeAndGo) {
  ZookeeperServer server;
  server.start();
  const auto a = provider(server.address(), "a");
  auto b = provider(server.address(), "b");
  ASSERT_TRUE(a && b);
  const auto shop = consumer(server.address());
  ASSERT_TRUE(shop);
  Load load(*shop);
  EXPECT_TRUE(load.answers({"a", "b"}));
  const auto c = provider(server.address(), "c");
  EXPECT_TRUE(load.answers({"a", "b", "c"}));
  b->stop(5s);
  b.reset();
  EXPECT_TRUE(load.answers({"a", "c"}));
  server.kill();
  std::this_thread::sleep_for(2s);  // longer than the session
  EXPECT_TRUE(load.answers({"a", "c"})) << "nobody needs a registry to talk to whom he knows";
  server.wipe();
  server.start();
  b = provider(server.address(), "b again");
  EXPECT_TRUE(load.answers({"a", "b again", "c"}));
}

}  // namespace
}  // namespace tenon::test
