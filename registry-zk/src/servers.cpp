#include "servers.hpp"

#include <algorithm>
#include <charconv>

namespace tenon::zk {

namespace {

Error refuse(std::string_view servers, std::string_view entry, std::string_view what) {
  return Error(Errc::config,
               "servers '" + std::string(servers.substr(0, 200)) + "': '" + std::string(entry.substr(0, 100)) + "' " +
                   std::string(what),
               Delivery::not_run, Advice::never);
}

bool name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}
bool ipv6_character(char c) {
  return (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || (c >= '0' && c <= '9') || c == ':' || c == '.';
}

}  // namespace

Result<std::vector<Server>> parse_servers(std::string_view text) {
  std::vector<Server> servers;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    const std::string_view entry = rest.substr(0, comma);
    rest.remove_prefix(more ? comma + 1 : rest.size());
    if (entry.empty()) return refuse(text, entry, "is no server; give host:port,host:port without a comma too many");
    if (entry.find('/') != std::string_view::npos) return refuse(text, entry, "contains a path; give it as root");
    Server server;
    std::string_view host = entry;
    std::string_view port;
    bool has_port = false;
    if (entry.front() == '[') {
      const std::size_t close = entry.find(']');
      host = entry.substr(1, close == std::string_view::npos ? close : close - 1);
      port = close == std::string_view::npos ? std::string_view() : entry.substr(close + 1);
      has_port = port.starts_with(':');
      if (close == std::string_view::npos || (!port.empty() && !has_port) || host.empty() ||
          !std::all_of(host.begin(), host.end(), ipv6_character))
        return refuse(text, entry, "is no address; an IPv6 address is written [::1]:2181");
      port.remove_prefix(has_port ? 1 : 0);
    } else {
      const std::size_t colon = entry.find(':');
      has_port = colon != std::string_view::npos;
      host = entry.substr(0, colon);
      if (has_port) port = entry.substr(colon + 1);
      if (port.find(':') != std::string_view::npos)
        return refuse(text, entry, "has too many colons; an IPv6 address is written [::1]:2181");
      if (host.empty() || !std::all_of(host.begin(), host.end(), name_character))
        return refuse(text, entry, "is no host name or address");
    }
    if (has_port) {
      const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), server.port);
      if (error != std::errc() || end != port.data() + port.size() || server.port == 0)
        return refuse(text, entry, "has no port between 1 and 65535");
    }
    server.host = host;
    servers.push_back(std::move(server));
  }
  return servers;
}

std::string client_text(const std::vector<Server>& servers) {
  std::string text;
  for (const Server& server : servers)
    text += (text.empty() ? "" : ",") + server.host + ":" + std::to_string(server.port);
  return text;
}

bool is_loopback(std::string_view host) noexcept {
  return host.starts_with("127.") || host == "localhost" || host == "::1" || host == "[::1]";
}

}  // namespace tenon::zk
