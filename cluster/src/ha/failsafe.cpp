#include "ha/failsafe.hpp"

#include <string>
#include <utility>

#include "ha/empty_answer.hpp"

namespace tenon::cluster {

Result<std::unique_ptr<Failsafe>> Failsafe::create(Options options, Environment environment) {
  return std::unique_ptr<Failsafe>(new Failsafe(std::move(options), environment.log));
}

Task<Result<Response>> Failsafe::call(Request& request, Candidates& candidates) {
  // What another strategy hands out may have its own rescue, of which a task has one.
  if (options_.inner) return call_inner(request, candidates);
  Endpoint* endpoint = candidates.next(request);
  if (!endpoint) {
    Result<Response> nobody = candidates.none_left(request);
    calm(request, nobody);
    return ready(std::move(nobody));
  }
  Task<Result<Response>> only = endpoint->call(request);
  auto rescuer = +[](Result<Response>& result, void* self, void* argument) {
    static_cast<Failsafe*>(self)->calm(*static_cast<Request*>(argument), result);
    return Task<Result<Response>>();
  };
  only.rescue(rescuer, this, &request);
  return only;
}

Task<Result<Response>> Failsafe::call_inner(Request& request, Candidates& candidates) {
  Result<Response> result = co_await options_.inner->call(request, candidates);
  calm(request, result);
  co_return std::move(result);
}

void Failsafe::calm(Request& request, Result<Response>& result) {
  if (result.ok() || is_callers_own(result.error())) return;
  hidden_.fetch_add(1, std::memory_order_relaxed);
  const Target& target = *request.target;
  log_.warn("failsafe", target.service->text() + "." + std::string(target.method->name) +
                            " is answered empty: " + result.error().text());
  result = empty_answer(request);
}

void Failsafe::release(Candidates& candidates) noexcept {
  if (options_.inner) options_.inner->release(candidates);
}

std::vector<Count> Failsafe::counts() const {
  std::vector<Count> all{{"failures hidden", hidden_.load(std::memory_order_relaxed)}};
  if (!options_.inner) return all;
  for (Count& count : options_.inner->counts()) all.push_back(std::move(count));
  return all;
}

}  // namespace tenon::cluster
