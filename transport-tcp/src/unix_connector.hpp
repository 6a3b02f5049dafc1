#pragma once
#include <memory>

#include "address.hpp"
#include "socket.hpp"
#include "tenon/transport.hpp"

namespace tenon::tcp {

/// Connects to a unix socket. The kernel answers at once, except that a server whose queue is full is asked again until
/// the deadline.
/// Fails with: unavailable (nobody listens there, no permission), deadline_exceeded.
Task<Result<std::unique_ptr<ByteStream>>> connect_unix(SocketAddress to, Executor& home, TimePoint deadline,
                                                       TcpOptions options);

}  // namespace tenon::tcp
