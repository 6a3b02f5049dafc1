#include "registry_client.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <set>

#include "manifest/nearest.hpp"
#include "manifest/yaml.hpp"
#include "plugin_host/built_in.hpp"
#include "plugin_host/plugin_host.hpp"
#include "target.hpp"
#include "tenon/plugin.hpp"

namespace tenon::cli {

namespace {

constexpr std::string_view scheme_end = "://";
constexpr std::string_view plugin_prefix = "registry-";
constexpr const char* given_name = "given";  // what the registry of the command line is called
constexpr const char* source_name = "--registry";

Error wrong(std::string text) { return Error(Errc::config, std::move(text), Delivery::not_run, Advice::never); }

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

// As a text of YAML, whatever is in it.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "''" : std::string(1, c);
  return out + "'";
}

// A number, a duration and the like must stand without quotes.
bool is_plain(std::string_view value) {
  return !value.empty() && value.front() != '-' && std::all_of(value.begin(), value.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '/' || c == '-';
  });
}

// Plugins by whose names they may offer a registry: of the directories and those built in.
std::vector<std::string> candidates(const PluginOptions& options, const std::string& use) {
  std::set<std::string> names;
  for (const Plugin* plugin : plugin_host::all_built_in(options))
    if (std::string_view(plugin->name).starts_with(plugin_prefix)) names.emplace(plugin->name);
  for (const std::string& directory : options.search) {
    std::error_code unreadable;  // then there is nothing for us
    for (const auto& entry : std::filesystem::directory_iterator(directory, unreadable)) {
      const std::filesystem::path& file = entry.path();
      if (file.extension() == ".so" && file.stem().string().starts_with(plugin_prefix)) names.insert(file.stem());
    }
  }
  std::vector<std::string> ordered(names.begin(), names.end());
  const std::string likely = std::string(plugin_prefix) + use;
  const auto first = std::find(ordered.begin(), ordered.end(), likely);
  if (first != ordered.end()) std::rotate(ordered.begin(), first, first + 1);
  return ordered;
}

/// The plugin that offers registry `use`, loaded into a host of its own to see what it takes.
struct Offered {
  std::string plugin;  // empty: one of options.load
  std::string first_option;
  bool calls;  // it is reached by calls of ours: that takes a transport, a protocol …
};
Result<Offered> find_plugin(const PluginOptions& options, const std::string& use) {
  plugin_host::PluginHost host(options);
  const auto offered = [&](std::string plugin) {
    const MessageType& type = *host.catalog().find(Registry::kind, use)->entry.options;
    const std::span<const Field> fields = type.fields();
    const bool calls = std::any_of(fields.begin(), fields.end(), [](const Field& field) {
      return field.type->kind == Kind::component && field.type->component_kind == Invoker::kind;
    });
    return Offered{std::move(plugin), fields.empty() ? "" : std::string(fields.front().name), calls};
  };
  if (auto loaded = host.load_all(); !loaded.ok()) return std::move(loaded).error();
  if (host.catalog().find(Registry::kind, use)) return offered("");
  for (const std::string& name : candidates(options, use)) {
    if (!host.load(name).ok()) continue;  // kept by the host, which tells it below
    if (host.catalog().find(Registry::kind, use)) return offered(name);
  }
  std::string text = "there is no registry \"" + use + '"';
  const std::vector<std::string_view> known = host.catalog().names(Registry::kind);
  const std::string near = did_you_mean(use, known);
  text += near.empty() ? " (the plugins " + std::string(plugin_prefix) + "* offer: " + listed(known) + ")" : near;
  for (const auto& refusal : host.refusals()) text += "; " + refusal.text;
  return wrong(text + "; say --load PLUGIN for a plugin with another name");
}

Result<AppOptions> from_command_line(const RegistryTarget& target) {
  AppOptions bare = bare_options(target.plugin_dir);
  const std::vector<std::string> usual = std::exchange(bare.plugins.load, {});
  for (const std::string& plugin : target.plugins) load_plugin(bare, plugin);
  const std::string use = registry_use(target.registry);
  if (use.empty()) return wrong("--registry " + target.registry + ": names no registry; " + registry_help);
  Result<Offered> offered = find_plugin(bare.plugins, use);
  if (!offered.ok()) return std::move(offered).error();
  if (!offered->plugin.empty()) load_plugin(bare, offered->plugin);
  if (offered->calls)
    for (const std::string& plugin : usual) load_plugin(bare, plugin);
  Result<std::string> yaml = registry_yaml(target.registry, offered->first_option);
  if (!yaml.ok()) return std::move(yaml).error();
  Result<AppOptions> options =
      parse_manifest(source_name, "registries: { " + std::string(given_name) + ": " + *yaml + " }");
  if (!options.ok()) return options;
  options->plugins = std::move(bare.plugins);
  return options;
}

