#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "calls.hpp"
#include "dictionary.hpp"
#include "head.hpp"
#include "preface.hpp"
#include "tenon/protocol.hpp"
#include "tenon/session_buffers.hpp"
#include "wire.hpp"

namespace tenon::wire {

/// One connection speaking "tenon" 1.x; README.md of this plugin has the bytes. See tenon::Session for the contract;
/// what this one adds to it:
///
/// - The client may send at once; the server says its preface when it has read the client's.
/// - Unconsumed bytes are at most direct_size and a few more; larger frames leave the caller's buffer as they come in.
/// - A response or error for a call that is not open, a second request with an open call's number: malformed.
/// - cancel: a number that is not open (any more) is no error, there is nothing to cancel. The server delivers a
///   cancel only for an open call.
/// - ping: `body` is 8 bytes of the sender's choice (when sending an empty body, `call` takes their place; when
///   received, `call` is the first four as a number). The session answers a ping by itself after the sink has
///   returned, unless the sink sent the pong.
/// - goaway, received: `call` is 0xFFFFFFFF, all open calls will be answered; for requests that the peer had not read
///   when it said goodbye the session delivers error frames (unavailable, not_run) right behind it.
/// - goaway, sent with send(): as close().
/// - A response's empty `serializer` means the request's; on receipt it is always filled in.
class TenonSession final : public Session {
 public:
  TenonSession(Side side, const Limits& limits, std::span<const std::string> compressors = {});
  ~TenonSession() override;

  Want want() noexcept override;
  Result<std::size_t> received(std::string_view bytes, FrameSink& sink) override;
  Result<void> received_direct(std::size_t n, FrameSink& sink) override;
  Result<void> send(Frame& frame) override;
  void produce(Gather& gather, std::size_t budget) override { output_.produce(gather, budget); }
  void written(std::size_t n) override { output_.written(n); }
  std::size_t unwritten() const noexcept override { return output_.unwritten(); }
  TimePoint next_deadline() const noexcept override;
  Result<void> tick(TimePoint now) override;
  std::uint32_t max_concurrent() const noexcept override { return max_concurrent_; }
  bool acknowledges_cancel() const noexcept override { return true; }
  bool accepts(std::string_view compressor) const noexcept override;
  void close(const Error& reason) override;

 private:
  enum class Mode : std::uint8_t { preface, frames, gather, body, skip, failed };

  // A large request or response while its body comes in.
  struct Incoming {
    OutBuffer held;  // the head; the frame's views point into it
    Frame frame;
    IncomingBody body;
  };
  // Where a frame stands in the bytes presented.
  struct Place {
    const char* fields;  // behind the length
    std::size_t prefix;  // bytes of the length
    std::size_t length;  // announced
    std::size_t here;    // of which are here
    bool complete() const noexcept { return here == length; }
  };

  // Receiving. A count of 0 means: more bytes are needed.
  Result<std::size_t> take(std::string_view bytes, FrameSink& sink);
  Result<std::size_t> take_preface(std::string_view bytes);
  Result<std::size_t> take_frame(std::string_view bytes, FrameSink& sink);
  std::size_t take_plain_responses(std::string_view bytes, FrameSink& sink);
  Result<std::size_t> take_exchange(const Place& place, Kind kind, std::uint8_t flags, FrameSink& sink);
  Result<std::size_t> take_oversize(const Place& place, const Head& head, FrameSink& sink);
  Result<std::size_t> begin_body(const Place& place, Kind kind, std::uint8_t flags, FrameSink& sink);
  Result<std::size_t> take_body(std::string_view bytes, FrameSink& sink);
  void finish_body(FrameSink& sink);
  std::size_t skip(const Place& place) noexcept;
  // For large frames whose head is incomplete, or nearly all there is: collects them outside the caller's buffer.
  Result<std::size_t> begin_gather(const Place& place);
  Result<std::size_t> take_gathered(std::string_view bytes, FrameSink& sink);
  Result<std::size_t> take_control(const Place& place, std::uint8_t type, FrameSink& sink);
  Result<std::size_t> take_error(const Place& place, std::uint8_t flags, FrameSink& sink);
  Result<std::size_t> take_cancel(const Place& place, FrameSink& sink);
  Result<std::size_t> take_ping(const Place& place, bool ping, FrameSink& sink);
  Result<std::size_t> take_goaway(const Place& place, FrameSink& sink);
  Result<std::size_t> take_fragment(const Place& place, std::uint8_t flags);
  // Looks up and remembers what a head says and fills the frame. False: answered or dropped here, not for the sink.
  Result<bool> admit(const Head& head, Frame& frame);
  Result<bool> admit_request(const Head& head, Frame& frame);
  Result<bool> admit_response(const Head& head, Frame& frame);
  Result<bool> resolve_names(const Head& head, Frame& frame, std::uint8_t& content);  // false: unknown entry
  Result<bool> resolve_headers(const ListField& field, Headers& headers);             // false: unknown entry
  Error fatal(Errc code, std::string text);
  Error not_open(std::uint32_t call, const char* what);

  // Sending.
  Result<void> send_request(Frame& frame);
  bool send_plain_request(const Frame& frame);
  Result<void> send_response(Frame& frame);
  Result<void> send_error(const Frame& frame);
  Result<void> send_cancel(const Frame& frame);
  void send_ping(const Frame& frame, Kind kind);
  void answer(std::uint32_t call, const Error& error, bool unknown_entry = false);
  void greet();
  void append(OutBuffer& frame);
  char* finish_head(char* start, char* end, std::size_t body_size) noexcept;
  void finish_frame(char* start, char* end, std::string_view body, OutBuffer& block) noexcept;
  Result<void> check_sizes(const Frame& frame, std::string_view what, std::size_t& list_bytes) const;

  const Limits limits_;
  const Side side_;
  Mode mode_ = Mode::preface;
  bool greeted_ = false;     // our preface is in the output
  bool peer_known_ = false;  // the peer's magic was right
  bool closing_ = false;     // our goaway is in the output
  bool leaving_ = false;     // the peer's goaway has come
  bool pong_due_ = false;
  std::uint32_t max_concurrent_;
  std::string own_compressors_;  // until the preface is said
  std::string peer_compressors_;
  std::size_t peer_max_frame_;  // what may be sent
  std::size_t peer_max_headers_;
  std::size_t peer_max_header_count_;
  std::uint64_t requests_ = 0;  // client: sent; server: taken from the peer
  std::size_t skip_ = 0;
  TimePoint deadline_{};
  bool armed_ = false;
  SessionOutput output_;
  CallTable calls_;
  Frame plain_;  // take_plain_responses()', kept because making one anew costs as much as the rest
  Contents contents_;
  SentNames sent_names_;
  KnownNames known_names_;
  SentLists sent_lists_;
  KnownLists known_lists_;
  std::unique_ptr<Incoming> incoming_;
  OutBuffer gathered_;  // a frame from its length on, or so much of it that its head is complete
  std::size_t gather_size_ = 0;
};

}  // namespace tenon::wire
