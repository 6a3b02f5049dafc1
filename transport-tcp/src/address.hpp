#pragma once
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tenon/result.hpp"

namespace tenon::tcp {

/// An address as a manifest writes it, taken apart: "host:port", "1.2.3.4:80", "[::1]:80", "[fe80::1%eth0]:80".
struct HostPort {
  enum class Form : std::uint8_t { ipv4, ipv6, name };
  std::string host;  ///< without brackets; an IPv6 zone stays ("fe80::1%eth0")
  std::uint16_t port = 0;
  Form form = Form::name;
  /// As it was written.
  std::string text() const;
};

/// Checks the form, looks nothing up. Fails with: config, naming the value and what is wrong with it.
Result<HostPort> parse_address(std::string_view text);

/// A socket address of any family: IPv4, IPv6, unix.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_storage);
  sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }
  int family() const noexcept { return storage.ss_family; }
  bool operator==(const SocketAddress& other) const noexcept;
};

/// The address of a literal; nothing when the form is a name, or the IPv6 zone is no network interface here.
std::optional<SocketAddress> literal_address(const HostPort& from);

/// "1.2.3.4:80", "[::1]:80", "[fe80::1%eth0]:80". IPv4 addresses mapped into IPv6 are shown as IPv4.
/// Unix sockets: as unix_text().
std::string to_text(const SocketAddress& address);

}  // namespace tenon::tcp
