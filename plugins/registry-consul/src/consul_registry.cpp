#include "consul_registry.hpp"

#include <unistd.h>

#include <utility>

#include "layout.hpp"
#include "names.hpp"
#include "provider_node.hpp"
#include "service_url.hpp"

namespace tenon::consul {

namespace {

constexpr std::string_view local_prefix = "unix:";
constexpr int most_at_one_address = 100;
constexpr std::size_t largest_registration = 256u << 10;

Error refuse(std::string text) { return Error(Errc::config, std::move(text), Delivery::not_run, Advice::never); }

class ConsulLease final : public Lease {
 public:
  explicit ConsulLease(std::shared_ptr<Announcement> announcement) : announcement_(std::move(announcement)) {}
  ~ConsulLease() override { announcement_->withdraw(); }
  void update(Instance instance) override { announcement_->update(std::move(instance)); }
  Task<Result<void>> withdraw(TimePoint deadline) override {
    announcement_->withdraw();
    return finish(announcement_, deadline);
  }

 private:
  const std::shared_ptr<Announcement> announcement_;
};

/// Of an instance that nobody elsewhere could call.
class LocalLease final : public Lease {
 public:
  void update(Instance) override {}
  Task<Result<void>> withdraw(TimePoint) override { return ready(Result<void>()); }
};

// Waits for the agent's answer; without one the lease is good all the same, unless `check`.
Task<Result<std::unique_ptr<Lease>>> stand(std::shared_ptr<Announcement> announcement) {
  const std::shared_ptr<Agent> agent = announcement->agent();
  const TimePoint until = agent->clock().now() + agent->options().connect_timeout;
  while (!announcement->done() && !agent->stopped() && agent->clock().now() < until)
    (void)co_await announcement->bell().wait(until);
  if (announcement->refusal()) {
    Error refusal = announcement->refusal();
    announcement->withdraw();
    co_return std::move(refusal);
  }
  if (!announcement->done()) {
    if (agent->options().check || agent->stopped()) {
      Error trouble = announcement->trouble();
      announcement->withdraw();
      co_return std::move(trouble);
    }
    agent->log().warn("consul", announcement->who() + " is not announced yet: " + announcement->trouble().text());
  }
  co_return std::unique_ptr<Lease>(std::make_unique<ConsulLease>(std::move(announcement)));
}

}  // namespace

class ConsulRegistry::Shown {
 public:
  explicit Shown(std::shared_ptr<Announcement> announcement) : announcement_(std::move(announcement)) {
    announcement_->begin(nullptr);
  }
  Shown(const Shown&) = delete;
  Shown& operator=(const Shown&) = delete;
  ~Shown() { announcement_->withdraw(); }

