#include "tcp_listener.hpp"

#include <netinet/in.h>

#include <algorithm>
#include <cerrno>

#include "tcp_stream.hpp"

namespace tenon::tcp {

namespace {

constexpr Duration exhausted_pause = std::chrono::milliseconds(100);
/// Connections taken in one turn before the loop's other work gets its chance.
constexpr int accepts_in_a_row = 16;

Error unavailable(const SocketAddress& address, int error) {
  std::string text = to_text(address) + ": " + system_text(error);
  if (error == EACCES && address.family() != AF_UNIX) text += " (ports below 1024 need a privilege)";
  if (error == EADDRNOTAVAIL) text += " (no interface of this machine has it)";
  return Error(Errc::unavailable, std::move(text), Delivery::not_run);
}

/// accept(2): errors of the connection that was waiting, not of the listener.
bool is_of_the_connection(int error) noexcept {
  return error == ECONNABORTED || error == EINTR || error == EPROTO || error == ENETDOWN || error == ENOPROTOOPT ||
         error == EHOSTDOWN || error == ENONET || error == EHOSTUNREACH || error == EOPNOTSUPP ||
         error == ENETUNREACH || error == EPERM || error == ETIMEDOUT;
}

/// Binds and listens; errno's value, or 0.
int listen_tcp(const Fd& fd, const SocketAddress& address, int backlog) {
  const int on = 1;
  const int off = 0;
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // "[::]" takes IPv4 connections, too, whatever net.ipv6.bindv6only says.
  if (address.family() == AF_INET6) (void)::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (::bind(fd.get(), address.get(), address.size) != 0) return errno;
  return ::listen(fd.get(), backlog) == 0 ? 0 : errno;
}

}  // namespace

Result<std::unique_ptr<Listener>> TcpListener::open(const SocketAddress& address, Executor& home, Log& log,
                                                    const TcpOptions& options) {
  Fd fd = open_socket(address.family());
  if (!fd) return unavailable(address, errno);
  const auto backlog = static_cast<int>(std::min<std::uint32_t>(options.backlog, 1u << 30));
  // Inherited by accepted connections; buffer sizes must be known before the handshake.
  configure(fd.get(), options, address.family());
  UnixFile file;
  if (address.family() == AF_UNIX) {
    const auto mode = parse_socket_mode(options.socket_mode);
    if (!mode.ok()) return mode.error();
    auto bound = listen_unix(fd, address, *mode, backlog);
    if (!bound.ok()) return std::move(bound).error();
    file = std::move(*bound);
  } else if (const int refused = listen_tcp(fd, address, backlog); refused != 0) {
    return unavailable(address, refused);
  }
  const SocketAddress bound = local_address(fd.get());
  int error = 0;
  auto socket = watch(std::move(fd), home.context(), error);
  if (!socket) return unavailable(address, error);
  auto state = std::make_shared<State>(std::move(*socket), home, log, options);
  state->address = to_text(bound);
  state->file = std::move(file);
  return std::unique_ptr<Listener>(new TcpListener(std::move(state)));
}

void TcpListener::close() noexcept {
  const std::shared_ptr<State> state = state_;  // what is resumed below may destroy the listener
  if (state->closed) return;
  state->closed = true;
  state->file.remove();  // before the socket closes: a file that refuses looks stale to others
  boost::system::error_code ignored;
  state->socket.close(ignored);  // a waiting accept is resumed by the loop
  state->closing.cancel();       // a pausing one here
}

/// Suspends until a connection may be waiting, or the listener was closed.
struct TcpListener::Arrival {
  const std::shared_ptr<State>& state;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) const {
    auto resume = [keep = state, caller](const boost::system::error_code&) { caller.resume(); };
    state->socket.async_wait(Watched::wait_read, std::move(resume));
  }
  void await_resume() const noexcept {}
};

Task<Result<std::unique_ptr<ByteStream>>> TcpListener::accept(std::shared_ptr<State> state, Executor& home) {
  Arrival arrival{state};
  bool first = true;
  while (true) {
    // Try before waiting: under a rush every other accept() saves a wait. Never for ever, see accepts_in_a_row.
    if (!first || ++state->in_a_row > accepts_in_a_row) {
      state->in_a_row = 0;
      co_await arrival;
    }
    first = false;
    if (state->closed) co_return Error(Errc::cancelled, state->address + ": the listener was closed");
    SocketAddress peer;
    Fd fd(::accept4(state->socket.native_handle(), peer.get(), &peer.size, SOCK_CLOEXEC | SOCK_NONBLOCK));
    int error = fd ? 0 : errno;
    if (fd) {
      configure(fd.get(), state->options, peer.family());
      if (auto socket = watch(std::move(fd), home.context(), error))
        co_return std::unique_ptr<ByteStream>(std::make_unique<TcpStream>(std::move(*socket), peer));
    }
    if (error == EAGAIN || error == EWOULDBLOCK || is_of_the_connection(error)) continue;
    const char* advice = is_exhaustion(error) ? "; trying again every 100 ms (raise the limit with ulimit -n)" : "";
    state->log.error("accept", state->address + ": cannot accept: " + system_text(error) + advice);
    const TimePoint again = state->executor.clock().now() + exhausted_pause;
    sleep_until pause(state->executor.clock(), again, &state->closing);
    co_await pause;
  }
}

}  // namespace tenon::tcp
