#include "watched_group.hpp"

#include <algorithm>

#include "deliver_on.hpp"

namespace tenon::cluster {

namespace {

ServiceName in_group(ServiceName service, std::string group) {
  service.group = std::move(group);
  return service;
}

}  // namespace

Result<std::shared_ptr<WatchedGroup>> WatchedGroup::watch(std::shared_ptr<Standing> standing, std::string group,
                                                          const KnownInstances::Trust& trust,
                                                          std::function<void()> changed) {
  const ClusterParts& parts = standing->parts;
  std::shared_ptr<WatchedGroup> made(new WatchedGroup(standing, std::move(group), trust, std::move(changed)));
  for (std::size_t index = 0; index < parts.registries.size(); ++index) {
    const Subscription subscription{made->service_, parts.subscriber};
    auto watch = parts.registries[index].registry->watch(
        subscription, deliver_on<Snapshot>(*parts.executor, std::weak_ptr(made), &WatchedGroup::on_snapshot, index));
    if (!watch.ok()) return std::move(watch).error().prefix(made->service_.text());
    made->watches_.push_back(std::move(*watch));
  }
  return made;
}

std::shared_ptr<WatchedGroup> WatchedGroup::unknown(std::shared_ptr<Standing> standing, std::string group) {
  std::shared_ptr<WatchedGroup> made(new WatchedGroup(std::move(standing), std::move(group), {}, [] {}));
  made->unanswered_ = 0;
  return made;
}

WatchedGroup::WatchedGroup(std::shared_ptr<Standing> standing, std::string group, const KnownInstances::Trust& trust,
                           std::function<void()> changed)
    : standing_(std::move(standing)),
      service_(in_group(standing_->parts.service, std::move(group))),
      changed_(std::move(changed)),
      known_(standing_->parts.registries.size(), KnownInstances(trust)),
      answers_(known_.size(), false),
      unanswered_(known_.size()),
      patient_until_(standing_->now() + registry_patience) {}

std::size_t WatchedGroup::size() const noexcept {
  std::size_t size = 0;
  for (const KnownInstances& known : known_) size += known.size();
  return size;
}

std::size_t WatchedGroup::kept() const noexcept {
  std::size_t kept = 0;
  for (const KnownInstances& known : known_) kept += known.kept();
  return kept;
}

TimePoint WatchedGroup::next_expiry() const noexcept {
  TimePoint next = unanswered_ > 0 && !out_of_patience_ ? patient_until_ : never;
  for (const KnownInstances& known : known_) next = std::min(next, known.next_expiry());
  return next;
}

void WatchedGroup::expire(TimePoint now) {
  for (KnownInstances& known : known_) known.expire(now);
  if (now >= patient_until_) stop_waiting();
}

void WatchedGroup::stop_waiting() {
  if (unanswered_ == 0 || out_of_patience_) return;
  out_of_patience_ = true;
  for (std::size_t index = 0; index < known_.size(); ++index)
    if (!answers_[index]) recall(index, "has not answered yet");
}

// For as long as the registry says nothing.
void WatchedGroup::recall(std::size_t index, const std::string& why) {
  if (!standing_->cache || known_[index].heard()) return;
  auto instances =
      standing_->cache->instances(registry(index), service_, who() + "registry " + registry(index) + ' ' + why);
  if (instances) known_[index].recall(std::move(*instances));
}

// An empty list is worth remembering when it is so on purpose; else the registry may have lost its memory.
void WatchedGroup::keep(std::size_t index, const Snapshot& snapshot) {
  if (!standing_->cache || (known_[index].size() == 0 && snapshot.withdrawn.empty())) return;
  standing_->cache->keep(registry(index), service_, known_[index].list());
}

void WatchedGroup::on_snapshot(std::size_t index, const Result<Snapshot>& snapshot) {
  const bool first = !answers_[index];
  if (first) {
    answers_[index] = true;
    --unanswered_;
  }
  Log& log = *standing_->parts.log;
  const bool own = service_ == standing_->parts.service;
  Standing::Word* const word = own ? &standing_->words[index] : nullptr;
  if (!snapshot.ok()) {
    if (word) *word = {true, snapshot.error()};
    log.warn("registry", who() + snapshot.error().text() + "; the last set of instances is kept");
    if (!first) return;
    if (!out_of_patience_) recall(index, "cannot say who is there");
    changed_();
    return;
  }
  KnownInstances& known = known_[index];
  if (!known.apply(*snapshot, standing_->now())) return;
  if (word) *word = {true, Error()};
  keep(index, *snapshot);
  if (const std::size_t kept = known.kept(); kept > 0)
    log.warn("collapsed", who() + std::to_string(kept) + " of " + std::to_string(known.size()) +
                              " instances vanished at once without having been withdrawn; they are kept for now");
  changed_();
}

}  // namespace tenon::cluster
