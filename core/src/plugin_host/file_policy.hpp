#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tenon/core_export.hpp"
#include "tenon/result.hpp"

namespace tenon::plugin_host {

/// Finds the file of plugin `name` in `directories`, the first that has it. Only a plain name in an absolute directory
/// is ever looked for. Returns the path as written (directory/name.so), not yet checked.
/// Fails with: config, listing where it looked and a near name.
TENON_CORE Result<std::string> find_file(std::string_view name, const std::vector<std::string>& directories);

/// May this file's code be run? It must be a regular file, stay inside its directory when links are followed, belong
/// to root or to the effective user, and neither it nor any directory above it may be writable by others (a sticky
/// directory such as /tmp may be). Returns the canonical path. Blocking: a few stat calls.
/// Fails with: config, naming the path at fault and the command that mends it.
TENON_CORE Result<std::string> check_file(const std::string& path);

}  // namespace tenon::plugin_host
