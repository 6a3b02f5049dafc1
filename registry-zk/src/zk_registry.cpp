#include "zk_registry.hpp"

#include <algorithm>
#include <utility>

#include "provider_node.hpp"
#include "servers.hpp"

namespace tenon::zk {

namespace {

constexpr std::string_view local_prefix = "unix:";
constexpr int most_at_one_address = 100;
constexpr std::size_t largest_node = 1'000'000;
constexpr std::chrono::milliseconds shortest_timeout{100};
constexpr std::chrono::milliseconds longest_timeout{std::chrono::hours(1)};

Error refuse(std::string text) { return Error(Errc::config, std::move(text), Delivery::not_run, Advice::never); }

char auth_scheme[] = "auth";
char world_scheme[] = "world";
char no_id[] = "";
char anyone_id[] = "anyone";
ACL owner_entries[] = {{0x1F, {auth_scheme, no_id}}, {0x01, {world_scheme, anyone_id}}};
const ACL_vector owner_acl{2, owner_entries};
const ACL_vector owner_only_acl{1, owner_entries};

const ACL_vector* acl_of(Access access) {
  switch (access) {
    case Access::open: return &ZOO_OPEN_ACL_UNSAFE;
    case Access::owner: return &owner_acl;
    case Access::owner_only: return &owner_only_acl;
  }
  return &ZOO_OPEN_ACL_UNSAFE;
}

class ZkLease final : public Lease {
 public:
  ZkLease(std::shared_ptr<Announcement> announcement, std::uint64_t owner)
      : announcement_(std::move(announcement)), owner_(owner) {}
  ~ZkLease() override { announcement_->withdraw(owner_); }
  Announcement& announcement() const noexcept { return *announcement_; }
  std::uint64_t owner() const noexcept { return owner_; }

  void update(Instance instance) override { announcement_->update(owner_, std::move(instance)); }
  Task<Result<void>> withdraw(TimePoint deadline) override {
    announcement_->withdraw(owner_);
    return finish_withdrawal(announcement_, owner_, deadline);
  }

 private:
  const std::shared_ptr<Announcement> announcement_;
  const std::uint64_t owner_;
};

/// Of an instance that nobody elsewhere could call.
class LocalLease final : public Lease {
 public:
  void update(Instance) override {}
  Task<Result<void>> withdraw(TimePoint) override { return ready(Result<void>()); }
};

template <class View>
class ZkWatch final : public Watch {
 public:
  ZkWatch(std::shared_ptr<View> view, std::shared_ptr<typename View::Subscriber> subscriber)
      : view_(std::move(view)), subscriber_(std::move(subscriber)) {}
  ~ZkWatch() override { view_->end(*subscriber_); }

