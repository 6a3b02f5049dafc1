#include "static_registry.hpp"

#include <set>
#include <utility>

namespace tenon::fixed {

namespace {

Error refuse(std::size_t index, const std::string& what) {
  return Error(Errc::config, "instances[" + std::to_string(index) + "]: " + what, Delivery::not_run, Advice::never);
}

bool matches(const StaticInstance& entry, const ServiceName& service) noexcept {
  return entry.service == service.interface && (entry.group.empty() || entry.group == service.group) &&
         (entry.version.empty() || entry.version == service.version);
}

/// Delivers the snapshot once, on a turn of its own.
class StaticWatch final : public Watch {
 public:
  StaticWatch(Snapshot snapshot, SnapshotObserver observer, Executor& executor)
      : delivery_(new Delivery(this, std::move(snapshot), std::move(observer))) {
    executor.post(*delivery_);
  }
  ~StaticWatch() override {
    if (delivery_) delivery_->watch = nullptr;
  }

 private:
  struct Delivery : Work {
    Delivery(StaticWatch* w, Snapshot s, SnapshotObserver o)
        : watch(w), snapshot(std::move(s)), observer(std::move(o)) {
      run = &Delivery::deliver;
    }
    static void deliver(Work* work) noexcept {
      const std::unique_ptr<Delivery> self(static_cast<Delivery*>(work));
      if (!self->watch) return;  // ended before
      self->watch->delivery_ = nullptr;
      self->observer(Result<Snapshot>(std::move(self->snapshot)));
    }
    StaticWatch* watch;
    Snapshot snapshot;
    SnapshotObserver observer;
  };
  Delivery* delivery_;  // null once delivered
};

class StaticLease final : public Lease {
 public:
  StaticLease(std::string service, Log& log) : service_(std::move(service)), log_(log) {}
  void update(Instance instance) override {
    log_.info("static-lease", service_ + " at " + instance.address + ": changed here only; nobody is told");
  }
  Task<Result<void>> withdraw(TimePoint) override {
    log_.info("static-lease", service_ + ": withdrawn here only; nobody is told");
    return ready(Result<void>());
  }

 private:
  const std::string service_;
  Log& log_;
};

}  // namespace

Result<std::unique_ptr<StaticRegistry>> StaticRegistry::create(Options options, Environment environment) {
  std::set<std::pair<std::string, std::string>> ids;
  for (std::size_t index = 0; index < options.instances.size(); ++index) {
    StaticInstance& entry = options.instances[index];
    if (entry.service.empty()) return refuse(index, "service is missing: the interface this instance offers");
    if (entry.address.empty()) return refuse(index, "address is missing: where " + entry.service + " listens");
    if (entry.id.empty()) entry.id = entry.address;
    // One id may appear in several groups or versions of a service: they are different services.
    const std::string service = ServiceName{entry.service, entry.group, entry.version}.text();
    if (!ids.emplace(service, entry.id).second)
      return refuse(index, "a second instance of " + service + " with id \"" + entry.id + "\"");
  }
  return std::make_unique<StaticRegistry>(std::move(options), environment);
}

Task<Result<std::unique_ptr<Lease>>> StaticRegistry::announce(const ServiceName& service, Instance instance) {
  log_.info("static-lease", service.text() + " at " + instance.address +
                                ": a static registry tells nobody; callers list this address themselves");
  Result<std::unique_ptr<Lease>> lease(std::unique_ptr<Lease>(new StaticLease(service.text(), log_)));
  return ready(std::move(lease));
}

Snapshot StaticRegistry::snapshot(const ServiceName& service) const {
  Snapshot snapshot;
  snapshot.revision = 1;
  for (const StaticInstance& entry : options_.instances) {
    if (!matches(entry, service)) continue;
    Instance instance;
    instance.id = entry.id;
    instance.transport = entry.transport;
    instance.address = entry.address;
    instance.protocols = entry.protocols;
    instance.weight = entry.weight;
    instance.metadata = entry.metadata;
    snapshot.instances.push_back(std::move(instance));
  }
  return snapshot;
}

Result<std::unique_ptr<Watch>> StaticRegistry::watch(const Subscription& subscription, SnapshotObserver observer) {
  return std::unique_ptr<Watch>(new StaticWatch(snapshot(subscription.service), std::move(observer), executor_));
}

Result<std::unique_ptr<Watch>> StaticRegistry::watch_document(const std::string& kind, const std::string&,
                                                              DocumentObserver) {
  return Error(Errc::unimplemented, "a static registry keeps no documents (\"" + kind + "\")", Delivery::not_run);
}

}  // namespace tenon::fixed
