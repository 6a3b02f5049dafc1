#include "ha/broadcast.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "tenon/scope.hpp"

namespace tenon::cluster {

Result<std::unique_ptr<Broadcast>> Broadcast::create(Options options, Environment) {
  if (options.fail_percent > 100)
    return Error(Errc::config, "broadcast: fail_percent is " + std::to_string(options.fail_percent) + ", above 100",
                 Delivery::not_run);
  return std::unique_ptr<Broadcast>(new Broadcast(options));
}

Task<Result<Response>> Broadcast::call(Request& request, Candidates& candidates) {
  const Target& target = *request.target;
  if (target.method->shape == Shape::server_stream || request.messages)
    return ready<Result<Response>>(Error(Errc::unimplemented,
                                         target.service->text() + "." + std::string(target.method->name) +
                                             ": a stream cannot be broadcast; call it through a reference with "
                                             "another HA strategy",
                                         Delivery::not_run, Advice::never));
  std::vector<Endpoint*> everybody = candidates.all(request);
  if (everybody.empty()) return ready<Result<Response>>(candidates.none_left(request));
  return ask(request, std::move(everybody));
}

Task<Result<Response>> Broadcast::ask(Request& request, std::vector<Endpoint*> everybody) {
  std::vector<Request> requests;
  std::vector<Task<Result<Response>>> attempts;
  std::vector<std::string> addresses;  // an instance may leave while it is asked
  requests.reserve(everybody.size());
  attempts.reserve(everybody.size());
  addresses.reserve(everybody.size());
  for (Endpoint* endpoint : everybody) {
    addresses.push_back(endpoint->instance().address);
    attempts.push_back(endpoint->call(requests.emplace_back(parallel_attempt(request))));
  }
  auto asked = all(std::move(attempts));
  std::vector<Result<Response>> results = co_await asked;

  constexpr std::size_t shown = 5;
  std::size_t failed = 0;
  std::string where;
  Result<Response>* answer = nullptr;
  Error* first = nullptr;
  Delivery worst = Delivery::not_run;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].ok()) {
      if (!answer) answer = &results[i];
      worst = Delivery::ran;
      continue;
    }
    Error& error = results[i].error();
    if (!first) first = &error;
    worst = std::max(worst, error.delivery());
    if (failed < shown) where += (failed == 0 ? "" : ", ") + addresses[i];
    if (failed++ == shown) where += ", …";
  }
  asked_.fetch_add(results.size(), std::memory_order_relaxed);
  failed_.fetch_add(failed, std::memory_order_relaxed);
  if (answer && failed * 100 <= results.size() * options_.fail_percent) co_return std::move(*answer);
  first->prefix(std::to_string(failed) + " of " + std::to_string(results.size()) + " instances failed (" + where +
                "), the first");
  first->deliver(worst);
  co_return std::move(*first);
}

std::vector<Count> Broadcast::counts() const {
  return {{"instances asked", asked_.load(std::memory_order_relaxed)},
          {"instances failed", failed_.load(std::memory_order_relaxed)}};
}

}  // namespace tenon::cluster
