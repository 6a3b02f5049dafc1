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
#include <utility>

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
  /// Takes over a connected socket; -1: not connected.
  explicit RawSocket(int fd) : fd_(fd), connected_(fd >= 0) {}
  RawSocket(RawSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)), connected_(other.connected_) {}
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;
  ~RawSocket() { close(); }

  int fd() const noexcept { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  /// Half-closes: the peer reads the end.
  void finish() { (void)::shutdown(fd_, SHUT_WR); }

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

/// Listens on a loopback port, for a peer that answers by hand.
class RawListener {
 public:
  RawListener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at = {};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    (void)::bind(fd_, reinterpret_cast<sockaddr*>(&at), size);
    (void)::listen(fd_, 64);
    (void)::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size);
    address_ = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
  }
  RawListener(const RawListener&) = delete;
  RawListener& operator=(const RawListener&) = delete;
  ~RawListener() { ::close(fd_); }

  const std::string& address() const noexcept { return address_; }
  /// The next connection; one that is not connected() when none came for `milliseconds`.
  RawSocket accept(int milliseconds = 5000) {
    pollfd ready = {fd_, POLLIN, 0};
    if (::poll(&ready, 1, milliseconds) <= 0) return RawSocket(-1);
    return RawSocket(::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC));
  }

 private:
  int fd_;
  std::string address_;
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