 private:
  const std::shared_ptr<View> view_;
  const std::shared_ptr<typename View::Subscriber> subscriber_;
};

Result<void> check_options(const ZkOptions& options) {
  if (auto checked = check_root(options.root); !checked.ok()) return checked;
  for (const auto& [name, value] :
       {std::pair("session_timeout", options.session_timeout), std::pair("connect_timeout", options.connect_timeout)})
    if (value < shortest_timeout || value > longest_timeout)
      return refuse(std::string(name) + " is " + std::to_string(value.count()) +
                    " ms; it must be between 100 ms and 1 h");
  if (!options.digest_auth.empty() &&
      (options.digest_auth.find(':') == std::string::npos || options.digest_auth.starts_with(':')))
    return refuse("digest_auth must be user:password");
  if (options.access != Access::open && options.digest_auth.empty())
    return refuse("access is limited to owners, and digest_auth, by which ZooKeeper knows them, is missing");
  if (options.host.find_first_of("/ ?&") != std::string::npos)
    return refuse("host '" + options.host + "' is no host name or address");
  return {};
}

}  // namespace

Result<std::unique_ptr<ZkRegistry>> ZkRegistry::create(Options options, Environment environment) {
  if (options.servers.empty()) return refuse("servers is missing; give host:port,host:port");
  auto servers = parse_servers(options.servers);
  if (!servers.ok()) return std::move(servers).error();
  if (auto checked = check_options(options); !checked.ok()) return std::move(checked).error();
  const bool remote =
      std::any_of(servers->begin(), servers->end(), [](const Server& server) { return !is_loopback(server.host); });
  SessionOptions session;
  session.client = {client_text(*servers), options.session_timeout, options.digest_auth, acl_of(options.access)};
  session.connect_timeout = options.connect_timeout;
  session.host = options.host;
  session.label = "ZooKeeper at " + options.servers;
  return std::unique_ptr<ZkRegistry>(new ZkRegistry(std::move(options), std::move(session), remote, environment));
}

ZkRegistry::ZkRegistry(Options options, SessionOptions session, bool remote, Environment environment)
    : options_(std::move(options)),
      remote_(remote),
      log_(environment.log),
      layout_(options_.root),
      session_(std::move(session), environment),
      admin_(session_, layout_, options_.command_encoding) {}

ZkRegistry::~ZkRegistry() { session_.stop(); }

Task<Result<std::unique_ptr<Lease>>> ZkRegistry::announce(const ServiceName& service, Instance instance) {
  if (instance.address.starts_with(local_prefix)) {
    // A server that listens on a port and on such a socket announces both.
    log_.info("zookeeper", service.text() + " at " + instance.address + " is of this host only; it is not announced");
    return ready(Result<std::unique_ptr<Lease>>(std::make_unique<LocalLease>()));
  }
  return stand(service, std::move(instance));
}

Result<std::unique_ptr<Lease>> ZkRegistry::put_up(const ServiceName& service, Instance instance) {
  if (auto checked = check_service(service); !checked.ok()) return std::move(checked).error();
  const std::string who = service.text() + " at '" + instance.address + "'";
  if (instance.id.empty()) return refuse(who + ": the instance has no id");
  std::string host;
  std::uint16_t port = 0;
  if (!split_host_port(instance.address, host, port))
    return refuse(who + ": the address must be host:port, which is the name of the instance's node");
  if (auto checked = check_name("the instance's address", instance.address); !checked.ok())
    return std::move(checked).error();
  if (write_provider(service, instance, true).size() > largest_node)
    return refuse(who + ": its metadata are too large; ZooKeeper keeps at most 1 MB");
  if (remote_ && is_loopback(host))
    log_.warn("zookeeper", who + " is announced with an address that other hosts cannot reach");

  auto announcement = place_for(service, instance);
  if (!announcement.ok()) return std::move(announcement).error();
  const std::uint64_t owner = (*announcement)->announce(service, std::move(instance));
  return std::unique_ptr<Lease>(std::make_unique<ZkLease>(std::move(*announcement), owner));
}

// The node is named by the address, as Motan's. Another version of the service at the same address gets a number.
Result<std::shared_ptr<Announcement>> ZkRegistry::place_for(const ServiceName& service, const Instance& instance) {
  for (int number = 1; number <= most_at_one_address; ++number) {
    const std::string name = instance.address + (number == 1 ? "" : "-" + std::to_string(number));
    const std::string path = layout_.service(service) + "/" + name;
    std::shared_ptr<Announcement> announcement = announcements_.find(path);
    if (!announcement) {
      announcement = std::make_shared<Announcement>(session_, layout_, service, name);
      announcements_.add(path, announcement);
    }
    if (!announcement->wanted()) return announcement;
    if (announcement->instance().id == instance.id && same_version(announcement->service().version, service.version))
      return refuse(service.text() + " has an instance " + instance.id + " already; an id is announced once");
  }
  return refuse(service.text() + " is announced " + std::to_string(most_at_one_address) + " times at " +
                instance.address + " already");
}

Task<Result<std::unique_ptr<Lease>>> ZkRegistry::stand(ServiceName service, Instance instance) {
  const std::string who = service.text() + " at " + instance.address;
  auto lease = put_up(service, std::move(instance));
  if (!lease.ok()) co_return std::move(lease);
  const auto& made = static_cast<const ZkLease&>(**lease);
  const bool check = options_.check;
  Announcement& announcement = made.announcement();
  const TimePoint begin = announcement.now();
  const TimePoint answered_by = begin + options_.connect_timeout;
  // The registry may end while this waits: then the announcement is orphaned, and nothing else is touched.
  while (!announcement.done(made.owner()) && announcement.alive()) {
    const TimePoint until = announcement.connected() ? answered_by : std::max(begin, session_.hopeless_at());
    if (announcement.now() >= until) break;
    (void)co_await announcement.bell().wait(until);
  }
  if (announcement.done(made.owner())) co_return std::move(lease);
  const Error trouble = announcement.trouble();
  if (check || !announcement.alive()) co_return trouble;
  log_.warn("zookeeper", who + " is not announced yet: " + trouble.text());
  co_return std::move(lease);
}

Result<std::unique_ptr<Watch>> ZkRegistry::watch(const Subscription& subscription, SnapshotObserver observer) {
  if (auto checked = check_service(subscription.service); !checked.ok()) return std::move(checked).error();
  const std::string path = layout_.service(subscription.service);
  std::shared_ptr<ServiceView> view = services_.find(path);
  if (!view) {
    view = std::make_shared<ServiceView>(session_, layout_, subscription.service);
    services_.add(path, view);
  }
  auto subscriber = view->subscribe(subscription, std::move(observer));
  if (options_.show_consumers) view->show_consumer(layout_, subscription);
  return std::unique_ptr<Watch>(std::make_unique<ZkWatch<ServiceView>>(std::move(view), std::move(subscriber)));
}

Result<std::unique_ptr<Watch>> ZkRegistry::watch_document(const std::string& kind, const std::string& group,
                                                          DocumentObserver observer) {
  if (auto checked = check_document(kind, group); !checked.ok()) return std::move(checked).error();
  const std::string path = layout_.document(kind, group);
  std::shared_ptr<DocumentView> view = documents_.find(path);
  if (!view) {
    view = std::make_shared<DocumentView>(session_, path, kind, group);
    documents_.add(path, view);
  }
  auto subscriber = view->subscribe(std::move(observer));
  return std::unique_ptr<Watch>(std::make_unique<ZkWatch<DocumentView>>(std::move(view), std::move(subscriber)));
}

}  // namespace tenon::zk
