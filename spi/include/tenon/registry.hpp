#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/describe.hpp"
#include "tenon/method.hpp"
#include "tenon/result.hpp"
#include "tenon/task.hpp"

namespace tenon {

BOOST_DESCRIBE_STRUCT(ServiceName, (), (interface, group, version))

/// One running provider of one service, as registries know it.
struct Instance {
  std::string id;          ///< unique within the service; equal address after a restart may have a new id
  std::string transport;   ///< plugin name: "tcp"
  std::string address;     ///< the transport's: "10.0.0.7:4080"
  std::vector<std::string> protocols;
  std::uint32_t weight = 100;  ///< 0: takes no traffic
  bool serving = true;
  std::map<std::string, std::string> metadata;
  /// The group of the service it was found in: written by the cluster that watches, not by registries, and nothing that
  /// is announced or configured (so it is not described).
  std::string group{};
  bool operator==(const Instance&) const = default;
};
BOOST_DESCRIBE_STRUCT(Instance, (), (id, transport, address, protocols, weight, serving, metadata))

/// The whole set, never a difference. Applying an older revision after a newer one is a mistake of the registry;
/// observers ignore it.
struct Snapshot {
  std::uint64_t revision = 0;
  std::vector<Instance> instances;
  std::vector<std::string> withdrawn;  ///< ids that left on purpose (not merely lost): may be dropped at once
};

/// A text kept by a registry: traffic commands, routing rules, limits, switches.
struct Document {
  std::string kind;   ///< "command", "rule", "limit", "switch"
  std::string group;
  std::string text;
  std::uint64_t version = 0;  ///< for compare-and-set
};
BOOST_DESCRIBE_STRUCT(Document, (), (kind, group, text, version))

struct Subscription {
  ServiceName service;
  std::string subscriber;  ///< who asks (application name), shown to operators
};

/// Keeps one instance announced. Destruction withdraws as a fallback, without waiting.
/// Threads: the registry's executor.
class TENON_SPI Lease {
 public:
  virtual ~Lease();
  /// Changes what subscribers see (weight, metadata, serving); retried until it holds.
  virtual void update(Instance instance) = 0;
  /// Takes the instance off, telling subscribers that it left on purpose. Ends at the deadline at the latest.
  virtual Task<Result<void>> withdraw(TimePoint deadline) = 0;
};

/// A subscription that is alive. Destruction ends it; the observer is not called afterwards.
class TENON_SPI Watch {
 public:
  virtual ~Watch();
};

/// Called on the registry's executor: first with what is known now, then after each change. An error means "the last
/// set is stale, keep it", never "nobody is there".
using SnapshotObserver = std::function<void(const Result<Snapshot>&)>;
using DocumentObserver = std::function<void(const Result<Document>&)>;

/// Somebody who follows a service, as operators see it.
struct Subscriber {
  std::string name;      ///< Subscription::subscriber; what the registry knows it by when it gave none
  std::string address;   ///< of its host, without a port: "10.0.0.9"; empty: not known
  bool foreign = false;  ///< known not to be Tenon's: it reads documents in its own way
  bool operator==(const Subscriber&) const = default;
};
BOOST_DESCRIBE_STRUCT(Subscriber, (), (name, address, foreign))

/// Reads and writes a registry's contents for tools. Threads: the registry's executor.
class TENON_SPI RegistryAdmin {
 public:
  virtual ~RegistryAdmin();
  virtual Task<Result<std::vector<ServiceName>>> services() = 0;
  virtual Task<Result<std::vector<Instance>>> instances(const ServiceName& service) = 0;
  virtual Task<Result<std::vector<Subscriber>>> subscribers(const ServiceName& service) = 0;
  /// Every group there is anything in, sorted; also those that have documents only.
  virtual Task<Result<std::vector<std::string>>> groups() = 0;
  /// One that is not there: no text, version 0.
  virtual Task<Result<Document>> read(const std::string& kind, const std::string& group) = 0;
  /// Fails with: already_exists when the stored version is not document.version.
  virtual Task<Result<void>> write(const Document& document) = 0;
  /// Removes it; `text` is not looked at. Fails with: already_exists as write(), not_found.
  virtual Task<Result<void>> remove(const Document& document) = 0;
  /// Changes the weight of somebody's instance, which stays his. Holds until its provider's own next update, also over
  /// losses of the registry. Fails with: not_found.
  virtual Task<Result<void>> set_weight(const ServiceName& service, const std::string& id, std::uint32_t weight) = 0;
  /// Takes an instance out of traffic, and back into it; holds as a weight does. Fails with: not_found.
  virtual Task<Result<void>> set_serving(const ServiceName& service, const std::string& id, bool serving) = 0;
};

/// Where services announce themselves and clients find them. Recovery is the registry's: it keeps the desired state
/// (announcements, watches) and replays it after every loss.
/// Threads: its executor's (Environment). Foreign threads inside post there first. Blocking: never.
class TENON_SPI Registry {
 public:
  static constexpr std::string_view kind = "registry";
  virtual ~Registry();
  /// Announces and keeps announced. Fails with: config, unavailable (only when the registry says start-up must fail).
  virtual Task<Result<std::unique_ptr<Lease>>> announce(const ServiceName& service, Instance instance) = 0;
  virtual Result<std::unique_ptr<Watch>> watch(const Subscription& subscription, SnapshotObserver observer) = 0;
  /// Fails with: unimplemented when the registry keeps no documents.
  virtual Result<std::unique_ptr<Watch>> watch_document(const std::string& kind, const std::string& group,
                                                        DocumentObserver observer) = 0;
  /// Null when it cannot be administered.
  virtual RegistryAdmin* admin() noexcept = 0;
};

}  // namespace tenon
