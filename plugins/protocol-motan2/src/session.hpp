#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "calls.hpp"
#include "metadata.hpp"
#include "protocol.hpp"
#include "tenon/protocol.hpp"
#include "tenon/session_buffers.hpp"
#include "wire.hpp"

namespace tenon::motan2 {

inline constexpr std::string_view gzip = "gzip";

/// One connection speaking motan2; README.md of this plugin has the bytes and the decisions. See tenon::Session for
/// the contract; what this one adds to it:
///
/// - Nothing is said before the first request, by either side, and there is no goodbye: after close() a client sends
///   no more requests, a server goes on to answer.
/// - A one-way request is answered like any other, as Motan's servers do; a client drops that answer.
/// - There is no cancel on this wire: a cancelled call's answer is dropped by the client's session.
/// - A body above the limit fails that call and is skipped; metadata above the limit end the connection, because
///   nobody can say what was called.
class Motan2Session final : public Session {
 public:
  Motan2Session(std::shared_ptr<const Settings> settings, Side side, const Limits& limits);
  ~Motan2Session() override;

  Want want() noexcept override;
  Result<std::size_t> received(std::string_view bytes, FrameSink& sink) override;
  Result<void> received_direct(std::size_t n, FrameSink& sink) override;
  Result<void> send(Frame& frame) override;
  void produce(Gather& gather, std::size_t budget) override { output_.produce(gather, budget); }
  void written(std::size_t n) override { output_.written(n); }
  std::size_t unwritten() const noexcept override { return output_.unwritten(); }
  TimePoint next_deadline() const noexcept override { return never; }
  Result<void> tick(TimePoint) override { return {}; }
  std::uint32_t max_concurrent() const noexcept override { return limits_.max_concurrent; }
  bool acknowledges_cancel() const noexcept override { return false; }
  bool accepts(std::string_view compressor) const noexcept override { return compressor == gzip; }
  void close(const Error& reason) override;

 private:
  enum class Mode : std::uint8_t { frames, head, body, skip, failed };

  // Receiving. A count of 0 means: more bytes are needed.
  Result<std::size_t> take(std::string_view bytes, FrameSink& sink);
  Result<std::size_t> take_frame(std::string_view bytes, FrameSink& sink);
  Result<std::size_t> gather_head(std::string_view bytes, std::size_t size);
  Result<std::size_t> take_gathered(std::string_view bytes, FrameSink& sink);
  Result<std::size_t> begin_body(const Head& head, std::string_view bytes, std::size_t size, FrameSink& sink);
  void finish_body(FrameSink& sink);
  Result<void> check_head(const Head& head);
  // One frame; its body is `body` or, when that is null, `owned`.
  void deliver(const Head& head, std::string_view metadata, std::string_view body, OutBuffer* owned, FrameSink& sink);
  void deliver_request(const Head& head, std::string_view metadata, std::string_view body, OutBuffer* owned,
                       FrameSink& sink);
  void deliver_response(const Head& head, std::string_view metadata, std::string_view body, OutBuffer* owned,
                        FrameSink& sink);
  void deliver_heartbeat(const Head& head, FrameSink& sink);
  void deliver_oversize(const Head& head, std::size_t size, FrameSink& sink);
  Error fatal(Errc code, std::string text);

  // Sending.
  Result<void> send_request(Frame& frame);
  Result<void> send_response(Frame& frame);
  void send_error(const Frame& frame);
  void send_ping();
  void send_pong();
  Result<void> check_headers(const Headers& headers) const;
  Result<void> check_size(std::size_t body, const std::string& whose) const;
  const std::string* names_of(const Target& target);  // null: a name has a newline
  void append(const Head& head, Frame* frame);
  void answer(std::uint64_t id, std::uint8_t serializer, const Error& error, Duration took, bool framework);
  std::string delivered_service() const;

  const std::shared_ptr<const Settings> settings_;
  const Limits limits_;
  const Side side_;
  Mode mode_ = Mode::frames;
  bool closing_ = false;
  std::size_t skip_ = 0;
  SessionOutput output_;
  ClientCalls client_calls_;
  ServerCalls server_calls_;
  std::string metadata_;  // of the frame being built; kept for its memory
  // The constant metadata of the methods called here; the last one needs no search.
  std::unordered_map<const Target*, std::string> names_;
  const Target* last_target_ = nullptr;
  const std::string* last_names_ = nullptr;
  std::uint32_t pings_ = 0;
  const Frame* delivering_ = nullptr;  // server: the request the sink is looking at
  Head ping_;             // server: the heartbeat to be answered
  bool pong_due_ = false;
  std::string held_;      // the head of a frame whose body, or rest of a large head, is on its way
  std::size_t head_size_ = 0;
  IncomingBody body_;
};

}  // namespace tenon::motan2
