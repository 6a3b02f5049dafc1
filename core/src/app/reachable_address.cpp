#include "app/reachable_address.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>

#include "tenon/options.hpp"

namespace tenon {

namespace {

// Addresses of documentation: they belong to nobody, so only the default route leads there.
constexpr const char* elsewhere4 = "198.51.100.1";
constexpr const char* elsewhere6 = "2001:db8::1";

std::string text_of(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address->sa_family == AF_INET)
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text, sizeof text);
  else if (address->sa_family == AF_INET6)
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, text, sizeof text);
  return text;
}

/// The address that packets to `target` would carry. Connecting a UDP socket only looks the route up.
std::string source_towards(const sockaddr* target, socklen_t size) {
  const int fd = ::socket(target->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return {};
  sockaddr_storage own{};
  socklen_t own_size = sizeof own;
  std::string found;
  if (::connect(fd, target, size) == 0 && ::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &own_size) == 0)
    found = text_of(reinterpret_cast<const sockaddr*>(&own));
  ::close(fd);
  return found;
}

bool is_link_local(const sockaddr* address) {
  if (address->sa_family == AF_INET)
    return ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr) >> 16 == 0xA9FE;
  return IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

bool is_usable(const std::string& host) { return !host.empty() && !is_loopback(host + ":0") && host != "::1"; }

std::string bracketed(const std::string& host) { return host.find(':') == std::string::npos ? host : '[' + host + ']'; }

const InterfaceAddress* first_of(const std::vector<InterfaceAddress>& all, bool ipv6) {
  const InterfaceAddress* first = nullptr;
  for (const InterfaceAddress& one : all) {
    if (one.ipv6 != ipv6 || !one.up || one.loopback || one.link_local) continue;
    if (!first || std::tie(one.interface, one.host) < std::tie(first->interface, first->host)) first = &one;
  }
  return first;
}

}  // namespace

HostAddresses host_addresses() {
  HostAddresses found;
  sockaddr_in target4{};
  target4.sin_family = AF_INET;
  target4.sin_port = htons(9);
  inet_pton(AF_INET, elsewhere4, &target4.sin_addr);
  found.route4 = source_towards(reinterpret_cast<const sockaddr*>(&target4), sizeof target4);
  sockaddr_in6 target6{};
  target6.sin6_family = AF_INET6;
  target6.sin6_port = htons(9);
  inet_pton(AF_INET6, elsewhere6, &target6.sin6_addr);
  found.route6 = source_towards(reinterpret_cast<const sockaddr*>(&target6), sizeof target6);
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return found;
  for (const ifaddrs* at = all; at; at = at->ifa_next) {
    if (!at->ifa_addr || (at->ifa_addr->sa_family != AF_INET && at->ifa_addr->sa_family != AF_INET6)) continue;
    InterfaceAddress one;
    one.interface = at->ifa_name;
    one.host = text_of(at->ifa_addr);
    one.ipv6 = at->ifa_addr->sa_family == AF_INET6;
    one.up = (at->ifa_flags & IFF_UP) != 0;
    one.loopback = (at->ifa_flags & IFF_LOOPBACK) != 0;
    one.link_local = is_link_local(at->ifa_addr);
    found.all.push_back(std::move(one));
  }
  ::freeifaddrs(all);
  return found;
}

std::string reachable_host(const HostAddresses& addresses, bool ipv6) {
  if (is_usable(addresses.route4)) return addresses.route4;
  if (ipv6 && is_usable(addresses.route6)) return bracketed(addresses.route6);
  if (const InterfaceAddress* first = first_of(addresses.all, false)) return first->host;
  if (const InterfaceAddress* first = ipv6 ? first_of(addresses.all, true) : nullptr) return bracketed(first->host);
  return "127.0.0.1";
}

std::string announced_address(const std::string& bound, const std::string& announce, const HostAddresses& addresses) {
  if (announce == announce_nowhere) return {};
  const std::size_t colon = bound.find_last_not_of("0123456789");
  const bool has_port = colon != std::string::npos && bound[colon] == ':' && colon + 1 < bound.size();
  const std::string port = has_port ? bound.substr(colon) : std::string();
  if (!announce.empty()) {
    if (port.empty() || !announce.ends_with(":0")) return announce;
    return announce.substr(0, announce.size() - 2) + port;
  }
  const std::string host = has_port ? bound.substr(0, colon) : std::string();
  const bool every6 = host == "[::]";
  if (port.empty() || (host != "0.0.0.0" && !every6)) return bound;
  return reachable_host(addresses, every6) + port;
}

bool is_loopback(std::string_view address) noexcept {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view host = address.substr(0, colon);
  if (host == "localhost" || host == "[::1]") return true;
  in_addr parsed{};
  char text[INET_ADDRSTRLEN] = "";
  if (host.size() >= sizeof text) return false;
  std::copy(host.begin(), host.end(), text);
  return inet_pton(AF_INET, text, &parsed) == 1 && ntohl(parsed.s_addr) >> 24 == 127;
}

}  // namespace tenon
