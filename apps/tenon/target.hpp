#pragma once
// Whom `tenon call` and `tenon bench` talk to, as the command line says it.

#include <string>
#include <string_view>
#include <vector>

#include "tenon/options.hpp"
#include "tenon/result.hpp"

namespace CLI {
class App;
}

namespace tenon::cli {

/// The options that name a callee. Empty texts: not given.
struct TargetOptions {
  std::string address;    ///< "tcp:host:port", "host:port"; several separated by commas
  std::string manifest;   ///< instead of an address
  std::string reference;  ///< a name of the manifest's client.references
  std::string serializer;
  std::string protocol;
  std::string compress;
  std::string group;
  std::string version;
  std::string timeout;                  ///< "1s"
  std::vector<std::string> plugins;     ///< more plugins to load, by name or by path
  std::vector<std::string> plugin_dir;  ///< searched before the usual directories
};

/// Adds them to a subcommand's command line.
void add_target_options(CLI::App& parser, TargetOptions& target);

/// The name under which client_options() puts the callee.
inline constexpr const char* target_name = "target";

/// Options for an App with one reference, target_name, to `service` at the target.
/// Blocking: reads the manifest. Fails with: config (manifest, unknown reference, bad duration).
Result<AppOptions> client_options(const TargetOptions& target, std::string_view service);

/// Options of an application without a manifest: the usual plugins, found in the usual places.
AppOptions bare_options(const std::vector<std::string>& plugin_dirs);
/// Adds a plugin given as a name ("serialize-json") or as a path ("./lib/my-plugin.so") to what is loaded.
void load_plugin(AppOptions& options, const std::string& plugin);
/// Adds the plugins that by their file names offer the transport, protocol, serializer and compressor of `target`
/// ("protocol-NAME.so"), where the directories searched have such a file: what has another name needs load_plugin().
/// Blocking: looks into directories.
void load_by_name(AppOptions& options, const TargetOptions& target);
/// Where plugins are when nobody says: beside this program's bin directory, then the system's.
std::vector<std::string> usual_plugin_dirs();

/// "tcp:127.0.0.1:4080" → tcp, 127.0.0.1:4080. Without a transport's name in front the transport stays empty.
struct Address {
  std::string transport;
  std::string address;
};
Address split_address(const std::string& text);

}  // namespace tenon::cli
