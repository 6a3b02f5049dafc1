// What a JoinedCluster does for calls.
#include <algorithm>

#include "call_candidates.hpp"
#include "joined_cluster.hpp"

namespace tenon::cluster {

namespace {

/// How often something that reports no event is looked at, while starting only.
constexpr Duration look_again = std::chrono::milliseconds(5);
/// A call without a deadline waits this long for the first word of the registry.
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
  if (!current_) return call_when_known(request);
  return call_now(request);
}

Task<Result<Response>> JoinedCluster::call_now(Request& request) {
  budget_.deposit(parts_.executor->clock().now());
  CallCandidates candidates(*this, *current_, request);
  co_return co_await parts_.ha->call(request, candidates);
}

Task<Result<Response>> JoinedCluster::call_when_known(Request& request) {
  const TimePoint limit = std::min(request.deadline, parts_.executor->clock().now() + patience);
  if (!co_await known_by(limit, request.cancel)) {
    if (request.cancel && request.cancel->cancelled())
      co_return Error(Errc::cancelled, who() + "cancelled while waiting for the registry", Delivery::not_run);
    co_return Error(Errc::unavailable, who() + "no instance can be called: " + why_empty(), Delivery::not_run);
  }
  co_return co_await call_now(request);
}

Task<bool> JoinedCluster::known_by(TimePoint deadline, Cancellation* cancel) {
  Clock& clock = parts_.executor->clock();
  while (!current_) {
    if (clock.now() >= deadline) co_return false;
    sleep_until pause(clock, std::min(deadline, clock.now() + look_again), cancel);
    if (!co_await pause) co_return false;
  }
  co_return true;
}

Health JoinedCluster::health() const noexcept {
  if (!current_) return Health::busy;
  Health best = Health::closed;
  for (const auto& member : *current_->members()) best = std::max(best, member->health());
  return best;
}

Task<ClusterInvoker::Broadcast> JoinedCluster::each(Request& request) {
  Broadcast broadcast;
  const TimePoint limit = std::min(request.deadline, parts_.executor->clock().now() + patience);
  if (!co_await known_by(limit, request.cancel)) co_return std::move(broadcast);
  const Hold generation(current_);
  const Members& all_members = *generation->members();
  std::vector<Request> requests;
  std::vector<Task<Result<Response>>> calls;
  requests.reserve(all_members.size());
  calls.reserve(all_members.size());
  for (const auto& member : all_members) {
    broadcast.instances.push_back(member->instance().id);
    calls.push_back(member->call(requests.emplace_back(copy_for_one(request))));
  }
  auto ended = all(std::move(calls));
  broadcast.results = co_await ended;
  co_return std::move(broadcast);
}

Task<Result<void>> JoinedCluster::ready(TimePoint deadline) {
  Clock& clock = parts_.executor->clock();
  while (health() != Health::open || !current_) {
    if (clock.now() >= deadline) {
      const std::size_t known = members()->size();
      const std::string why =
          known == 0 ? why_empty() : "none of the " + std::to_string(known) + " known instances is connected";
      co_return Error(Errc::unavailable, who() + "not ready: " + why, Delivery::not_run);
    }
    sleep_until pause(clock, std::min(deadline, clock.now() + look_again));
    (void)co_await pause;
  }
  co_return Result<void>();
}

std::shared_ptr<const Members> JoinedCluster::members() const noexcept {
  if (current_) return current_->members();
  static const auto none = std::make_shared<const Members>();
  return none;
}

}  // namespace tenon::cluster
