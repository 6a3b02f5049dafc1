#include "ha/attempt_account.hpp"

#include <algorithm>
#include <string>

#include "ha/parallel_attempts.hpp"

namespace tenon::cluster {

bool may_resend(const Request& request, const Error& error) noexcept {
  if (error.advice() == Advice::never || error.advice() == Advice::after) return false;
  if (error.code() == Errc::cancelled || error.delivery() == Delivery::ran) return false;
  if (request.messages) return false;  // what was read of a stream cannot be read again
  return error.delivery() == Delivery::not_run || request.target->idempotent;
}

AttemptAccount::AttemptAccount(Request& request, Candidates& candidates, std::uint32_t retries) noexcept
    : request_(request),
      candidates_(candidates),
      left_(request.target->retries >= 0 ? static_cast<std::uint32_t>(request.target->retries) : retries) {}

bool AttemptAccount::out_of_time() const noexcept {
  if (request_.cancel && request_.cancel->cancelled()) return true;
  Executor* executor = Executor::current();
  return request_.deadline != never && executor && executor->clock().now() >= request_.deadline;
}

bool AttemptAccount::again(Error& error) {
  if (failed_++ == 0) first_ = error;
  worst_ = std::max(worst_, error.delivery());
  advice_ = error.advice();
  if (may_resend(request_, error) && !out_of_time()) return true;
  const bool final = error.delivery() == Delivery::ran || error.advice() == Advice::never ||
                     error.advice() == Advice::after || error.code() == Errc::cancelled ||
                     error.code() == Errc::deadline_exceeded;
  if (final)
    error.deliver(worst_);
  else
    error = summary();
  return false;
}

Endpoint* AttemptAccount::candidate(bool& known) noexcept {
  const std::uint64_t set_before = request_.tried_set;
  const std::uint64_t tried_before = request_.tried;
  Endpoint* endpoint = candidates_.next(request_);
  known = request_.tried_set == set_before && request_.tried == tried_before;
  return endpoint;
}

bool AttemptAccount::pay() noexcept {
  if (candidates_.spend_retry()) return true;
  broke_ = true;
  return false;
}

Endpoint* AttemptAccount::next() noexcept {
  if (left_ == 0 || out_of_time()) return nullptr;
  // Attempts may have gone to instances that have left since, so their number alone does not tell that all were tried.
  const bool maybe_all = made_ >= candidates_.size(request_);
  bool known = false;
  Endpoint* endpoint = candidate(known);
  if (!endpoint || (advice_ == Advice::other_instance && maybe_all && known) || !pay()) return nullptr;
  --left_;
  ++made_;
  return endpoint;
}

Endpoint* AttemptAccount::beside(const ParallelAttempts& others) noexcept {
  constexpr std::size_t accounted = 64;  // Tried
  if (out_of_time()) return nullptr;
  bool known = false;
  Endpoint* endpoint = candidate(known);
  const bool tried = known && candidates_.size(request_) <= accounted;
  if (!endpoint || tried || others.at(*endpoint) || !pay()) return nullptr;
  ++made_;
  return endpoint;
}

Error AttemptAccount::summary() const {
  Error error = first_;
  if (broke_) error.prefix("the retry budget is spent");
  if (failed_ > 1) error.prefix(std::to_string(failed_) + " attempts failed, the first");
  error.deliver(worst_);
  return error;
}

}  // namespace tenon::cluster
