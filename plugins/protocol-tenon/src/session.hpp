#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "calls.hpp"
#include "dictionary.hpp"
#include "head.hpp"
#include "lanes.hpp"
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
/// - message and end, received: only for a stream whose head has come; an error frame behind the head is delivered as
///   an end. A stream that the client cancelled goes on until its end; then messages may still come.
/// - credit, sent: for a call that is not open (any more) it is no error, there is nothing left to come.
/// - A response that has not left completely when the client cancels: the session drops the rest and answers with
///   `cancelled`; core has answered already and hears nothing. A stream's messages that have not left are dropped, too,
///   and core hears of the cancel: from then on credit() is 0 and the stream is only to be ended.
class TenonSession final : public Session {
 public:
  TenonSession(Side side, const Limits& limits, std::span<const std::string> compressors = {});
  ~TenonSession() override;

  Want want() noexcept override;
  Result<std::size_t> received(std::string_view bytes, FrameSink& sink) override;
  Result<void> received_direct(std::size_t n, FrameSink& sink) override;
  Result<void> send(Frame& frame) override;
  void produce(Gather& gather, std::size_t budget) override {
    if (lanes_.waiting() > 0) refill();
    output_.produce(gather, budget);
  }
  void written(std::size_t n) override { output_.written(n); }
  std::size_t unwritten() const noexcept override { return output_.unwritten() + lanes_.waiting(); }
  TimePoint next_deadline() const noexcept override;
  Result<void> tick(TimePoint now) override;
  std::uint32_t max_concurrent() const noexcept override { return max_concurrent_; }
  bool acknowledges_cancel() const noexcept override { return true; }
  std::int64_t credit(std::uint32_t call) const noexcept override;
  bool accepts(std::string_view compressor) const noexcept override;
  void close(const Error& reason) override;

 private:
  enum class Mode : std::uint8_t { preface, frames, gather, body, part, skip, failed };

  // A large request, response or message while its body comes in.
  struct Incoming {
    OutBuffer held;  // the head; the frame's views point into it
    Frame frame;
    IncomingBody body;           // with the attachment
    std::size_t attachment = 0;  // bytes
  };
  // A frame that has come in part.
  struct Assembly {
    std::uint32_t call;
    bool ends_call;                      // a response that is no stream's head
    bool opens_stream;                   // one that is
    std::size_t left;                    // bytes that have not come
    std::size_t announced;               // bytes of body and attachment
    std::unique_ptr<Incoming> incoming;  // null: it is skipped
  };
  // How a frame leaves: whole, in parts, or behind one of its call that leaves in parts. `start` is where its head is
  // written: a byte for the length, then the type.
  struct Departure {
    enum class Way : std::uint8_t { whole, parts, behind };
    Way way = Way::whole;
    bool begins = true;  // the head leaves at once, so that it may define dictionary entries
    char* start = nullptr;
    OutBuffer head;  // what start points into unless it leaves whole
    bool waits() const noexcept { return way != Way::whole; }
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
  Result<std::size_t> begin_body(const Place& place, const Head& head);
  Result<std::size_t> take_body(std::string_view bytes, FrameSink& sink);
  void finish_body(FrameSink& sink);
  std::size_t skip(const Place& place) noexcept;
  // For large frames whose head is incomplete, or nearly all there is: collects them outside the caller's buffer.
  Result<std::size_t> begin_gather(const Place& place);
  Result<std::size_t> take_gathered(std::string_view bytes, FrameSink& sink);
  Result<std::size_t> take_control(const Place& place, std::uint8_t type, FrameSink& sink);
  Result<std::size_t> take_last(const Place& place, Kind kind, std::uint8_t flags, FrameSink& sink);
  Result<std::size_t> take_cancel(const Place& place, FrameSink& sink);
  void cancelled(std::uint32_t call, FrameSink& sink);
  Result<std::size_t> take_ping(const Place& place, bool ping, FrameSink& sink);
  Result<std::size_t> take_goaway(const Place& place, FrameSink& sink);
  Result<std::size_t> take_credit(const Place& place, FrameSink& sink);
  Result<std::size_t> take_fragment(const Place& place, std::uint8_t flags, FrameSink& sink);
  Result<std::size_t> take_refused_fragment(const Place& place, std::uint8_t flags, std::uint32_t call);
  Result<std::size_t> take_first_part(const Place& place, std::uint32_t call, Cursor& cursor);
  Result<std::size_t> take_later_part(const Place& place, std::uint32_t call, std::size_t head, FrameSink& sink);
  Result<std::size_t> take_part(std::string_view bytes, FrameSink& sink);
  void finish_part(FrameSink& sink);
  Assembly* find_assembly(std::uint32_t call) noexcept;
  void drop_assembly(std::uint32_t call) noexcept;
  void deliver(Incoming& incoming, FrameSink& sink);
  void deliver_unsent_cancels(FrameSink& sink);
  // Looks up and remembers what a head says and fills the frame; `size` is that of body and attachment. False: answered
  // or dropped here, not for the sink.
  Result<bool> admit(const Head& head, std::size_t size, bool in_parts, Frame& frame);
  Result<bool> admit_request(const Head& head, bool in_parts, Frame& frame);
  Result<bool> admit_response(const Head& head, bool in_parts, Frame& frame);
  void fill_content(const Head& head, const OpenCall& open, Frame& frame) const noexcept;
  Error too_long_attachment(const Head& head, std::size_t size);
  Result<bool> admit_message(const Head& head, std::size_t size, bool in_parts, Frame& frame);
  Result<bool> keep_incoming(const Head& head, std::string_view head_bytes, std::size_t size, bool in_parts,
                             Incoming& incoming);
  Result<bool> admit_oversize(const Head& head, std::size_t size, bool in_parts, Frame& frame);
  static bool is_open_stream(const OpenCall& open) noexcept;
  void spoil(OpenCall& open);
  Error spoiled_error(std::uint32_t call) const;
  Result<bool> resolve_names(const Head& head, Frame& frame, std::uint8_t& content);  // false: unknown entry
  Result<bool> resolve_headers(const ListField& field, Headers& headers);             // false: unknown entry
  Error fatal(Errc code, std::string text);
  Error lost_output();
  Error not_open(std::uint32_t call, const char* what);

