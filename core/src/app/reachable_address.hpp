#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tenon/core_export.hpp"

namespace tenon {

/// An address of one of this host's interfaces.
struct InterfaceAddress {
  std::string interface;
  std::string host;  ///< "10.0.0.7", "2001:db8::7"
  bool ipv6 = false;
  bool up = true;
  bool loopback = false;
  bool link_local = false;  ///< means something on its own link only
};

/// What there is to choose from.
struct HostAddresses {
  /// Of the interface with the default route, by family; empty: there is no such route.
  std::string route4;
  std::string route6;
  std::vector<InterfaceAddress> all;
};

/// Asks the kernel; sends nothing.
HostAddresses host_addresses();

/// The host that others can reach this one by, as it stands before a port ("10.0.0.7", "[2001:db8::7]"). The same facts
/// give the same answer: the address with the default route, IPv4 before IPv6; else that of the first interface by name
/// that is up, no loopback and not link-local; else a loopback address. Without `ipv6` IPv4 only.
TENON_CORE std::string reachable_host(const HostAddresses& addresses, bool ipv6);

/// What registries are told of a port bound at `bound`, `announce` being ListenOptions::announce; empty: nothing.
TENON_CORE std::string announced_address(const std::string& bound, const std::string& announce,
                                         const HostAddresses& addresses);

/// True for a `host:port` that only this machine can call.
TENON_CORE bool is_loopback(std::string_view address) noexcept;

}  // namespace tenon
