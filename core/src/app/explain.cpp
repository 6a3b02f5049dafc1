#include "app/parts.hpp"
#include "loop/run_on.hpp"
#include "loop/wait_for.hpp"
#include "tenon/app.hpp"
#include "tenon/route_explanation.hpp"

namespace tenon {

Result<RouteExplanation> App::explain(std::string_view reference, const CallFacts& facts, Duration patience) {
  const std::shared_ptr<Reference> found = parts_->reference(std::string(reference));
  Method method;
  method.name = facts.method;
  auto* bound = dynamic_cast<BoundReference*>(found.get());
  if (!bound) return found->bind(method).error();  // it refuses everything
  RouteExplanation told;
  told.service = bound->service();
  Loop& loop = bound->loop();
  const auto ready = wait_for(loop, [&] { return bound->cluster().ready(loop.clock().now() + patience); });
  if (!ready.ok()) told.not_ready = ready.error().text();
  told.instances = run_on(loop, [&] {
    const Target target{&told.service, &method};
    Request request(target);
    request.headers = facts.headers;
    request.hash_key = facts.hash_key;
    if (!facts.instance.empty()) request.instance = &facts.instance;
    return bound->cluster().explain(request);
  });
  return told;
}

}  // namespace tenon
