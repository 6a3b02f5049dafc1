#include "ha/failfast.hpp"

namespace tenon::cluster {

Result<std::unique_ptr<Failfast>> Failfast::create(Options, Environment) { return std::make_unique<Failfast>(); }

Task<Result<Response>> Failfast::call(Request& request, Candidates& candidates) {
  if (Endpoint* endpoint = candidates.next(request)) return endpoint->call(request);
  return ready<Result<Response>>(candidates.none_left(request));
}

}  // namespace tenon::cluster
