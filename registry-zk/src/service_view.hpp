#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "layout.hpp"
#include "provider_node.hpp"
#include "reconciler.hpp"
#include "tenon/registry.hpp"

namespace tenon::zk {

class ConsumerNode;

/// What is known of all instances of a service, whatever their version, and who wants to know. Folders and nodes are
/// watched one by one, so a change costs the reading of what changed.
/// Threads: the executor's. Ownership: its Watches, and a run.
class ServiceView final : public Reconciler {
 public:
  /// `service`: its version does not matter.
  ServiceView(Session& session, const Layout& layout, const ServiceName& service);
  ~ServiceView() override;

  /// Somebody who is told. Held by a Watch.
  struct Subscriber {
    std::string version;
    SnapshotObserver observer;
    bool ended = false;
    bool told = false;
    bool stale = false;
    Snapshot last;
  };
  std::shared_ptr<Subscriber> subscribe(const Subscription& subscription, SnapshotObserver observer);
  void end(Subscriber& subscriber);
  /// Announces the subscriber to operators, once.
  void show_consumer(const Layout& layout, const Subscription& subscription);

  void on_event(const std::string& path) override;
  void on_stale(const Error& error) override;

 private:
  struct Entry {
    bool current = false;  // as read, and watched
    std::optional<ProviderNode> node;
    std::int64_t created = 0;  // transaction
  };
  struct Folder {
    std::string path;
    bool serves;
    bool current = false;                  // its names are as read, and watched
    std::map<std::string, Entry> entries;  // by name
  };
  struct Kick : Alarm {
    ServiceView* view = nullptr;
  };

  Task<bool> reconcile() override;
  void on_new_session() override;
  Task<int> list(Folder& folder);
  Task<int> fetch(Folder& folder, std::string name);
  Task<int> fetch_all(Folder& folder);
  bool changing() const noexcept;
  void publish();
  Snapshot snapshot(const Subscriber& subscriber) const;
  void tell(const std::shared_ptr<Subscriber>& subscriber);
  void on_kick();

  Clock& clock_;
  const std::string name_;
  Folder folders_[2];
  bool loaded_ = false;
  TimePoint next_run_{};
  std::vector<std::shared_ptr<Subscriber>> subscribers_;
  std::shared_ptr<ConsumerNode> consumer_;
  Kick kick_;
};

}  // namespace tenon::zk
