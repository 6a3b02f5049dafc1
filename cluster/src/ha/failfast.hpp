#pragma once
#include <memory>

#include "tenon/catalog.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster {

/// HA strategy "failfast": one attempt, whatever comes of it. Adds no coroutine: the endpoint's task is handed out.
class Failfast final : public HaStrategy {
 public:
  using Options = NoOptions;
  static Result<std::unique_ptr<Failfast>> create(Options options, Environment environment);
  Task<Result<Response>> call(Request& request, Candidates& candidates) override;
};

}  // namespace tenon::cluster
