#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "address.hpp"
#include "tenon/describe.hpp"

namespace tenon::tcp {

/// The settings every socket of this family of transports has.
struct SocketOptions {
  std::chrono::milliseconds user_timeout{20000};
  std::chrono::seconds keepalive{30};
  bool no_delay = true;
  std::optional<ByteSize> send_buffer;
  std::optional<ByteSize> receive_buffer;
  ByteSize unsent = 32u << 10;
  std::uint32_t backlog = 4096;
};
BOOST_DESCRIBE_STRUCT(SocketOptions, (),
                      (user_timeout, keepalive, no_delay, send_buffer, receive_buffer, unsent, backlog))

/// The settings of transport "tcp".
struct TcpOptions : SocketOptions {
  std::string socket_mode = "0600";
};
BOOST_DESCRIBE_STRUCT(TcpOptions, (SocketOptions), (socket_mode))

/// A socket Asio watches for readiness; reads and writes go straight to the system.
using Watched = boost::asio::posix::basic_stream_descriptor<boost::asio::io_context::executor_type>;

/// An open file descriptor with one owner.
class Fd {
 public:
  explicit Fd(int fd = -1) noexcept : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd();
  int get() const noexcept { return fd_; }
  int release() noexcept { return std::exchange(fd_, -1); }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_;
};

/// A new stream socket: close-on-exec, non-blocking. Invalid with errno set when there is none to be had.
Fd open_socket(int family) noexcept;
/// Applies the options a connection has. Kernels that refuse one of them leave the connection usable, so failures are
/// ignored. Unix sockets have only the buffer sizes.
void configure(int fd, const SocketOptions& options, int family) noexcept;
/// What is wrong with the options, if anything. Fails with: config.
Result<void> check(const SocketOptions& options);

/// Puts the socket under Asio's eyes. Fails (with errno's value) when the kernel has no room to watch it; the socket is
/// closed then.
std::optional<Watched> watch(Fd socket, boost::asio::io_context& context, int& error);

/// "connection refused", "address already in use": the system's text for people, in lower case.
std::string system_text(int error);
/// True for "no descriptor or memory left just now".
bool is_exhaustion(int error) noexcept;

SocketAddress local_address(int fd) noexcept;

}  // namespace tenon::tcp

template <>
struct tenon::Describe<tenon::tcp::TcpOptions> {
  static constexpr auto members = tenon::members(
      tenon::member("user_timeout",
                    "a connection whose peer acknowledges nothing for so long is dead; 0: the kernel's"),
      tenon::member("keepalive", "the kernel probes an idle connection after this pause (SO_KEEPALIVE); 0: off"),
      tenon::member("no_delay", "send at once (TCP_NODELAY)"),
      tenon::member("send_buffer", "SO_SNDBUF; default: the kernel tunes it"),
      tenon::member("receive_buffer", "SO_RCVBUF; default: the kernel tunes it"),
      tenon::member("unsent",
                    "bytes that may wait unsent in the system; small answers overtake large ones only before "
                    "that (TCP_NOTSENT_LOWAT); 0: the kernel's"),
      tenon::member("backlog", "connections waiting to be accepted; the kernel caps it at net.core.somaxconn"),
      tenon::member("socket_mode", "who may connect to a unix socket's file, in octal"));
};
