// tenon serve: a stock host for services that come from plugins.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>

#include "command.hpp"
#include "serve.hpp"
#include "target.hpp"
#include "tenon/app.hpp"

namespace tenon::cli {
namespace {

struct ServeOptions {
  std::string manifest;
  std::string listen;
  std::vector<std::string> protocols{"tenon"};
  std::vector<std::string> plugins;
  std::vector<std::string> plugin_dir;
  unsigned io_threads = 0;
  std::optional<LogLevel> log_level;
};

constexpr const char* footer =
    "Every plugin of kind \"service\" named in the manifest's server.services is run (all that were loaded when none\n"
    "is named). When it is ready it prints one line for each port to stdout:\n"
    "  listening on tcp 127.0.0.1:4080\n"
    "SIGTERM, SIGINT, SIGUSR2, SIGHUP or `tenon drain`: finishes what runs, within server.grace, and exits with 0; a\n"
    "second signal ends it at once.\n"
    "\n"
    "Examples:\n"
    "  tenon serve --manifest server.yaml\n"
    "  tenon serve --manifest server.yaml --load ./libs/greeter-service.so\n"
    "  tenon serve --listen tcp:127.0.0.1:0 --load bench-echo\n"
    "  tenon serve --listen tcp:127.0.0.1:4080 --protocol tenon,motan2 --load serialize-simple --load bench-echo\n"
    "\n"
    "Exit codes: 0 ended well, 1 port in use or calls were cut off, 2 wrong command line, manifest or plugin";

Error wrong(std::string text) { return Error(Errc::config, std::move(text), Delivery::not_run, Advice::never); }

Result<AppOptions> options_of(const ServeOptions& serve) {
  AppOptions options;
  if (serve.manifest.empty()) {
    options = bare_options(serve.plugin_dir);
    std::erase(options.plugins.load, "cluster");  // a stock host calls nobody
    options.application = "tenon-serve";
  } else {
    Result<AppOptions> loaded = load_manifest(serve.manifest);
    if (!loaded.ok()) return loaded;
    options = std::move(*loaded);
    options.plugins.search.insert(options.plugins.search.begin(), serve.plugin_dir.begin(), serve.plugin_dir.end());
  }
  if (!serve.listen.empty()) {
    const Address address = split_address(serve.listen);
    ListenOptions listen;
    listen.address = address.address;
    for (const std::string& protocol : serve.protocols) listen.protocols.push_back(Component(protocol));
    listen.transport = InlineComponent(Component(address.transport.empty() ? "tcp" : address.transport));
    options.server.listen.assign(1, listen);
  }
  if (serve.io_threads != 0) options.runtime.io_threads = serve.io_threads;
  if (serve.log_level) options.log.level = *serve.log_level;
  for (const std::string& plugin : serve.plugins) load_plugin(options, plugin);
  for (const std::string& protocol : serve.listen.empty() ? std::vector<std::string>() : serve.protocols)
    load_by_name(options, {.protocol = protocol});
  if (options.server.listen.empty())
    return wrong(serve.manifest +
                 ": server.listen is empty, so nobody could call; add `listen: [ { use: tcp, address: "
                 "\"127.0.0.1:4080\", protocols: [tenon] } ]` or say --listen tcp:127.0.0.1:4080");
  return options;
}

int serve(const ServeOptions& serve) {
  Result<AppOptions> options = options_of(serve);
  if (!options.ok()) return complain("serve", options.error());
  return serve_until_signal("serve", std::move(*options));
}

}  // namespace

int serve_until_signal(std::string_view who, AppOptions options) {
  Result<std::unique_ptr<App>> made = App::create(std::move(options));
  if (!made.ok()) return complain(who, made.error());
  App& app = **made;
  const std::vector<CatalogEntry> catalog = app.catalog();
  if (std::none_of(catalog.begin(), catalog.end(), [](const CatalogEntry& e) { return e.kind == Service::kind; }))
    return misused(who, "no loaded plugin has a service; name one that does in plugins.load or with --load");
  if (Result<void> provided = app.provide_from_plugins(); !provided.ok()) return complain(who, provided.error());
  app.catch_signals();
  if (Result<void> started = app.start(); !started.ok())
    return started.error().code() == Errc::cancelled ? app.wait() : complain(who, started.error());
  const std::vector<ListenOptions>& ports = app.options().server.listen;
  const std::vector<std::string> addresses = app.addresses();
  for (std::size_t i = 0; i < addresses.size() && i < ports.size(); ++i)
    std::printf("listening on %s %s\n", ports[i].transport.use().c_str(), addresses[i].c_str());
  std::fflush(stdout);
  return app.wait();
}

Subcommand add_serve(CLI::App& tenon) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* parser = tenon.add_subcommand("serve", "run the services of plugins");
  parser->footer(footer);
  parser->add_option("--manifest", options->manifest, "what to serve, and where")->type_name("FILE");
  CLI::Option* listen = parser->add_option("--listen", options->listen, "one port, instead of the manifest's");
  listen->type_name("ADDRESS");
  parser
      ->add_option("--protocol", options->protocols, "spoken there: tenon (the default), motan2; several share a port")
      ->type_name("NAME")
      ->delimiter(',')
      ->needs(listen);
  parser->add_option("--load", options->plugins, "one more plugin, by name or path")->type_name("PLUGIN")->take_all();
  parser->add_option("--plugin-dir", options->plugin_dir, "look for plugins here first")->type_name("DIR")->take_all();
  parser->add_option("--io-threads", options->io_threads, "instead of the manifest's")->check(CLI::Range(1, 256));
  const std::map<std::string, LogLevel> levels{{"trace", LogLevel::trace}, {"debug", LogLevel::debug},
                                               {"info", LogLevel::info},   {"warn", LogLevel::warn},
                                               {"error", LogLevel::error}, {"off", LogLevel::off}};
  parser->add_option("--log-level", options->log_level, "trace, debug, info, warn, error or off")
      ->transform(CLI::CheckedTransformer(levels));
  return {parser, [options] {
            if (options->manifest.empty() && options->listen.empty())
              return misused("serve",
                             "say what to serve: --manifest FILE, or --listen tcp:HOST:PORT with --load PLUGIN");
            return serve(*options);
          }};
}

}  // namespace tenon::cli
