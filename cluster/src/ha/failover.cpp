#include "failover.hpp"

#include <algorithm>

namespace tenon::cluster {

namespace {

bool may_resend(const Request& request, const Error& error) noexcept {
  if (error.advice() == Advice::never || error.advice() == Advice::after) return false;
  if (error.code() == Errc::cancelled || error.delivery() == Delivery::ran) return false;
  if (request.messages) return false;  // what was read of a stream cannot be read again
  return error.delivery() == Delivery::not_run || request.target->idempotent;
}

bool out_of_time(const Request& request) noexcept {
  if (request.cancel && request.cancel->cancelled()) return true;
  Executor* executor = Executor::current();
  return request.deadline != never && executor && executor->clock().now() >= request.deadline;
}

/// The attempts of one call from the second on: decides about each, and what to report at last.
class Resends {
 public:
  /// `first`: the error of the first attempt, which may be sent again.
  Resends(Request& request, Candidates& candidates, std::uint32_t retries, Error first)
      : request_(request),
        candidates_(candidates),
        left_(request.target->retries >= 0 ? static_cast<std::uint32_t>(request.target->retries) : retries),
        first_(std::move(first)),
        worst_(first_.delivery()),
        advice_(first_.advice()),
        original_(request.info) {
    if (!original_) return;
    facts_ = *original_;
    facts_.peer = nullptr;
    request_.info = &facts_;
  }
  Resends(const Resends&) = delete;
  Resends& operator=(const Resends&) = delete;
  ~Resends() { request_.info = original_; }

  /// The endpoint for the next attempt, or null: the call has ended with summary().
  Endpoint* next() noexcept;
  /// True: `error` is one to try again after. Else it is the call's error now.
  bool again(Error& error);
  /// The first error, with the number of attempts.
  Error summary();

 private:
  Request& request_;
  Candidates& candidates_;
  std::uint32_t left_;
  std::uint32_t made_ = 1;
  Error first_;
  Delivery worst_;  // of all attempts: what any of them may have done counts
  Advice advice_;   // of the last attempt
  bool broke_ = false;
  const CallInfo* const original_;
  CallInfo facts_;  // the caller's, with the attempt's number
};

Endpoint* Resends::next() noexcept {
  if (left_ == 0 || out_of_time(request_)) return nullptr;
  // Attempts may have gone to instances that have left since, so their number alone does not tell that all were tried.
  const bool maybe_all = made_ >= candidates_.size(request_);
  const std::uint64_t tried_set = request_.tried_set;
  const std::uint64_t tried = request_.tried;
  Endpoint* endpoint = candidates_.next(request_);
  if (!endpoint) return nullptr;
  const bool tried_before = maybe_all && request_.tried_set == tried_set && request_.tried == tried;
  if (advice_ == Advice::other_instance && tried_before) return nullptr;
  if (!candidates_.spend_retry()) {
    broke_ = true;
    return nullptr;
  }
  --left_;
  facts_.attempt = made_++;
  return endpoint;
}

bool Resends::again(Error& error) {
  worst_ = std::max(worst_, error.delivery());
  advice_ = error.advice();
  if (may_resend(request_, error) && !out_of_time(request_)) return true;
  const bool final = error.delivery() == Delivery::ran || error.advice() == Advice::never ||
                     error.advice() == Advice::after || error.code() == Errc::cancelled ||
                     error.code() == Errc::deadline_exceeded;
  if (final)
    error.deliver(worst_);  // its own reason ends the call: the handler's answer, the deadline …
  else
    error = summary();
  return false;
}

Error Resends::summary() {
  Error error = std::move(first_);
  if (broke_) error.prefix("the retry budget is spent");
  if (made_ > 1) error.prefix(std::to_string(made_) + " attempts failed, the first");
  error.deliver(worst_);
  return error;
}

}  // namespace

Result<std::unique_ptr<Failover>> Failover::create(Options options, Environment) {
  return std::unique_ptr<Failover>(new Failover(options));
}

// Not a coroutine: most calls succeed at once, and then the endpoint's task is all there is.
Task<Result<Response>> Failover::call(Request& request, Candidates& candidates) {
  Endpoint* endpoint = candidates.next(request);
  if (!endpoint) return ready<Result<Response>>(candidates.none_left(request));
  request.candidates = &candidates;
  Task<Result<Response>> first = endpoint->call(request);
  auto rescuer = +[](Result<Response>& result, void* self, void* argument) {
    Request& failed = *static_cast<Request*>(argument);
    if (result.ok() || !may_resend(failed, result.error())) return Task<Result<Response>>();
    return static_cast<const Failover*>(self)->resend(failed, *failed.candidates, std::move(result).error());
  };
  first.rescue(rescuer, this, &request);
  return first;
}

Task<Result<Response>> Failover::resend(Request& request, Candidates& candidates, Error first) const {
  Resends resends(request, candidates, options_.retries, std::move(first));
  while (Endpoint* endpoint = resends.next()) {
    Result<Response> result = co_await endpoint->call(request);
    if (result.ok() || !resends.again(result.error())) co_return std::move(result);
  }
  co_return resends.summary();
}

}  // namespace tenon::cluster
