#pragma once
// What tenon-probe tells its parent: lines of tab-separated, escaped words on descriptor 3, ended by "end".

#include <optional>
#include <string>
#include <string_view>

#include "plugin_host/open_plugin.hpp"
#include "tenon/plugins.hpp"

namespace tenon::plugin_host {

inline constexpr int report_descriptor = 3;

/// What reached the parent.
struct ProbeReport {
  PluginReport plugin;
  bool complete = false;  ///< the child came to its end
  bool threw = false;     ///< an exception left an initialiser
  std::string thrown_type;
  std::string thrown_text;
};

/// The report of a plugin that opened, and of one that did not.
std::string report_of(const OpenPlugin& plugin, const std::vector<CatalogEntry>& entries);
std::string report_of(const Error& refusal);
std::string report_of_exception(std::string_view type, std::string_view text);

/// Reads what a child wrote; a broken or cut report is incomplete, never an error.
ProbeReport read_report(std::string_view text);

}  // namespace tenon::plugin_host
