#include "manifest/check.hpp"

#include <set>
#include <tuple>

#include "manifest/nearest.hpp"

namespace tenon::manifest {

namespace {

// Deadlines are computed as now + time, which must not overflow.
constexpr Duration longest = std::chrono::hours(24 * 365);

class Checker {
 public:
  Checker(const AppOptions& options, const Finding& finding) : options_(options), finding_(finding) {}

  void run() {
    plugins();
    number("runtime.io_threads", options_.runtime.io_threads, 1, 256);
    for (const auto& [name, registry] : options_.registries)
      if (!registry) finding_("registries." + name, "names no implementation");
    server();
    for (const auto& [name, reference] : options_.client.references)
      this->reference("client.references." + name, reference);
    if (options_.admin) admin(*options_.admin);
  }

 private:
  void number(const std::string& path, std::uint64_t value, std::uint64_t low, std::uint64_t high) {
    if (value < low || value > high)
      finding_(path,
               "must be from " + std::to_string(low) + " to " + std::to_string(high) + ", is " + std::to_string(value));
  }
  void time(const std::string& path, Duration value, bool zero_allowed) {
    if (value < Duration(0) || (value == Duration(0) && !zero_allowed)) {
      finding_(path, zero_allowed ? "must not be negative" : "must be above 0");
    } else if (value > longest) {
      finding_(path, "must be at most 8760h (a year)");
    }
  }
  void needed(const std::string& path, const std::string& member, const std::string& value, std::string_view what) {
    if (value.empty()) finding_(path, "\"" + member + "\" is missing: " + std::string(what));
  }
  void registries(const std::string& path, const std::vector<std::string>& chosen) {
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const std::string& name = chosen[i];
      const std::string where = path + ".registry" + (chosen.size() == 1 ? "" : '[' + std::to_string(i) + ']');
      if (!seen.insert(name).second) {
        finding_(where, "registry \"" + name + "\" is listed twice");
      } else if (!options_.registries.contains(name)) {
        std::vector<std::string_view> names;
        for (const auto& entry : options_.registries) names.push_back(entry.first);
        const std::string hint = did_you_mean(name, names);
        const std::string known = names.empty() ? "; registries is empty" : "; registries has: " + listed(names);
        finding_(where, "there is no registry \"" + name + '"' + (hint.empty() ? known : hint));
      }
    }
  }
  void pool(const std::string& path, const std::string& name) {
    const auto& pools = options_.server.pools;
    if (name.empty() || name == inline_pool || pools.contains(name)) return;
    std::vector<std::string_view> names{inline_pool};
    for (const auto& entry : pools)
      if (entry.first != inline_pool) names.push_back(entry.first);
    const std::string hint = did_you_mean(name, names);
    finding_(path + ".pool",
             "there is no pool \"" + name + '"' + (hint.empty() ? "; there is: " + listed(std::move(names)) : hint));
  }
  void once(const std::string& path, const std::vector<Component>& protocols) {
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < protocols.size(); ++i)
      if (!seen.insert(protocols[i].use()).second)
        finding_(path + '[' + std::to_string(i) + ']', "protocol \"" + protocols[i].use() + "\" is listed twice");
  }
  void limits(const std::string& path, const LimitOptions& limits) {
    number(path + ".max_frame", limits.max_frame.bytes, 1024, 1ull << 30);
    number(path + ".max_headers", limits.max_headers.bytes, 256, 16u << 20);
    number(path + ".max_header_count", limits.max_header_count, 1, 65536);
    number(path + ".max_concurrent", limits.max_concurrent, 1, 1u << 24);
    number(path + ".stream_window", limits.stream_window.bytes, 1024, 1ull << 30);
  }

