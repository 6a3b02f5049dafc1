#include "memory_registry.hpp"

#include <utility>

#include "watchers.hpp"

namespace tenon::inprocess {

namespace {

Error refuse(std::string text) { return Error(Errc::config, std::move(text), Delivery::not_run, Advice::never); }

class MemoryLease final : public Lease {
 public:
  MemoryLease(std::shared_ptr<Directory> directory, ServiceName service, std::string id)
      : directory_(std::move(directory)), service_(std::move(service)), id_(std::move(id)) {}
  ~MemoryLease() override { withdraw_now(); }

  void update(Instance instance) override {
    if (withdrawn_) return;
    instance.id = id_;  // it stays the same instance
    directory_->replace(service_, std::move(instance));
  }
  Task<Result<void>> withdraw(TimePoint) override {
    withdraw_now();
    return ready(Result<void>());
  }

 private:
  void withdraw_now() {
    // Once: the id may be somebody else's afterwards.
    if (!std::exchange(withdrawn_, true)) directory_->remove(service_, id_);
  }

  const std::shared_ptr<Directory> directory_;
  const ServiceName service_;
  const std::string id_;
  bool withdrawn_ = false;
};

template <class Kind>
class MemoryWatch final : public Watch {
 public:
  MemoryWatch(std::shared_ptr<Directory> directory, std::shared_ptr<Kind> watcher)
      : directory_(std::move(directory)), watcher_(std::move(watcher)) {}
  ~MemoryWatch() override { directory_->end(*watcher_); }

 private:
  const std::shared_ptr<Directory> directory_;
  const std::shared_ptr<Kind> watcher_;
};

}  // namespace

Result<std::unique_ptr<MemoryRegistry>> MemoryRegistry::create(Options options, Environment environment) {
  if (options.name.empty()) return refuse("name is empty; leave it out for \"default\"");
  return std::unique_ptr<MemoryRegistry>(new MemoryRegistry(Directory::named(options.name), environment.executor));
}

Task<Result<std::unique_ptr<Lease>>> MemoryRegistry::announce(const ServiceName& service, Instance instance) {
  return ready(announce_now(service, std::move(instance)));
}

Result<std::unique_ptr<Lease>> MemoryRegistry::announce_now(const ServiceName& service, Instance instance) {
  if (service.interface.empty()) return refuse("registry " + directory_->name() + ": the service has no name");
  if (instance.id.empty() || instance.address.empty())
    return refuse("registry " + directory_->name() + ": an instance of " + service.text() + " has no " +
                  (instance.id.empty() ? "id" : "address"));
  std::string id = instance.id;
  if (auto added = directory_->add(service, std::move(instance)); !added.ok()) return std::move(added).error();
  return std::unique_ptr<Lease>(std::make_unique<MemoryLease>(directory_, service, std::move(id)));
}

Result<std::unique_ptr<Watch>> MemoryRegistry::watch(const Subscription& subscription, SnapshotObserver observer) {
  if (subscription.service.interface.empty())
    return refuse("registry " + directory_->name() + ": the service to watch has no name");
  auto watcher = directory_->watch(subscription, std::move(observer), executor_);
  return std::unique_ptr<Watch>(std::make_unique<MemoryWatch<ServiceWatcher>>(directory_, std::move(watcher)));
}

Result<std::unique_ptr<Watch>> MemoryRegistry::watch_document(const std::string& kind, const std::string& group,
                                                              DocumentObserver observer) {
  if (kind.empty()) return refuse("registry " + directory_->name() + ": the document to watch has no kind");
  auto watcher = directory_->watch_document(kind, group, std::move(observer), executor_);
  return std::unique_ptr<Watch>(std::make_unique<MemoryWatch<DocumentWatcher>>(directory_, std::move(watcher)));
}

Task<Result<std::vector<ServiceName>>> MemoryRegistry::Admin::services() {
  return ready(Result<std::vector<ServiceName>>(directory_.services()));
}
Task<Result<std::vector<Instance>>> MemoryRegistry::Admin::instances(const ServiceName& service) {
  return ready(Result<std::vector<Instance>>(directory_.instances(service)));
}
Task<Result<std::vector<Subscriber>>> MemoryRegistry::Admin::subscribers(const ServiceName& service) {
  return ready(Result<std::vector<Subscriber>>(directory_.subscribers(service)));
}
Task<Result<std::vector<std::string>>> MemoryRegistry::Admin::groups() {
  return ready(Result<std::vector<std::string>>(directory_.groups()));
}
Task<Result<Document>> MemoryRegistry::Admin::read(const std::string& kind, const std::string& group) {
  return ready(Result<Document>(directory_.read(kind, group)));
}
Task<Result<void>> MemoryRegistry::Admin::write(const Document& document) {
  if (document.kind.empty())
    return ready(Result<void>(refuse("registry " + directory_.name() + ": the document has no kind")));
  return ready(directory_.write(document));
}
Task<Result<void>> MemoryRegistry::Admin::remove(const Document& document) {
  return ready(directory_.remove_document(document));
}
Task<Result<void>> MemoryRegistry::Admin::set_weight(const ServiceName& service, const std::string& id,
                                                     std::uint32_t weight) {
  return ready(directory_.set_weight(service, id, weight));
}
Task<Result<void>> MemoryRegistry::Admin::set_serving(const ServiceName& service, const std::string& id, bool serving) {
  return ready(directory_.set_serving(service, id, serving));
}

}  // namespace tenon::inprocess
