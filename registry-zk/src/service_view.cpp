#include "service_view.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "consumer_node.hpp"
#include "tenon/scope.hpp"

namespace tenon::zk {

namespace {

constexpr std::size_t at_once = 64;                                // reads under way
constexpr Duration rest_for_each = std::chrono::microseconds(20);  // what observers do with an instance
constexpr Duration longest_rest = std::chrono::milliseconds(500);

}  // namespace

ServiceView::ServiceView(Session& session, const Layout& layout, const ServiceName& service)
    : Reconciler(session, {layout.service(service)}),
      clock_(session.clock()),
      name_(group_or_default(service.group) + "/" + service.interface),
      folders_{{layout.service(service) + "/" + std::string(serving_folder), true, false, {}},
               {layout.service(service) + "/" + std::string(unavailable_folder), false, false, {}}} {
  kick_.view = this;
  kick_.fire = [](Alarm* alarm) { static_cast<Kick*>(alarm)->view->on_kick(); };
}

ServiceView::~ServiceView() {
  clock_.cancel(kick_);
  if (consumer_) consumer_->end();
  if (!session()) return;
  for (const Folder& folder : folders_) {
    session()->forget(folder.path);
    for (const auto& [name, entry] : folder.entries) session()->forget(folder.path + "/" + name);
  }
}

std::shared_ptr<ServiceView::Subscriber> ServiceView::subscribe(const Subscription& subscription,
                                                                SnapshotObserver observer) {
  auto subscriber = std::make_shared<Subscriber>();
  subscriber->version = subscription.service.version;
  subscriber->observer = std::move(observer);
  subscribers_.push_back(subscriber);
  if (!kick_.armed()) clock_.arm(kick_, clock_.now());
  return subscriber;
}

void ServiceView::show_consumer(const Layout& layout, const Subscription& subscription) {
  if (consumer_ || !session()) return;
  consumer_ = std::make_shared<ConsumerNode>(*session(), layout, subscription);
  consumer_->begin();
}

void ServiceView::end(Subscriber& subscriber) {
  subscriber.ended = true;
  std::erase_if(subscribers_, [&](const auto& each) { return each.get() == &subscriber; });
}

void ServiceView::on_event(const std::string& path) {
  for (Folder& folder : folders_) {
    if (path == folder.path) {
      folder.current = false;
    } else if (parent_of(path) == folder.path) {
      const auto found = folder.entries.find(std::string(name_of(path)));
      if (found != folder.entries.end()) found->second.current = false;
    }
  }
  // A long list that changes all the time is read a fifth of the time; a short one is as good as at once.
  if (clock_.now() < next_run_)
    wake_at(next_run_);
  else
    wake();
}

void ServiceView::on_new_session() {
  for (Folder& folder : folders_) {
    folder.current = false;
    for (auto& [name, entry] : folder.entries) entry.current = false;
  }
}

// On a turn of its own for a new subscriber: what is known already, or that nothing can be known now.
void ServiceView::on_kick() {
  const auto self = shared_from_this();
  if (!session()) return;
  if (loaded_)
    publish();
  else if (session()->ready())
    wake();
  else if (clock_.now() >= session()->hopeless_at())
    on_stale(session()->unavailable());
}

void ServiceView::on_stale(const Error& error) {
  const auto self = shared_from_this();
  for (const auto& subscriber : std::vector(subscribers_)) {
    if (subscriber->ended || std::exchange(subscriber->stale, true)) continue;
    subscriber->observer(Result<Snapshot>(error));
  }
}

Task<bool> ServiceView::reconcile() {
  const TimePoint begin = clock_.now();
  for (Folder& folder : folders_) {
    int code = ZOK;
    if (!folder.current) code = co_await list(folder);
    if (code == ZOK) code = co_await fetch_all(folder);
    if (code == ZOK) continue;
    if (!is_loss(code)) {
      const Error error = failure("cannot read the instances of " + name_, code);
      warn(error.text() + "; trying again");
      on_stale(error);
    }
    co_return false;
  }
  loaded_ = true;
  publish();
  const TimePoint end = clock_.now();
  const auto size = folders_[0].entries.size() + folders_[1].entries.size();
  next_run_ = end + std::min<Duration>(longest_rest, (end - begin) * 4 + rest_for_each * size);
  co_return true;
}

Task<int> ServiceView::list(Folder& folder) {
  folder.current = true;  // an event that comes meanwhile says otherwise
  const Reply listed = co_await session()->children(folder.path, true);
  std::set<std::string> names(listed.names.begin(), listed.names.end());
  if (listed.code == ZNONODE) {
    // A watch for its coming.
    const Reply seen = co_await session()->exists(folder.path, true);
    if (seen.ok()) folder.current = false;  // it has come: the next run reads it
    if (!seen.ok() && seen.code != ZNONODE) {
      folder.current = false;
      co_return seen.code;
    }
    if (seen.ok()) wake();
  } else if (!listed.ok()) {
    folder.current = false;
    co_return listed.code;
  }
  std::erase_if(folder.entries, [&](const auto& entry) { return !names.contains(entry.first); });
  for (const std::string& name : names) folder.entries.try_emplace(name);
  co_return ZOK;
}

Task<int> ServiceView::fetch_all(Folder& folder) {
  std::vector<std::string> wanted;
  for (const auto& [name, entry] : folder.entries)
    if (!entry.current) wanted.push_back(name);
  for (std::size_t at = 0; at < wanted.size(); at += at_once) {
    std::vector<Task<int>> tasks;
    for (std::size_t each = at; each < std::min(wanted.size(), at + at_once); ++each)
      tasks.push_back(fetch(folder, wanted[each]));
    const std::vector<int> codes = co_await all(std::move(tasks));
    for (const int code : codes)
      if (code != ZOK) co_return code;
  }
  co_return ZOK;
}

Task<int> ServiceView::fetch(Folder& folder, std::string name) {
  const std::string path = folder.path + "/" + name;
  const Reply reply = co_await session()->get(path, true);
  if (reply.code == ZNONODE) {
    folder.entries.erase(name);
    folder.current = false;  // the names are older than that
    wake();
    co_return ZOK;
  }
  if (!reply.ok() && reply.code != ZNOAUTH) co_return reply.code;
  Entry& entry = folder.entries[name];
  entry.current = true;
  if (!reply.ok()) {
    // Its owner keeps it to himself; the others are none the worse.
    session()->log().warn("zookeeper-node", failure("cannot read " + path, reply.code).text() + "; it is left out");
    entry.node.reset();
    co_return ZOK;
  }
  entry.created = reply.stat.czxid;
  auto node = read_provider(reply.data, name);
  if (!node.ok()) {
    std::string host;
    std::uint16_t port = 0;
    const bool usable = split_host_port(name, host, port);
    session()->log().warn("zookeeper-node", path + ": " + node.error().text() +
                                                (usable ? "; only its name is used" : "; it is left out"));
    if (usable) node = read_provider({}, name);
  }
  if (node.ok()) {
    node->instance.serving = node->serves(folder.serves);
    entry.node = std::move(*node);
  } else {
    entry.node.reset();
  }
  co_return ZOK;
}

bool ServiceView::changing() const noexcept {
  for (const Folder& folder : folders_) {
    if (!folder.current) return true;
    for (const auto& [name, entry] : folder.entries)
      if (!entry.current) return true;
  }
  return false;
}

Snapshot ServiceView::snapshot(const Subscriber& subscriber) const {
  Snapshot now;
  std::set<std::string> ids;
  std::set<std::string> addresses;
  std::set<std::string> tombs;
  for (const Folder& folder : folders_)
    for (const auto& [name, entry] : folder.entries) {
      if (!entry.node || !same_version(entry.node->version, subscriber.version)) continue;
      const Instance& instance = entry.node->instance;
      // On its way from one folder to the other: what was created last.
      const auto& others = folders_[folder.serves ? 1 : 0].entries;
      const auto other = others.find(name);
      if (other != others.end() && other->second.node && other->second.node->instance.id == instance.id &&
          other->second.created > entry.created)
        continue;
      if (entry.node->withdrawn) {
        tombs.insert(instance.id);
      } else if (ids.insert(instance.id).second) {
        addresses.insert(instance.address);
        now.instances.push_back(instance);
      }
    }
  // Two folders are not read at one moment: what is nowhere may be between them. The next run knows.
  if (changing())
    for (const Instance& before : subscriber.last.instances)
      if (!ids.contains(before.id) && !addresses.contains(before.address) && !tombs.contains(before.id))
        now.instances.push_back(before);
  for (const std::string& id : tombs)
    if (!ids.contains(id)) now.withdrawn.push_back(id);
  return now;
}

void ServiceView::publish() {
  const auto self = shared_from_this();
  for (const auto& subscriber : std::vector(subscribers_)) tell(subscriber);
}

void ServiceView::tell(const std::shared_ptr<Subscriber>& subscriber) {
  if (subscriber->ended || !session()) return;
  Snapshot now = snapshot(*subscriber);
  Snapshot& last = subscriber->last;
  const bool news =
      !subscriber->told || subscriber->stale || now.instances != last.instances ||
      !std::includes(last.withdrawn.begin(), last.withdrawn.end(), now.withdrawn.begin(), now.withdrawn.end());
  now.revision = news ? session()->next_revision() : last.revision;
  last = std::move(now);
  if (!news) return;
  subscriber->told = true;
  subscriber->stale = false;
  subscriber->observer(Result<Snapshot>(last));
}

}  // namespace tenon::zk
