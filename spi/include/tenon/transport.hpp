#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tenon/call.hpp"
#include "tenon/clock.hpp"
#include "tenon/executor.hpp"
#include "tenon/result.hpp"
#include "tenon/task.hpp"

namespace tenon {

/// What a read or write did.
struct IoResult {
  enum class Status : std::uint8_t { done, would_block, end, failed };
  Status status = Status::done;
  std::size_t bytes = 0;  ///< done: > 0
  int error = 0;          ///< failed: errno
};

/// Called when a stream became ready, on its executor. Without allocation: a function and its argument.
struct Completion {
  void (*run)(void* self) noexcept = nullptr;
  void* self = nullptr;
};

/// An ordered, reliable stream of bytes. Readiness style: no buffer is pinned while a connection idles.
/// Threads: its executor's. Blocking: never.
class TENON_SPI ByteStream {
 public:
  /// Destruction closes. A pending wait is dropped without being called.
  virtual ~ByteStream();
  virtual IoResult try_read(char* into, std::size_t size) noexcept = 0;
  /// One gathered write; may take part of it.
  virtual IoResult try_write(std::span<const std::string_view> parts) noexcept = 0;
  /// Calls back once when a read (write) would not block: data, end or failure. Never calls back inline.
  /// At most one wait of each sort at a time.
  virtual void wait_readable(Completion done) noexcept = 0;
  virtual void wait_writable(Completion done) noexcept = 0;
  /// Half-close: the peer reads the end after everything written.
  virtual void finish() noexcept = 0;
  /// Facts; `protocol` is filled by core.
  virtual const PeerInfo& info() const noexcept = 0;
  /// What ALPN chose; empty: nothing. The server skips sniffing when set.
  virtual std::string_view negotiated() const noexcept = 0;
};

/// A listening address.
/// Threads: the executor it was made on.
class TENON_SPI Listener {
 public:
  static constexpr std::string_view kind = "listener";
  /// Stops listening; a pending accept() completes with `cancelled`.
  virtual ~Listener();
  /// The next connection, which will live on `home`. Errors that pass (out of descriptors) are waited out inside, with
  /// a log line. One accept at a time. Fails with: cancelled (closed).
  virtual Task<Result<std::unique_ptr<ByteStream>>> accept(Executor& home) = 0;
  virtual void close() noexcept = 0;
  /// The bound address, with the port the system chose for port 0.
  virtual const std::string& address() const noexcept = 0;
};

/// Makes byte streams: tcp, memory, later unix and tls.
/// Threads: const and concurrent.
class TENON_SPI Transport {
 public:
  static constexpr std::string_view kind = "transport";
  virtual ~Transport();

  /// Checks an address's form, without looking anything up. Fails with: config, naming the value and what is wrong.
  virtual Result<void> check(std::string_view address) const = 0;
  /// Connects; the stream lives on `home`, where this is called. Names are resolved asynchronously.
  /// Fails with: unavailable (refused, unreachable, unknown host), deadline_exceeded.
  virtual Task<Result<std::unique_ptr<ByteStream>>> connect(const std::string& address, Executor& home,
                                                           TimePoint deadline) const = 0;
  /// Binds and listens at once. Fails with: unavailable naming the address ("127.0.0.1:4080: address already in use").
  virtual Result<std::unique_ptr<Listener>> listen(const std::string& address, Executor& home) const = 0;
};

}  // namespace tenon
