#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tenon/result.hpp"

namespace tenon::cluster::traffic {

/// An IP address as bytes. IPv4 is written into IPv6 (::ffff:a.b.c.d), so that both spellings of one are equal.
struct Ip {
  std::array<std::uint8_t, 16> bytes{};
  bool is_v4 = false;
  static std::optional<Ip> parse(std::string_view text) noexcept;
  bool operator==(const Ip&) const = default;
};

/// Where an instance or a client is: "10.0.0.7:4080", "[fd00::1]:4080", "tokyo-1:4080", "10.0.0.7".
struct Place {
  std::string_view host;  ///< without brackets
  std::string_view port;  ///< empty: none
  std::optional<Ip> ip;   ///< if host is one
  static Place of(std::string_view address) noexcept;
};

/// One side of a route rule: which hosts. `!` in front negates.
///
/// | written | means |
/// |---|---|
/// | `*` | every host |
/// | `10.75.1.2`, `fd00::1`, `[fd00::1]` | that address, however it is spelled |
/// | `10.75.*`, `tokyo-*` | hosts whose text begins so: `10.1.1*` means 10.1.11.1, too, `10.1.1.*` does not |
/// | `10.75.0.0/16`, `fd00::/8` | that network |
/// | `tokyo-1` | that host name, in any case |
/// | any of these with `:4080` (IPv6 in brackets) | besides, that port; not in the left side: clients have none |
///
/// Threads: const and concurrent.
class Hosts {
 public:
  static constexpr std::size_t max_length = 255;  ///< bytes
  enum class Ports : std::uint8_t { refused, allowed };
  /// Fails with: malformed.
  static Result<Hosts> parse(std::string_view text, Ports ports);
  bool contains(const Place& place) const noexcept { return matches(place) != negated_; }
  bool negated() const noexcept { return negated_; }
  /// Without regard to the `!`.
  bool matches(const Place& place) const noexcept;

 private:
  enum class Kind : std::uint8_t { any, name, prefix, network };
  Result<void> read_host(std::string_view host, bool bracketed);

  Kind kind_ = Kind::any;
  bool negated_ = false;
  std::string text_;  // of a name or prefix, in lower case
  Ip network_;
  int bits_ = 0;  // of network_.bytes
  std::string port_;
};

}  // namespace tenon::cluster::traffic
