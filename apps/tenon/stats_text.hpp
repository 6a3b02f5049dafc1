#pragma once
// What a process says of itself, as tables.

#include <string>
#include <vector>

#include "tenon/admin.hpp"

namespace tenon::cli {

/// Two lines: who, since when, how busy; a third when an io thread is silent.
std::string state_text(const admin::AppState& state);
std::string listeners_text(const std::vector<admin::ListenerState>& listeners);
std::string pools_text(const std::vector<admin::PoolState>& pools);
/// `before`: the same some time ago, `seconds` > 0: how long ago; then calls per second are shown.
std::string references_text(const std::vector<admin::ReferenceState>& references,
                            const std::vector<admin::ReferenceState>* before = nullptr, double seconds = 0);
std::string connections_text(const admin::ConnectionList& connections);
std::string plugins_text(const std::vector<admin::LoadedPlugin>& plugins);
/// Lines "path = value   origin".
std::string config_text(const std::vector<admin::ConfigValue>& values);

}  // namespace tenon::cli
