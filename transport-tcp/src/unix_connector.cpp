#include "unix_connector.hpp"

#include <algorithm>
#include <cerrno>

#include "tcp_stream.hpp"
#include "tenon/scope.hpp"
#include "unix_address.hpp"

namespace tenon::tcp {

namespace {

constexpr Duration first_pause = std::chrono::milliseconds(2);
constexpr Duration longest_pause = std::chrono::milliseconds(50);

Error unavailable(const SocketAddress& to, int error) {
  std::string text = system_text(error == ENOENT ? ECONNREFUSED : error);
  if (error == ENOENT) text += " (there is no such file; is the server running?)";
  if (error == ECONNREFUSED) text += " (nobody listens there any more)";
  if (error == EACCES) text += " (the socket file's mode keeps this user out)";
  if (error == EMFILE) text += " (raise the limit with ulimit -n)";
  return Error(Errc::unavailable, unix_text(to) + ": " + text, Delivery::not_run, Advice::other_instance);
}

Error late(const SocketAddress& to, bool full) {
  return Error(Errc::deadline_exceeded,
               unix_text(to) + ": not connected in time" + (full ? " (the server's queue of connections is full)" : ""),
               Delivery::not_run, Advice::other_instance);
}

}  // namespace

Task<Result<std::unique_ptr<ByteStream>>> connect_unix(SocketAddress to, Executor& home, TimePoint deadline,
                                                       TcpOptions options) {
  if (home.clock().now() >= deadline) co_return late(to, false);
  Fd fd = open_socket(AF_UNIX);
  if (!fd) co_return unavailable(to, errno);
  configure(fd.get(), options, AF_UNIX);
  for (Duration pause = first_pause; ::connect(fd.get(), to.get(), to.size) != 0;
       pause = std::min(pause * 2, longest_pause)) {
    const int error = errno;
    if (error == EINTR) continue;
    if (error != EAGAIN) co_return unavailable(to, error);
    const TimePoint now = home.clock().now();
    if (now >= deadline) co_return late(to, true);
    sleep_until asleep(home.clock(), std::min(now + pause, deadline));
    co_await asleep;
  }
  int error = 0;
  auto socket = watch(std::move(fd), home.context(), error);
  if (!socket) co_return unavailable(to, error);
  co_return std::unique_ptr<ByteStream>(std::make_unique<TcpStream>(std::move(*socket), to));
}

}  // namespace tenon::tcp
