#pragma once
// What a traffic command does: which instances of a service get which share of a client's calls.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "registry_client.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cli {

/// An instance and its share of the calls.
struct InstanceShare {
  Instance instance;  ///< with its group
  double share = 0;   ///< of 1, in steps of 1/10000
};

/// Where the calls of one client to one service go.
struct Shares {
  std::vector<InstanceShare> instances;  ///< all that are known, also without a share; the own group's first
  std::string trouble;                   ///< why the document has no effect; empty: it has
  /// Somebody gets calls.
  bool served() const noexcept;
};

/// The shares before and after a change, of clients that see the same.
struct Preview {
  ServiceName service;
  std::vector<std::string> clients;  ///< addresses; "": a client whose address is not known
  Shares now;
  Shares then;
  bool changes() const;
  /// Somebody serves them now, and nobody will.
  bool breaks() const noexcept { return now.served() && !then.served(); }
};

/// Asks router "traffic" what clients would do, with the instances that the registry has now.
/// Threads and blocking: as RegistryClient, which outlives it and has loaded plugin "cluster".
class TrafficPreview {
 public:
  explicit TrafficPreview(RegistryClient& registry) : registry_(registry) {}

  /// What is wrong with a command document, entry by entry; none: nothing.
  /// Fails with: malformed, too_large (nothing of it can be used).
  Result<std::vector<std::string>> complaints(const std::string& text);

  /// For `service` and each of `clients`, those that see the same together.
  /// Fails with: config (an address that is none), or what the registry answers.
  Result<std::vector<Preview>> of(const ServiceName& service, const std::vector<std::string>& clients,
                                  const std::string& now, const std::string& then);

 private:
  Result<std::shared_ptr<Router>> router_for(const ServiceName& service, const std::string& client);
  Result<const std::vector<Instance>*> known(const ServiceName& service);
  Result<Shares> shares(const ServiceName& service, const std::string& client, const std::string& text);

  RegistryClient& registry_;
  std::map<std::string, std::vector<Instance>> known_;  // by service: one moment for all
};

}  // namespace tenon::cli
