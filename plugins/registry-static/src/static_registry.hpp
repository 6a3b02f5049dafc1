#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tenon/catalog.hpp"
#include "tenon/registry.hpp"

namespace tenon::fixed {

/// One provider, written out.
struct StaticInstance {
  std::string service;
  std::string group;
  std::string version;
  std::string address;
  std::string transport;
  std::vector<std::string> protocols;
  std::uint32_t weight = 100;
  std::string id;
  std::map<std::string, std::string> metadata;
};
BOOST_DESCRIBE_STRUCT(StaticInstance, (),
                      (service, group, version, address, transport, protocols, weight, id, metadata))

struct StaticOptions {
  std::vector<StaticInstance> instances;
  std::map<std::string, std::vector<std::string>> addresses;
};
BOOST_DESCRIBE_STRUCT(StaticOptions, (), (instances, addresses))

/// Registry "static": the manifest is the registry. What it says never changes while the process runs.
class StaticRegistry final : public Registry {
 public:
  using Options = StaticOptions;
  /// Fails with: config (no service, no address, an id or address twice in one service).
  static Result<std::unique_ptr<StaticRegistry>> create(Options options, Environment environment);

  Task<Result<std::unique_ptr<Lease>>> announce(const ServiceName& service, Instance instance) override;
  Result<std::unique_ptr<Watch>> watch(const Subscription& subscription, SnapshotObserver observer) override;
  Result<std::unique_ptr<Watch>> watch_document(const std::string& kind, const std::string& group,
                                                DocumentObserver observer) override;
  RegistryAdmin* admin() noexcept override { return nullptr; }

 private:
  struct Entry {
    ServiceName service;  ///< an empty group or version stands for any
    Instance instance;
  };
  StaticRegistry(std::vector<Entry> entries, Environment environment)
      : entries_(std::move(entries)), executor_(environment.executor), log_(environment.log) {}
  std::string services() const;

  const std::vector<Entry> entries_;
  Executor& executor_;
  Log& log_;
};

}  // namespace tenon::fixed

template <>
struct tenon::Describe<tenon::fixed::StaticInstance> {
  static constexpr auto members = tenon::members(
      tenon::member("service", "interface name, as references ask for it"),
      tenon::member("group", "empty: any group"), tenon::member("version", "empty: any version"),
      tenon::member("address", "the transport's, host:port for tcp"),
      tenon::member("transport", "plugin name; empty: the reference's"),
      tenon::member("protocols", "what it speaks; empty: the reference's"),
      tenon::member("weight", "share of the calls; 0: none"), tenon::member("id", "empty: the address"),
      tenon::member("metadata", "anything routers and tools understand"));
};

template <>
struct tenon::Describe<tenon::fixed::StaticOptions> {
  static constexpr auto members = tenon::members(
      tenon::member("instances", "providers written out"),
      tenon::member("addresses", "short form: {group/service:version: [host:port, …]}, group and version optional"));
};
