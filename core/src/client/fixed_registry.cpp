#include "client/fixed_registry.hpp"


namespace tenon {

namespace {

/// Delivers the snapshot once, on a turn of its own.
class FixedWatch final : public Watch {
 public:
  FixedWatch(const Snapshot& snapshot, SnapshotObserver observer, Executor& executor)
      : delivery_(new Delivery{{}, this, snapshot, std::move(observer)}) {
    delivery_->run = [](Work* work) noexcept {
      std::unique_ptr<Delivery> delivery(static_cast<Delivery*>(work));
      if (!delivery->watch) return;  // ended before
      delivery->watch->delivery_ = nullptr;
      delivery->observer(Result<Snapshot>(std::move(delivery->snapshot)));
    };
    executor.post(*delivery_);
  }
  ~FixedWatch() override {
    if (delivery_) delivery_->watch = nullptr;
  }

 private:
  struct Delivery : Work {
    Delivery(Work work, FixedWatch* w, Snapshot s, SnapshotObserver o)
        : Work(work), watch(w), snapshot(std::move(s)), observer(std::move(o)) {}
    FixedWatch* watch;
    Snapshot snapshot;
    SnapshotObserver observer;
  };
  Delivery* delivery_;
};

}  // namespace

FixedRegistry::FixedRegistry(std::string_view addresses, const std::string& transport, Executor& executor)
    : executor_(executor) {
  snapshot_.revision = 1;
  while (!addresses.empty()) {
    const std::size_t comma = addresses.find(',');
    std::string_view address = addresses.substr(0, comma);
    addresses.remove_prefix(comma == std::string_view::npos ? addresses.size() : comma + 1);
    while (!address.empty() && address.front() == ' ') address.remove_prefix(1);
    while (!address.empty() && address.back() == ' ') address.remove_suffix(1);
    if (address.empty()) continue;
    Instance instance;
    instance.id = instance.address = address;
    instance.transport = transport;
    snapshot_.instances.push_back(std::move(instance));
  }
}

Task<Result<std::unique_ptr<Lease>>> FixedRegistry::announce(const ServiceName& service, Instance) {
  Error error(Errc::unimplemented, service.text() + ": a list of addresses cannot be announced to");
  return ready<Result<std::unique_ptr<Lease>>>(std::move(error));
}

Result<std::unique_ptr<Watch>> FixedRegistry::watch(const Subscription&, SnapshotObserver observer) {
  return std::unique_ptr<Watch>(new FixedWatch(snapshot_, std::move(observer), executor_));
}

Result<std::unique_ptr<Watch>> FixedRegistry::watch_document(const std::string&, const std::string&,
                                                             DocumentObserver) {
  return Error(Errc::unimplemented, "a list of addresses keeps no documents");
}

}  // namespace tenon
