#pragma once
#include <openssl/ssl.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "address.hpp"
#include "tcp_stream.hpp"
#include "tenon/log.hpp"
#include "tenon/transport.hpp"

namespace tenon::tls {

/// One connection's TLS state over its socket. OpenSSL reads from and writes to the socket itself, through a BIO, so
/// that the socket's readiness is the connection's. What the socket does not take at once of a record is kept here, as
/// a record begun must be sent to its end: never more than one record, as write() waits for it.
/// Threads: one at a time: the socket's executor's.
class Engine {
 public:
  enum class Step : std::uint8_t { done, reading, failed };

  /// Fails with: internal (out of memory).
  static Result<std::unique_ptr<Engine>> make(std::shared_ptr<SSL_CTX> context, std::unique_ptr<tcp::TcpStream> socket,
                                              bool listening, Log& log);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Connecting: whom the certificate must name, and how the peer is called in messages.
  Result<void> expect(const std::string& host, const std::string& address);

  /// Goes on with the handshake. reading: again when the socket is readable. After `done`: info() and negotiated().
  Step handshake();
  /// Why handshake() failed, as a sentence.
  const std::string& why() const noexcept { return why_; }
  /// The peer went away without a byte: a port scan, a health check.
  bool never_spoke() const noexcept { return first_bytes_.empty(); }

  IoResult read(char* into, std::size_t size) noexcept;
  IoResult write(std::span<const std::string_view> parts) noexcept;
  /// Something may be readable although the socket is not.
  bool pending() const noexcept;
  /// A read() would not block. Takes what the socket has.
  bool readable() noexcept;

  /// Sends what is left of a record. False: the socket blocks.
  bool flush() noexcept;
  /// Tells the peer that nothing more comes. flush() afterwards.
  void close_notify() noexcept;
  /// Gives the record buffers back; they come back with the next record.
  void release_buffers() noexcept;

  tcp::TcpStream& socket() noexcept { return *socket_; }
  /// Moves the socket to another executor. False: there is no room to watch it; the connection is lost.
  bool move_to(Executor& home, int& error);
  /// Takes the socket and what is unsent, for the connection's end.
  std::unique_ptr<tcp::TcpStream> release(std::string& unsent) noexcept;

  const PeerInfo& info() const noexcept { return info_; }
  std::string_view negotiated() const noexcept { return negotiated_; }

 private:
  struct Free {
    void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
  };
  Engine(std::unique_ptr<tcp::TcpStream> socket, bool listening, Log& log);
  static int on_verify(int ok, X509_STORE_CTX* store);
  static BIO_METHOD* bio_method();
  static int bio_read(BIO* bio, char* into, std::size_t size, std::size_t* got);
  static int bio_write(BIO* bio, const char* from, std::size_t size, std::size_t* put);
  static long bio_control(BIO* bio, int command, long number, void* pointer);
  IoResult::Status settle(int result);
  void lose(int error) noexcept;
  std::string explain();
  void note_peer();

  std::unique_ptr<tcp::TcpStream> socket_;
  const bool listening_;
  Log& log_;
  std::shared_ptr<SSL_CTX> context_;  // with what its callbacks refer to
  std::unique_ptr<SSL, Free> ssl_;
  PeerInfo info_;
  std::string owner_;     // the peer, in messages
  std::string expected_;  // whom its certificate must name
  std::string negotiated_;
  std::string why_;
  std::string refused_;      // what was wrong with its certificate
  std::string first_bytes_;  // of the peer, until the handshake is over
  std::string unsent_;       // from sent_ on
  std::size_t sent_ = 0;
  int broken_ = 0;  // errno of the failure that ended the connection
  int socket_error_ = 0;
  bool shaken_ = false;
  bool drained_ = false;  // what OpenSSL holds makes no record
  bool ended_ = false;    // the socket's
  bool closed_ = false;   // close_notify was sent
};

}  // namespace tenon::tls
