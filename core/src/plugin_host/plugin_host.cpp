#include "plugin_host/plugin_host.hpp"

#include <mutex>

#include "manifest/nearest.hpp"
#include "plugin_host/built_in.hpp"
#include "plugin_host/elf_file.hpp"
#include "plugin_host/file_policy.hpp"
#include "plugin_host/open_plugin.hpp"
#include "plugin_host/probe.hpp"
#include "tenon/plugins.hpp"

namespace tenon::plugin_host {

namespace {

// Opening is a matter of the process, not of one host: the second of two hosts finds the file open and needs no probe.
std::mutex& opening() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}

Result<OpenPlugin> open_checked(const std::string& path, const PluginOptions& options) {
  const std::lock_guard<std::mutex> lock(opening());
  if (options.probe && !is_open(path)) {
    Result<std::string> program = find_probe(options);
    if (!program.ok()) return std::move(program).error();
    Result<PluginReport> report = probe(*program, path, options);
    if (!report.ok()) return std::move(report).error();
    if (!report->refusal.empty()) return Error(Errc::config, report->refusal, Delivery::not_run);
  }
  return open_plugin(path);
}

}  // namespace

Result<void> PluginHost::load_file(std::string_view name) {
  Result<std::string> found = find_file(name, options_.search);
  if (!found.ok()) return std::move(found).error();
  Result<std::string> path = check_file(*found);
  if (!path.ok()) return std::move(path).error();
  if (loaded_.contains(*path)) return {};
  if (auto elf = check_elf(*path); !elf.ok()) return elf;
  Result<OpenPlugin> opened = open_checked(*path, options_);
  if (!opened.ok()) return std::move(opened).error();
  return install(*opened);
}

Result<void> PluginHost::load_built_in(const Plugin& plugin) {
  Result<OpenPlugin> accepted = accept_built_in(plugin);
  if (!accepted.ok()) return std::move(accepted).error();
  if (loaded_.contains(accepted->path)) return {};
  return install(*accepted);
}

Result<void> PluginHost::install(const OpenPlugin& plugin) {
  Result<std::vector<CatalogEntry>> offered = collect(plugin);
  if (!offered.ok()) return std::move(offered).error();
  std::vector<LoadedEntry> entries;
  for (CatalogEntry& entry : *offered)
    entries.push_back({std::move(entry), plugin.path, plugin.plugin->name, plugin.plugin->version});
  if (auto added = catalog_.add_all(std::move(entries)); !added.ok()) return added;
  loaded_.insert(plugin.path);
  return {};
}

Result<void> PluginHost::load(std::string_view name) {
  const Plugin* const built_in = find_built_in(options_, name);
  Result<void> done = built_in ? load_built_in(*built_in) : load_file(name);
  if (!done.ok()) refusals_.push_back({std::string(name), done.error().text()});
  return done;
}

Result<void> PluginHost::load_all() {
  std::string text;
  for (const std::string& name : options_.load) {
    Result<void> done = load(name);
    if (!done.ok()) text += (text.empty() ? "" : "\n") + done.error().text();
  }
  if (text.empty()) return {};
  return Error(Errc::config, std::move(text), Delivery::not_run);
}

std::string PluginHost::why_missing(std::string_view kind, std::string_view name) const {
  std::vector<std::string_view> names = catalog_.names(kind);
  const std::string hint = did_you_mean(name, names);
  std::string text = "there is no " + std::string(kind) + " \"" + std::string(name) + '"';
  text += hint.empty() ? " (loaded: " + listed(std::move(names)) + ')' : hint;
  for (const Refusal& refusal : refusals_) text += "; " + refusal.text;

  Result<std::vector<PluginReport>> reports = inspect(options_);
  if (reports.ok()) {
    for (const PluginReport& report : *reports)
      for (const EntryReport& entry : report.entries)
        if (entry.kind == kind && entry.name == name) {
          const std::size_t slash = report.path.rfind('/');
          const bool is_file = slash != std::string::npos;
          return text + "; add " +
                 (is_file ? report.path.substr(slash + 1, report.path.size() - slash - 4) : report.name) +
                 " to plugins.load";
        }
  }
  std::string searched;
  for (const std::string& directory : options_.search) searched += (searched.empty() ? "" : ", ") + directory;
  return text + "; no plugin in " + (searched.empty() ? "plugins.search (which is empty)" : searched) + " offers it";
}

}  // namespace tenon::plugin_host
