#pragma once
#include <string>

#include "tenon/executor.hpp"
#include "tenon/registry.hpp"

namespace tenon {

/// The instances of one reference written as addresses (client.references.NAME.address): one snapshot, for ever.
class FixedRegistry final : public Registry {
 public:
  /// `addresses`: one or several, separated by commas.
  FixedRegistry(std::string_view addresses, const std::string& transport, Executor& executor);
  Task<Result<std::unique_ptr<Lease>>> announce(const ServiceName& service, Instance instance) override;
  Result<std::unique_ptr<Watch>> watch(const Subscription& subscription, SnapshotObserver observer) override;
  Result<std::unique_ptr<Watch>> watch_document(const std::string& kind, const std::string& group,
                                                DocumentObserver observer) override;
  RegistryAdmin* admin() noexcept override { return nullptr; }

 private:
  Snapshot snapshot_;
  Executor& executor_;
};

}  // namespace tenon
