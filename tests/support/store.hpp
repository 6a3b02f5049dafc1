#pragma once
// A registry as a manifest writes it, for Apps of tests, and for tests that look into it without an App's references.

#include <algorithm>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/test_apps.hpp"
#include "tenon/registry.hpp"
#include "tenon/task.hpp"

namespace tenon::test {

/// Where providers and consumers meet.
struct Store {
  std::string plugin;    ///< "registry-zk"
  std::string registry;  ///< its entry of a manifest's `registries`: "{ use: zookeeper, servers: … }"
};

/// A registry of this process only.
inline Store memory(const std::string& name) {
  return {"registry-memory", "{ use: memory, name: \"" + name + "\" }"};
}

/// Adds the registry under that name. Throws std::runtime_error when its text is none.
inline void add_registry(AppOptions& options, const std::string& name, const Store& store) {
  auto read = parse_manifest("test", "registries: { " + name + ": " + store.registry + " }");
  if (!read.ok()) throw std::runtime_error(read.error().text());
  options.registries[name] = read->registries.at(name);
  std::vector<std::string>& plugins = options.plugins.load;
  if (std::find(plugins.begin(), plugins.end(), store.plugin) == plugins.end()) plugins.push_back(store.plugin);
}
inline AppOptions with_store(AppOptions options, const Store& store) {
  add_registry(options, "here", store);
  return options;
}

/// Runs function() on the executor's thread and waits for its result. Threads: any other.
template <class F>
auto call_on(Executor& executor, F function) {
  struct Job : Work {
    explicit Job(F f) : task(std::move(f)) {}
    std::packaged_task<std::invoke_result_t<F&>()> task;
  };
  auto* const job = new Job(std::move(function));
  auto result = job->task.get_future();
  job->run = [](Work* work) noexcept { (*std::unique_ptr<Job>(static_cast<Job*>(work))).task(); };
  executor.post(*job);
  return result.get();
}
/// Runs the task made by make() there to its end. Throws when it takes longer than 40 s (the task is leaked then).
template <class F>
auto run_on(Executor& executor, F make) {
  using T = typename decltype(make())::value_type;
  struct Job : Work {
    explicit Job(F f) : make(std::move(f)) {}
    F make;
    Task<T> task;
    std::promise<T> promise;
    void finish() {
      T value = task.take();
      promise.set_value(std::move(value));
      delete this;
    }
  };
  auto* const job = new Job(std::move(make));
  auto done = job->promise.get_future();
  job->run = [](Work* work) noexcept {
    auto* const job = static_cast<Job*>(work);
    job->task = job->make();
    if (job->task.start([](void* self) { static_cast<Job*>(self)->finish(); }, job)) job->finish();
  };
  executor.post(*job);
  if (done.wait_for(std::chrono::seconds(40)) != std::future_status::ready)
    throw std::runtime_error("the task does not end");
  return done.get();
}

/// A registry of an App that has nothing else: a hand of an operator, or another provider's. Functions may be called on
/// any thread but its executor's.
class RegistryHand {
 public:
  explicit RegistryHand(const Store& store, const std::string& application = "hand") {
    auto app = App::create(with_store(options(application), store));
    if (!app.ok()) throw std::runtime_error(app.error().text());
    app_ = std::move(*app);
    auto registry = app_->registry("here");
    if (!registry.ok()) throw std::runtime_error(registry.error().text());
    registry_ = std::move(*registry);
  }
  RegistryHand(const RegistryHand&) = delete;
  RegistryHand& operator=(const RegistryHand&) = delete;
  /// Ends watches and leases first, and then the registry.
  ~RegistryHand() {
    call_on(executor(), [this] {
      watches_.clear();
      leases_.clear();
      registry_.reset();
    });
  }

  /// Runs `function(registry)` where it lives.
  template <class F>
  auto on(F function) {
    return call_on(executor(), std::move(function));
  }
  /// Runs the task that `make()` makes of registry() or admin().
  template <class F>
  auto run(F make) {
    return run_on(executor(), std::move(make));
  }
  Registry& registry() const noexcept { return *registry_; }
  RegistryAdmin& admin() const noexcept { return *registry_->admin(); }

  Result<void> announce(const ServiceName& service, const Instance& instance) {
    auto lease = run([&] { return registry_->announce(service, instance); });
    if (!lease.ok()) return std::move(lease).error();
    leases_.push_back(std::move(*lease));
    return {};
  }
  /// Changes what the last announce() has announced.
  void update(const Instance& instance) {
    on([&] { leases_.back()->update(instance); });
  }
  /// `observer` is called on the registry's executor.
  Result<void> watch(const ServiceName& service, SnapshotObserver observer, const std::string& subscriber = "watcher") {
    return on([&]() -> Result<void> {
      auto watch = registry_->watch({service, subscriber}, std::move(observer));
      if (!watch.ok()) return std::move(watch).error();
      watches_.push_back(std::move(*watch));
      return {};
    });
  }

 private:
  Executor& executor() const { return *app_->executors().front(); }
  std::unique_ptr<App> app_;
  std::shared_ptr<Registry> registry_;
  std::vector<std::unique_ptr<Lease>> leases_;
  std::vector<std::unique_ptr<Watch>> watches_;
};

}  // namespace tenon::test
