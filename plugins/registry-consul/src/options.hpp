#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include "tenon/describe.hpp"
#include "tenon/result.hpp"

namespace tenon::consul {

/// The settings of registry "consul".
struct ConsulOptions {
  std::string address = "127.0.0.1:8500";
  std::string token;
  std::string datacenter;
  std::chrono::milliseconds ttl{30'000};
  std::chrono::milliseconds heartbeat{0};
  std::chrono::milliseconds wait{std::chrono::minutes(9)};
  std::chrono::milliseconds connect_timeout{3'000};
  std::chrono::milliseconds request_timeout{5'000};
  std::chrono::milliseconds deregister_after{std::chrono::minutes(10)};
  std::uint64_t max_answer = 32u << 20;
  bool check = false;
  bool show_consumers = true;
  std::string host;
};
BOOST_DESCRIBE_STRUCT(ConsulOptions, (),
                      (address, token, datacenter, ttl, heartbeat, wait, connect_timeout, request_timeout,
                       deregister_after, max_answer, check, show_consumers, host))

/// Where an agent listens.
struct AgentAddress {
  std::string host;  ///< without the brackets of IPv6
  std::string port;
};

/// "host:port", "host", "[::1]:8500". Fails with: config.
Result<AgentAddress> parse_agent_address(std::string_view text);

/// The options with what follows from others filled in. Fails with: config, naming the option and its value.
Result<ConsulOptions> check_options(ConsulOptions options);

}  // namespace tenon::consul

template <>
struct tenon::Describe<tenon::consul::ConsulOptions> {
  static constexpr auto members = tenon::members(
      tenon::member("address", "the agent's, host:port; its port is 8500 unless given"),
      tenon::member("token", "the ACL token, sent as X-Consul-Token"),
      tenon::member("datacenter", "whose services and documents are looked at; empty: the agent's"),
      tenon::member("ttl", "silence after which the agent counts an instance as dead"),
      tenon::member("heartbeat", "how often an instance is reported alive; 0: every third of ttl; at most two thirds"),
      tenon::member("wait", "how long a blocking query waits for news, 10 % more or less by chance"),
      tenon::member("connect_timeout",
                    "how long start-up and a connection wait, and after what time without an agent observers are told"),
      tenon::member("request_timeout", "how long an answer may take; a blocking query's: on top of its wait"),
      tenon::member("deregister_after", "after which time a dead instance is removed from the agent; at least 1 min"),
      tenon::member("max_answer", "bytes; a larger answer is refused while it is read"),
      tenon::member("check", "announcing fails, and with it start-up, when it cannot be done within connect_timeout"),
      tenon::member("show_consumers", "consumers are registered, too, for operators to see"),
      tenon::member("host", "our address in consumers' registrations; empty: that of the agent's node"));
};