 private:
  const std::shared_ptr<Announcement> announcement_;
};

Result<std::unique_ptr<ConsulRegistry>> ConsulRegistry::create(Options options, Environment environment) {
  auto checked = check_options(std::move(options));
  if (!checked.ok()) return std::move(checked).error();
  auto agent = std::make_shared<Agent>(std::move(*checked), environment);
  agent->start();
  return std::unique_ptr<ConsulRegistry>(new ConsulRegistry(std::move(agent)));
}

ConsulRegistry::~ConsulRegistry() { agent_->stop(); }

std::shared_ptr<GroupWords> ConsulRegistry::words_of(const std::string& group) {
  std::shared_ptr<GroupWords> words = words_.find(group);
  if (words && !words->over()) return words;
  words = std::make_shared<GroupWords>(agent_, group);
  words_.add(group, words);
  words->begin();
  return words;
}

Task<Result<std::unique_ptr<Lease>>> ConsulRegistry::announce(const ServiceName& service, Instance instance) {
  if (instance.address.starts_with(local_prefix)) {
    // A server that listens on a port and on such a socket announces both.
    agent_->log().info("consul",
                       service.text() + " at " + instance.address + " is of this host only; it is not announced");
    return ready(Result<std::unique_ptr<Lease>>(std::make_unique<LocalLease>()));
  }
  auto announcement = put_up(service, std::move(instance));
  if (!announcement.ok()) return ready(Result<std::unique_ptr<Lease>>(std::move(announcement).error()));
  return stand(std::move(*announcement));
}

// The id is made of address and interface, as Motan's. Another version of the service there gets a number.
Result<std::shared_ptr<Announcement>> ConsulRegistry::put_up(const ServiceName& service, Instance instance) {
  if (auto checked = check_service(service); !checked.ok()) return std::move(checked).error();
  const std::string who = service.text() + " at '" + instance.address + "'";
  if (instance.id.empty()) return refuse(who + ": the instance has no id");
  std::string host;
  std::uint16_t port = 0;
  if (!zk::split_host_port(instance.address, host, port))
    return refuse(who + ": the address must be host:port, which Consul keeps");
  if (auto checked = check_name("the instance's address", instance.address); !checked.ok())
    return std::move(checked).error();
  if (write_registration(provider_registration(service, instance, "")).size() > largest_registration)
    return refuse(who + ": its metadata are too large; at most 256 KiB are registered");
  const std::string group = zk::group_or_default(service.group);
  for (int number = 1; number <= most_at_one_address; ++number) {
    const std::string id = registration_id(instance.address, service.interface, number);
    std::shared_ptr<Announcement> before = announcements_.find(id);
    if (before && !before->withdrawn()) {
      const bool same_service = zk::group_or_default(before->service().group) == group &&
                                zk::same_version(before->service().version, service.version);
      if (before->instance().id == instance.id && same_service)
        return refuse(service.text() + " has an instance " + instance.id + " already; an id is announced once");
      continue;
    }
    auto announcement = std::make_shared<Announcement>(agent_, service, std::move(instance), id, words_of(group));
    announcements_.add(id, announcement);
    announcement->begin(std::move(before));
    return announcement;
  }
  return refuse(service.text() + " is announced " + std::to_string(most_at_one_address) + " times at " +
                instance.address + " already");
}

std::shared_ptr<ConsulRegistry::Shown> ConsulRegistry::show_consumer(const Subscription& subscription) {
  if (!agent_->options().show_consumers) return nullptr;
  const std::string name = zk::group_or_default(subscription.service.group) + "/" + subscription.service.interface +
                           ":" + subscription.service.version;
  std::shared_ptr<Shown> shown = shown_.find(name);
  if (shown) return shown;
  const std::string id = "tenon-consumer-" + agent_->new_owner();
  shown = std::make_shared<Shown>(std::make_shared<Announcement>(agent_, subscription, id));
  shown_.add(name, shown);
  return shown;
}

Result<std::unique_ptr<Watch>> ConsulRegistry::watch(const Subscription& subscription, SnapshotObserver observer) {
  struct ServiceWatch final : Watch {
    ~ServiceWatch() override { view->end_of(*subscriber); }
    std::shared_ptr<GroupView> view;
    std::shared_ptr<GroupView::Subscriber> subscriber;
    std::shared_ptr<Shown> shown;
  };
  if (auto checked = check_service(subscription.service); !checked.ok()) return std::move(checked).error();
  const std::string group = zk::group_or_default(subscription.service.group);
  std::shared_ptr<GroupView> view = views_.find(group);
  if (!view || view->over()) {
    view = std::make_shared<GroupView>(agent_, group, words_of(group));
    views_.add(group, view);
    view->begin();
  }
  auto made = std::make_unique<ServiceWatch>();
  made->subscriber = view->subscribe(subscription, std::move(observer));
  made->view = std::move(view);
  made->shown = show_consumer(subscription);
  return std::unique_ptr<Watch>(std::move(made));
}

Result<std::unique_ptr<Watch>> ConsulRegistry::watch_document(const std::string& kind, const std::string& group,
                                                              DocumentObserver observer) {
  struct DocumentWatch final : Watch {
    ~DocumentWatch() override { view->end_of(*subscriber); }
    std::shared_ptr<DocumentView> view;
    std::shared_ptr<DocumentView::Subscriber> subscriber;
  };
  if (auto checked = check_document(kind, group); !checked.ok()) return std::move(checked).error();
  const std::string key = document_key(kind, group);
  std::shared_ptr<DocumentView> view = documents_.find(key);
  if (!view || view->over()) {
    view = std::make_shared<DocumentView>(agent_, kind, group);
    documents_.add(key, view);
    view->begin();
  }
  auto made = std::make_unique<DocumentWatch>();
  made->subscriber = view->subscribe(std::move(observer));
  made->view = std::move(view);
  return std::unique_ptr<Watch>(std::move(made));
}

}  // namespace tenon::consul
