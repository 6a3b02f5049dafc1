#pragma once
#include <string>
#include <string_view>

#include "address.hpp"
#include "tenon/call.hpp"
#include "tenon/result.hpp"

namespace tenon::tcp {

/// True for addresses of this machine's unix sockets: "unix:/run/greeter.sock", "unix:@greeter".
bool is_unix(std::string_view address) noexcept;

/// "unix:" and an absolute path, or '@' and a name of Linux's abstract namespace (which leaves no file). Looks nothing
/// up. Fails with: config, naming the value and what is wrong with it.
Result<SocketAddress> parse_unix(std::string_view text);

/// As parse_unix() takes it; "unix:" for a socket without a name.
/// REQUIRES: family() is AF_UNIX.
std::string unix_text(const SocketAddress& address);

/// The file of a unix socket; empty for abstract and nameless ones.
std::string unix_file(const SocketAddress& address);

/// What is known of a connected unix socket. The side that has no name is "unix:pid=1234"; the identity is the user the
/// kernel vouches for, "uid:1000".
PeerInfo unix_info(int fd);

}  // namespace tenon::tcp
