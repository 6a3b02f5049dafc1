#pragma once
#include <chrono>
#include <string>

#include "tenon/describe.hpp"

namespace tenon::zk {

/// Who may do what with the nodes that are created.
enum class Access {
  open,        ///< everybody everything, as in Motan
  owner,       ///< everybody may read, those with the digest may do the rest
  owner_only,  ///< those with the digest everything, others nothing
};
BOOST_DESCRIBE_ENUM(Access, open, owner, owner_only)

/// How a command node that does not exist yet, or is empty, is written.
enum class CommandEncoding {
  group,  ///< in Java's serialisation where a node of the group is, else plain
  plain,
  java,
};
BOOST_DESCRIBE_ENUM(CommandEncoding, group, plain, java)

struct ZkOptions {
  std::string servers;
  std::string root = "/motan";
  std::chrono::milliseconds session_timeout{10'000};
  std::chrono::milliseconds connect_timeout{3'000};
  bool check = false;
  std::string digest_auth;
  Access access = Access::open;
  CommandEncoding command_encoding = CommandEncoding::group;
  bool show_consumers = true;
  std::string host;
};
BOOST_DESCRIBE_STRUCT(ZkOptions, (),
                      (servers, root, session_timeout, connect_timeout, check, digest_auth, access, command_encoding,
                       show_consumers, host))

}  // namespace tenon::zk

template <>
struct tenon::Describe<tenon::zk::ZkOptions> {
  static constexpr auto members = tenon::members(
      tenon::member("servers", "host:port,host:port …; the port is 2181 unless given"),
      tenon::member("root", "the path below which everything is"),
      tenon::member("session_timeout",
                    "how long after the death of a process its nodes go; the server has its own limits for it"),
      tenon::member("connect_timeout", "how long start-up waits for the servers"),
      tenon::member("check", "announcing fails, and with it start-up, when it cannot be done within connect_timeout"),
      tenon::member("digest_auth", "user:password, sent in clear; empty: none"),
      tenon::member("access",
                    "who may use the nodes created: open, owner (others read), owner_only; owners have digest_auth"),
      tenon::member("command_encoding", "of new command nodes: group (as the group's nodes are), plain, java"),
      tenon::member("show_consumers", "consumers announce themselves, too, for operators to see"),
      tenon::member("host", "our address in consumers' nodes; empty: the one that reaches the servers"));
};
