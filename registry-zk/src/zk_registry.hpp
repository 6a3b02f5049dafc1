#pragma once
#include <map>
#include <memory>
#include <string>

#include "admin.hpp"
#include "announcement.hpp"
#include "document_view.hpp"
#include "layout.hpp"
#include "options.hpp"
#include "service_view.hpp"
#include "session.hpp"
#include "tenon/catalog.hpp"
#include "tenon/registry.hpp"

namespace tenon::zk {

/// Objects that others own, by path: one for each while it lives.
template <class T>
class Living {
 public:
  std::shared_ptr<T> find(const std::string& path) const {
    const auto found = by_path_.find(path);
    return found == by_path_.end() ? nullptr : found->second.lock();
  }
  void add(const std::string& path, const std::shared_ptr<T>& object) {
    if (by_path_.size() >= sweep_at_) {
      std::erase_if(by_path_, [](const auto& entry) { return entry.second.expired(); });
      sweep_at_ = 2 * by_path_.size() + 16;
    }
    by_path_[path] = object;
  }

 private:
  std::map<std::string, std::weak_ptr<T>> by_path_;
  std::size_t sweep_at_ = 16;
};

/// Registry "zookeeper": one session with ZooKeeper, in which services stand where Motan's do. What is wanted is kept
/// here and brought about in each new session, so its functions work while no server does, too.
class ZkRegistry final : public Registry {
 public:
  using Options = ZkOptions;
  /// Fails with: config. Servers that are not there are none of that.
  static Result<std::unique_ptr<ZkRegistry>> create(Options options, Environment environment);
  ~ZkRegistry() override;

  /// Ends when the instance stands, or after connect_timeout; then it goes on in the background, unless `check` is set.
  /// What listens on a unix socket is not announced, which is logged.
  /// Fails with: config (names that ZooKeeper does not take, an address that is not host:port, an id that is announced
  /// here already); with `check`: unavailable, permission_denied.
  Task<Result<std::unique_ptr<Lease>>> announce(const ServiceName& service, Instance instance) override;
  Result<std::unique_ptr<Watch>> watch(const Subscription& subscription, SnapshotObserver observer) override;
  Result<std::unique_ptr<Watch>> watch_document(const std::string& kind, const std::string& group,
                                                DocumentObserver observer) override;
  RegistryAdmin* admin() noexcept override { return &admin_; }

 private:
  ZkRegistry(Options options, SessionOptions session, bool remote, Environment environment);
  Result<std::unique_ptr<Lease>> put_up(const ServiceName& service, Instance instance);
  Result<std::shared_ptr<Announcement>> place_for(const ServiceName& service, const Instance& instance);
  Task<Result<std::unique_ptr<Lease>>> stand(ServiceName service, Instance instance);

  const ZkOptions options_;
  const bool remote_;  // the servers are on other hosts
  Log& log_;
  const Layout layout_;
  Session session_;
  ZkAdmin admin_;
  Living<Announcement> announcements_;
  Living<ServiceView> services_;
  Living<DocumentView> documents_;
};

}  // namespace tenon::zk
