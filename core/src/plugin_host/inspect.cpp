#include <algorithm>
#include <filesystem>

#include "plugin_host/built_in.hpp"
#include "plugin_host/elf_file.hpp"
#include "plugin_host/file_policy.hpp"
#include "plugin_host/open_plugin.hpp"
#include "plugin_host/probe.hpp"
#include "plugin_host/probe_report.hpp"
#include "tenon/plugins.hpp"

namespace tenon {

namespace {

namespace fs = std::filesystem;
using namespace plugin_host;

Result<std::vector<std::string>> candidates(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".so") files.push_back(it->path().string());
  if (error) return Error(Errc::config, "plugins.search: " + directory + ": " + error.message(), Delivery::not_run);
  std::sort(files.begin(), files.end());
  return files;
}

Result<PluginReport> examine(const std::string& program, const std::string& file, const PluginOptions& options) {
  PluginReport refused;
  refused.path = file;
  Result<std::string> path = check_file(file);
  if (!path.ok()) {
    refused.refusal = path.error().text();
    return refused;
  }
  if (auto elf = check_elf(*path); !elf.ok()) {
    refused.refusal = elf.error().text();
    return refused;
  }
  Result<PluginReport> report = probe(program, *path, options);
  if (report.ok()) report->path = file;
  return report;
}

// A built-in plugin runs in this process whoever asks, so no child is needed.
PluginReport describe(const Plugin& plugin) {
  const Result<OpenPlugin> accepted = accept_built_in(plugin);
  const Result<std::vector<CatalogEntry>> entries =
      accepted.ok() ? collect(*accepted) : Result<std::vector<CatalogEntry>>(accepted.error());
  PluginReport report = read_report(entries.ok() ? report_of(*accepted, *entries) : report_of(entries.error())).plugin;
  report.path = std::string(plugin.name ? plugin.name : "") + " (built in)";
  return report;
}

}  // namespace

Result<std::vector<PluginReport>> inspect(const PluginOptions& options) {
  Result<std::string> program = find_probe(options);
  if (!program.ok()) return std::move(program).error();
  std::vector<PluginReport> reports;
  for (const Plugin* plugin : all_built_in(options)) reports.push_back(describe(*plugin));
  for (const std::string& directory : options.search) {
    if (directory.empty() || directory.front() != '/')
      return Error(Errc::config, "plugins.search: \"" + directory + "\" is not an absolute directory",
                   Delivery::not_run);
    Result<std::vector<std::string>> files = candidates(directory);
    if (!files.ok()) return std::move(files).error();
    for (const std::string& file : *files) {
      Result<PluginReport> report = examine(*program, file, options);
      if (!report.ok()) return std::move(report).error();
      reports.push_back(std::move(*report));
    }
  }
  return reports;
}

}  // namespace tenon
