#pragma once
// The one file that opens shared libraries. Used by the host and, before it, by tenon-probe in a child process.

#include <string>
#include <vector>

#include "tenon/catalog.hpp"
#include "tenon/plugin.hpp"
#include "tenon/result.hpp"

namespace tenon::plugin_host {

/// An opened plugin: for the rest of the process.
struct OpenPlugin {
  std::string path;  ///< of the file; "NAME (built in)" for one that is linked into the program
  const Plugin* plugin = nullptr;
};

/// Opens `path` (absolute, already checked) with all symbols resolved now and kept local, never to be unloaded, and
/// compares what the plugin says about itself with this process: size, ABI number, tier, stamp, identity of Asio, of
/// tenon_spi and of protobuf. Runs the file's initialisers: a bad one ends the process.
/// Threads: any; the loader serialises. Blocking. Fails with: config.
Result<OpenPlugin> open_plugin(const std::string& path);

/// A plugin that is linked into this program: compares what it says about itself as open_plugin() does.
/// Fails with: config.
Result<OpenPlugin> accept_built_in(const Plugin& plugin);

/// Runs the plugin's install function; nothing is added anywhere else.
/// Fails with: config (it threw, it offers one name twice, an entry without a name).
Result<std::vector<CatalogEntry>> collect(const OpenPlugin& plugin);

/// True if this process has `path` open already, so that its initialisers have run.
bool is_open(const std::string& path) noexcept;

}  // namespace tenon::plugin_host
