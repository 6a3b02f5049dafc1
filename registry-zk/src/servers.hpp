#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/result.hpp"

namespace tenon::zk {

struct Server {
  std::string host;  ///< an IPv6 address without its brackets
  std::uint16_t port = 2181;
};

/// "zk1:2181,[::1]:2182,zk3": what the C library would misread (a port of 99999 becomes 34463 there) is refused.
/// Fails with: config.
Result<std::vector<Server>> parse_servers(std::string_view text);

/// As the C library wants them: it splits at the last colon and knows no brackets.
std::string client_text(const std::vector<Server>& servers);

/// 127.0.0.1, localhost, ::1 and the like.
bool is_loopback(std::string_view host) noexcept;

}  // namespace tenon::zk
