#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plugin_host/loaded_catalog.hpp"
#include "plugin_host/open_plugin.hpp"
#include "tenon/core_export.hpp"
#include "tenon/options.hpp"
#include "tenon/result.hpp"

namespace tenon::plugin_host {

/// Loads one App's plugins. Every check comes before the step it protects: name, file and its directories, ELF
/// headers, a child process, the constant, identity, duplicates. A refused plugin leaves nothing behind in the catalog
/// and the host goes on. Nothing is ever unloaded.
/// Threads: one at a time per host; many hosts at once.
class TENON_CORE PluginHost {
 public:
  explicit PluginHost(PluginOptions options) : options_(std::move(options)) {}

  /// Loads plugin `name`: the built-in one, else from the search directories. Loading it again does nothing.
  /// Blocking: starts a child process unless the file is open already or options.probe is false.
  /// Fails with: config, already_exists; a sentence that names the file and what to do.
  Result<void> load(std::string_view name);
  /// Loads options.load in order, all of it even if some fail. Fails with: config, a line for each that failed.
  Result<void> load_all();

  LoadedCatalog& catalog() noexcept { return catalog_; }
  const LoadedCatalog& catalog() const noexcept { return catalog_; }
  const PluginOptions& options() const noexcept { return options_; }

  /// A file of the search directories that was refused.
  struct Refusal {
    std::string name;
    std::string text;
  };
  const std::vector<Refusal>& refusals() const noexcept { return refusals_; }

  /// Why there is no `kind` called `name`: what exists, near names, what was searched, what was refused and, if a file
  /// that is not loaded has it, "add serialize-json to plugins.load". Blocking: may probe files; for failures only.
  std::string why_missing(std::string_view kind, std::string_view name) const;

 private:
  Result<void> load_built_in(const Plugin& plugin);
  Result<void> load_file(std::string_view name);
  Result<void> install(const OpenPlugin& plugin);

  PluginOptions options_;
  LoadedCatalog catalog_;
  std::set<std::string, std::less<>> loaded_;  // canonical paths, "NAME (built in)"
  std::vector<Refusal> refusals_;
};

}  // namespace tenon::plugin_host
