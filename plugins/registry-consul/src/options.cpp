#include "options.hpp"

#include <charconv>
#include <utility>

namespace tenon::consul {

namespace {

using std::chrono::milliseconds;

Error refuse(std::string text) { return Error(Errc::config, std::move(text), Delivery::not_run, Advice::never); }

Error bad_address(std::string_view text, std::string_view what) {
  return refuse("address '" + std::string(text.substr(0, 200)) + "' " + std::string(what) +
                "; write the agent's host:port, such as 127.0.0.1:8500");
}

Result<void> between(std::string_view name, milliseconds value, milliseconds least, milliseconds most) {
  if (value >= least && value <= most) return {};
  return refuse(std::string(name) + " is " + std::to_string(value.count()) + " ms; it must be between " +
                std::to_string(least.count()) + " ms and " + std::to_string(most.count()) + " ms");
}

bool printable(std::string_view text) {
  for (const char c : text)
    if (c <= 0x20 || c >= 0x7F) return false;
  return true;
}

}  // namespace

Result<AgentAddress> parse_agent_address(std::string_view text) {
  AgentAddress address{"", "8500"};
  if (text.empty()) return bad_address(text, "is empty");
  if (text.find("://") != std::string_view::npos)
    return bad_address(text, "has a scheme; the agent is spoken to over plain HTTP");
  if (text.find_first_of("/?#@ ") != std::string_view::npos || !printable(text))
    return bad_address(text, "has characters that no host:port has");
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos || close == 1) return bad_address(text, "has no ']' after an IPv6 address");
    address.host = text.substr(1, close - 1);
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && rest.front() != ':') return bad_address(text, "goes on after the ']'");
    if (!rest.empty()) port = rest.substr(1);
    if (rest == ":") return bad_address(text, "has no port after the ':'");
  } else {
    const std::size_t colon = text.find(':');
    if (colon != text.rfind(':')) return bad_address(text, "has several ':'; an IPv6 address stands in brackets");
    address.host = text.substr(0, colon);
    if (colon != std::string_view::npos) {
      port = text.substr(colon + 1);
      if (port.empty()) return bad_address(text, "has no port after the ':'");
    }
    if (address.host.empty()) return bad_address(text, "has no host");
  }
  if (!port.empty()) {
    std::uint16_t number = 0;
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (error != std::errc() || end != port.data() + port.size() || number == 0)
      return bad_address(text, "has a port that is none of 1 to 65535");
    address.port = std::to_string(number);
  }
  return address;
}

Result<ConsulOptions> check_options(ConsulOptions options) {
  if (auto address = parse_agent_address(options.address); !address.ok()) return std::move(address).error();
  constexpr milliseconds hour = std::chrono::hours(1);
  // Consul's own bounds of a TTL check are wider; shorter ones are for tests.
  if (auto checked = between("ttl", options.ttl, milliseconds(100), 24 * hour); !checked.ok())
    return std::move(checked).error();
  const milliseconds longest_beat = options.ttl * 2 / 3;
  if (options.heartbeat == milliseconds(0)) options.heartbeat = options.ttl / 3;
  if (options.heartbeat < milliseconds(20) || options.heartbeat > longest_beat)
    return refuse("heartbeat is " + std::to_string(options.heartbeat.count()) +
                  " ms; it must be between 20 ms and two thirds of ttl, which are " +
                  std::to_string(longest_beat.count()) + " ms, so that one that is late does not cost the instance");
  for (const auto& checked :
       {between("wait", options.wait, milliseconds(100), milliseconds(std::chrono::minutes(10))),
        between("connect_timeout", options.connect_timeout, milliseconds(100), hour),
        between("request_timeout", options.request_timeout, milliseconds(100), hour),
        between("deregister_after", options.deregister_after, milliseconds(std::chrono::minutes(1)), 24 * 30 * hour)})
    if (!checked.ok()) return checked.error();
  if (options.max_answer < 64u << 10 || options.max_answer > 1u << 30)
    return refuse("max_answer is " + std::to_string(options.max_answer) + "; it must be between 65536 and 1073741824");
  if (!printable(options.token)) return refuse("token has characters that no HTTP header can carry");
  for (const char c : options.datacenter)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_'))
      return refuse("datacenter '" + options.datacenter +
                    "' is no name of a Consul datacenter: letters, digits, - and _");
  if (options.host.find_first_of("/ ?&") != std::string::npos || !printable(options.host))
    return refuse("host '" + options.host + "' is no host name or address");
  return options;
}

}  // namespace tenon::consul
