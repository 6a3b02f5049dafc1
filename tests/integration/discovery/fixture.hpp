#pragma once
// Providers that can be told apart, killed and counted, consumers, and somebody who watches what registries say.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "memory_registry.hpp"
#include "options.hpp"
#include "support/fault_proxy.hpp"
#include "support/recording_log.hpp"
#include "support/temporary_folder.hpp"
#include "support/test_apps.hpp"
#include "support/test_executor.hpp"
#include "support/zookeeper_server.hpp"
#include "tenon/registry.hpp"
#include "tenon/scope.hpp"
#include "tenon/serve.hpp"

namespace tenon::test {

using namespace std::chrono_literals;

inline constexpr const char* who_service = "test.Who";

/// Registries as Apps configure them, by the names of their manifests.
using Registries = std::map<std::string, Component>;

inline Component memory(const std::string& name) {
  inprocess::MemoryRegistryOptions options;
  options.name = name;
  return Component::of("memory", options);
}

inline AppOptions with(AppOptions options, const Registries& registries) {
  options.plugins.load.push_back("registry-memory");
  options.plugins.load.push_back("registry-zk");
  options.registries = registries;
  return options;
}

inline std::vector<std::string> names_of(const Registries& registries) {
  std::vector<std::string> names;
  for (const auto& [name, component] : registries) names.push_back(name);
  return names;
}

/// test.Who: name(text) tells its name. Warming up is what the test says.
class Who final : public Service {
 public:
  explicit Who(std::string name) : name_(std::move(name)) {}
  std::string_view interface() const noexcept override { return who_service; }
  std::span<const Method> methods() const noexcept override { return {&method_, 1}; }
  Task<Result<Response>> call(Request& request) override {
    ++calls;
    return held ? call_later(request) : answer(request);
  }
  Task<Result<void>> warm_up() override {
    ++warmed;
    return ready(warming ? warming() : Result<void>());
  }

  std::function<Result<void>()> warming;
  std::atomic<bool> held = false;  ///< calls that arrive are answered when it is false again
  std::atomic<int> warmed = 0;
  std::atomic<int> calls = 0;

 private:
  using In = Arguments<std::string>;
  using Out = Bare<std::string>;
  Task<Result<Response>> call_later(Request& request) {
    Clock& clock = Executor::current()->clock();
    while (held) {
      sleep_until pause(clock, clock.now() + 1ms);
      (void)co_await pause;
    }
    auto task = answer(request);
    co_return co_await task;
  }
  Task<Result<Response>> answer(Request& request) {
    auto handler = [this](const In&, Out& out) {
      out.value = name_;
      return ready(Result<void>());
    };
    return serve<In, Out>(request, handler);
  }

  const std::string name_;
  const Method method_{"name", Shape::unary, &message_type<In>(), &message_type<Out>()};
};

/// A server that is announced as a proxy in front of it, which counts connections and can make it die.
class Provider {
 public:
  Provider(const std::string& name, const Registries& registries, const std::function<void(AppOptions&)>& adjust = {})
      : port_(free_port()), proxy_("127.0.0.1:" + std::to_string(port_)), service_(std::make_shared<Who>(name)) {
    AppOptions options = with(server_options("tcp", "127.0.0.1:" + std::to_string(port_)), registries);
    options.server.listen[0].announce = proxy_.address();
    ServiceOptions offered;
    offered.name = who_service;
    offered.registry = names_of(registries);
    options.server.services = {offered};
    if (adjust) adjust(options);
    app_ = start(std::move(options), {service_});
  }
  App& app() { return *app_; }
  bool started() const { return app_ != nullptr; }
  Who& service() { return *service_; }
  std::string address() const { return proxy_.address(); }
  /// How often somebody has connected.
  int connects() const { return proxy_.accepted(); }
  std::size_t open() const { return proxy_.open(); }
  /// As kill -9 does: connections break, nobody listens, no registry is told.
  void die() {
    proxy_.refuse(true);
    proxy_.cut(Cut::reset);
  }
  void revive() { proxy_.refuse(false); }
  void stop() { EXPECT_TRUE(app_->stop(5s)); }
  void change(const AnnouncementChange& change) {
    const auto changed = app_->update_announcement({who_service, "", ""}, change);
    EXPECT_TRUE(changed.ok()) << changed.error().text();
  }

 private:
  const std::uint16_t port_;
  FaultProxy proxy_;
  const std::shared_ptr<Who> service_;
  std::unique_ptr<App> app_;
};

inline AppOptions consumer_options(const Registries& registries) {
  AppOptions options = with(test::options("shop"), registries);
  ReferenceOptions reference;
  reference.service = who_service;
  reference.registry = names_of(registries);
  reference.timeout = 5s;
  reference.heartbeat = 200ms;
  reference.methods["name"].idempotent = true;
  options.client.references["who"] = reference;
  return options;
}

class Consumer {
 public:
  explicit Consumer(const Registries& registries, const std::function<void(AppOptions&)>& adjust = {}) {
    AppOptions options = consumer_options(registries);
    if (adjust) adjust(options);
    app_ = start(std::move(options));
    if (!app_) throw std::runtime_error("the consumer did not start");
    name_.emplace(app_->reference("who"), "name");
  }
  App& app() { return *app_; }
  /// Who answers; "error: …" when nobody does.
  std::string call() const {
    const Result<std::string> answer = (*name_)("");
    return answer.ok() ? *answer : "error: " + answer.error().text();
  }
  std::map<std::string, int> calls(int count) const {
    std::map<std::string, int> answers;
    for (int i = 0; i < count; ++i) ++answers[call()];
    return answers;
  }
  /// Calls until exactly these have answered the last twenty for each.
  bool hears(const std::set<std::string>& wanted, Duration limit = 10s) const {
    return eventually(
        [&] {
          std::set<std::string> heard;
          for (const auto& [name, count] : calls(static_cast<int>(wanted.size()) * 20)) heard.insert(name);
          return heard == wanted;
        },
        limit);
  }

