#include "address.hpp"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "unix_address.hpp"

namespace tenon::tcp {

namespace {

Error refuse(std::string_view text, std::string_view what) {
  constexpr std::size_t shown = 300;
  std::string sentence = "tcp address '" + std::string(text.substr(0, shown)) + "': ";
  return Error(Errc::config, sentence.append(what), Delivery::not_run, Advice::never);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_char(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
}

bool is_ipv4(const std::string& host) {
  in_addr ignored;
  return inet_pton(AF_INET, host.c_str(), &ignored) == 1;
}
bool is_ipv6(const std::string& host) {
  in6_addr ignored;
  return inet_pton(AF_INET6, host.c_str(), &ignored) == 1;
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  if (text.empty() || text.size() > 5 || !std::all_of(text.begin(), text.end(), is_digit)) return {};
  std::uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  if (number > 65535) return {};
  return static_cast<std::uint16_t>(number);
}

}  // namespace

Result<HostPort> parse_address(std::string_view text) {
  if (text.empty()) return refuse(text, "is empty; write host:port");
  HostPort parsed;
  std::string_view port;
  if (text.front() == '[') {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return refuse(text, "']' is missing; write [::1]:80");
    parsed.host = text.substr(1, end - 1);
    parsed.form = HostPort::Form::ipv6;
    const std::size_t zone = parsed.host.find('%');
    if (!is_ipv6(parsed.host.substr(0, zone))) return refuse(text, "what stands in the brackets is no IPv6 address");
    if (zone != std::string::npos && (zone + 1 == parsed.host.size() || parsed.host.size() - zone > IF_NAMESIZE))
      return refuse(text, "what follows '%' is no name of a network interface");
    if (end + 1 == text.size() || text[end + 1] != ':') return refuse(text, "the port is missing; write [::1]:80");
    port = text.substr(end + 2);
  } else {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return refuse(text, "the port is missing; write host:port");
    if (text.find(':', colon + 1) != std::string_view::npos)
      return refuse(text, "more than one ':'; an IPv6 address stands in brackets: [::1]:80");
    parsed.host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (parsed.host.empty())
      return refuse(text, "the host is missing; to listen on every interface write 0.0.0.0:80 or [::]:80");
    if (!std::all_of(parsed.host.begin(), parsed.host.end(), is_name_char) || parsed.host.size() > 253)
      return refuse(text, "'" + parsed.host.substr(0, 253) + "' is neither a host name nor an IPv4 address");
    const bool numeric = parsed.host.find_first_not_of("0123456789.") == std::string::npos;
    if (numeric && !is_ipv4(parsed.host)) return refuse(text, "'" + parsed.host + "' is no IPv4 address");
    parsed.form = numeric ? HostPort::Form::ipv4 : HostPort::Form::name;
  }
  const auto number = parse_port(port);
  if (!number) return refuse(text, "'" + std::string(port) + "' is no port; a port is a number from 0 to 65535");
  parsed.port = *number;
  return parsed;
}

std::string HostPort::text() const {
  return (form == Form::ipv6 ? "[" + host + "]:" : host + ":") + std::to_string(port);
}

bool SocketAddress::operator==(const SocketAddress& other) const noexcept {
  return size == other.size && std::memcmp(&storage, &other.storage, size) == 0;
}

std::optional<SocketAddress> literal_address(const HostPort& from) {
  SocketAddress address;
  if (from.form == HostPort::Form::ipv4) {
    auto& v4 = reinterpret_cast<sockaddr_in&>(address.storage);
    v4.sin_family = AF_INET;
    v4.sin_port = htons(from.port);
    if (inet_pton(AF_INET, from.host.c_str(), &v4.sin_addr) != 1) return {};
    address.size = sizeof v4;
    return address;
  }
  if (from.form != HostPort::Form::ipv6) return {};
  auto& v6 = reinterpret_cast<sockaddr_in6&>(address.storage);
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(from.port);
  const std::size_t zone = from.host.find('%');
  if (inet_pton(AF_INET6, from.host.substr(0, zone).c_str(), &v6.sin6_addr) != 1) return {};
  if (zone != std::string::npos) {
    v6.sin6_scope_id = if_nametoindex(from.host.c_str() + zone + 1);
    if (v6.sin6_scope_id == 0) return {};
  }
  address.size = sizeof v6;
  return address;
}

std::string to_text(const SocketAddress& address) {
  char host[INET6_ADDRSTRLEN] = "";
  if (address.family() == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address.storage);
    inet_ntop(AF_INET, &v4.sin_addr, host, sizeof host);
    return std::string(host) + ":" + std::to_string(ntohs(v4.sin_port));
  }
  if (address.family() == AF_UNIX) return unix_text(address);
  if (address.family() != AF_INET6) return "unknown";
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address.storage);
  const std::string port = std::to_string(ntohs(v6.sin6_port));
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
    inet_ntop(AF_INET, &v6.sin6_addr.s6_addr[12], host, sizeof host);
    return std::string(host) + ":" + port;
  }
  inet_ntop(AF_INET6, &v6.sin6_addr, host, sizeof host);
  std::string zone;
  if (v6.sin6_scope_id != 0) {
    char name[IF_NAMESIZE];
    zone = "%" + (if_indextoname(v6.sin6_scope_id, name) ? std::string(name) : std::to_string(v6.sin6_scope_id));
  }
  return "[" + std::string(host) + zone + "]:" + port;
}

}  // namespace tenon::tcp
