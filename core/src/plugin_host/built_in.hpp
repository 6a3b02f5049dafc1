#pragma once
#include <span>
#include <string_view>

#include "tenon/core_export.hpp"
#include "tenon/options.hpp"
#include "tenon/plugin.hpp"

namespace tenon::plugin_host {

/// The entries of options.built_in.
TENON_CORE std::span<const Plugin* const> all_built_in(const PluginOptions& options) noexcept;
/// The one of that name, or null.
TENON_CORE const Plugin* find_built_in(const PluginOptions& options, std::string_view name) noexcept;

}  // namespace tenon::plugin_host
