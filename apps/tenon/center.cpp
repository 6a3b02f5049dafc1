// tenon center: the registry center as a process of its own.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "command.hpp"
#include "serve.hpp"
#include "target.hpp"
#include "tenon/app.hpp"

namespace tenon::cli {
namespace {

struct CenterOptions {
  std::string manifest;
  std::string listen = "127.0.0.1:4070";
  std::string store;
  std::string lease;
  std::string token_file;
  std::string operator_token_file;
  std::string admin;
  bool open = false;
  std::vector<std::string> plugin_dir;
};

constexpr const char* footer =
    "Services that have `registries: { main: { use: center, server: \"HOST:PORT\" } }` announce themselves here and "
    "find\n"
    "each other. What operators write (traffic commands, rules, weights) is kept in --store; instances are not: they\n"
    "announce themselves again. When it is ready it prints one line to stdout:\n"
    "  listening on tcp 127.0.0.1:4070\n"
    "Its service, tenon.Center, can as well run in any application that loads the plugin registry-center.\n"
    "\n"
    "Examples:\n"
    "  tenon center\n"
    "  tenon center --listen 10.0.0.5:4070 --store /var/lib/tenon-center --token-file /etc/tenon/center.token\n"
    "  tenon center --manifest center.yaml\n"
    "\n"
    "Exit codes: 0 ended well, 1 port in use or calls were cut off, 2 wrong command line, manifest or plugin";

Error wrong(std::string text) { return Error(Errc::config, std::move(text), Delivery::not_run, Advice::never); }

// As YAML and JSON write it.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

Result<std::string> first_line(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  if (!in || !std::getline(in, line)) return wrong("cannot read a token from " + file);
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
  if (line.size() < 16 || line.size() > 256) return wrong(file + ": a token has 16 to 256 characters");
  for (const char c : line)
    if (c <= ' ' || c > '~') return wrong(file + ": a token consists of visible ASCII characters");
  return line;
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address.starts_with("[::1]:") || address.starts_with("localhost:");
}

Result<AppOptions> options_of(const CenterOptions& center) {
  if (!center.manifest.empty()) return load_manifest(center.manifest);
  Address address = split_address(center.listen);
  if (address.transport.empty()) address.transport = "tcp";
  if (address.transport == "tcp" && !is_loopback(address.address) && center.token_file.empty() && !center.open)
    return wrong("--listen " + center.listen +
                 " can be reached from other hosts, and anybody there could take services over; say --token-file FILE, "
                 "or --open if the network is to be trusted");
  std::string service = "{ use: tenon.Center";
  if (!center.store.empty()) service += ", store: " + in_quotes(std::filesystem::absolute(center.store).string());
  if (!center.lease.empty()) service += ", lease: " + in_quotes(center.lease);
  for (const auto& [key, file] :
       {std::pair("token", center.token_file), std::pair("operator_token", center.operator_token_file)}) {
    if (file.empty()) continue;
    Result<std::string> token = first_line(file);
    if (!token.ok()) return std::move(token).error();
    service += std::string(", ") + key + ": " + in_quotes(*token);
  }
  std::string text = "application: registry-center\ncomponents:\n  service:\n    tenon.Center: " + service + " }\n";
  text += "server:\n  listen: [ { use: " + in_quotes(address.transport) + ", address: " + in_quotes(address.address) +
          ", protocols: [tenon] } ]\n  services: [ { name: tenon.Center } ]\n";
  if (!center.admin.empty()) text += "admin: { listen: " + in_quotes(center.admin) + " }\n";
  Result<AppOptions> options = parse_manifest("tenon center", text);
  if (!options.ok()) return options;
  options->plugins.search.clear();
  const AppOptions usual = bare_options(center.plugin_dir);
  options->plugins.search = usual.plugins.search;
  for (const std::string& plugin : usual.plugins.load)
    if (plugin != "cluster") load_plugin(*options, plugin);  // a center calls nobody
  load_plugin(*options, "registry-center");
  return options;
}

int run(const CenterOptions& center) {
  Result<AppOptions> options = options_of(center);
  if (!options.ok()) return complain("center", options.error());
  return serve_until_signal("center", std::move(*options));
}

}  // namespace

Subcommand add_center(CLI::App& tenon) {
  auto options = std::make_shared<CenterOptions>();
  CLI::App* parser = tenon.add_subcommand("center", "run a registry center: where services find each other");
  parser->footer(footer);
  CLI::Option* manifest =
      parser->add_option("-c,--manifest", options->manifest, "everything, instead of these options");
  manifest->type_name("FILE");
  const auto own = [&](const char* name, std::string& value, const char* help, const char* type) {
    return parser->add_option(name, value, help)->type_name(type)->excludes(manifest);
  };
  own("--listen", options->listen, "where (127.0.0.1:4070)", "ADDRESS");
  own("--store", options->store,
      "a directory for documents and operators' settings; without it they end with the "
      "process",
      "DIR");
  own("--lease", options->lease, "silence after which an instance is dropped (15s)", "TIME");
  own("--token-file", options->token_file, "what every client must know: the file's first line", "FILE");
  own("--operator-token-file", options->operator_token_file, "what writers of documents and weights must know", "FILE");
  own("--admin", options->admin, "a socket for tenon stats and tenon top", "unix:PATH");
  parser->add_flag("--open", options->open, "other hosts may come without a token")->excludes(manifest);
  parser->add_option("--plugin-dir", options->plugin_dir, "look for plugins here first")->type_name("DIR")->take_all();
  return {parser, [options] { return run(*options); }};
}

}  // namespace tenon::cli
