#pragma once
#include <chrono>
#include <memory>

#include "admin/app_facts.hpp"
#include "tenon/result.hpp"
#include "tenon/task.hpp"

// What the admin service can tell an application to do.
namespace tenon::admin {

/// Asks it to stop, as SIGTERM does. A negative grace is server.grace.
/// Fails with: unimplemented, where the program does not wait for such requests.
Result<void> drain(const AppFacts& facts, std::chrono::milliseconds grace);

/// No traffic from now on: registries are told, those who hear of it have a moment, then calls are refused.
/// Threads: the admin service's loop. Blocking: no.
/// Fails with: unavailable, when it is not ready or not serving.
Task<Result<void>> pause(std::shared_ptr<AppFacts> facts);
/// The end of that. Fails with: unavailable, when it is not paused.
Result<void> resume(AppFacts& facts);

}  // namespace tenon::admin
