#pragma once
// A registry as `tenon registry` and `tenon command` use it.

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loop/run_on.hpp"
#include "loop/wait_for.hpp"
#include "tenon/app.hpp"
#include "tenon/cluster.hpp"
#include "tenon/registry.hpp"

namespace CLI {
class App;
}

namespace tenon::cli {

/// Which registry is meant, as the command line says it.
struct RegistryTarget {
  std::string registry;  ///< with a manifest its name there, else a registry: see registry_yaml()
  std::string manifest;
  std::vector<std::string> plugins;     ///< more plugins to load, by name or by path
  std::vector<std::string> plugin_dir;  ///< searched before the usual directories
};

/// Adds them to a subcommand's command line.
void add_registry_target(CLI::App& parser, RegistryTarget& target);
/// What `--registry` may be without a manifest; for help texts.
extern const char* const registry_help;

/// What a manifest would have below `registries`, of what the command line says:
///   zookeeper                           the registry of that name, with its default options
///   {use: zookeeper, servers: "…"}      YAML, as in a manifest
///   zookeeper://VALUE?option=value&…    VALUE is that registry's first option, `first_option` its name
/// Fails with: config (an option without a value, a second one of the same name).
Result<std::string> registry_yaml(const std::string& registry, std::string_view first_option);
/// The name of the implementation in each of these forms; empty: there is none.
std::string registry_use(const std::string& registry);

/// Reads and writes one registry. A function returns when the registry has answered.
/// Threads: one, no io thread. Blocking: until the registry answers, or says that nobody can be reached.
class RegistryClient {
  // First, because their results are deduced.
  Executor& executor() const { return *app_->executors().front(); }
  template <class F>
  auto ask(F make) {
    return wait_for(executor(), std::move(make));
  }

 public:
  /// Loads what the registry needs, and `plugins`; nothing is connected yet.
  /// Fails with: config (manifest, no such registry, options, missing plugins; a registry without administration).
  static Result<std::unique_ptr<RegistryClient>> open(const RegistryTarget& target,
                                                      const std::vector<std::string>& plugins = {});
  RegistryClient(const RegistryClient&) = delete;
  RegistryClient& operator=(const RegistryClient&) = delete;
  ~RegistryClient();

  Result<std::vector<std::string>> groups() {
    return ask([this] { return admin_->groups(); });
  }
  Result<std::vector<ServiceName>> services() {
    return ask([this] { return admin_->services(); });
  }
  Result<std::vector<Instance>> instances(const ServiceName& service) {
    return ask([&] { return admin_->instances(service); });
  }
  Result<std::vector<Subscriber>> subscribers(const ServiceName& service) {
    return ask([&] { return admin_->subscribers(service); });
  }
  Result<Document> read(const std::string& kind, const std::string& group) {
    return ask([&] { return admin_->read(kind, group); });
  }
  Result<void> write(const Document& document) {
    return ask([&] { return admin_->write(document); });
  }
  Result<void> remove(const Document& document) {
    return ask([&] { return admin_->remove(document); });
  }
  Result<void> set_weight(const ServiceName& service, const std::string& id, std::uint32_t weight) {
    return ask([&] { return admin_->set_weight(service, id, weight); });
  }
  Result<void> set_serving(const ServiceName& service, const std::string& id, bool serving) {
    return ask([&] { return admin_->set_serving(service, id, serving); });
  }
  /// `observer` runs on the registry's executor, until end_watches(). It outlives this.
  Result<void> watch(const Subscription& subscription, SnapshotObserver observer);
  void end_watches();

  /// Runs `function()` where registries and routers live.
  template <class F>
  auto on_executor(F function) {
    return run_on(executor(), std::move(function));
  }
  App& app() noexcept { return *app_; }

 private:
  RegistryClient(std::unique_ptr<App> app, std::shared_ptr<Registry> registry, RegistryAdmin* admin)
      : app_(std::move(app)), registry_(std::move(registry)), admin_(admin) {}
  const std::unique_ptr<App> app_;
  std::shared_ptr<Registry> registry_;
  RegistryAdmin* const admin_;
  std::vector<std::unique_ptr<Watch>> watches_;
};

}  // namespace tenon::cli
