#include "failover.hpp"

#include <algorithm>

namespace tenon::cluster {

namespace {

/// The attempts of one call: counts them and decides about the next.
class Attempts {
 public:
  Attempts(Request& request, Candidates& candidates, std::uint32_t retries) noexcept
      : request_(request),
        candidates_(candidates),
        left_(request.target->retries >= 0 ? static_cast<std::uint32_t>(request.target->retries) : retries) {}
  Attempts(const Attempts&) = delete;
  Attempts& operator=(const Attempts&) = delete;
  ~Attempts() {
    if (facts_) request_.info = original_;
  }

  /// The endpoint for the next attempt, or null: the call has ended with outcome().
  Endpoint* next() noexcept {
    Endpoint* endpoint = candidates_.next(request_);
    if (endpoint) ++made_;
    return endpoint;
  }
  /// True: `error` is one to try again after.
  bool again(Error& error);
  /// The call's error after next() gave none.
  Error outcome() {
    if (made_ == 0) return candidates_.none_left(request_);
    return summary();
  }

 private:
  bool may_resend(const Error& error) const noexcept;
  bool out_of_time() const noexcept;
  void count_attempt();
  Error summary();

  Request& request_;
  Candidates& candidates_;
  std::uint32_t left_;
  std::uint32_t made_ = 0;
  Error first_;
  Delivery worst_ = Delivery::not_run;
  const CallInfo* original_ = nullptr;
  std::unique_ptr<CallInfo> facts_;  // with the attempt's number; only for calls that are sent again
};

bool Attempts::may_resend(const Error& error) const noexcept {
  if (error.advice() == Advice::never || error.advice() == Advice::after) return false;
  if (error.code() == Errc::cancelled) return false;
  if (error.delivery() == Delivery::ran) return false;
  return error.delivery() == Delivery::not_run || request_.target->idempotent;
}

bool Attempts::out_of_time() const noexcept {
  if (request_.cancel && request_.cancel->cancelled()) return true;
  Executor* executor = Executor::current();
  return request_.deadline != never && executor && executor->clock().now() >= request_.deadline;
}

bool Attempts::again(Error& error) {
  const bool last = !may_resend(error);
  worst_ = std::max(worst_, error.delivery());
  if (last) {
    // Its own reason ends the call, so it is the call's error; what earlier attempts may have done still counts.
    if (error.delivery() < worst_) error.deliver(worst_);
    return false;
  }
  if (!first_) first_ = error;
  if (left_ == 0 || out_of_time() || !candidates_.spend_retry()) {
    error = summary();
    return false;
  }
  --left_;
  count_attempt();
  return true;
}

void Attempts::count_attempt() {
  if (!request_.info) return;
  if (!facts_) {
    original_ = request_.info;
    facts_ = std::make_unique<CallInfo>(*original_);
    request_.info = facts_.get();
  }
  facts_->peer = nullptr;
  facts_->attempt = made_;
}

Error Attempts::summary() {
  Error error = std::move(first_);
  if (made_ > 1) error.prefix(std::to_string(made_) + " attempts failed, the first");
  error.deliver(worst_);
  return error;
}

}  // namespace

Result<std::unique_ptr<Failover>> Failover::create(Options options, Environment) {
  return std::unique_ptr<Failover>(new Failover(options));
}

Task<Result<Response>> Failover::call(Request& request, Candidates& candidates) {
  Attempts attempts(request, candidates, options_.retries);
  while (Endpoint* endpoint = attempts.next()) {
    Result<Response> result = co_await endpoint->call(request);
    if (result.ok() || !attempts.again(result.error())) co_return std::move(result);
  }
  co_return attempts.outcome();
}

}  // namespace tenon::cluster
