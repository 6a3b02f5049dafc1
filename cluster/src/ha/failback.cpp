#include "ha/failback.hpp"

#include <string>
#include <utility>

#include "ha/empty_answer.hpp"

namespace tenon::cluster {

namespace {

/// May a copy be sent later?
bool may_wait(const Request& request, const Error& error) noexcept {
  if (is_callers_own(error) || error.advice() == Advice::never || error.delivery() == Delivery::ran) return false;
  if (request.messages || request.target->method->shape == Shape::server_stream) return false;
  return error.delivery() == Delivery::not_run || request.target->idempotent;
}

}  // namespace

Result<std::unique_ptr<Failback>> Failback::create(Options options, Environment environment) {
  if (options.interval <= Duration{0} || options.retries == 0 || options.max_calls == 0 || options.max_bytes == 0)
    return Error(Errc::config, "failback: interval, retries, max_calls and max_bytes must be above 0",
                 Delivery::not_run);
  return std::unique_ptr<Failback>(new Failback(std::move(options), environment.log));
}

Failback::Failback(Options options, Log& log) : options_(std::move(options)), log_(log) {}

Task<Result<Response>> Failback::call(Request& request, Candidates& candidates) {
  // What another strategy hands out may have its own rescue, of which a task has one.
  if (options_.inner) return call_inner(request, candidates);
  Endpoint* endpoint = candidates.next(request);
  if (!endpoint) {
    Result<Response> nobody = candidates.none_left(request);
    settle(request, candidates, nobody);
    return ready(std::move(nobody));
  }
  request.candidates = &candidates;
  Task<Result<Response>> first = endpoint->call(request);
  auto rescuer = +[](Result<Response>& result, void* self, void* argument) {
    Request& ended = *static_cast<Request*>(argument);
    static_cast<Failback*>(self)->settle(ended, *ended.candidates, result);
    return Task<Result<Response>>();
  };
  first.rescue(rescuer, this, &request);
  return first;
}

Task<Result<Response>> Failback::call_inner(Request& request, Candidates& candidates) {
  Result<Response> result = co_await options_.inner->call(request, candidates);
  settle(request, candidates, result);
  co_return std::move(result);
}

void Failback::settle(Request& request, Candidates& candidates, Result<Response>& result) {
  if (result.ok() || !may_wait(request, result.error())) return;
  Executor* executor = Executor::current();
  if (!executor) return;
  const auto made = [&] {
    const ResendLimits limits{options_.interval, options_.retries, options_.max_calls, options_.max_bytes};
    return std::make_shared<ResendQueue>(limits, counts_, candidates, *executor, log_);
  };
  if (!queues_.of(candidates, made)->add(request)) {
    result.error().prefix("the queue of calls to be sent again is full");
    return;
  }
  const Target& target = *request.target;
  log_.warn("failback", target.service->text() + "." + std::string(target.method->name) +
                            " is sent again later: " + result.error().text());
  result = empty_answer(request);
}

void Failback::release(Candidates& candidates) noexcept {
  if (const auto queue = queues_.take(candidates)) queue->release();
  if (options_.inner) options_.inner->release(candidates);
}

std::vector<Count> Failback::counts() const {
  std::vector<Count> all{{"queued", counts_->queued.load(std::memory_order_relaxed)},
                         {"sent later", counts_->sent.load(std::memory_order_relaxed)},
                         {"dropped", counts_->dropped.load(std::memory_order_relaxed)}};
  if (!options_.inner) return all;
  for (Count& count : options_.inner->counts()) all.push_back(std::move(count));
  return all;
}

}  // namespace tenon::cluster
