#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "admin/app_facts.hpp"
#include "tenon/admin.hpp"
#include "tenon/task.hpp"

namespace tenon::admin {

/// Looks at the whole application: asks every io thread and waits for them at most half a second. At most `limit`
/// connections are shown, and never more than 1000.
/// Threads: the admin service's loop `home`. Blocking: no.
Task<Stats> look(std::shared_ptr<const AppFacts> facts, std::shared_ptr<Loop> home, std::size_t limit);

std::vector<ListenerState> listeners_of(const AppFacts& facts);
std::vector<PoolState> pools_of(const AppFacts& facts);
std::vector<LoadedPlugin> plugins_of(const AppFacts& facts);

}  // namespace tenon::admin