 private:
  std::unique_ptr<App> app_;
  std::optional<ClientFunction<std::string(std::string)>> name_;
};

/// Calls on threads of its own until it ends, and keeps what failed.
class Load {
 public:
  explicit Load(const Consumer& consumer, int threads = 2) {
    for (int i = 0; i < threads; ++i)
      threads_.emplace_back([this, &consumer] {
        while (!stop_) {
          const auto begun = std::chrono::steady_clock::now();
          const std::string answer = consumer.call();
          const Duration took = std::chrono::steady_clock::now() - begun;
          const std::lock_guard lock(mutex_);
          ++answers_[answer];
          slowest_ = std::max(slowest_, took);
        }
      });
  }
  ~Load() { stop(); }
  std::map<std::string, int> stop() {
    stop_ = true;
    for (std::thread& thread : threads_)
      if (thread.joinable()) thread.join();
    return answers_;
  }
  /// What failed, and how often; empty: nothing.
  std::string failures() {
    std::string all;
    for (const auto& [answer, count] : stop())
      if (answer.starts_with("error")) all += std::to_string(count) + " × " + answer + "\n";
    return all;
  }
  int total() {
    int sum = 0;
    for (const auto& [answer, count] : stop()) sum += count;
    return sum;
  }
  Duration slowest() {
    stop();
    return slowest_;
  }

 private:
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::map<std::string, int> answers_;
  Duration slowest_{0};
  std::vector<std::thread> threads_;
};

/// Watches the service in a memory registry, as another application would.
class Watcher {
 public:
  using Hear = std::function<void(const Snapshot&)>;
  /// `hear` is called with each snapshot, on the watcher's thread.
  explicit Watcher(const std::string& store, Hear hear = {}) : hear_(std::move(hear)) {
    auto app = App::create(with(test::options("watcher"), {}));
    if (!app.ok()) throw std::runtime_error(app.error().text());
    app_ = std::move(*app);
    inprocess::MemoryRegistryOptions options;
    options.name = store;
    for (const CatalogEntry& entry : app_->catalog())
      if (entry.kind == Registry::kind && entry.name == "memory") executor_.call([&] { watch(entry, options); });
    if (!watch_) throw std::runtime_error("no registry was made");
  }
  ~Watcher() {
    executor_.call([this] {
      watch_.reset();
      registry_.reset();
    });
  }
  std::vector<Snapshot> heard() const {
    const std::lock_guard lock(mutex_);
    return heard_;
  }
  std::vector<Instance> latest() const {
    const std::lock_guard lock(mutex_);
    return heard_.empty() ? std::vector<Instance>() : heard_.back().instances;
  }
  /// Waits for a snapshot of so many.
  bool sees(std::size_t count) const {
    return eventually([&] { return !heard().empty() && latest().size() == count; });
  }

 private:
  void watch(const CatalogEntry& entry, inprocess::MemoryRegistryOptions options) {
    auto made = entry.create(&options, Environment{executor_, log_, executor_.clock()});
    if (!made.ok()) return;
    registry_ = std::static_pointer_cast<Registry>(std::move(*made));
    auto watch = registry_->watch({{who_service, "", ""}, "watcher"}, [this](const Result<Snapshot>& news) {
      if (!news.ok()) return;
      if (hear_) hear_(*news);
      const std::lock_guard lock(mutex_);
      heard_.push_back(*news);
    });
    if (watch.ok()) watch_ = std::move(*watch);
  }

  const Hear hear_;
  std::unique_ptr<App> app_;
  RecordingLog log_;
  TestExecutor executor_;
  mutable std::mutex mutex_;
  std::vector<Snapshot> heard_;
  std::shared_ptr<Registry> registry_;
  std::unique_ptr<Watch> watch_;
};

/// ZooKeeper where nobody is. It does not answer within `connect_timeout`, and then says that it cannot.
inline Component dead_zookeeper(Duration connect_timeout = 60s) {
  zk::ZkOptions options;
  options.servers = "127.0.0.1:" + std::to_string(free_port());
  options.connect_timeout = std::chrono::duration_cast<std::chrono::milliseconds>(connect_timeout);
  return Component::of("zookeeper", options);
}
inline Component zookeeper(const ZookeeperServer& server) {
  zk::ZkOptions options;
  options.servers = server.address();
  options.session_timeout = 1s;
  return Component::of("zookeeper", options);
}

}  // namespace tenon::test
