#pragma once
// The floor under every RPC: one thread, one epoll loop, frames of u32 length (little-endian, of what follows) + body.
// Shared by the two programs that `tenon bench` is compared with; nothing here knows Tenon.

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace bench {

/// What a frame's body is.
enum class RawMode {
  raw,       ///< the payload; echoed straight out of the read buffer
  protobuf,  ///< u32 call number + a serialized EchoRequest or EchoResponse
};

/// A connected or listening socket. Closes it.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) noexcept : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();
  int fd() const noexcept { return fd_; }

  /// Loopback TCP. Exits the program with a message on failure.
  static Socket listen(std::uint16_t port);
  static Socket connect(std::uint16_t port);
  std::uint16_t local_port() const;

 private:
  int fd_ = -1;
};

/// One non-blocking connection of an epoll set with its unparsed input and unsent output.
class RawConnection {
 public:
  /// Registers `socket` with `epoll`; events carry `this`.
  RawConnection(Socket socket, int epoll, std::size_t read_buffer);
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;

  /// One read. False: the peer closed, or the connection broke.
  bool fill();
  /// Writes what can be written; watches for writability while something is left. False: broken.
  bool flush();
  /// Sends `bytes` at once when nothing waits before them, and keeps what did not fit. flush() follows.
  void send_now(const char* bytes, std::size_t size);

  std::string& output() noexcept { return output_; }
  bool has_output() const noexcept { return written_ < output_.size(); }

  /// Calls `frame(const char* body, std::size_t size)` for every complete frame; returns the bytes they took. They
  /// stay at input() until consume().
  template <class Frame>
  std::size_t parse(Frame&& frame) {
    std::size_t at = 0;
    while (filled_ - at >= header) {
      std::uint32_t size = 0;
      std::memcpy(&size, input_.data() + at, header);
      if (filled_ - at < header + size) {
        reserve(header + size);
        break;
      }
      frame(input_.data() + at + header, std::size_t{size});
      at += header + size;
    }
    return at;
  }
  const char* input() const noexcept { return input_.data(); }
  void consume(std::size_t bytes) noexcept;

  static constexpr std::size_t header = sizeof(std::uint32_t);
  static constexpr std::size_t largest_frame = 64u << 20;

 private:
  void reserve(std::size_t frame);

  Socket socket_;
  int epoll_;
  std::vector<char> input_;
  std::size_t filled_ = 0;
  std::string output_;
  std::size_t written_ = 0;
  bool watching_ = false;
};

/// Prints `what` and errno's text to stderr and exits with 1.
[[noreturn]] void die(const char* what);

/// Appends a frame with room for a body of `size` bytes; returns where the caller writes it.
inline char* begin_frame(std::string& output, std::size_t size) {
  const std::size_t at = output.size();
  output.resize(at + RawConnection::header + size);
  const auto length = static_cast<std::uint32_t>(size);
  std::memcpy(output.data() + at, &length, sizeof length);
  return output.data() + at + RawConnection::header;
}

}  // namespace bench