  // Sending.
  Result<void> send_request(Frame& frame);
  bool send_plain_request(const Frame& frame);
  Result<void> send_response(Frame& frame);
  bool send_plain_response(const Frame& frame);
  Result<std::size_t> content_size(const Frame& frame, const OpenCall& open) const;
  Result<void> send_error(const Frame& frame);
  Result<void> send_message(Frame& frame);
  Result<void> send_end(const Frame& frame);
  Result<void> send_credit(const Frame& frame);
  Result<void> send_cancel(const Frame& frame);
  void send_ping(const Frame& frame, Kind kind);
  void answer(std::uint32_t call, const Error& error, bool unknown_entry = false);
  OutBuffer failure_frame(Kind kind, std::uint8_t flags, std::uint32_t call, const Error& error,
                          const Headers* headers) const;
  void append_last(OpenCall* open, OutBuffer frame);
  void append_cancel(std::uint32_t call);
  void greet();
  void append(const OutBuffer& frame);
  char* finish_head(char* start, char* end, std::size_t body_size) noexcept;
  // A frame with a body or attachment: choose_way(), prepare(), the head is written, finish(). prepare() may throw, and
  // finish() where the frame waits; nothing has been appended then.
  Departure choose_way(const Frame& frame, const OpenCall* open) const noexcept;
  void prepare(Departure& departure, Frame& frame, std::size_t head_bytes);
  void finish(Departure& departure, Frame& frame, char* end, bool last);
  void refill();
  Result<void> check_sizes(const Frame& frame, std::string_view what, std::size_t& list_bytes) const;
  Result<void> check_extended(const Frame& frame) const;
  void close_call(OpenCall* open);  // and all that is known of it

  const Limits limits_;
  const Side side_;
  Mode mode_ = Mode::preface;
  bool greeted_ = false;     // our preface is in the output
  bool peer_known_ = false;  // the peer's magic was right
  bool closing_ = false;     // our goaway is in the output
  bool leaving_ = false;     // the peer's goaway has come
  bool pong_due_ = false;
  bool extended_ = false;  // both sides speak the frames of 1.2
  bool broken_ = false;    // what waited could not be appended: tick() and received() say so
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
  StreamTable streams_;        // those of calls_ that asked for one
  std::int64_t first_window_;  // of a new stream
  Lanes lanes_;
  std::vector<Assembly> assemblies_;           // at most max_in_parts
  std::size_t assembling_ = 0;                 // bytes that those which are not skipped have announced
  std::uint32_t part_call_ = 0;                // whose part is coming in …
  std::size_t part_left_ = 0;                  // … and what is missing of it
  std::vector<std::uint32_t> unsent_cancels_;  // client: calls that were cancelled before anything of them left
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
