#pragma once
#include <cstddef>
#include <memory>

#include "socket.hpp"
#include "tenon/transport.hpp"

namespace tenon::tcp {

/// A connected socket.
/// Threads: its executor's; may be made on another one before anything is called.
class TcpStream final : public ByteStream {
 public:
  TcpStream(Watched socket, const SocketAddress& peer);
  TcpStream(Watched socket, PeerInfo info);
  ~TcpStream() override;

  IoResult try_read(char* into, std::size_t size) noexcept override;
  IoResult try_write(std::span<const std::string_view> parts) noexcept override;
  void wait_readable(Completion done) noexcept override;
  void wait_writable(Completion done) noexcept override;
  void finish() noexcept override;
  const PeerInfo& info() const noexcept override { return info_; }
  std::string_view negotiated() const noexcept override { return {}; }

  /// Takes the socket away; pending waits are dropped. Only destruction may follow.
  Watched release() noexcept;

 private:
  struct Waits;
  class WaitHandler;

  Watched socket_;
  const int fd_;
  PeerInfo info_;
  Waits* waits_;  // shared with the handlers Asio holds
};

}  // namespace tenon::tcp
