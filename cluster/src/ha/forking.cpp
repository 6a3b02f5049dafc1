#include "ha/forking.hpp"

#include <utility>

#include "ha/attempt_account.hpp"
#include "ha/parallel_attempts.hpp"

namespace tenon::cluster {

Result<std::unique_ptr<Forking>> Forking::create(Options options, Environment) {
  if (options.forks == 0) return Error(Errc::config, "forking: forks must be above 0", Delivery::not_run);
  return std::unique_ptr<Forking>(new Forking(options));
}

Task<Result<Response>> Forking::call(Request& request, Candidates& candidates) {
  Endpoint* first = candidates.next(request);
  if (!first) return ready<Result<Response>>(candidates.none_left(request));
  const Target& target = *request.target;
  Executor* executor = Executor::current();
  if (!target.idempotent || target.method->shape != Shape::unary || options_.forks < 2 || !executor)
    return first->call(request);
  return fork(request, candidates, *first, executor->clock());
}

Task<Result<Response>> Forking::fork(Request& request, Candidates& candidates, Endpoint& first, Clock& clock) {
  ParallelAttempts attempts(request, clock);
  AttemptAccount account(request, candidates, 0);
  attempts.start(first, 0);
  while (account.made() < options_.forks) {
    Endpoint* other = account.beside(attempts);
    if (!other) break;
    forks_.fetch_add(1, std::memory_order_relaxed);
    attempts.start(*other, account.made() - 1);
  }
  Error own;  // one that failover reports as it is
  Result<Response> answer = Error();
  while (attempts.pending() > 0) {
    auto news = attempts.next();
    const auto ended = co_await news;
    if (answer.ok()) continue;  // a loser
    if (ended->result.ok()) {
      answer = std::move(ended->result);
      attempts.cancel();
      continue;
    }
    Error& error = ended->result.error();
    const bool final =
        error.delivery() == Delivery::ran || error.code() == Errc::cancelled || error.code() == Errc::deadline_exceeded;
    (void)account.again(error);
    if (final && !own) own = std::move(error);
  }
  if (answer.ok()) co_return std::move(answer);
  if (!own) co_return account.summary();
  own.deliver(account.worst());
  co_return std::move(own);
}

std::vector<Count> Forking::counts() const { return {{"forks", forks_.load(std::memory_order_relaxed)}}; }

}  // namespace tenon::cluster
