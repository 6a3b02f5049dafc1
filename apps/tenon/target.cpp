#include "target.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <utility>

#include "manifest/nearest.hpp"
#include "manifest/scalar.hpp"
#include "plugin_host/built_in.hpp"

namespace tenon::cli {

namespace {

constexpr const char* usual_plugins[] = {"transport-tcp", "protocol-tenon", "serialize-pb", "serialize-json",
                                         "cluster"};

Error wrong(std::string text) { return Error(Errc::config, std::move(text), Delivery::not_run, Advice::never); }

void load_once(AppOptions& options, std::string name) {
  auto& load = options.plugins.load;
  if (std::find(load.begin(), load.end(), name) == load.end()) load.push_back(std::move(name));
}

// The file name of the plugin that by convention offers (kind, name).
std::string file_of(const std::string& kind, const std::string& name) {
  return kind + '-' + (kind == "serialize" && name == "protobuf" ? "pb" : name);
}

bool is_there(const std::string& plugin, const std::vector<std::string>& directories) {
  return std::any_of(directories.begin(), directories.end(), [&](const std::string& directory) {
    std::error_code unreadable;  // then it is not there for us
    return std::filesystem::exists(std::filesystem::path(directory) / (plugin + ".so"), unreadable);
  });
}

Result<AppOptions> from_manifest(const TargetOptions& target, std::string_view service) {
  Result<AppOptions> loaded = load_manifest(target.manifest);
  if (!loaded.ok()) return loaded;
  AppOptions options = std::move(*loaded);
  auto& references = options.client.references;
  std::vector<std::string_view> names;
  std::vector<std::string_view> fitting;
  for (const auto& [name, reference] : references) {
    names.push_back(name);
    if (service.empty() || reference.service == service) fitting.push_back(name);
  }
  std::string chosen = target.reference;
  if (chosen.empty()) {
    if (fitting.size() != 1)
      return wrong(target.manifest + ": " + (fitting.empty() ? "no reference is to " : "several references are to ") +
                   std::string(service) + "; say --reference NAME (there are: " + listed(names) + ")");
    chosen = fitting.front();
  }
  const auto found = references.find(chosen);
  if (found == references.end()) {
    const std::string near = did_you_mean(chosen, names);
    return wrong(target.manifest + ": no reference \"" + chosen + '"' +
                 (near.empty() ? "; client.references has: " + listed(names) : near));
  }
  ReferenceOptions reference = found->second;
  if (!service.empty() && reference.service != service)
    return wrong(target.manifest + ": reference \"" + chosen + "\" is to " + reference.service + ", not to " +
                 std::string(service));
  references.clear();
  references.emplace(target_name, std::move(reference));
  options.server = ServerOptions();
  return options;
}

}  // namespace

void add_target_options(CLI::App& parser, TargetOptions& target) {
  parser.add_option("--address", target.address, "tcp:HOST:PORT; several separated by commas")->type_name("ADDRESS");
  parser.add_option("--manifest", target.manifest, "take the callee from a manifest's client.references")
      ->type_name("FILE");
  parser.add_option("--reference", target.reference, "its name there; needed when several would do")
      ->type_name("NAME")
      ->needs("--manifest");
  parser.add_option("--serializer", target.serializer, "protobuf, json, simple, …")->type_name("NAME");
  parser.add_option("--protocol", target.protocol, "tenon, motan2, …")->type_name("NAME");
  parser.add_option("--compress", target.compress, "gzip, …; nothing: requests are not compressed")->type_name("NAME");
  parser.add_option("--group", target.group, "the service's group")->type_name("TEXT");
  parser.add_option("--version", target.version, "the service's version")->type_name("TEXT");
  parser.add_option("--timeout", target.timeout, "of a whole call: 250ms, 1s")->type_name("TIME");
  parser.add_option("--load", target.plugins, "one more plugin, by name or path")->type_name("PLUGIN")->take_all();
  parser.add_option("--plugin-dir", target.plugin_dir, "look for plugins here first")->type_name("DIR")->take_all();
}

Result<AppOptions> client_options(const TargetOptions& target, std::string_view service) {
  if (target.address.empty() == target.manifest.empty())
    return wrong("say whom to call: either --address tcp:HOST:PORT or --manifest FILE");
  AppOptions options;
  if (target.manifest.empty()) {
    options = bare_options(target.plugin_dir);
    const Address address = split_address(target.address);
    ReferenceOptions reference;
    reference.service = service;
    reference.address = address.address;
    if (!address.transport.empty()) reference.transport = Component(address.transport);
    options.client.references.emplace(target_name, std::move(reference));
  } else {
    Result<AppOptions> read = from_manifest(target, service);
    if (!read.ok()) return read;
    options = std::move(*read);
    options.plugins.search.insert(options.plugins.search.begin(), target.plugin_dir.begin(), target.plugin_dir.end());
  }
  options.log.level = LogLevel::error;
  ReferenceOptions& reference = options.client.references.at(target_name);
  if (!target.group.empty()) reference.group = target.group;
  if (!target.version.empty()) reference.version = target.version;
  if (!target.serializer.empty()) reference.serializer = Component(target.serializer);
  if (!target.protocol.empty()) reference.protocol = Component(target.protocol);
  if (!target.compress.empty()) reference.compress = Component(target.compress);
  if (!target.timeout.empty()) {
    if (const std::string fault = manifest::parse_duration(target.timeout, reference.timeout); !fault.empty())
      return wrong("--timeout " + target.timeout + ": expected " + fault);
  }
  for (const std::string& plugin : target.plugins) load_plugin(options, plugin);
  load_by_name(options, target);
  return options;
}

AppOptions bare_options(const std::vector<std::string>& plugin_dirs) {
  AppOptions options;
  options.plugins.search = plugin_dirs;
  for (std::string& directory : usual_plugin_dirs()) options.plugins.search.push_back(std::move(directory));
  for (const char* plugin : usual_plugins) load_once(options, plugin);
  return options;
}

void load_plugin(AppOptions& options, const std::string& plugin) {
  const std::filesystem::path path(plugin);
  const bool is_path = plugin.find('/') != std::string::npos;
  if (is_path) {
    const std::string directory = std::filesystem::absolute(path).lexically_normal().parent_path().string();
    auto& search = options.plugins.search;
    if (std::find(search.begin(), search.end(), directory) == search.end()) search.insert(search.begin(), directory);
  }
  load_once(options, path.extension() == ".so" ? path.stem().string() : path.filename().string());
}

void load_by_name(AppOptions& options, const TargetOptions& target) {
  // A manifest that names no directories gets the default ones later.
  const std::vector<std::string>& search = options.plugins.search;
  const std::vector<std::string> directories = search.empty() ? usual_plugin_dirs() : search;
  const auto load = [&](const std::string& kind, const std::string& name) {
    if (name.empty()) return;
    std::string plugin = file_of(kind, name);
    if (plugin_host::find_built_in(options.plugins, plugin) || is_there(plugin, directories))
      load_once(options, std::move(plugin));
  };
  load("transport", split_address(target.address).transport);
  load("protocol", target.protocol);
  load("serialize", target.serializer);
  load("compress", target.compress);
}

std::vector<std::string> usual_plugin_dirs() {
  std::vector<std::string> directories;
  std::error_code failed;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (!failed) {
    const std::filesystem::path home = program.parent_path().parent_path();
    for (const std::filesystem::path& candidate : {home / "plugins", home / "lib" / "tenon" / "plugins"})
      if (std::filesystem::is_directory(candidate, failed)) directories.push_back(candidate.string());
  }
  if (std::filesystem::is_directory("/usr/lib/tenon/plugins", failed) &&
      std::find(directories.begin(), directories.end(), "/usr/lib/tenon/plugins") == directories.end())
    directories.push_back("/usr/lib/tenon/plugins");
  return directories;
}

Address split_address(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0) return {"", text};
  const std::string_view head = std::string_view(text).substr(0, colon);
  const std::string_view rest = std::string_view(text).substr(colon + 1);
  const bool is_word = std::all_of(head.begin(), head.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  // "localhost:4080" is a host and a port, "tcp:localhost:4080" and "memory:name" begin with a transport.
  const bool is_port =
      !rest.empty() && std::all_of(rest.begin(), rest.end(), [](char c) { return c >= '0' && c <= '9'; });
  const bool lists_hosts = rest.find(',') != std::string_view::npos && rest.find(':') == rest.rfind(':');
  if (!is_word || is_port || (lists_hosts && rest.find(',') < rest.find(':'))) return {"", text};
  if (head == "unix") return {"tcp", text};
  return {std::string(head), std::string(rest)};
}

}  // namespace tenon::cli
