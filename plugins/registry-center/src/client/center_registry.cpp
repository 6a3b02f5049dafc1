#include "center_registry.hpp"

#include <unistd.h>

#include <utility>

#include "center/limits.hpp"
#include "tenon/invoker_reference.hpp"

namespace tenon::center {

namespace {

constexpr std::chrono::milliseconds shortest_timeout{100};
constexpr std::chrono::milliseconds longest_timeout{std::chrono::hours(1)};

Error refuse(std::string text) { return Error(Errc::config, std::move(text), Delivery::not_run, Advice::never); }

// "host/process id".
std::string this_process() {
  char host[256] = "";
  if (::gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  return std::string(host) + "/" + std::to_string(::getpid());
}

class CenterLease final : public Lease {
 public:
  explicit CenterLease(std::shared_ptr<Announcement> announcement) : announcement_(std::move(announcement)) {}
  ~CenterLease() override { announcement_->withdraw(); }
  void update(Instance instance) override { announcement_->update(std::move(instance)); }
  Task<Result<void>> withdraw(TimePoint deadline) override {
    announcement_->withdraw();
    return finish(announcement_, deadline);
  }

 private:
  const std::shared_ptr<Announcement> announcement_;
};

template <class Kind>
class CenterWatch final : public Watch {
 public:
  explicit CenterWatch(std::shared_ptr<Kind> follower) : follower_(std::move(follower)) {}
  ~CenterWatch() override { follower_->end(); }

 private:
  const std::shared_ptr<Kind> follower_;
};

// Waits for the center's answer; without one the lease is good all the same, unless `check`.
Task<Result<std::unique_ptr<Lease>>> stand(std::shared_ptr<Announcement> announcement, Duration patience, bool check) {
  const std::shared_ptr<Session> session = announcement->session();
  const TimePoint until = session->clock().now() + patience;
  while (!announcement->done() && !session->stopped() && session->clock().now() < until)
    (void)co_await announcement->bell().wait(until);
  if (announcement->refusal()) co_return announcement->refusal();
  if (!announcement->done()) {
    if (check || session->stopped()) {
      announcement->withdraw();
      co_return announcement->trouble();
    }
    session->log().warn("center", announcement->who() + " is not announced yet: " + announcement->trouble().text());
  }
  co_return std::unique_ptr<Lease>(std::make_unique<CenterLease>(std::move(announcement)));
}

}  // namespace

Result<std::unique_ptr<CenterRegistry>> CenterRegistry::create(Options options, Environment environment) {
  if (!options.server) return refuse("server is missing; give the center's address, host:port");
  ServiceName service;
  service.interface = interface;
  auto center = std::make_shared<InvokerReference>(options.server.component, service, environment.executor);
  return over(std::move(center), std::move(options), environment);
}

Result<std::unique_ptr<CenterRegistry>> CenterRegistry::over(std::shared_ptr<Reference> center, Options options,
                                                             Environment environment) {
  if (options.connect_timeout < shortest_timeout || options.connect_timeout > longest_timeout)
    return refuse("connect_timeout is " + std::to_string(options.connect_timeout.count()) +
                  " ms; it must be between 100 ms and 1 h");
  auto session = std::make_shared<Session>(std::move(center), this_process(), std::move(options.token),
                                           options.connect_timeout, environment);
  session->start();
  return std::unique_ptr<CenterRegistry>(
      new CenterRegistry(std::move(session), options.connect_timeout, options.check));
}

CenterRegistry::~CenterRegistry() { session_->stop(); }

Task<Result<std::unique_ptr<Lease>>> CenterRegistry::announce(const ServiceName& service, Instance instance) {
  Result<void> checked = check_service(service);
  if (checked.ok()) checked = check_instance(instance);
  if (!checked.ok()) return ready(Result<std::unique_ptr<Lease>>(std::move(checked).error()));
  auto announcement = std::make_shared<Announcement>(session_, service, std::move(instance));
  announcement->begin();
  return stand(std::move(announcement), patience_, check_);
}

Result<std::unique_ptr<Watch>> CenterRegistry::watch(const Subscription& subscription, SnapshotObserver observer) {
  if (auto checked = check_service(subscription.service); !checked.ok()) return std::move(checked).error();
  auto follower = std::make_shared<ServiceFollower>(session_, subscription, std::move(observer));
  follower->begin();
  return std::unique_ptr<Watch>(std::make_unique<CenterWatch<ServiceFollower>>(std::move(follower)));
}

Result<std::unique_ptr<Watch>> CenterRegistry::watch_document(const std::string& kind, const std::string& group,
                                                              DocumentObserver observer) {
  if (auto checked = check_document_name(kind, group); !checked.ok()) return std::move(checked).error();
  auto follower = std::make_shared<DocumentFollower>(session_, kind, group, std::move(observer));
  follower->begin();
  return std::unique_ptr<Watch>(std::make_unique<CenterWatch<DocumentFollower>>(std::move(follower)));
}

}  // namespace tenon::center
