#pragma once
// Sockets of the fault proxy.

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <utility>

namespace tenon::test {

/// A socket address: "127.0.0.1:PORT", "[::1]:PORT" or "unix:/path".
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  /// Throws std::runtime_error for anything else.
  static SocketAddress of(const std::string& text);
  int family() const noexcept { return storage.ss_family; }
  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&storage); }
  std::string text() const;
};

/// Owns a descriptor.
class FaultSocket {
 public:
  FaultSocket() = default;
  explicit FaultSocket(int fd) noexcept : fd_(fd) {}
  FaultSocket(FaultSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FaultSocket& operator=(FaultSocket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FaultSocket() { close(); }

  int fd() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  void close() noexcept;
  /// The peer gets an RST instead of the end (TCP), after everything sent has arrived there.
  void reset() noexcept;

 private:
  int fd_ = -1;
};

/// A listening socket. Throws std::runtime_error when it cannot.
FaultSocket listen_at(const SocketAddress& address);
/// Begins to connect; never waits. An invalid socket: refused at once.
FaultSocket begin_connect(const SocketAddress& address);
/// Non-blocking, without Nagle's delay, and with small buffers, so that little is in flight unseen.
FaultSocket accept_from(const FaultSocket& listener);

}  // namespace tenon::test