  void plugins() {
    const PluginOptions& plugins = options_.plugins;
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < plugins.load.size(); ++i) {
      const std::string& name = plugins.load[i];
      const std::string path = "plugins.load[" + std::to_string(i) + ']';
      if (!is_plugin_name(name)) {
        finding_(path, "\"" + name + "\" is no plugin name: it is a file name without directory and .so");
      } else if (!seen.insert(name).second) {
        finding_(path, "plugin \"" + name + "\" is listed twice");
      }
    }
    for (std::size_t i = 0; i < plugins.search.size(); ++i)
      if (plugins.search[i].empty()) finding_("plugins.search[" + std::to_string(i) + ']', "is empty");
    if (!plugins.probe_program.empty() && plugins.probe_program.front() != '/')
      finding_("plugins.probe_program", "must be an absolute path");
    time("plugins.probe_timeout", plugins.probe_timeout, false);
  }

  void server() {
    const ServerOptions& server = options_.server;
    for (std::size_t i = 0; i < server.listen.size(); ++i) {
      const ListenOptions& listen = server.listen[i];
      const std::string path = "server.listen[" + std::to_string(i) + ']';
      needed(path, "address", listen.address, "where to listen");
      if (listen.protocols.empty()) finding_(path, "\"protocols\" is missing: what is spoken on this port");
      once(path + ".protocols", listen.protocols);
    }
    for (const auto& [name, pool] : server.pools) {
      const std::string path = "server.pools." + name;
      if (name.empty() || name == inline_pool)
        finding_(path, "the name \"" + name + "\" is taken: it means the connection's io thread");
      number(path + ".threads", pool.threads, 1, 1024);
      number(path + ".queue", pool.queue, 1, 1'000'000);
    }
    std::set<std::tuple<std::string_view, std::string_view, std::string_view>> seen;
    for (std::size_t i = 0; i < server.services.size(); ++i) {
      const ServiceOptions& service = server.services[i];
      const std::string path = "server.services[" + std::to_string(i) + ']';
      needed(path, "name", service.name, "the interface to offer");
      registries(path, service.registry);
      pool(path, service.pool);
      for (const auto& [method, chosen] : service.methods)
        if (chosen.pool) pool(path + ".methods." + method, *chosen.pool);
      if (!service.name.empty() && !seen.insert({service.name, service.group, service.version}).second)
        finding_(path, "service \"" + service.name + "\" is offered twice with the same group and version");
    }
    if (!server.services.empty() && server.listen.empty())
      finding_("server.services", "services are offered but nothing listens; add server.listen");
    time("server.grace", server.grace, true);
    number("server.max_in_flight", server.max_in_flight, 1, UINT32_MAX);
    number("server.max_connections", server.max_connections, 1, UINT32_MAX);
    number("server.max_unwritten", server.max_unwritten.bytes, 1024, 1ull << 40);
    number("server.max_unwritten_total", server.max_unwritten_total.bytes, 1024, 1ull << 40);
    limits("server.limits", server.limits);
    time("server.heartbeat", server.heartbeat, false);
    number("server.heartbeat_misses", server.heartbeat_misses, 1, 1000);
  }

  void admin(const AdminOptions& admin) {
    needed("admin", "listen", admin.listen, "where to listen, such as unix:/run/greeter/admin.sock");
    if (!admin.listen.empty() && !admin.listen.starts_with("unix:/"))
      finding_("admin.listen", "must be \"unix:\" and an absolute path, is \"" + admin.listen +
                                   "\": the socket file's mode says who may ask");
    once("admin.protocols", admin.protocols);
  }

  void reference(const std::string& path, const ReferenceOptions& reference) {
    needed(path, "service", reference.service, "the interface to call");
    if (reference.registry.empty() && reference.address.empty()) {
      finding_(path, "names no instances; give it a \"registry\" or an \"address\"");
    } else if (!reference.registry.empty() && !reference.address.empty()) {
      finding_(path + ".address", "stands beside a registry; keep one of the two");
    }
    registries(path, reference.registry);
    if (!reference.address.empty() && has_empty_part(reference.address))
      finding_(path + ".address", "has an empty element between commas: \"" + reference.address + '"');
    time(path + ".timeout", reference.timeout, false);
    time(path + ".connect_timeout", reference.connect_timeout, false);
    time(path + ".max_reconnect_pause", reference.max_reconnect_pause, false);
    time(path + ".heartbeat", reference.heartbeat, false);
    number(path + ".connections", reference.connections, 1, 1024);
    number(path + ".heartbeat_misses", reference.heartbeat_misses, 1, 1000);
    number(path + ".max_in_flight", reference.max_in_flight, 1, UINT32_MAX);
    number(path + ".max_unwritten", reference.max_unwritten.bytes, 1024, 1ull << 40);
    limits(path + ".limits", reference.limits);
    for (const auto& [name, method] : reference.methods) {
      const std::string where = path + ".methods." + name;
      if (method.timeout) time(where + ".timeout", *method.timeout, false);
      if (method.retries) number(where + ".retries", *method.retries, 0, 100);
    }
  }
  static bool has_empty_part(std::string_view list) {
    for (std::size_t begin = 0;;) {
      const std::size_t end = list.find(',', begin);
      if (list.substr(begin, end - begin).find_first_not_of(' ') == std::string_view::npos) return true;
      if (end == std::string_view::npos) return false;
      begin = end + 1;
    }
  }

  const AppOptions& options_;
  const Finding& finding_;
};

}  // namespace

void check(const AppOptions& options, const Finding& finding) { Checker(options, finding).run(); }

bool is_plugin_name(std::string_view name) noexcept {
  if (name.empty() || name.size() > 200 || name.front() == '.' || name.ends_with(".so")) return false;
  for (const char c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
          c == '.'))
      return false;
  return true;
}

}  // namespace tenon::manifest
