// tenon plugins: what lies in the plugin directories, and why what is refused is refused.

#include "tenon/plugins.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "command.hpp"
#include "figures.hpp"
#include "target.hpp"

namespace tenon::cli {
namespace {

struct PluginsOptions {
  std::vector<std::string> directories;
  std::string manifest;
  bool json = false;
};

constexpr const char* footer =
    "Every *.so of the directories is opened in a child process, never in this one. Without DIR and --manifest the\n"
    "directories are those a manifest without plugins.search has: ../plugins beside this program, "
    "/usr/lib/tenon/plugins.\n"
    "\n"
    "Examples:\n"
    "  tenon plugins\n"
    "  tenon plugins ./build/dev/plugins --json\n"
    "  tenon plugins --manifest server.yaml\n"
    "\n"
    "Exit codes: 0 listed (refused files are listed too), 2 wrong command line or a directory cannot be read";

using ::bench::quoted;

std::string json_of(const OptionReport& option) {
  return "{\"name\":" + quoted(option.name) + ",\"type\":" + quoted(option.type) +
         ",\"default\":" + quoted(option.value) + ",\"help\":" + quoted(option.help) + "}";
}

std::string json_of(const EntryReport& entry) {
  std::string json = "{\"kind\":" + quoted(entry.kind) + ",\"name\":" + quoted(entry.name) + ",\"options\":[";
  for (std::size_t i = 0; i < entry.options.size(); ++i) json += (i == 0 ? "" : ",") + json_of(entry.options[i]);
  return json + "]}";
}

std::string json_of(const PluginReport& plugin) {
  std::string json = "{\"path\":" + quoted(plugin.path);
  if (!plugin.refusal.empty()) return json + ",\"refused\":" + quoted(plugin.refusal) + "}";
  json += ",\"name\":" + quoted(plugin.name) + ",\"version\":" + quoted(plugin.version) +
          ",\"stamp\":" + quoted(plugin.stamp) + ",\"entries\":[";
  for (std::size_t i = 0; i < plugin.entries.size(); ++i) json += (i == 0 ? "" : ",") + json_of(plugin.entries[i]);
  return json + "]}";
}

void print_json(const std::vector<PluginReport>& plugins) {
  std::string json = "{\"plugins\":[";
  for (std::size_t i = 0; i < plugins.size(); ++i) json += (i == 0 ? "\n" : ",\n") + json_of(plugins[i]);
  std::printf("%s\n]}\n", json.c_str());
}

void print_options(const std::vector<OptionReport>& options) {
  std::size_t name_width = 0;
  std::size_t type_width = 0;
  for (const OptionReport& option : options) {
    name_width = std::max(name_width, option.name.size());
    type_width = std::max(type_width, option.type.size());
  }
  for (const OptionReport& option : options)
    std::printf("      %-*s  %-*s  %s%s%s\n", static_cast<int>(name_width), option.name.c_str(),
                static_cast<int>(type_width), option.type.c_str(),
                option.value.empty() ? "(none)" : ("= " + option.value).c_str(), option.help.empty() ? "" : "  ",
                option.help.c_str());
}

void print_text(const std::vector<PluginReport>& plugins) {
  for (const PluginReport& plugin : plugins) {
    if (!plugin.refusal.empty()) {
      std::printf("%s\n  REFUSED: %s\n", plugin.path.c_str(), plugin.refusal.c_str());
      continue;
    }
    std::printf("%s\n  %s %s\n", plugin.path.c_str(), plugin.name.c_str(), plugin.version.c_str());
    for (const EntryReport& entry : plugin.entries) {
      std::printf("    %s \"%s\"\n", entry.kind.c_str(), entry.name.c_str());
      print_options(entry.options);
    }
  }
  if (plugins.empty()) std::printf("no *.so there\n");
}

int list(const PluginsOptions& wanted) {
  PluginOptions options;
  if (!wanted.manifest.empty()) {
    Result<AppOptions> manifest = load_manifest(wanted.manifest);
    if (!manifest.ok()) return complain("plugins", manifest.error());
    options = manifest->plugins;
  }
  for (const std::string& directory : wanted.directories)
    options.search.push_back(std::filesystem::absolute(directory).lexically_normal().string());
  if (options.search.empty()) options.search = usual_plugin_dirs();
  Result<std::vector<PluginReport>> plugins = inspect(options);
  if (!plugins.ok()) return complain("plugins", plugins.error());
  if (wanted.json)
    print_json(*plugins);
  else
    print_text(*plugins);
  return exit_ok;
}

}  // namespace

Subcommand add_plugins(CLI::App& tenon) {
  auto options = std::make_shared<PluginsOptions>();
  CLI::App* parser = tenon.add_subcommand("plugins", "list plugins with their options, or why they are refused");
  parser->footer(footer);
  parser->add_option("DIR", options->directories, "directories to look into");
  parser->add_option("--manifest", options->manifest, "look where this manifest's plugins.search says")
      ->type_name("FILE");
  parser->add_flag("--json", options->json, "print {\"plugins\":[...]}");
  return {parser, [options] { return list(*options); }};
}

}  // namespace tenon::cli
