// What a JoinedCluster does for calls.
#include <algorithm>

#include "joined_cluster.hpp"

namespace tenon::cluster {

namespace {

/// How often something that reports no event is looked at, while starting only.
constexpr Duration look_again = std::chrono::milliseconds(5);
/// A call without a deadline waits at most this long for the first word of the registries.
constexpr Duration patience = std::chrono::seconds(3);

/// The same request for one of several instances. Contents are borrowed; each answer is its own.
Request copy_for_one(const Request& request) {
  Request copy(*request.target);
  if (request.payload.has_value())
    copy.payload = Payload::borrow(*request.payload.type(), request.payload.value());
  else if (request.payload.is_encoded())
    copy.payload = Payload::borrow_encoded(request.payload.encoding(), request.payload.bytes());
  copy.headers = request.headers;
  copy.deadline = request.deadline;
  copy.cancel = request.cancel;
  copy.info = request.info;
  copy.hash_key = request.hash_key;
  return copy;
}

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

Task<ClusterInvoker::Broadcast> JoinedCluster::each(Request& request) { return ask_each(link_, standing_, request); }

Task<ClusterInvoker::Broadcast> JoinedCluster::ask_each(std::shared_ptr<const Link> link,
                                                        std::shared_ptr<Standing> standing, Request& request) {
  Broadcast broadcast;
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
    calls.push_back(member->call(requests.emplace_back(copy_for_one(request))));
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

}  // namespace tenon::cluster
