#include "admin_client.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "manifest/scalar.hpp"
#include "target.hpp"

namespace tenon::cli {

namespace {

constexpr const char* scheme = "unix:";
constexpr std::uint64_t largest_answer = 32u << 20;
/// Serializers the process may have, tried in this order, and the plugins that offer them.
struct Spoken {
  const char* serializer;
  const char* plugin;
};
constexpr Spoken known[] = {{"protobuf", "serialize-pb"},
                            {"json", "serialize-json"},
                            {"msgpack", "serialize-msgpack"},
                            {"simple", "serialize-simple"}};

Error wrong(std::string text) { return Error(Errc::config, std::move(text), Delivery::not_run, Advice::never); }

Result<std::string> address_of(const AdminTarget& target) {
  if (target.address.empty() == target.manifest.empty())
    return wrong("say whom to ask: either ADDRESS (unix:/path.sock) or --manifest FILE with admin.listen");
  if (target.address.empty()) {
    Result<AppOptions> manifest = load_manifest(target.manifest);
    if (!manifest.ok()) return std::move(manifest).error();
    if (!manifest->admin)
      return wrong(target.manifest + ": has no admin service; add admin: { listen: \"unix:/path.sock\" }");
    return manifest->admin->listen;
  }
  std::string path = target.address;
  if (path.starts_with(scheme)) path.erase(0, std::string_view(scheme).size());
  if (path.empty()) return wrong("\"" + target.address + "\" names no socket; write unix:/path.sock");
  return scheme + std::filesystem::absolute(path).lexically_normal().string();
}

}  // namespace

void add_admin_target(CLI::App& parser, AdminTarget& target) {
  parser.add_option("ADDRESS", target.address, "unix:/path.sock, or just the path: the process's admin.listen");
  parser.add_option("--manifest", target.manifest, "take the address from this manifest's admin.listen")
      ->type_name("FILE");
  parser.add_option("--timeout", target.timeout, "how long to wait for an answer (default 3s)")->type_name("TIME");
  parser.add_option("--plugin-dir", target.plugin_dir, "look for plugins here first")->type_name("DIR")->take_all();
}

Result<std::unique_ptr<AdminClient>> AdminClient::open(const AdminTarget& target) {
  Result<std::string> address = address_of(target);
  if (!address.ok()) return std::move(address).error();
  Duration timeout{0};
  if (const std::string fault = manifest::parse_duration(target.timeout, timeout); !fault.empty())
    return wrong("--timeout " + target.timeout + ": expected " + fault);
  AppOptions options = bare_options(target.plugin_dir);
  options.application = "tenon-admin-client";
  options.log.level = LogLevel::off;  // a failure is told once, by the call
  for (const Spoken& spoken : known) load_by_name(options, {.serializer = spoken.serializer});
  std::vector<std::string> serializers;
  for (const Spoken& spoken : known) {
    const auto& load = options.plugins.load;
    if (std::find(load.begin(), load.end(), spoken.plugin) == load.end()) continue;
    ReferenceOptions reference;
    reference.service = admin::interface;
    reference.address = *address;
    reference.serializer = Component(spoken.serializer);
    reference.connect = ConnectWhen::lazy;
    reference.ha = Component("failfast");
    reference.timeout = timeout;
    reference.connect_timeout = timeout;
    reference.max_reconnect_pause = std::chrono::milliseconds(200);  // who asks again wants to know soon
    reference.limits.max_frame = largest_answer;
    options.client.references.emplace(spoken.serializer, std::move(reference));
    serializers.emplace_back(spoken.serializer);
  }
  auto app = App::create(std::move(options));
  if (!app.ok()) return std::move(app).error();
  if (auto started = (*app)->start(); !started.ok()) return std::move(started).error();
  return std::unique_ptr<AdminClient>(new AdminClient(std::move(*address), std::move(serializers), std::move(*app)));
}

}  // namespace tenon::cli
