#include "plugin_host/open_plugin.hpp"

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <sstream>

namespace tenon::plugin_host {

namespace {

Error refuse(const std::string& path, const std::string& what) {
  return Error(Errc::config, path + " " + what, Delivery::not_run);
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 && text ? text.get() : name;
}

// The loader's sentence without the path (it is named anyway) and with readable symbols.
std::string loader_message(const std::string& path) {
  const char* const said = dlerror();
  std::string text = said ? said : "the loader gives no reason";
  if (text.starts_with(path + ": ")) text.erase(0, path.size() + 2);
  constexpr std::string_view undefined = "undefined symbol: ";
  if (text.starts_with(undefined)) {
    std::string symbol = text.substr(undefined.size());
    if (const std::size_t end = symbol.find_first_of(" ,\t"); end != std::string::npos) symbol.resize(end);
    text = std::string(undefined) + demangled(symbol) + "; link the library that defines it";
  }
  return text;
}

// The words of `stamp` that `other` does not have.
std::string difference(const std::string& stamp, const std::string& other) {
  std::istringstream words(stamp);
  std::string found;
  for (std::string word; words >> word;)
    if ((' ' + other + ' ').find(' ' + word + ' ') == std::string::npos) found += (found.empty() ? "" : " ") + word;
  return found.empty() ? "nothing more" : found;
}

// protobuf's pool as the process sees it: through libprotobuf when it is in the global scope.
const void* process_pool() noexcept {
  using PoolFunction = const void* (*)();
  void* const symbol = dlsym(RTLD_DEFAULT, "_ZN6google8protobuf14DescriptorPool14generated_poolEv");
  return symbol ? reinterpret_cast<PoolFunction>(symbol)() : nullptr;
}

Result<void> check_constant(const std::string& path, const Plugin& plugin) {
  // `size` and `abi` come first and are all that may be read before they are known to be right.
  if (plugin.abi != TENON_ABI)
    return refuse(path, "is built for ABI " + std::to_string(plugin.abi) + ", this host has ABI " +
                            std::to_string(TENON_ABI) + "; rebuild it with this host's headers");
  if (plugin.size < sizeof(Plugin))
    return refuse(path, "has a plugin constant of " + std::to_string(plugin.size) + " bytes, this host needs " +
                            std::to_string(sizeof(Plugin)) + "; rebuild it with this host's headers");
  if (plugin.tier != Tier::cxx)
    return refuse(path, "is of tier " + std::to_string(static_cast<std::uint32_t>(plugin.tier)) +
                            ", this host knows tier 1 (C++)");
  if (!plugin.stamp) return refuse(path, "has no stamp; make its constant with TENON_PLUGIN");
  if (std::string_view(plugin.stamp) != stamp)
    return refuse(path, "was built differently from this host: it has " + difference(plugin.stamp, stamp) +
                            ", the host has " + difference(stamp, plugin.stamp) +
                            "; build both with the same compiler settings and libraries");
  if (!plugin.name || !*plugin.name || !plugin.version || !plugin.install)
    return refuse(path, "has an incomplete plugin constant: name, version and install are needed");
  return {};
}

Result<void> check_identity(const std::string& path, const Identity& identity) {
  const auto copy = [&](const char* what, const char* link) {
    return refuse(path, std::string("carries its own copy of ") + what + "; link the shared " + link);
  };
  if (!identity.spi || identity.spi() != seen_spi()) return copy("tenon_spi", "tenon::spi");
  if (!identity.asio_category || identity.asio_category() != seen_asio_category())
    return copy("Boost.Asio", "tenon::spi and build with its definitions (BOOST_ASIO_DYN_LINK)");
  if (identity.protobuf_pool) {
    const void* const pool = process_pool();
    if (pool && identity.protobuf_pool() != pool) return copy("protobuf", "libprotobuf");
  }
  return {};
}

class Collector final : public Catalog {
 public:
  using Catalog::add;
  void add(const CatalogEntry& entry) override { entries.push_back(entry); }
  std::vector<CatalogEntry> entries;
};

}  // namespace

Result<OpenPlugin> open_plugin(const std::string& path) {
  dlerror();
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) return refuse(path, "cannot be loaded: " + loader_message(path));
  const std::string symbol = "tenon_plugin_abi" + std::to_string(TENON_ABI);
  const auto* const plugin = static_cast<const Plugin*>(dlsym(library, symbol.c_str()));
  if (!plugin) return refuse(path, "is not a Tenon plugin: it exports no " + symbol);
  if (auto fits = check_constant(path, *plugin); !fits.ok()) return std::move(fits).error();
  if (auto same = check_identity(path, plugin->identity); !same.ok()) return std::move(same).error();
  return OpenPlugin{path, plugin};
}

Result<OpenPlugin> accept_built_in(const Plugin& plugin) {
  const std::string path = std::string(plugin.name ? plugin.name : "a plugin without a name") + " (built in)";
  if (auto fits = check_constant(path, plugin); !fits.ok()) return std::move(fits).error();
  if (auto same = check_identity(path, plugin.identity); !same.ok()) return std::move(same).error();
  return OpenPlugin{path, &plugin};
}

Result<std::vector<CatalogEntry>> collect(const OpenPlugin& plugin) {
  Collector collector;
  try {
    plugin.plugin->install(collector);
  } catch (const std::exception& e) {
    return refuse(plugin.path, std::string("threw from its install function: ") + e.what());
  } catch (...) {
    return refuse(plugin.path, "threw from its install function");
  }
  for (std::size_t i = 0; i < collector.entries.size(); ++i) {
    const CatalogEntry& entry = collector.entries[i];
    if (entry.kind.empty() || entry.name.empty() || !entry.create || !entry.options)
      return refuse(plugin.path, "offers an incomplete entry: kind, name, options and create are needed");
    for (std::size_t j = 0; j < i; ++j)
      if (collector.entries[j].kind == entry.kind && collector.entries[j].name == entry.name)
        return refuse(plugin.path, "offers " + std::string(entry.kind) + " \"" + entry.name + "\" twice");
  }
  return std::move(collector.entries);
}

bool is_open(const std::string& path) noexcept {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (!library) return false;
  dlclose(library);
  return true;
}

}  // namespace tenon::plugin_host
