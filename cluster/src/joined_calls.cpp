// What a JoinedCluster does for calls.
#include <algorithm>

#include "joined_cluster.hpp"
#include "routing/serving.hpp"

namespace tenon::cluster {

namespace {

/// How often something that reports no event is looked at, while starting only.
constexpr Duration look_again = std::chrono::milliseconds(5);
/// A call without a deadline waits at most this long for the first word of the registries.
constexpr Duration patience = std::chrono::seconds(3);

}  // namespace

Task<Result<Response>> JoinedCluster::call(Request& request) {
  if (current_) return call_now(request);
  return call_when_known(link_, standing_, request);
}

// The call path: no coroutine of its own.
Task<Result<Response>> JoinedCluster::call_now(Request& request) {
  standing_->budget.deposit(standing_->now());
  request.tried = 0;
  request.tried_set = 0;
  return parts_.ha->call(request, candidates_);
}

Task<Result<Response>> JoinedCluster::call_when_known(std::shared_ptr<const Link> link,
                                                      std::shared_ptr<Standing> shared, Request& request) {
  const std::shared_ptr<Standing> standing = std::move(shared);
  const TimePoint limit = std::min(request.deadline, standing->now() + patience);
  if (co_await known_by(link, *standing->parts.executor, limit, request.cancel))
    co_return co_await link->cluster->call_now(request);
  if (!link->cluster)
    co_return Error(Errc::unavailable, standing->who() + "the reference was closed", Delivery::not_run, Advice::never);
  if (request.cancel && request.cancel->cancelled())
    co_return Error(Errc::cancelled, standing->who() + "cancelled while waiting for the registry", Delivery::not_run);
  const bool late = standing->now() >= request.deadline;
  co_return Error(late ? Errc::deadline_exceeded : Errc::unavailable,
                  standing->who() + "no instance can be called: " + standing->why_empty(), Delivery::not_run);
}

Task<bool> JoinedCluster::known_by(std::shared_ptr<const Link> link, Executor& executor, TimePoint deadline,
                                   Cancellation* cancel) {
  Clock& clock = executor.clock();
  while (link->cluster && !link->cluster->current_) {
    if (clock.now() >= deadline) co_return false;
    sleep_until pause(clock, std::min(deadline, clock.now() + look_again), cancel);
    if (!co_await pause) co_return false;
  }
  co_return link->cluster != nullptr;
}

Health JoinedCluster::health() const noexcept {
  return current_ ? current_->health() : Health::busy;
}

Task<tenon::Broadcast> JoinedCluster::each(Request& request) { return ask_each(link_, standing_, request); }

Task<tenon::Broadcast> JoinedCluster::ask_each(std::shared_ptr<const Link> link,
                                                        std::shared_ptr<Standing> standing, Request& request) {
  tenon::Broadcast broadcast;
  const TimePoint limit = std::min(request.deadline, standing->now() + patience);
  if (!co_await known_by(link, *standing->parts.executor, limit, request.cancel)) co_return std::move(broadcast);
  const Hold generation(link->cluster->current_);
  const Members& members = *generation->members();
  std::vector<Request> requests;
  std::vector<Task<Result<Response>>> calls;
  requests.reserve(members.size());
  calls.reserve(members.size());
  for (const auto& member : members) {
    broadcast.instances.push_back(member->instance().id);
    calls.push_back(member->call(requests.emplace_back(parallel_attempt(request))));
  }
  auto ended = all(std::move(calls));
  broadcast.results = co_await ended;
  co_return std::move(broadcast);
}

Task<Result<void>> JoinedCluster::ready(TimePoint deadline) { return wait_open(link_, standing_, deadline); }

Task<Result<void>> JoinedCluster::wait_open(std::shared_ptr<const Link> link, std::shared_ptr<Standing> standing,
                                            TimePoint deadline) {
  Clock& clock = standing->parts.executor->clock();
  while (link->cluster) {
    JoinedCluster& cluster = *link->cluster;
    if (cluster.is_ready()) co_return Result<void>();
    if (clock.now() >= deadline) {
      cluster.give_up_hope();
      const std::size_t known = cluster.members()->size();
      const std::string why = known == 0 ? standing->why_empty()
                                         : "none of the " + std::to_string(known) + " known instances is connected";
      co_return Error(Errc::unavailable, standing->who() + "not ready: " + why, Delivery::not_run);
    }
    sleep_until pause(clock, std::min(deadline, clock.now() + look_again));
    (void)co_await pause;
  }
  co_return Error(Errc::unavailable, standing->who() + "the reference was closed", Delivery::not_run);
}

bool JoinedCluster::is_ready() const noexcept {
  return current_ && own().complete() && health() == Health::open;
}

// Whoever started has waited long enough for a first word; calls need not do it again.
void JoinedCluster::give_up_hope() {
  hope_until_ = std::min(hope_until_, standing_->now());
  own().stop_waiting();
  if (rules_) rules_->stop_waiting();
  refresh();
}

std::shared_ptr<const Members> JoinedCluster::members() const noexcept {
  if (current_) return current_->members();
  static const auto none = std::make_shared<const Members>();
  return none;
}

std::vector<ClusterInvoker::Verdict> JoinedCluster::explain(const Request& request) const {
  std::vector<Verdict> verdicts;
  const TimePoint now = standing_->now();
  const Router::Table* table = current_ ? current_->table() : nullptr;
  for (const auto& member : *members()) {
    const Instance& instance = member->instance();
    const bool named = request.instance && (*request.instance == instance.id || *request.instance == instance.address);
    Verdict verdict{instance.id, instance.address, instance.group, false, ""};
    if (named)
      verdict.why = "the call names it, so nothing is routed";
    else if (table && !request.instance)
      verdict.why = table->explain(request, *member);
    std::string why;
    // A call that names its instance is not routed, nor does a weight keep it away.
    const Serving serves = !table || named ? Serving::yes : serving(*table, request, *member);
    if (request.instance && !named)
      why = "the call names another instance";
    else if (serves == Serving::no)
      why = "it is not called";
    else if (!named && !instance.serving)
      why = "it is not serving";
    else if (!named && instance.weight == 0)
      why = "its weight is 0";
    else if (member->ejected_until() > now)
      why = "it is an outlier and gets no calls for another " +
            std::to_string(std::chrono::ceil<std::chrono::seconds>(member->ejected_until() - now).count()) + " s";
    else if (member->ejected_until() != TimePoint())
      why = "it is an outlier; the next call tries it";
    else if (member->health() == Health::closed)
      why = "it is not connected";
    verdict.eligible = why.empty() && serves == Serving::yes;
    if (why.empty()) {
      why = "weight " + std::to_string(instance.weight);
      if (const std::uint32_t full = std::min(instance.weight, Endpoint::weight_limit / 100) * 100;
          member->effective_weight() < full)
        why += ", growing: " + std::to_string(std::uint64_t{member->effective_weight()} * 100 / full) + " % of it now";
      if (member->health() == Health::busy) why += ", busy";
    }
    verdict.why = verdict.why.empty() ? std::move(why) : std::move(verdict.why) + "; " + why;
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

std::vector<Count> JoinedCluster::counts() const {
  std::vector<Count> all{{"retries", standing_->retries},
                         {"retries refused", standing_->refused},
                         {"ejections", standing_->outliers->ejections()}};
  for (Count& count : parts_.ha->counts()) all.push_back(std::move(count));
  return all;
}

}  // namespace tenon::cluster
