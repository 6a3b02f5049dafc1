#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tenon/call.hpp"
#include "tenon/clock.hpp"
#include "tenon/frame.hpp"
#include "tenon/result.hpp"

namespace tenon {

/// Bounds a session enforces before it allocates. The peer is told where the protocol can.
struct Limits {
  std::size_t max_frame = 4u << 20;     ///< bytes of one body with its attachment (and of its inflated form)
  std::size_t max_headers = 64u << 10;  ///< bytes of one frame's headers
  std::size_t max_header_count = 128;
  std::uint32_t max_concurrent = 65536;  ///< requests in flight on one connection
  /// What a stream's sender may send before the receiver has consumed any of it, as stream_cost() counts.
  std::uint32_t stream_window = 256u << 10;
};

/// Where the next bytes should be read to.
struct Want {
  char* into = nullptr;  ///< null: into any shared buffer, then received(bytes)
  std::size_t size = 0;  ///< not null: up to this many bytes straight to `into`, then received_direct(n)
};

/// One connection's protocol state. Sans-IO: bytes in, frames out, frames in, bytes out; no sockets, no timers, no
/// threads, so it is tested and fuzzed as a pure object and works over any transport.
/// Threads: one at a time. Blocking: never.
/// Errors: a returned error is fatal for the connection and says what was wrong with the bytes; after it only
/// produce() may be called (to send a farewell).
class TENON_SPI Session {
 public:
  virtual ~Session();

  /// Where to read next. Ask before every read.
  virtual Want want() noexcept = 0;
  /// Parses `bytes` (unconsumed rest of the last call included) and gives complete frames to `sink`. Returns how many
  /// bytes were consumed; the caller presents the rest again, followed by new ones. Returns early when sink.enough().
  virtual Result<std::size_t> received(std::string_view bytes, FrameSink& sink) = 0;
  /// n bytes were read to want().into.
  virtual Result<void> received_direct(std::size_t n, FrameSink& sink) = 0;

  /// Appends a frame to the output. Small bodies are copied, `frame.owned` is moved and written by gather.
  /// A large body may leave in parts, between which smaller frames of other calls go; of one call the order is kept.
  /// Fails with: too_large, overloaded (more than max_concurrent()), invalid_argument (the protocol cannot carry it; so
  /// for a ping where this side of the protocol has none), unimplemented (streams, attachments where protocol or peer
  /// has none), unavailable (after goaway or close); the connection goes on, nothing was appended and Delivery is
  /// not_run. A message without credit(): invalid_argument.
  virtual Result<void> send(Frame& frame) = 0;

  /// Collects unwritten output, in order, up to about `budget` bytes. The spans stay valid until written() or send().
  virtual void produce(Gather& gather, std::size_t budget) = 0;
  /// The first n bytes of what produce() gave are on the wire.
  virtual void written(std::size_t n) = 0;
  /// Bytes waiting to be written.
  virtual std::size_t unwritten() const noexcept = 0;

  /// When tick() wants to be called next; `never` for none (handshake limits; core does the heartbeats).
  virtual TimePoint next_deadline() const noexcept = 0;
  virtual Result<void> tick(TimePoint now) = 0;

  /// How many requests may be in flight: ours and the peer's announced limit, whichever is less. Client side; may
  /// change when the peer's preface arrives.
  virtual std::uint32_t max_concurrent() const noexcept = 0;
  /// True when the peer answers a cancelled or timed-out call, so that core waits for that answer before it uses the
  /// number again. False: after send(cancel) the session drops a late answer itself and core may use the number at
  /// once.
  virtual bool acknowledges_cancel() const noexcept = 0;
  /// Server: what may be sent of the stream `call` now. Above 0: one more message, of any size; it may go below 0. A
  /// credit frame says that it grew. 0 where the protocol carries no streams.
  virtual std::int64_t credit(std::uint32_t call) const noexcept;
  /// May the peer be sent bodies made smaller by `compressor` although its request was not? False while not known.
  virtual bool accepts(std::string_view compressor) const noexcept = 0;

  /// Says goodbye: appends a goaway with `reason` where the protocol has one. Frames already begun are still written.
  virtual void close(const Error& reason) = 0;
};

/// What the manifest asks of a protocol, checked before anything is started.
struct Demands {
  std::string_view serializer;  ///< empty: whatever the peer uses
  std::string_view compressor;  ///< empty: none
  bool streams = false;
};

/// A wire protocol.
/// Threads: const and concurrent. Blocking: never.
class TENON_SPI Protocol {
 public:
  static constexpr std::string_view kind = "protocol";
  enum class Match : std::uint8_t { no, yes, more };  ///< more: cannot tell yet from so few bytes
  virtual ~Protocol();

  /// The protocol's name in registries ("tenon").
  virtual std::string_view name() const noexcept = 0;
  /// Does a connection that starts with `first` speak it? Several protocols share one port this way. Must decide
  /// within 64 bytes.
  virtual Match sniff(std::string_view first) const noexcept = 0;
  /// `compressors`: those this side can read, told to the peer where the protocol can. Both are copied.
  virtual std::unique_ptr<Session> open(Side side, const Limits& limits,
                                        std::span<const std::string> compressors) const = 0;
  /// Fails with: config, naming what it cannot carry.
  virtual Result<void> check(const Demands& demands) const = 0;
};

}  // namespace tenon
