#include "roster.hpp"

#include <algorithm>
#include <set>

#include "newer_facts.hpp"

namespace tenon::cluster {

Roster::Roster(ClusterParts parts, const ClusterOptions& options)
    : common_(std::make_shared<Common>(std::move(parts), options.retry_percent, options.retries_per_second)) {
  known_.assign(common_->parts.registries.size(), KnownSet(options.empty_protection));
  believe_.roster = this;
  believe_.fire = [](Alarm* alarm) { static_cast<Believe*>(alarm)->roster->believe(); };
}

Roster::~Roster() { common_->parts.executor->clock().cancel(believe_); }

Result<void> Roster::watch() {
  const ClusterParts& parts = common_->parts;
  const Subscription subscription{parts.service, parts.subscriber};
  for (std::size_t index = 0; index < parts.registries.size(); ++index) {
    Registry& registry = *parts.registries[index];
    if (parts.router) {
      for (const std::string& kind : parts.router->document_kinds()) {
        auto watched = registry.watch_document(
            kind, parts.service.group,
            [this, index, kind](const Result<Document>& document) { on_document(index, kind, document); });
        if (watched.ok())
          watches_.push_back(std::move(*watched));
        else if (watched.error().code() != Errc::unimplemented)
          return std::move(watched).error();
      }
    }
    auto watched = registry.watch(
        subscription, [this, index](const Result<Snapshot>& snapshot) { on_snapshot(index, snapshot); });
    if (!watched.ok()) return std::move(watched).error();
    watches_.push_back(std::move(*watched));
  }
  return {};
}

void Roster::close() {
  closed_ = true;
  watches_.clear();
  common_->parts.executor->clock().cancel(believe_);
  const ViewHold last = std::move(view_);
  view_ = ViewHold();
  first_view_.fire();
}

void Roster::on_snapshot(std::size_t registry, const Result<Snapshot>& snapshot) {
  Common& common = *common_;
  const std::string service = common.parts.service.text();
  if (!snapshot.ok()) {
    common.registry_error = snapshot.error();
    common.parts.log->warn("registry-error", service + ": keeping the instances known so far: " +
                                                 snapshot.error().text());
    return;
  }
  KnownSet& known = known_[registry];
  const TimePoint now = common.parts.executor->clock().now();
  const KnownSet::Outcome outcome = known.take(*snapshot, now);
  if (outcome == KnownSet::Outcome::stale) {
    common.parts.log->info("stale-snapshot", service + ": ignoring revision " + std::to_string(snapshot->revision) +
                                                 ", revision " + std::to_string(known.revision()) + " is known");
    return;
  }
  common.registry_error = Error();
  if (outcome == KnownSet::Outcome::doubted) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(known.doubt_ends() - now).count();
    common.parts.log->warn("empty-snapshot", service + ": the registry lists nobody, though nobody withdrew; keeping " +
                                                 std::to_string(known.instances().size()) + " instances for " +
                                                 std::to_string(seconds) + " s");
  }
  arm_doubt();
  refresh();
}

void Roster::arm_doubt() {
  TimePoint first = never;
  for (const KnownSet& known : known_) first = std::min(first, known.doubt_ends());
  Clock& clock = common_->parts.executor->clock();
  clock.cancel(believe_);
  if (first != never) clock.arm(believe_, first);
}

void Roster::believe() {
  const TimePoint now = common_->parts.executor->clock().now();
  bool changed = false;
  for (KnownSet& known : known_) changed = known.believe(now) || changed;
  arm_doubt();
  if (!changed) return;
  common_->parts.log->warn("empty-snapshot", common_->parts.service.text() +
                                                 ": the registry still lists nobody; dropping its instances");
  refresh();
}

std::vector<Instance> Roster::joined() const {
  std::vector<Instance> instances;
  std::set<std::string> ids;
  std::set<std::pair<std::string, std::string>> places;
  for (const KnownSet& known : known_) {
    for (const Instance& instance : known.instances()) {
      if (ids.contains(instance.id) || !places.emplace(instance.transport, instance.address).second) continue;
      ids.insert(instance.id);
      instances.push_back(instance);
    }
  }
  return instances;
}

std::shared_ptr<Endpoint> Roster::keep_or_dial(const Instance& instance) {
  if (view_) {
    for (const auto& member : *view_->members())
      if (same_place(member->instance(), instance)) return with_facts(member, instance);
  }
  auto dialled = common_->parts.dialer->dial(instance);
  if (dialled.ok()) return std::move(*dialled);
  ++common_->refusals;
  common_->refused = std::move(dialled).error();
  common_->parts.log->warn("instance-refused",
                           common_->parts.service.text() + ": not used: " + common_->refused.text());
  return nullptr;
}

void Roster::refresh() {
  if (closed_) return;
  common_->refusals = 0;
  common_->refused = Error();
  auto members = std::make_shared<Members>();
  for (const Instance& instance : joined())
    if (auto endpoint = keep_or_dial(instance)) members->push_back(std::move(endpoint));
  if (view_ && *view_->members() == *members) return;
  rebuild(std::move(members));
}

void Roster::rebuild(std::shared_ptr<const Members> members) {
  std::unique_ptr<Router::Table> table;
  if (common_->parts.router) {
    table = compile(*members);
    if (!table) return;
  }
  const ViewHold previous = std::move(view_);
  view_ = ViewHold(*new View(common_, std::move(members), std::move(table)));
  if (!previous) first_view_.fire();
}

std::vector<Document> Roster::documents(const std::map<DocumentName, Document>& chosen) const {
  std::vector<Document> list;
  for (const auto& [name, document] : chosen) list.push_back(document);
  return list;
}

std::unique_ptr<Router::Table> Roster::compile(const Members& members) {
  const ClusterParts& parts = common_->parts;
  auto table = parts.router->compile(members, documents(documents_));
  if (table.ok()) {
    good_documents_ = documents_;
    return std::move(*table);
  }
  parts.log->error("router-document", parts.service.text() + ": keeping the routing in force: " + table.error().text());
  // The members may have changed: the routing that was good before is compiled for them.
  auto before = parts.router->compile(members, documents(good_documents_));
  if (before.ok()) return std::move(*before);
  parts.log->error("router-document", parts.service.text() + ": no routing at all: " + before.error().text());
  return nullptr;
}

void Roster::on_document(std::size_t registry, const std::string& kind, const Result<Document>& document) {
  if (!document.ok()) {
    common_->parts.log->warn("registry-error", common_->parts.service.text() + ": keeping the last document \"" + kind +
                                                   "\": " + document.error().text());
    return;
  }
  documents_[{registry, kind}] = *document;
  if (view_ && !closed_) rebuild(view_->members());
}

}  // namespace tenon::cluster
