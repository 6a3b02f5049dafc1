#pragma once
#include <memory>
#include <thread>
#include <utility>

#include "tenon/app.hpp"
#include "tenon/registry.hpp"

namespace tenon::test {

/// A registry over the reference of an App of its own. Its end waits for the calls it has given up, which report to the
/// executor of who has ended it: in an App registries and their references share one that lives longer.
class SettledRegistry final : public Registry {
 public:
  SettledRegistry(std::unique_ptr<Registry> registry, std::unique_ptr<App> client)
      : client_(std::move(client)), registry_(std::move(registry)) {}
  ~SettledRegistry() override {
    registry_.reset();
    while (client_->counts().client_calls > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  Task<Result<std::unique_ptr<Lease>>> announce(const ServiceName& service, Instance instance) override {
    return registry_->announce(service, std::move(instance));
  }
  Result<std::unique_ptr<Watch>> watch(const Subscription& subscription, SnapshotObserver observer) override {
    return registry_->watch(subscription, std::move(observer));
  }
  Result<std::unique_ptr<Watch>> watch_document(const std::string& kind, const std::string& group,
                                                DocumentObserver observer) override {
    return registry_->watch_document(kind, group, std::move(observer));
  }
  RegistryAdmin* admin() noexcept override { return registry_->admin(); }

 private:
  const std::unique_ptr<App> client_;
  std::unique_ptr<Registry> registry_;
};

}  // namespace tenon::test
