#pragma once
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/executor.hpp"
#include "tenon/registry.hpp"

namespace tenon::inprocess {

/// Orders service names.
struct ByName {
  bool operator()(const ServiceName& a, const ServiceName& b) const noexcept {
    return std::tie(a.interface, a.group, a.version) < std::tie(b.interface, b.group, b.version);
  }
};

class ServiceWatcher;
class DocumentWatcher;

/// What several registries of one process share: who offers what, and texts. It stands for the registry's server.
/// Threads: any; one mutex, never held while an observer runs. Ownership: its users' together, by shared_ptr; it keeps
/// nobody alive. Watchers are told on their own executors.
class Directory : public std::enable_shared_from_this<Directory> {
 public:
  /// The directory of that name, made if nobody has it at the moment.
  static std::shared_ptr<Directory> named(const std::string& name);

  explicit Directory(std::string name) : name_(std::move(name)) {}
  ~Directory();
  const std::string& name() const noexcept { return name_; }

  /// Fails with: config when the id is announced for this service already.
  Result<void> add(const ServiceName& service, Instance instance);
  /// The instance of that id as it is now; nothing when it is gone.
  void replace(const ServiceName& service, Instance instance);
  /// Tells watchers that it left on purpose. Nothing when it is gone.
  void remove(const ServiceName& service, const std::string& id);

  std::shared_ptr<ServiceWatcher> watch(const Subscription& subscription, SnapshotObserver observer,
                                        Executor& executor);
  std::shared_ptr<DocumentWatcher> watch_document(const std::string& kind, const std::string& group,
                                                  DocumentObserver observer, Executor& executor);
  void end(ServiceWatcher& watcher);
  void end(DocumentWatcher& watcher);

  /// Services that have instances or watchers.
  std::vector<ServiceName> services() const;
  std::vector<Instance> instances(const ServiceName& service) const;
  /// Each name once.
  std::vector<Subscriber> subscribers(const ServiceName& service) const;
  /// Groups of those services, and of documents that have been written; sorted.
  std::vector<std::string> groups() const;
  /// One that was never written has version 0 and no text.
  Document read(const std::string& kind, const std::string& group) const;
  /// Fails with: already_exists when the version is not the stored one.
  Result<void> write(const Document& document);
  /// Fails with: already_exists as write(), not_found.
  Result<void> remove_document(const Document& document);
  /// Fail with: not_found.
  Result<void> set_weight(const ServiceName& service, const std::string& id, std::uint32_t weight);
  Result<void> set_serving(const ServiceName& service, const std::string& id, bool serving);

 private:
  friend class ServiceWatcher;
  friend class DocumentWatcher;
  struct Service {
    std::uint64_t revision = 0;
    std::map<std::string, Instance> instances;  // by id
    std::vector<ServiceWatcher*> watchers;
  };
  struct Text {
    Document document;
    std::vector<DocumentWatcher*> watchers;
  };
  using Services = std::map<ServiceName, Service, ByName>;
  using Texts = std::map<std::pair<std::string, std::string>, Text>;

  // With the mutex held.
  Services::iterator open(const ServiceName& service);
  void changed(Service& service);
  void forget_if_unused(Services::iterator service);
  Texts::iterator open_text(const std::string& kind, const std::string& group);
  Error conflict(const Document& document, std::uint64_t stored) const;
  // Sets what of an instance.
  template <class T>
  Result<void> set(const ServiceName& service, const std::string& id, T Instance::*what, T value);

  const std::string name_;
  mutable std::mutex mutex_;
  std::uint64_t revision_ = 1;  // the newest of all services, so that one forgotten and met again goes on growing
  std::uint64_t version_ = 0;   // the newest of all texts, for the same reason
  Services services_;
  Texts texts_;
};

}  // namespace tenon::inprocess
