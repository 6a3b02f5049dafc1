// tenon check: is this manifest one that an application could start with?

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "command.hpp"
#include "component/effective_config.hpp"
#include "component_check.hpp"
#include "plugin_host/plugin_host.hpp"
#include "stats_text.hpp"

namespace tenon::cli {
namespace {

constexpr const char* footer =
    "Reads the manifest, loads its plugins and compares every component's options with what its plugin takes: all "
    "that\n"
    "a start does before it listens or connects. Every mistake is printed as file:line:col: text.\n"
    "\n"
    "--effective prints every value a start would use and its origin, file:line:col or \"default\"; a running process\n"
    "tells the same with `tenon stats ADDRESS config`. Passwords and the like are shown as ***.\n"
    "\n"
    "Examples:\n"
    "  tenon check server.yaml\n"
    "  tenon check server.yaml --effective\n"
    "\n"
    "Exit codes: 0 it could start, 2 it could not";

int check_manifest(const std::string& file, bool effective) {
  Result<AppOptions> loaded = load_manifest(file);
  if (!loaded.ok()) return complain("check", loaded.error());
  AppOptions options = *loaded;
  apply_defaults(options);
  bool good = true;
  const auto complaint = [&good](const std::string& lines) {
    std::fprintf(stderr, "%s\n", lines.c_str());
    good = false;
  };
  plugin_host::PluginHost host(options.plugins);
  if (Result<void> plugins = host.load_all(); !plugins.ok()) complaint(plugins.error().text());
  ComponentCheck components(options, host, complaint);
  components.run();
  if (!good) return exit_usage;
  if (effective) {
    std::printf("%s", config_text(effective_config(*loaded, host.catalog())).c_str());
    return exit_ok;
  }
  for (const std::string& service : components.not_from_plugins())
    std::printf("note: no loaded plugin has service %s; the program must provide it (tenon serve could not)\n",
                service.c_str());
  std::printf("%s: ok (%zu plugins, %zu ports, %zu services, %zu references)\n", file.c_str(),
              options.plugins.load.size(), options.server.listen.size(), options.server.services.size(),
              options.client.references.size());
  return exit_ok;
}

}  // namespace

Subcommand add_check(CLI::App& tenon) {
  auto file = std::make_shared<std::string>();
  auto effective = std::make_shared<bool>(false);
  CLI::App* parser = tenon.add_subcommand("check", "say everything that is wrong with a manifest");
  parser->footer(footer);
  parser->add_option("MANIFEST", *file, "the file")->required();
  parser->add_flag("--effective", *effective, "print every value in force, with its origin");
  return {parser, [file, effective] { return check_manifest(*file, *effective); }};
}

}  // namespace tenon::cli
