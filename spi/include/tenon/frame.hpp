#pragma once
// A frame is one unit of a protocol, structured. Core speaks frames with a Session; only the session knows bytes.

#include <cstdint>
#include <string_view>

#include "tenon/attachment.hpp"
#include "tenon/buffer.hpp"
#include "tenon/headers.hpp"
#include "tenon/method.hpp"
#include "tenon/result.hpp"

namespace tenon {

enum class FrameKind : std::uint8_t {
  request,
  response,
  error,   ///< the answer to a request that failed
  cancel,  ///< client to server: the caller gave up. The server still answers (with `cancelled` or the reply)
  ping,
  pong,
  goaway,   ///< the sender takes no new requests. Open calls that the session does not fail will still be answered
  message,  ///< server to client: one message of a stream
  end,      ///< server to client: the end of a stream: `error` (Errc::ok when it ended well), `headers` as trailers
  credit,   ///< client to server: the receiver of a stream has room for `credit` bytes more
};

/// Sent or received. When sending, everything is borrowed until send() returns (a large `owned` body is moved from).
/// When received, views are valid until the sink returns; `owned`, `headers` and `error` may be moved from.
struct Frame {
  FrameKind kind = FrameKind::request;
  bool one_way = false;  ///< request: no answer is wanted
  /// request: the answer is a stream. response: the head of a stream; messages and an end follow, under the same
  /// number, which stays in use until the end (or an error) has come.
  bool stream = false;
  std::uint32_t call = 0;  ///< core's number: unique among the calls of this connection that are not over
  // request
  const Target* target = nullptr;                      ///< sending: identifies the method by address
  std::string_view group, interface, version, method;  ///< received
  /// request, received: this protocol's callers need not know group and version, nor the case of the method's first
  /// letter. Core takes the service that fits best: the same group and version, else the same group, else the
  /// interface alone, where only one service does.
  bool loose_names = false;
  std::uint32_t token = 0;  ///< received: not 0 and equal for equal (names, serializer, compressor) on this session
  Duration remaining{0};    ///< time left until the deadline; 0: none. Rounded up to what the protocol can say
  // request, response and message
  std::string_view serializer;  ///< content type of the body
  std::string_view compressor;  ///< "" when the body is not compressed
  Headers headers;
  std::string_view body;     ///< a view …
  OutBuffer owned;           ///< … or, for large bodies, the bytes themselves (then `body` is empty)
  Attachment attachment;     ///< bytes beside the body
  std::uint32_t credit = 0;  ///< credit: what was received and has been consumed meanwhile, as stream_cost() counts
  /// response and error: how long the server was busy with the request, where the protocol tells; 0: not known.
  Duration took{0};
  // error and goaway
  Error error;
  /// error, received: the peer did not know the names this request abbreviated. It did not run, the session has
  /// forgotten the abbreviation; core sends the request once more.
  bool resend = false;

  std::string_view bytes() const noexcept { return owned.empty() ? body : owned.view(); }
};

/// What one message of a stream takes from its receiver's window: its bytes, and a little for what holds it, so that
/// empty messages are bounded, too.
constexpr std::size_t stream_cost(std::size_t body, std::size_t attachment) noexcept { return body + attachment + 64; }

/// Receives what a session has parsed. Implemented by core's connection.
class TENON_SPI FrameSink {
 public:
  virtual ~FrameSink();
  /// One complete frame, in the order received. May call Session::send() on the same session, never received().
  virtual void on_frame(Frame& frame) = 0;
  /// The frame given last is the last one wanted for now: received() returns before the next.
  bool enough() const noexcept { return enough_; }

 protected:
  bool enough_ = false;
};

}  // namespace tenon
