#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline.hpp"
#include "protocol.hpp"
#include "request.hpp"
#include "request_parser.hpp"
#include "tenon/protocol.hpp"
#include "tenon/session_buffers.hpp"

namespace tenon::http {

/// The server's side of one connection; README.md of this plugin has what it reads and answers. See tenon::Session for
/// the contract; what this one adds to it:
///
/// - Answers leave in the order of the requests, whatever the order of send(). unwritten() counts those held back.
/// - After the last request of a connection (Connection: close, an error of the peer's while earlier requests are being
///   served) the sink gets a goaway, whatever follows is dropped, and whoever owns the connection closes it when all is
///   answered.
/// - An error of the peer's is answered. received() fails with it, except in two cases: earlier requests are still
///   being served (see above), or the peer is probably still sending a body. Then it is heard out, because bytes that
///   nobody reads destroy an answer on its way; tick() or received() fails soon after.
class HttpSession final : public Session {
 public:
  HttpSession(std::shared_ptr<const Settings> settings, const Limits& limits, std::span<const std::string> compressors);
  ~HttpSession() override;

  Want want() noexcept override;
  Result<std::size_t> received(std::string_view bytes, FrameSink& sink) override;
  Result<void> received_direct(std::size_t n, FrameSink& sink) override;
  Result<void> send(Frame& frame) override;
  void produce(Gather& gather, std::size_t budget) override { output_.produce(gather, budget); }
  void written(std::size_t n) override;
  std::size_t unwritten() const noexcept override { return output_.unwritten() + pipeline_.held(); }
  TimePoint next_deadline() const noexcept override;
  Result<void> tick(TimePoint now) override;
  std::uint32_t max_concurrent() const noexcept override { return limits_.max_concurrent; }
  bool acknowledges_cancel() const noexcept override { return false; }
  bool accepts(std::string_view compressor) const noexcept override;
  void close(const Error&) override { closing_ = true; }

 private:
  enum class Mode : std::uint8_t {
    head,
    body,
    chunks,
    done,    ///< no more requests; what comes is dropped
    linger,  ///< the same until the peer has had time to read its answer
    failed,
  };
  /// What the connection waits for, and how long it may: see tick().
  enum class Phase : std::uint8_t { fresh, idle, head, body, busy, linger };

  // Receiving. A count of 0 means: more bytes are needed.
  Result<std::size_t> take(std::string_view bytes, FrameSink& sink);
  Result<std::size_t> take_head(std::string_view bytes, FrameSink& sink);
  Result<std::size_t> take_body(std::string_view bytes, FrameSink& sink);
  Result<std::size_t> take_chunks(std::string_view bytes, FrameSink& sink);
  /// The size of the head at the front of `bytes`; 0: it is not complete. Looks at no byte twice.
  Result<std::size_t> find_head(std::string_view bytes);
  Result<void> begin_request(std::string_view head, FrameSink& sink);
  /// The request is complete; its body is `body` or, when that is not null, `owned`.
  void finish_request(std::string_view body, OutBuffer* owned, FrameSink& sink);
  void deliver(std::string_view body, OutBuffer* owned, FrameSink& sink);
  /// Answers a request that never reaches the sink.
  void refuse(const Call& call, const Refusal& refusal);
  Result<void> fatal(Refusal refusal, FrameSink& sink);
  /// The same; the bytes at hand are dropped.
  Result<std::size_t> give_up(Refusal refusal, std::string_view bytes, FrameSink& sink);
  void end_requests(const Error& reason, FrameSink& sink);
  void offer_continue();
  void release_head();

  // Sending.
  Result<void> send_response(Frame& frame, Pipeline::Entry& entry);
  void send_error(const Frame& frame, Pipeline::Entry& entry);
  Result<void> check_fields(const Headers& headers) const;
  bool ends_with(const Pipeline::Entry& entry) const noexcept;
  /// Appends head_ and the body to the output, or holds them back.
  void put(Pipeline::Entry& entry, std::string_view body, OutBuffer* owned);
  /// Moves answers that are held back and whose turn has come to the output.
  void write_ready() noexcept;

  Phase phase() const noexcept;
  Result<void> expire(Phase phase);

  const std::shared_ptr<const Settings> settings_;
  const Limits limits_;
  const std::vector<std::string> compressors_;
  Mode mode_ = Mode::head;
  bool closing_ = false;       // answers say so
  bool heard_ = false;         // the peer has said something
  bool blank_ = false;         // an empty line in front of this request has been skipped
  bool direct_ = false;        // the body goes to body_
  bool continue_due_ = false;  // the peer waits for 100 before it sends the body
  SessionOutput output_;
  Pipeline pipeline_;
  RequestParser parser_;
  RequestHead parsed_;       // kept for its memory
  Request request_;          // the one being read
  std::string held_;         // the beginning of a head
  std::size_t line_ = 0;     // where the last line of a head begins
  std::size_t scanned_ = 0;  // bytes of a head that have been looked at
  std::size_t left_ = 0;     // bytes of a body that is not delivered
  std::size_t dropped_ = 0;  // bytes since linger began
  IncomingBody body_;
  OutBuffer chunks_;
  std::string head_;  // of the answer being built; kept for its memory

  std::uint64_t step_ = 0;  // what restarts the clock: see tick()
  std::uint64_t noted_step_ = 0;
  Phase noted_phase_ = Phase::busy;
  TimePoint since_{};
  TimePoint ticked_{};
};

}  // namespace tenon::http
