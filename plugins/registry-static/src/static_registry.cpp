#include "static_registry.hpp"

#include <set>
#include <utility>

namespace tenon::fixed {

namespace {

Error refuse(std::string text) { return Error(Errc::config, std::move(text), Delivery::not_run, Advice::never); }

/// "group/interface:version", the reverse of ServiceName::text().
ServiceName parse_service(const std::string& text) {
  ServiceName name;
  const std::size_t slash = text.rfind('/');
  if (slash != std::string::npos) name.group = text.substr(0, slash);
  name.interface = slash == std::string::npos ? text : text.substr(slash + 1);
  const std::size_t colon = name.interface.find(':');
  if (colon != std::string::npos) {
    name.version = name.interface.substr(colon + 1);
    name.interface.resize(colon);
  }
  return name;
}

bool matches(const ServiceName& entry, const ServiceName& wanted) {
  return entry.interface == wanted.interface && (entry.group.empty() || entry.group == wanted.group) &&
         (entry.version.empty() || entry.version == wanted.version);
}

/// Delivers the one snapshot on a turn of its own.
class StaticWatch final : public Watch {
 public:
  StaticWatch(Snapshot snapshot, SnapshotObserver observer, Executor& executor) : delivery_(new Delivery) {
    delivery_->watch = this;
    delivery_->snapshot = std::move(snapshot);
    delivery_->observer = std::move(observer);
    delivery_->run = [](Work* work) noexcept {
      const std::unique_ptr<Delivery> delivery(static_cast<Delivery*>(work));
      if (!delivery->watch) return;  // ended before
      delivery->watch->delivery_ = nullptr;
      delivery->observer(Result<Snapshot>(std::move(delivery->snapshot)));
    };
    executor.post(*delivery_);
  }
  ~StaticWatch() override {
    if (delivery_) delivery_->watch = nullptr;
  }

 private:
  struct Delivery : Work {
    StaticWatch* watch = nullptr;
    Snapshot snapshot;
    SnapshotObserver observer;
  };
  Delivery* delivery_;
};

/// An announcement nobody hears: whoever should find this instance has it in a manifest.
class StaticLease final : public Lease {
 public:
  StaticLease(Log& log, std::string who) : log_(log), who_(std::move(who)) {}
  void update(Instance instance) override {
    log_.info("static-registry", who_ + " now has weight " + std::to_string(instance.weight) +
                                     (instance.serving ? "" : " and does not serve") +
                                     "; a static registry tells nobody");
  }
  Task<Result<void>> withdraw(TimePoint) override {
    log_.info("static-registry", who_ + " withdrawn; a static registry tells nobody");
    return ready(Result<void>());
  }

 private:
  Log& log_;
  const std::string who_;
};

}  // namespace

Result<std::unique_ptr<StaticRegistry>> StaticRegistry::create(Options options, Environment environment) {
  for (const auto& [service, addresses] : options.addresses) {
    const ServiceName name = parse_service(service);
    for (const std::string& address : addresses) {
      StaticInstance& instance = options.instances.emplace_back();
      instance.service = name.interface;
      instance.group = name.group;
      instance.version = name.version;
      instance.address = address;
    }
  }
  std::vector<Entry> entries;
  std::set<std::pair<std::string, std::string>> seen;
  for (StaticInstance& from : options.instances) {
    Entry entry{{std::move(from.service), std::move(from.group), std::move(from.version)}, {}};
    if (entry.service.interface.empty()) return refuse("an instance has no service");
    if (from.address.empty()) return refuse(entry.service.text() + ": an instance has no address");
    entry.instance.id = from.id.empty() ? from.address : std::move(from.id);
    entry.instance.transport = std::move(from.transport);
    entry.instance.address = std::move(from.address);
    entry.instance.protocols = std::move(from.protocols);
    entry.instance.weight = from.weight;
    entry.instance.metadata = std::move(from.metadata);
    const std::string service = entry.service.text();
    if (!seen.emplace(service, "id " + entry.instance.id).second)
      return refuse(service + ": two instances have the id '" + entry.instance.id + "'");
    if (!seen.emplace(service, "at " + entry.instance.transport + "!" + entry.instance.address).second)
      return refuse(service + ": two instances have the address " + entry.instance.address);
    entries.push_back(std::move(entry));
  }
  return std::unique_ptr<StaticRegistry>(new StaticRegistry(std::move(entries), environment));
}

Task<Result<std::unique_ptr<Lease>>> StaticRegistry::announce(const ServiceName& service, Instance instance) {
  std::string who = service.text() + " at " + instance.address;
  log_.info("static-registry", who + " announced; a static registry tells nobody, clients have it in their manifests");
  return ready(Result<std::unique_ptr<Lease>>(std::make_unique<StaticLease>(log_, std::move(who))));
}

Result<std::unique_ptr<Watch>> StaticRegistry::watch(const Subscription& subscription, SnapshotObserver observer) {
  Snapshot snapshot;
  snapshot.revision = 1;
  for (const Entry& entry : entries_)
    if (matches(entry.service, subscription.service)) snapshot.instances.push_back(entry.instance);
  if (snapshot.instances.empty())
    log_.warn("static-registry",
              subscription.service.text() + ": no address is given for it; given are: " + services());
  return std::unique_ptr<Watch>(new StaticWatch(std::move(snapshot), std::move(observer), executor_));
}

Result<std::unique_ptr<Watch>> StaticRegistry::watch_document(const std::string& kind, const std::string&,
                                                              DocumentObserver) {
  return Error(Errc::unimplemented, "a static registry keeps no documents (of kind '" + kind + "')", Delivery::not_run);
}

std::string StaticRegistry::services() const {
  std::set<std::string> names;
  for (const Entry& entry : entries_) names.insert(entry.service.text());
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

}  // namespace tenon::fixed
