#pragma once
#include <map>
#include <memory>
#include <string>

#include "admin.hpp"
#include "agent.hpp"
#include "announcement.hpp"
#include "document_view.hpp"
#include "group_view.hpp"
#include "options.hpp"
#include "tenon/catalog.hpp"
#include "tenon/registry.hpp"

namespace tenon::consul {

/// Objects that others own, by name: one for each while it lives.
template <class T>
class Living {
 public:
  std::shared_ptr<T> find(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second.lock();
  }
  void add(const std::string& name, const std::shared_ptr<T>& object) {
    if (by_name_.size() >= sweep_at_) {
      std::erase_if(by_name_, [](const auto& entry) { return entry.second.expired(); });
      sweep_at_ = 2 * by_name_.size() + 16;
    }
    by_name_[name] = object;
  }

 private:
  std::map<std::string, std::weak_ptr<T>> by_name_;
  std::size_t sweep_at_ = 16;
};

/// Registry "consul": services stand in Consul where Motan's do, told to one agent over HTTP. What is wanted is kept
/// here and brought about again after every loss, so its functions work while no agent does, too.
class ConsulRegistry final : public Registry {
 public:
  using Options = ConsulOptions;
  /// Fails with: config. An agent that is not there is none of that.
  static Result<std::unique_ptr<ConsulRegistry>> create(Options options, Environment environment);
  ~ConsulRegistry() override;

  /// Ends when the instance stands, or after connect_timeout; then it goes on in the background, unless `check` is set.
  /// What listens on a unix socket is not announced, which is logged.
  /// Fails with: config (names that cannot be used, an address that is not host:port, an id that is announced here
  /// already), permission_denied and invalid_argument (the agent refuses it); with `check`: unavailable.
  Task<Result<std::unique_ptr<Lease>>> announce(const ServiceName& service, Instance instance) override;
  Result<std::unique_ptr<Watch>> watch(const Subscription& subscription, SnapshotObserver observer) override;
  Result<std::unique_ptr<Watch>> watch_document(const std::string& kind, const std::string& group,
                                                DocumentObserver observer) override;
  RegistryAdmin* admin() noexcept override { return &admin_; }

 private:
  class Shown;  // a consumer, as long as anybody here follows its service
  explicit ConsulRegistry(std::shared_ptr<Agent> agent) : agent_(std::move(agent)), admin_(agent_) {}
  Result<std::shared_ptr<Announcement>> put_up(const ServiceName& service, Instance instance);
  std::shared_ptr<GroupWords> words_of(const std::string& group);
  std::shared_ptr<Shown> show_consumer(const Subscription& subscription);

  const std::shared_ptr<Agent> agent_;
  ConsulAdmin admin_;
  Living<Announcement> announcements_;  // by the registration's id
  Living<GroupWords> words_;            // by group
  Living<GroupView> views_;             // the same
  Living<DocumentView> documents_;      // by key
  Living<Shown> shown_;                 // by service
};

}  // namespace tenon::consul
