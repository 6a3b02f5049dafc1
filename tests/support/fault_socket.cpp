#include "support/fault_socket.hpp"

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace tenon::test {

namespace {
constexpr int receive_buffer = 32 << 10;

void prepare(int fd, int family) {
  if (family == AF_UNIX) return;
  const int on = 1;
  (void)::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}
}  // namespace

SocketAddress SocketAddress::of(const std::string& text) {
  SocketAddress address;
  if (text.starts_with("unix:")) {
    auto& to = reinterpret_cast<sockaddr_un&>(address.storage);
    const std::string path = text.substr(5);
    if (path.size() >= sizeof to.sun_path) throw std::runtime_error(text + ": too long for a socket's path");
    to.sun_family = AF_UNIX;
    std::memcpy(to.sun_path, path.c_str(), path.size() + 1);
    address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
    return address;
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) throw std::runtime_error(text + " is no address");
  const auto port = htons(static_cast<std::uint16_t>(std::atoi(text.c_str() + colon + 1)));
  if (text.starts_with("[")) {
    auto& to = reinterpret_cast<sockaddr_in6&>(address.storage);
    to.sin6_family = AF_INET6;
    to.sin6_port = port;
    if (::inet_pton(AF_INET6, text.substr(1, colon - 2).c_str(), &to.sin6_addr) != 1)
      throw std::runtime_error(text + " is no IPv6 address");
    address.size = sizeof to;
    return address;
  }
  auto& to = reinterpret_cast<sockaddr_in&>(address.storage);
  to.sin_family = AF_INET;
  to.sin_port = port;
  if (::inet_pton(AF_INET, text.substr(0, colon).c_str(), &to.sin_addr) != 1)
    throw std::runtime_error(text + " is no IPv4 address");
  address.size = sizeof to;
  return address;
}

std::string SocketAddress::text() const {
  if (family() == AF_UNIX) return "unix:" + std::string(reinterpret_cast<const sockaddr_un&>(storage).sun_path);
  if (family() == AF_INET6)
    return "[::1]:" + std::to_string(ntohs(reinterpret_cast<const sockaddr_in6&>(storage).sin6_port));
  return "127.0.0.1:" + std::to_string(ntohs(reinterpret_cast<const sockaddr_in&>(storage).sin_port));
}

void FaultSocket::close() noexcept {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

void FaultSocket::reset() noexcept {
  if (fd_ < 0) return;
  int unsent = 0;  // loopback delivers what is sent at once; the bound is for a receiver whose window is full
  for (int i = 0; i < 100 && ::ioctl(fd_, SIOCOUTQNSD, &unsent) == 0 && unsent > 0; ++i) ::usleep(100);
  const linger now{1, 0};
  (void)::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close();
}

FaultSocket listen_at(const SocketAddress& address) {
  FaultSocket listener(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  (void)::setsockopt(listener.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // Before listen(), so that accepted sockets have it from their first segment on.
  (void)::setsockopt(listener.fd(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  if (::bind(listener.fd(), address.get(), address.size) != 0 || ::listen(listener.fd(), 1024) != 0)
    throw std::runtime_error("the fault proxy cannot listen on " + address.text() + ": " + std::strerror(errno));
  return listener;
}

FaultSocket begin_connect(const SocketAddress& address) {
  FaultSocket socket(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  (void)::setsockopt(socket.fd(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  prepare(socket.fd(), address.family());
  if (::connect(socket.fd(), address.get(), address.size) != 0 && errno != EINPROGRESS) socket.close();
  return socket;
}

FaultSocket accept_from(const FaultSocket& listener) {
  sockaddr_storage from{};
  socklen_t size = sizeof from;
  FaultSocket accepted(
      ::accept4(listener.fd(), reinterpret_cast<sockaddr*>(&from), &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (accepted) prepare(accepted.fd(), from.ss_family);
  return accepted;
}

}  // namespace tenon::test
