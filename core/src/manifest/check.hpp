#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "tenon/options.hpp"

namespace tenon::manifest {

/// Told of one mistake: the path of the value ("client.references.greeter.registry") and what is wrong with it.
using Finding = std::function<void(std::string_view path, std::string text)>;

/// What the types alone cannot say: ranges, missing members, names that refer to nothing.
void check(const AppOptions& options, const Finding& finding);

/// True for a name that may become a file name: letters, digits, '-', '_', '.', not starting with '.'.
TENON_CORE bool is_plugin_name(std::string_view name) noexcept;

}  // namespace tenon::manifest
