#include "group_view.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "layout.hpp"
#include "names.hpp"
#include "provider_node.hpp"

namespace tenon::consul {

namespace {

// How long those who left are said to have left.
constexpr Duration left_for = std::chrono::seconds(30);

}  // namespace

GroupView::GroupView(std::shared_ptr<Agent> agent, const std::string& group, std::shared_ptr<GroupWords> words)
    : Follower(agent, "/v1/health/service/" + escape(provider_service(group)), {}, "the instances of group " + group),
      group_(group),
      service_(provider_service(group)),
      clock_(agent->clock()),
      words_(std::move(words), [this] { kick_at(clock_.now()); }) {
  kick_.view = this;
  kick_.fire = [](Alarm* alarm) { static_cast<Kick*>(alarm)->view->on_kick(); };
}

GroupView::~GroupView() { clock_.cancel(kick_); }

std::shared_ptr<GroupView::Subscriber> GroupView::subscribe(const Subscription& subscription,
                                                            SnapshotObserver observer) {
  auto subscriber = std::make_shared<Subscriber>();
  subscriber->interface = subscription.service.interface;
  subscriber->version = subscription.service.version;
  subscriber->observer = std::move(observer);
  subscribers_.push_back(subscriber);
  kick_at(clock_.now());  // on a turn of its own: what is known already
  return subscriber;
}

void GroupView::end_of(Subscriber& subscriber) {
  subscriber.ended = true;
  std::erase_if(subscribers_, [&](const auto& each) { return each.get() == &subscriber; });
  if (!subscribers_.empty()) return;
  clock_.cancel(kick_);
  end();
}

void GroupView::kick_at(TimePoint at) {
  if (over() || (kick_.armed() && kick_.at <= at)) return;
  clock_.cancel(kick_);
  clock_.arm(kick_, at);
}

void GroupView::on_kick() {
  const auto self = shared_from_this();
  if (over()) return;
  drop_expired();
  if (stale_) {
    // Who came while nothing could be learned.
    const Error why = stale_;
    on_stale(why);
  } else {
    publish();
  }
}

// Those whose texts make no sense are left out; the others are none the worse.
std::map<std::string, Provider> GroupView::read(const std::vector<Registered>& listed) {
  std::map<std::string, Provider> found;
  for (const Registered& each : listed) {
    if (each.service != service_) continue;  // Consul looks names up without regard to case
    auto provider = read_provider(each);
    if (!provider.ok()) {
      agent()->log().warn("consul-instance", provider.error().text() + "; it is left out");
    } else if (!provider->dead) {
      const auto [at, first] = found.try_emplace(each.id, std::move(*provider));
      if (!first)
        agent()->log().warn("consul-instance", "registration '" + at->first + "' stands on several nodes; one is used");
    }
  }
  return found;
}

Task<std::map<std::string, Word>> GroupView::tombs() {
  const std::string folder = tomb_key(group_);
  Task<Result<Answer>> asking =
      Agent::ask(agent(), Verb::get, agent()->global("/v1/kv/" + escape_key(folder), "recurse"));
  const Result<Answer> answer = co_await asking;
  std::map<std::string, Word> words;
  if (!answer.ok() || (answer->status != 200 && answer->status != 404)) co_return words;
  auto read = read_words(*answer, folder, agent()->log());
  if (read.ok()) words = std::move(*read);
  co_return words;
}

Task<Result<void>> GroupView::learn(const Answer& answer, bool anew) {
  if (answer.status != 200) co_return agent()->refusal("cannot read the instances of group " + group_, answer);
  const auto listed = read_health(answer.body);
  if (!listed.ok()) co_return listed.error();
  std::map<std::string, Provider> now = read(*listed);
  const Duration ttl = agent()->options().ttl;
  if (anew && loaded_) grace_until_ = clock_.now() + ttl;

  // Looked at only now: whoever left wrote it before.
  const bool missing = std::any_of(known_.begin(), known_.end(), [&](const auto& k) { return !now.contains(k.first); });
  std::map<std::string, Word> left;
  if (missing) {
    Task<std::map<std::string, Word>> looking = tombs();
    left = co_await looking;
    if (over()) co_return Result<void>();
  }
  std::set<std::pair<std::string, std::string>> taken;
  for (const auto& [id, provider] : now) taken.emplace(provider.interface, provider.instance.address);
  std::vector<Known*> lost;
  std::size_t before = 0;
  for (auto& [id, known] : known_) {
    if (known.kept_until == never) ++before;
    if (now.contains(id)) continue;
    const auto tomb = left.find(escape(id));
    const std::string_view owner = owner_of(known.provider.stamp);
    if (tomb != left.end() && tomb->second.id == known.provider.instance.id && owner_of(tomb->second.stamp) == owner) {
      left_[id] = {known.provider, clock_.now() + left_for};
      known.kept_until = TimePoint();
    } else if (taken.contains({known.provider.interface, known.provider.instance.address})) {
      known.kept_until = TimePoint();
    } else if (known.kept_until == never) {
      lost.push_back(&known);
    }
  }
  const bool collapse = lost.size() * 2 > before;
  for (Known* each : lost) {
    if (collapse)
      each->kept_until = clock_.now() + ttl;
    else
      each->kept_until = grace_until_;
  }
  if (collapse && !lost.empty())
    agent()->log().warn("consul", std::to_string(lost.size()) + " of " + std::to_string(before) +
                                      " instances of group " + group_ +
                                      " are no longer listed, all at once; they are kept for one ttl");
  for (auto& [id, provider] : now) {
    left_.erase(id);
    known_[id] = {std::move(provider), never};
  }
  loaded_ = true;
  stale_ = Error();
  drop_expired();
  publish();
  co_return Result<void>();
}

void GroupView::drop_expired() {
  const TimePoint now = clock_.now();
  std::erase_if(known_, [now](const auto& each) { return each.second.kept_until <= now; });
  std::erase_if(left_, [now](const auto& each) { return each.second.until <= now; });
  TimePoint next = never;
  for (const auto& [id, known] : known_) next = std::min(next, known.kept_until);
  if (next != never) kick_at(next);
}

void GroupView::on_stale(const Error& why) {
  const auto self = shared_from_this();
  stale_ = why;
  for (const auto& subscriber : std::vector(subscribers_)) {
    if (subscriber->ended || std::exchange(subscriber->stale, true)) continue;
    subscriber->observer(Result<Snapshot>(why));
  }
}

Snapshot GroupView::snapshot(const Subscriber& subscriber) const {
  Snapshot now;
  std::set<std::string> ids;
  const auto wanted = [&](const Provider& provider) {
    return provider.interface == subscriber.interface && zk::same_version(provider.version, subscriber.version);
  };
  for (const auto& [id, known] : known_) {
    if (!wanted(known.provider)) continue;
    Provider provider = known.provider;
    words_.words().apply_to(provider);
    if (ids.insert(provider.instance.id).second) now.instances.push_back(std::move(provider.instance));
  }
  for (const auto& [id, left] : left_)
    if (wanted(left.provider) && !ids.contains(left.provider.instance.id))
      now.withdrawn.push_back(left.provider.instance.id);
  std::sort(now.withdrawn.begin(), now.withdrawn.end());
  return now;
}

void GroupView::publish() {
  if (!loaded_ || !words_.words().settled()) return;
  const auto self = shared_from_this();
  for (const auto& subscriber : std::vector(subscribers_)) tell(subscriber);
}

void GroupView::tell(const std::shared_ptr<Subscriber>& subscriber) {
  if (subscriber->ended || over()) return;
  Snapshot now = snapshot(*subscriber);
  Snapshot& last = subscriber->last;
  const bool news =
      !subscriber->told || subscriber->stale || now.instances != last.instances ||
      !std::includes(last.withdrawn.begin(), last.withdrawn.end(), now.withdrawn.begin(), now.withdrawn.end());
  now.revision = news ? agent()->next_revision() : last.revision;
  last = std::move(now);
  if (!news) return;
  subscriber->told = true;
  subscriber->stale = false;
  subscriber->observer(Result<Snapshot>(last));
}

}  // namespace tenon::consul
