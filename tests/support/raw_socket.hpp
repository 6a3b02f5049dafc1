#pragma once
// A blocking TCP client that can say anything.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace tenon::test {

/// Connects to "127.0.0.1:PORT". Every wait is bounded.
class RawSocket {
 public:
  explicit RawSocket(const std::string& address) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::atoi(address.substr(address.rfind(':') + 1).c_str())));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;
  ~RawSocket() { ::close(fd_); }

  bool connected() const noexcept { return connected_; }
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  /// Reads until `received` has `size` bytes; false when the peer closes first or nothing comes for `milliseconds`.
  bool receive(std::string& received, std::size_t size, int milliseconds) {
    while (received.size() < size) {
      pollfd ready = {fd_, POLLIN, 0};
      if (::poll(&ready, 1, milliseconds) <= 0) return false;
      char buffer[4096];
      const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
      if (got <= 0) return false;
      received.append(buffer, static_cast<std::size_t>(got));
    }
    return true;
  }
  /// Reads until the peer closes or `milliseconds` pass. True: it closed.
  bool closed_within(int milliseconds, std::string* received = nullptr) {
    while (true) {
      pollfd ready = {fd_, POLLIN, 0};
      if (::poll(&ready, 1, milliseconds) <= 0) return false;
      char buffer[4096];
      const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
      if (got <= 0) return true;
      if (received) received->append(buffer, static_cast<std::size_t>(got));
    }
  }

 private:
  int fd_;
  bool connected_ = false;
};

/// A loopback port whose accept queue is full: the kernel drops further connection attempts, which hang.
class BlackHole {
 public:
  BlackHole() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at = {};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    (void)::bind(listener_, reinterpret_cast<sockaddr*>(&at), size);
    (void)::listen(listener_, 0);
    (void)::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
    for (int& fill : fills_) {
      fill = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
      (void)::connect(fill, reinterpret_cast<sockaddr*>(&at), size);
    }
  }
  BlackHole(const BlackHole&) = delete;
  BlackHole& operator=(const BlackHole&) = delete;
  ~BlackHole() {
    for (const int fill : fills_) ::close(fill);
    ::close(listener_);
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  int listener_;
  int port_ = 0;
  int fills_[4] = {};
};

}  // namespace tenon::test
