#include "joined_cluster.hpp"

#include <algorithm>
#include <set>

#include "member.hpp"

namespace tenon::cluster {

namespace {

/// A group that rules name anew should be known, and one of its instances connected, before calls go there; no longer
/// than this are they kept where they were. The same for the first word about rules.
constexpr Duration patience_for_news = std::chrono::seconds(1);
constexpr Duration look_again = std::chrono::milliseconds(5);
/// Calls wait no longer than this for the first word of the registries.
constexpr Duration patience_for_first = std::chrono::seconds(3);
/// How often the connections of instances that vanished at once are asked for their opinion.
constexpr Duration second_opinion = std::chrono::seconds(1);
/// A group that rules no longer name stays subscribed and connected for so long: rules may be turned on and off.
constexpr Duration unwanted_for = std::chrono::seconds(1);

bool same_dial(const Instance& a, const Instance& b) {
  return a.id == b.id && a.address == b.address && a.transport == b.transport && a.protocols == b.protocols;
}

}  // namespace

Result<std::unique_ptr<ClusterInvoker>> JoinedCluster::join(ClusterParts parts, const ClusterOptions& options) {
  if (!parts.balancer || !parts.ha || !parts.dialer || !parts.executor || !parts.log || parts.registries.empty())
    return Error(Errc::config,
                 parts.service.text() +
                     ": a cluster needs a registry, a balancer, an HA strategy, a dialer, an "
                     "executor and a log",
                 Delivery::not_run);
  std::unique_ptr<JoinedCluster> cluster(new JoinedCluster(std::move(parts), options));
  if (auto watched = cluster->watch(); !watched.ok()) return std::move(watched).error();
  return std::unique_ptr<ClusterInvoker>(std::move(cluster));
}

JoinedCluster::JoinedCluster(ClusterParts parts, const ClusterOptions& options)
    : standing_(std::make_shared<Standing>(std::move(parts), options.retry_percent, options.retries_per_second)),
      parts_(standing_->parts),
      trust_{options.stale_limit, options.collapse_percent},
      candidates_(*standing_),
      began_(standing_->now()),
      hope_until_(began_ + patience_for_first),
      link_(std::make_shared<Link>(Link{this})) {
  const Outliers::Growth growth{options.warm_up, options.slow_start};
  standing_->outliers = Outliers::make(options.outliers, growth, standing_->who(), parts_.executor->clock(),
                                       *parts_.log, [this] {
                                         if (current_) current_->reweigh();
                                       });
  expiry_.cluster = this;
  expiry_.fire = [](Alarm* alarm) { static_cast<Expiry*>(alarm)->cluster->expire(); };
}

JoinedCluster::~JoinedCluster() {
  link_->cluster = nullptr;
  parts_.ha->release(candidates_);
  groups_.clear();
  rules_.reset();
  standing_->cache.reset();
  standing_->outliers->stop();
  parts_.executor->clock().cancel(expiry_);
  if (current_) current_->release();
}

std::function<void()> JoinedCluster::on_change() {
  return [link = std::weak_ptr<const Link>(link_)] {
    if (const auto alive = link.lock(); alive && alive->cluster) alive->cluster->refresh();
  };
}

Result<void> JoinedCluster::watch() {
  const std::string& group = parts_.service.group;
  auto own = WatchedGroup::watch(standing_, group, trust_, on_change());
  if (!own.ok()) return std::move(own).error();
  groups_.emplace(group, std::move(*own));
  if (standing_->router) {
    settle_by_ = standing_->now() + patience_for_news;
    auto rules = Rules::watch(standing_, on_change());
    if (!rules.ok()) return std::move(rules).error();
    rules_ = std::move(*rules);
  }
  refresh();  // in case everybody has answered already
  return {};
}

void JoinedCluster::expire() {
  const TimePoint now = standing_->now();
  for (const auto& [name, group] : groups_) group->expire(now);
  if (now >= doubt_at_) doubt_kept();
  std::erase_if(groups_, [now](const auto& entry) { return entry.second->ends <= now; });
  if (rules_ && now >= began_ + registry_patience) rules_->stop_waiting();
  refresh();
}

// Who is not listed and cannot be connected to either has gone. Unless nobody can be: then it is this process that is
// cut off.
void JoinedCluster::doubt_kept() {
  doubt_at_ = never;
  const auto closed = [this](const Instance& instance) {
    const auto dialled = dials_.find(std::pair(instance.id, instance.address));
    return dialled == dials_.end() || dialled->second.endpoint->health() == Health::closed;
  };
  for (const auto& [name, group] : groups_) {
    bool some = false;
    group->each([&](const Instance& instance) { some = some || !closed(instance); });
    if (some) group->drop_kept(closed);
  }
}

void JoinedCluster::refresh() {
  if (groups_.empty() || (standing_->router && !rules_)) return;  // not complete yet
  const std::set<std::string> wanted = rules_ ? rules_->groups() : std::set<std::string>();
  update_groups(wanted);
  std::shared_ptr<const Members> members = gather(wanted);
  const bool is_settled = settled(*members, wanted);
  if (is_settled) settle_by_ = standing_->now();
  arm_expiry(is_settled);
  if (!current_ && (!is_settled || !(own().decided() || hopeless()))) return;
  const bool same = current_ && *current_->members() == *members;
  const bool new_rules = rules_ && is_settled && rules_->changed();
  if (same && !new_rules) return;
  if (members->empty() && !(current_ && current_->members()->empty()))
    parts_.log->warn("nobody", who() + standing_->why_empty());
  auto table = rules_ ? rules_->compile(*members, is_settled) : nullptr;
  if (rules_ && !table) return;  // the generation in force stays: unrouted calls would go astray
  auto* fresh = new Generation(standing_, std::move(members), std::move(table));
  candidates_.use(fresh);
  if (Generation* old = std::exchange(current_, fresh)) old->release();
  if (!rules_) return;
  update_groups(rules_->groups());  // what only the rules before wanted may go now
  arm_expiry(is_settled);
}

// Subscribing and unsubscribing may not happen inside a registry's observer; this may.
void JoinedCluster::update_groups(const std::set<std::string>& wanted) {
  const TimePoint now = standing_->now();
  for (const auto& [name, group] : groups_) {
    const bool is_wanted = name == parts_.service.group || wanted.contains(name);
    if (is_wanted)
      group->ends = never;
    else if (group->ends == never)
      group->ends = now + unwanted_for;
  }
  const auto missing = [&](const std::string& name) { return !groups_.contains(name); };
  if (following_ || std::none_of(wanted.begin(), wanted.end(), missing)) return;
  following_ = true;
  settle_by_ = now + patience_for_news;
  struct Follow : Work {
    std::weak_ptr<const Link> link;
  };
  auto* follow = new Follow;
  follow->link = link_;
  follow->run = [](Work* work) noexcept {
    const std::unique_ptr<Follow> self(static_cast<Follow*>(work));
    if (const auto link = self->link.lock(); link && link->cluster) link->cluster->follow_groups();
  };
  parts_.executor->post(*follow);
}

void JoinedCluster::follow_groups() {
  following_ = false;
  if (!rules_) return;
  const std::set<std::string> wanted = rules_->groups();
  for (const std::string& name : wanted) {
    if (groups_.contains(name)) continue;
    auto group = WatchedGroup::watch(standing_, name, trust_, on_change());
    if (!group.ok())
      parts_.log->error("group", who() + "group " + name + " has nobody as far as is known: " + group.error().text());
    // Nobody, until the rules have left it and name it anew.
    groups_.emplace(name, group.ok() ? std::move(*group) : WatchedGroup::unknown(standing_, name));
  }
  refresh();
}

bool JoinedCluster::settled(const Members& members, const std::set<std::string>& wanted) const {
  if (!rules_ || standing_->now() >= settle_by_) return true;
  if (!rules_->answered()) return false;
  for (const std::string& name : wanted) {
    const auto group = groups_.find(name);
    if (group == groups_.end() || !group->second->complete()) return false;
    bool some = false;
    bool open = false;
    for (const auto& member : members) {
      if (member->instance().group != name) continue;
      some = true;
      open = open || member->health() == Health::open;
    }
    if (some && !open) return false;
  }
  return true;
}

void JoinedCluster::arm_expiry(bool is_settled) {
  const TimePoint now = standing_->now();
  TimePoint next = is_settled ? never : std::min(settle_by_, now + look_again);
  if (!current_ && !hopeless()) next = std::min(next, hope_until_);
  bool doubtful = false;
  for (const auto& [name, group] : groups_) {
    next = std::min({next, group->next_expiry(), group->ends});
    doubtful = doubtful || group->kept() > 0;
  }
  if (!doubtful)
    doubt_at_ = never;
  else if (doubt_at_ == never)
    doubt_at_ = now + second_opinion;
  next = std::min(next, doubt_at_);
  Clock& clock = parts_.executor->clock();
  clock.cancel(expiry_);
  if (next != never) clock.arm(expiry_, next);
}

std::shared_ptr<const Members> JoinedCluster::gather(const std::set<std::string>& wanted) {
  auto members = std::make_shared<Members>();
  Dials now;
  standing_->dial_error = Error();
  standing_->known = 0;
  const auto add = [&](const WatchedGroup& group, Members* into) {
    std::set<std::pair<std::string_view, std::string_view>> addresses;
    if (into) standing_->known += group.size();
    group.each([&](const Instance& found) {
      // Announced in two registries, or left over from before a restart: one provider all the same.
      if (!addresses.emplace(found.transport, found.address).second) return;
      Instance instance = found;
      instance.group = group.name();
      dial(instance, now, into);
    });
  };
  add(own(), members.get());
  for (const auto& [name, group] : groups_)
    if (group.get() != &own()) add(*group, wanted.contains(name) ? members.get() : nullptr);
  const Dials gone = std::exchange(dials_, std::move(now));  // leavers end here, after their calls
  std::vector<Outliers::Watched> watched;
  for (const auto& [key, dialled] : dials_) watched.push_back({dialled.endpoint, dialled.condition});
  standing_->outliers->watch(watched);
  return members;
}

// Without `members` it is only kept.
void JoinedCluster::dial(const Instance& instance, Dials& now, Members* members) {
  const std::pair key(instance.id, instance.address);
  const auto old = dials_.find(key);
  const bool stays = old != dials_.end() && same_dial(old->second.endpoint->instance(), instance);
  auto found = now.find(key);
  if (found == now.end()) {
    std::shared_ptr<Endpoint> endpoint = stays ? old->second.endpoint : nullptr;
    std::shared_ptr<Condition> condition = stays ? old->second.condition : standing_->outliers->condition();
    if (!endpoint) {
      if (!members) return;
      auto dialled = parts_.dialer->dial(instance);
      if (!dialled.ok()) {
        standing_->dial_error = dialled.error();
        parts_.log->warn("dial", who() + "instance " + instance.id + " at " + instance.address +
                                     " is left out: " + dialled.error().text());
        return;
      }
      endpoint = std::move(*dialled);
    }
    found = now.emplace(key, Dialled{std::move(endpoint), std::move(condition), {}}).first;
  }
  std::shared_ptr<Endpoint> shown = stays ? old->second.shown[instance.group] : nullptr;
  if (!shown || !(shown->instance() == instance)) shown = show(found->second, instance);
  if (members) members->push_back(shown);
  found->second.shown[instance.group] = std::move(shown);
}

std::shared_ptr<Endpoint> JoinedCluster::show(const Dialled& dialled, const Instance& instance) {
  std::shared_ptr<GroupTargets> targets;
  if (instance.group != parts_.service.group) {
    std::shared_ptr<GroupTargets>& known = standing_->targets[instance.group];
    if (!known)
      known =
          std::make_shared<GroupTargets>(ServiceName{parts_.service.interface, instance.group, parts_.service.version});
    targets = known;
  }
  return std::make_shared<Member>(dialled.endpoint, dialled.condition, instance, std::move(targets));
}

}  // namespace tenon::cluster
