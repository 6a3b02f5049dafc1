#include "ha/failover.hpp"

#include "ha/attempt_account.hpp"

namespace tenon::cluster {

namespace {

/// While it lives the request's facts are a copy in which the attempts are numbered.
class Numbered {
 public:
  explicit Numbered(Request& request) noexcept : request_(request), original_(request.info) {
    if (!original_) return;
    facts_ = *original_;
    facts_.peer = nullptr;
    request_.info = &facts_;
  }
  Numbered(const Numbered&) = delete;
  Numbered& operator=(const Numbered&) = delete;
  ~Numbered() { request_.info = original_; }
  void attempt(std::uint32_t number) noexcept { facts_.attempt = number; }

 private:
  Request& request_;
  const CallInfo* const original_;
  CallInfo facts_;
};

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

Task<Result<Response>> Failover::resend(Request& request, Candidates& candidates, Error error) const {
  AttemptAccount account(request, candidates, options_.retries);
  Numbered numbered(request);
  while (account.again(error)) {
    Endpoint* endpoint = account.next();
    if (!endpoint) co_return account.summary();
    numbered.attempt(account.made() - 1);
    Result<Response> result = co_await endpoint->call(request);
    if (result.ok()) co_return std::move(result);
    error = std::move(result).error();
  }
  co_return std::move(error);
}

}  // namespace tenon::cluster
