#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/result.hpp"

namespace tenon::zk {

/// Motan's text for a provider or a consumer: `scheme://host:port/path?key=value&…`. Parameters keep their order.
struct ServiceUrl {
  std::string scheme;
  std::string host;  ///< an IPv6 address stands in brackets
  std::uint16_t port = 0;
  std::string path;  ///< the service's interface
  std::vector<std::pair<std::string, std::string>> parameters;
  bool operator==(const ServiceUrl&) const = default;

  /// The first of that name, else null.
  const std::string* find(std::string_view key) const noexcept;
  /// Replaces the first of that name and removes others, or appends.
  void set(std::string_view key, std::string value);
};

/// Reads what Motan writes in Java (percent-encoded, with an `&` at the end) and in Go (as it is): %XX is decoded, what
/// is no such triple is taken literally; a pair without `=` has an empty value.
/// Fails with: malformed (no scheme, a bad port), too_large (more than 1024 parameters).
Result<ServiceUrl> parse_service_url(std::string_view text);

/// Everything but letters, digits and `._:,/-` of path and parameters becomes %XX: Motan in Go does not decode, so what
/// it must understand should need none of that.
std::string to_string(const ServiceUrl& url);

/// As in to_string().
std::string percent_encode(std::string_view text);
std::string percent_decode(std::string_view text);

/// "host:port" taken apart. False: no port in 1…65535 (a 0 with `zero`), or no host.
bool split_host_port(std::string_view address, std::string& host, std::uint16_t& port, bool zero = false);

}  // namespace tenon::zk
