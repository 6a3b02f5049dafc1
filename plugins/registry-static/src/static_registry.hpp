#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tenon/catalog.hpp"
#include "tenon/registry.hpp"

namespace tenon::fixed {

/// One line of the list: an instance of one service.
struct StaticInstance {
  std::string service;
  std::string group;
  std::string version;
  std::string id;
  std::string transport;
  std::string address;
  std::vector<std::string> protocols;
  std::uint32_t weight = 100;
  std::map<std::string, std::string> metadata;
};
BOOST_DESCRIBE_STRUCT(StaticInstance, (),
                      (service, group, version, id, transport, address, protocols, weight, metadata))

struct StaticOptions {
  std::vector<StaticInstance> instances;
};
BOOST_DESCRIBE_STRUCT(StaticOptions, (), (instances))

/// Registry "static": the instances its options list, for as long as the process runs. Announcing changes nothing.
/// Threads: the executor of its environment.
class StaticRegistry final : public Registry {
 public:
  using Options = StaticOptions;
  /// Fails with: config (an entry without service or address, two instances of a service with one id).
  static Result<std::unique_ptr<StaticRegistry>> create(Options options, Environment environment);
  StaticRegistry(Options options, Environment environment)
      : options_(std::move(options)), executor_(environment.executor), log_(environment.log) {}

  /// The lease is only logged: who listens where is written in the options of those who call.
  Task<Result<std::unique_ptr<Lease>>> announce(const ServiceName& service, Instance instance) override;
  Result<std::unique_ptr<Watch>> watch(const Subscription& subscription, SnapshotObserver observer) override;
  Result<std::unique_ptr<Watch>> watch_document(const std::string& kind, const std::string& group,
                                                DocumentObserver observer) override;
  RegistryAdmin* admin() noexcept override { return nullptr; }

 private:
  Snapshot snapshot(const ServiceName& service) const;

  const Options options_;
  Executor& executor_;
  Log& log_;
};

}  // namespace tenon::fixed

template <>
struct tenon::Describe<tenon::fixed::StaticInstance> {
  static constexpr auto members = tenon::members(
      tenon::member("service", "interface it offers, as in client.references"),
      tenon::member("group", "its group; left out: any"), tenon::member("version", "its version; left out: any"),
      tenon::member("id", "unique within the service; left out: the address"),
      tenon::member("transport", "left out: the reference's"), tenon::member("address", "where it listens"),
      tenon::member("protocols", "those it speaks; left out: any"),
      tenon::member("weight", "its share of the calls; 0: none"),
      tenon::member("metadata", "texts for routers and people"));
};
template <>
struct tenon::Describe<tenon::fixed::StaticOptions> {
  static constexpr auto members = tenon::members(tenon::member("instances", "who offers what, and where"));
};
