#include "joined_cluster.hpp"

#include <algorithm>
#include <set>

#include "amended_endpoint.hpp"

namespace tenon::cluster {

namespace {

bool same_dial(const Instance& a, const Instance& b) {
  return a.id == b.id && a.address == b.address && a.transport == b.transport && a.protocols == b.protocols;
}

}  // namespace

Result<std::unique_ptr<ClusterInvoker>> JoinedCluster::join(ClusterParts parts, const ClusterOptions& options) {
  if (!parts.balancer || !parts.ha || !parts.dialer || !parts.executor || !parts.log || parts.registries.empty())
    return Error(Errc::config,
                 parts.service.text() + ": a cluster needs a registry, a balancer, an HA strategy, a dialer, an "
                                        "executor and a log",
                 Delivery::not_run);
  std::unique_ptr<JoinedCluster> cluster(new JoinedCluster(std::move(parts), options));
  if (auto watched = cluster->watch(); !watched.ok()) return std::move(watched).error();
  return std::unique_ptr<ClusterInvoker>(std::move(cluster));
}

JoinedCluster::JoinedCluster(ClusterParts parts, const ClusterOptions& options)
    : standing_(std::make_shared<Standing>(std::move(parts), options.retry_percent, options.retries_per_second)),
      parts_(standing_->parts),
      known_(parts_.registries.size(), KnownInstances({options.stale_limit, options.collapse_percent})),
      candidates_(*standing_),
      link_(std::make_shared<Link>(Link{this})) {
  expiry_.cluster = this;
  expiry_.fire = [](Alarm* alarm) { static_cast<Expiry*>(alarm)->cluster->expire(); };
}

JoinedCluster::~JoinedCluster() {
  link_->cluster = nullptr;
  watches_.clear();
  parts_.executor->clock().cancel(expiry_);
  if (current_) current_->release();
}

template <class T>
std::function<void(const Result<T>&)> JoinedCluster::observer(std::size_t index,
                                                              void (JoinedCluster::*apply)(std::size_t,
                                                                                          const Result<T>&)) {
  struct Post : Work {
    Post(std::shared_ptr<Link> l, Result<T> n) : link(std::move(l)), news(std::move(n)) {}
    std::shared_ptr<Link> link;
    Result<T> news;
    std::size_t index = 0;
    void (JoinedCluster::*apply)(std::size_t, const Result<T>&) = nullptr;
  };
  return [link = link_, executor = parts_.executor, index, apply](const Result<T>& news) {
    if (executor->here()) {
      if (link->cluster) (link->cluster->*apply)(index, news);
      return;
    }
    // A registry that lives on another thread than this reference.
    auto* post = new Post(link, news);
    post->index = index;
    post->apply = apply;
    post->run = [](Work* work) noexcept {
      const std::unique_ptr<Post> self(static_cast<Post*>(work));
      if (self->link->cluster) (self->link->cluster->*self->apply)(self->index, self->news);
    };
    executor->post(*post);
  };
}

Result<void> JoinedCluster::watch() {
  for (std::size_t index = 0; index < parts_.registries.size(); ++index) {
    Registry& registry = *parts_.registries[index];
    const Subscription subscription{parts_.service, parts_.subscriber};
    auto watch = registry.watch(subscription, observer<Snapshot>(index, &JoinedCluster::on_snapshot));
    if (!watch.ok()) return std::move(watch).error().prefix(parts_.service.text());
    watches_.push_back(std::move(*watch));
    if (auto watched = watch_documents(registry, index); !watched.ok()) return watched;
  }
  return {};
}

Result<void> JoinedCluster::watch_documents(Registry& registry, std::size_t index) {
  if (!parts_.router) return {};
  for (const std::string& kind : parts_.router->document_kinds()) {
    auto watch = registry.watch_document(kind, parts_.service.group,
                                         observer<Document>(index, &JoinedCluster::on_document));
    if (watch.ok())
      watches_.push_back(std::move(*watch));
    else if (watch.error().code() != Errc::unimplemented)
      return std::move(watch).error().prefix(parts_.service.text());
  }
  return {};
}

void JoinedCluster::on_snapshot(std::size_t index, const Result<Snapshot>& snapshot) {
  if (!snapshot.ok()) {
    standing_->registry_error = snapshot.error();
    parts_.log->warn("registry", who() + snapshot.error().text() + "; the last set of instances is kept");
    return;
  }
  KnownInstances& known = known_[index];
  if (!known.apply(*snapshot, parts_.executor->clock().now())) return;
  standing_->registry_error = Error();
  if (const std::size_t kept = known.kept(); kept > 0)
    parts_.log->warn("collapsed", who() + std::to_string(kept) + " of " + std::to_string(known.size()) +
                                      " instances vanished at once without having been withdrawn; they are kept for "
                                      "now");
  refresh();
}

void JoinedCluster::on_document(std::size_t index, const Result<Document>& document) {
  if (!document.ok()) {
    parts_.log->warn("document", who() + document.error().text() + "; the last one is kept");
    return;
  }
  documents_[{index, document->kind}] = *document;
  if (current_) refresh(true);
}

void JoinedCluster::expire() {
  const TimePoint now = parts_.executor->clock().now();
  for (KnownInstances& known : known_) known.expire(now);
  refresh();
}

void JoinedCluster::refresh(bool documents_changed) {
  auto members = std::make_shared<Members>();
  Dials now;
  TimePoint next_expiry = never;
  std::set<std::pair<std::string_view, std::string_view>> addresses;
  standing_->dial_error = Error();
  standing_->answered = true;
  standing_->known = 0;
  for (const KnownInstances& known : known_) {
    next_expiry = std::min(next_expiry, known.next_expiry());
    standing_->known += known.size();
    known.each([&](const Instance& instance) {
      // Announced in two registries, or left over from before a restart: one provider all the same.
      if (!addresses.emplace(instance.transport, instance.address).second) return;
      dial(instance, dials_, now, *members);
    });
  }
  Clock& clock = parts_.executor->clock();
  clock.cancel(expiry_);
  if (next_expiry != never) clock.arm(expiry_, next_expiry);
  const bool same = current_ && *current_->members() == *members;
  const Dials gone = std::exchange(dials_, std::move(now));  // leavers end here, after their calls
  if (same && !documents_changed) return;
  auto table = compile(*members);
  if (parts_.router && !table) return;  // the generation in force stays: unrouted calls would go astray
  auto* fresh = new Generation(standing_, std::move(members), std::move(table));
  candidates_.use(fresh);
  if (Generation* old = std::exchange(current_, fresh)) old->release();
}

void JoinedCluster::dial(const Instance& instance, Dials& old, Dials& now, Members& members) {
  const std::pair key(instance.id, instance.address);
  Dialled dialled;
  if (const auto found = old.find(key); found != old.end() && same_dial(found->second.endpoint->instance(), instance)) {
    dialled = found->second;
    if (!(dialled.shown->instance() == instance)) {
      dialled.shown = dialled.endpoint;
      if (!(dialled.endpoint->instance() == instance))
        dialled.shown = std::make_shared<AmendedEndpoint>(dialled.endpoint, instance);
    }
  } else {
    auto endpoint = parts_.dialer->dial(instance);
    if (!endpoint.ok()) {
      standing_->dial_error = endpoint.error();
      parts_.log->warn("dial", who() + "instance " + instance.id + " at " + instance.address + " is left out: " +
                                   endpoint.error().text());
      return;
    }
    dialled.endpoint = dialled.shown = std::move(*endpoint);
  }
  members.push_back(dialled.shown);
  now.emplace(key, std::move(dialled));
}

std::unique_ptr<Router::Table> JoinedCluster::compile(const Members& members) {
  if (!parts_.router) return nullptr;
  std::vector<Document> documents;
  for (const auto& [key, document] : documents_) documents.push_back(document);
  auto table = parts_.router->compile(members, documents);
  if (table.ok()) {
    compiled_ = std::move(documents);
    return std::move(*table);
  }
  parts_.log->error("routing", who() + table.error().text() + "; the rules before stay in force");
  table = parts_.router->compile(members, compiled_);
  if (table.ok()) return std::move(*table);
  parts_.log->error("routing", who() + table.error().text() + "; the instances and rules in force stay");
  return nullptr;
}

}  // namespace tenon::cluster