Result<AppOptions> from_manifest(const RegistryTarget& target, std::string& name) {
  Result<AppOptions> options = load_manifest(target.manifest);
  if (!options.ok()) return options;
  std::vector<std::string_view> names;
  for (const auto& [each, component] : options->registries) names.push_back(each);
  if (names.empty()) return wrong(target.manifest + ": has no registries");
  if (target.registry.empty() && names.size() > 1)
    return wrong(target.manifest + ": has several registries; say --registry NAME (there are: " + listed(names) + ")");
  name = target.registry.empty() ? std::string(names.front()) : target.registry;
  if (!options->registries.contains(name)) {
    const std::string near = did_you_mean(name, names);
    return wrong(target.manifest + ": no registry \"" + name + '"' +
                 (near.empty() ? "; registries has: " + listed(names) : near));
  }
  // Neither a server nor a client: only what leads to the registry, which may be one of the references.
  options->server = ServerOptions();
  options->client.cache.clear();
  options->admin.reset();
  options->runtime = RuntimeOptions();
  options->plugins.search.insert(options->plugins.search.begin(), target.plugin_dir.begin(), target.plugin_dir.end());
  for (const std::string& plugin : target.plugins) load_plugin(*options, plugin);
  return options;
}

}  // namespace

const char* const registry_help =
    "write NAME, NAME://VALUE?option=value or {use: NAME, option: value}, e.g. zookeeper://127.0.0.1:2181";

void add_registry_target(CLI::App& parser, RegistryTarget& target) {
  parser
      .add_option("--registry", target.registry,
                  "zookeeper://HOST:PORT,HOST:PORT?root=/motan, or {use: zookeeper, servers: …}; with --manifest the "
                  "registry's name there")
      ->type_name("REGISTRY");
  parser.add_option("--manifest", target.manifest, "take registry and plugins from this manifest")->type_name("FILE");
  parser.add_option("--load", target.plugins, "one more plugin, by name or path")->type_name("PLUGIN")->take_all();
  parser.add_option("--plugin-dir", target.plugin_dir, "look for plugins here first")->type_name("DIR")->take_all();
}

std::string registry_use(const std::string& registry) {
  const std::string_view text = trimmed(registry);
  if (!text.starts_with('{')) return std::string(text.substr(0, text.find(scheme_end)));
  const auto document = manifest::parse_yaml(source_name, text);
  if (!document.ok()) return {};
  const manifest::Entry* use = (*document)->root.find("use");
  return use && use->value.kind == manifest::Node::Kind::scalar ? use->value.text : std::string();
}

Result<std::string> registry_yaml(const std::string& registry, std::string_view first_option) {
  const std::string_view text = trimmed(registry);
  const std::size_t scheme = text.find(scheme_end);
  if (text.starts_with('{') || scheme == std::string_view::npos) return std::string(text);
  std::string yaml = "{ use: " + quoted(text.substr(0, scheme));
  const std::string_view rest = text.substr(scheme + scheme_end.size());
  const std::size_t question = rest.find('?');
  const std::string_view value = rest.substr(0, question);
  if (!value.empty()) {
    if (first_option.empty()) return wrong("--registry " + registry + ": that registry has no options");
    yaml += ", " + quoted(first_option) + ": " + quoted(value);
  }
  std::string_view query = question == std::string_view::npos ? std::string_view() : rest.substr(question + 1);
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return wrong("--registry " + registry + ": \"" + std::string(pair) + "\" is no option=value");
    const std::string_view option = pair.substr(equals + 1);
    yaml += ", " + quoted(pair.substr(0, equals)) + ": " + (is_plain(option) ? std::string(option) : quoted(option));
  }
  return yaml + " }";
}

Result<std::unique_ptr<RegistryClient>> RegistryClient::open(const RegistryTarget& target,
                                                             const std::vector<std::string>& plugins) {
  if (target.manifest.empty() && target.registry.empty())
    return wrong(std::string("say which registry: --registry zookeeper://HOST:PORT, or --manifest FILE; ") +
                 registry_help);
  std::string name = given_name;
  Result<AppOptions> options = target.manifest.empty() ? from_command_line(target) : from_manifest(target, name);
  if (!options.ok()) return std::move(options).error();
  for (const std::string& plugin : plugins) load_plugin(*options, plugin);
  options->application = "tenon-cli";
  options->log = LogOptions();
  options->log.level = LogLevel::off;  // a failure is told once, by the command
  auto app = App::create(std::move(*options));
  if (!app.ok()) return std::move(app).error();
  auto registry = (*app)->registry(name);
  if (!registry.ok()) return std::move(registry).error();
  Executor& executor = *(*app)->executors().front();
  RegistryAdmin* const admin = run_on(executor, [&] { return (*registry)->admin(); });
  if (!admin) {
    run_on(executor, [&] { registry->reset(); });
    return wrong("the registry " + (target.manifest.empty() ? target.registry : '"' + name + '"') +
                 " cannot be administered; what it knows stands in manifests");
  }
  return std::unique_ptr<RegistryClient>(new RegistryClient(std::move(*app), std::move(*registry), admin));
}

RegistryClient::~RegistryClient() {
  run_on(executor(), [this] {
    watches_.clear();
    registry_.reset();
  });
}

Result<void> RegistryClient::watch(const Subscription& subscription, SnapshotObserver observer) {
  return run_on(executor(), [&]() -> Result<void> {
    auto watch = registry_->watch(subscription, std::move(observer));
    if (!watch.ok()) return std::move(watch).error();
    watches_.push_back(std::move(*watch));
    return {};
  });
}

void RegistryClient::end_watches() {
  run_on(executor(), [this] { watches_.clear(); });
}

}  // namespace tenon::cli
