#pragma once
#include "tenon/clock.hpp"
#include "tenon/executor.hpp"
#include "tenon/log.hpp"

namespace tenon {

/// What a component's factory gets besides its options. Three members; a fourth needs an argument in spi/README.md
/// why an option (Use<Kind>) will not do. All outlive every component.
struct Environment {
  Executor& executor;  ///< the control thread: where registries, routers and timers of components run
  Log& log;
  Clock& clock;  ///< executor's clock
};

}  // namespace tenon
