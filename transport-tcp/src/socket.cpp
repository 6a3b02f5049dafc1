#include "socket.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>

namespace tenon::tcp {

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

Fd::~Fd() {
  if (fd_ >= 0) ::close(fd_);
}

Fd open_socket(int family) noexcept { return Fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

namespace {
void set(int fd, int level, int name, std::uint64_t value) noexcept {
  const int number = static_cast<int>(std::min<std::uint64_t>(value, std::numeric_limits<int>::max() / 2));
  (void)::setsockopt(fd, level, name, &number, sizeof number);
}
}  // namespace

void configure(int fd, const SocketOptions& options, int family) noexcept {
  if (options.send_buffer) set(fd, SOL_SOCKET, SO_SNDBUF, options.send_buffer->bytes);
  if (options.receive_buffer) set(fd, SOL_SOCKET, SO_RCVBUF, options.receive_buffer->bytes);
  if (family == AF_UNIX) return;
  if (options.no_delay) set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  if (options.user_timeout.count() > 0)
    set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<std::uint64_t>(options.user_timeout.count()));
  if (options.unsent > 0) set(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, options.unsent);
  if (options.keepalive.count() > 0) {
    // Asked after that pause, then three times at a third of it.
    const auto idle = static_cast<std::uint64_t>(std::max<std::int64_t>(options.keepalive.count(), 1));
    set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle);
    set(fd, IPPROTO_TCP, TCP_KEEPINTVL, std::max<std::uint64_t>(idle / 3, 1));
    set(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
  }
}

Result<void> check(const SocketOptions& options) {
  constexpr std::uint64_t largest_buffer = 1u << 30;  // a socket option is an int; more is a slip of the unit
  const auto refuse = [](std::string text) {
    return Error(Errc::config, std::move(text), Delivery::not_run, Advice::never);
  };
  if (options.user_timeout.count() < 0) return refuse("user_timeout is negative");
  if (options.keepalive.count() < 0) return refuse("keepalive is negative");
  if (options.backlog == 0) return refuse("backlog is 0; no connection could be accepted");
  for (const auto& size : {options.send_buffer, options.receive_buffer})
    if (size && (size->bytes == 0 || size->bytes > largest_buffer))
      return refuse("send_buffer and receive_buffer go from 1 byte to 1GiB");
  return {};
}

std::optional<Watched> watch(Fd socket, boost::asio::io_context& context, int& error) {
  Watched watched(context);
  boost::system::error_code failure;
  watched.assign(socket.get(), failure);
  if (failure) {
    error = failure.value();
    return {};
  }
  (void)socket.release();
  return watched;
}

std::string system_text(int error) {
  std::string text = std::generic_category().message(error);
  if (text.size() > 1 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a')
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

bool is_exhaustion(int error) noexcept {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

SocketAddress local_address(int fd) noexcept {
  SocketAddress address;
  if (::getsockname(fd, address.get(), &address.size) != 0) address.storage.ss_family = AF_UNSPEC;
  return address;
}

}  // namespace tenon::tcp
