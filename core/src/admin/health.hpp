#pragma once
#include <memory>
#include <string>

#include "admin/app_facts.hpp"
#include "tenon/admin.hpp"
#include "tenon/result.hpp"
#include "tenon/task.hpp"

namespace tenon::admin {

/// Asks every io thread, at most half a second.
/// Threads: the admin service's loop `home`. Blocking: no.
Task<HealthState> health(std::shared_ptr<const AppFacts> facts, std::shared_ptr<Loop> home);

/// For probes that look at a status only. Fails with: unavailable, saying what is missing.
Task<Result<std::string>> ready_word(std::shared_ptr<const AppFacts> facts, std::shared_ptr<Loop> home);
Task<Result<std::string>> live_word(std::shared_ptr<const AppFacts> facts, std::shared_ptr<Loop> home);

}  // namespace tenon::admin
