#include "plugin_host/built_in.hpp"

#include "tenon/options.hpp"

extern "C" {
/// Defined by programs that have plugins linked in (core/cmake/TenonStaticPlugins.cmake), else null. A weak reference
/// instead of a registry: nothing runs at start-up, and core names no plugin.
__attribute__((weak, visibility("default"))) extern const tenon::Plugin* const tenon_static_plugins[];
}

namespace tenon {

const Plugin* const* built_in_plugins() noexcept { return tenon_static_plugins; }

namespace plugin_host {

std::span<const Plugin* const> all_built_in(const PluginOptions& options) noexcept {
  std::size_t count = 0;
  if (options.built_in)
    while (options.built_in[count]) ++count;
  return {options.built_in, count};
}

const Plugin* find_built_in(const PluginOptions& options, std::string_view name) noexcept {
  for (const Plugin* plugin : all_built_in(options))
    if (plugin->name && plugin->name == name) return plugin;
  return nullptr;
}

}  // namespace plugin_host

}  // namespace tenon
