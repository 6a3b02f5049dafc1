// Streams, read; and what a cancel and a frame beyond the limits mean for each kind of call.
#include "failure.hpp"
#include "session.hpp"

namespace tenon::wire {

// Client. Of a spoiled one core has not seen the head, perhaps.
bool TenonSession::is_open_stream(const OpenCall& open) noexcept {
  return open.is(CallState::has_head) || (open.is(CallState::spoiled) && open.is(CallState::asked_stream));
}

Result<bool> TenonSession::admit_message(const Head& head, std::size_t size, bool in_parts, Frame& frame) {
  OpenCall* const open = calls_.find(head.call);
  if (open == nullptr || !is_open_stream(*open)) {
    return fatal(Errc::malformed,
                 "a message for call " + std::to_string(head.call) + ", which is no stream whose head has come");
  }
  if (open->is(CallState::in_part)) {
    return fatal(Errc::malformed,
                 "a message for call " + std::to_string(head.call) + " inside another frame of that call");
  }
  StreamWindow* const window = streams_.find(head.call);
  if (window == nullptr || window->left <= 0) {
    return fatal(Errc::malformed, "a message for call " + std::to_string(head.call) +
                                      ": the peer sent more than its credit for that stream");
  }
  window->left -= static_cast<std::int64_t>(stream_cost(size, 0));
  if (in_parts) open->set(CallState::in_part);
  if (open->is(CallState::spoiled)) return false;
  frame.kind = FrameKind::message;
  frame.call = head.call;
  fill_content(head, *open, frame);
  return true;
}

Result<std::size_t> TenonSession::take_credit(const Place& place, FrameSink& sink) {
  if (place.length > 1 + 5 + 5)
    return fatal(Errc::malformed, "a credit frame of " + std::to_string(place.length) + " bytes");
  if (!place.complete()) return std::size_t{0};
  Cursor cursor(place.fields + 1, place.here - 1, place.length - 1);
  std::uint64_t call = 0;
  std::uint64_t bytes = 0;
  if (cursor.varint(call) != Scan::ok || call > 0xFFFFFFFFu || cursor.varint(bytes) != Scan::ok || bytes == 0 ||
      bytes > 0xFFFFFFFFu || cursor.left() != 0) {
    return fatal(Errc::malformed, "a credit frame without valid call number and bytes");
  }
  Frame frame;
  frame.kind = FrameKind::credit;
  frame.call = static_cast<std::uint32_t>(call);
  frame.credit = static_cast<std::uint32_t>(bytes);
  const OpenCall* const open = calls_.find(frame.call);
  if (open != nullptr) {
    if (!open->is(CallState::asked_stream)) {
      return fatal(Errc::malformed, "credit for call " + std::to_string(call) + ", which did not ask for a stream");
    }
    StreamWindow* const window = streams_.find(frame.call);
    if (window != nullptr) {  // else the client has given the stream up
      if (window->left + static_cast<std::int64_t>(bytes) > max_window) {
        return fatal(Errc::malformed, "credit for call " + std::to_string(call) + " that adds up to more than " +
                                          std::to_string(max_window) + " bytes");
      }
      window->left += static_cast<std::int64_t>(bytes);
      if (!open->is(CallState::answered) && !open->is(CallState::in_part)) sink.on_frame(frame);
    }
  }
  return place.prefix + place.length;
}

// The client gave a call up, or stopped sending its request.
void TenonSession::cancelled(std::uint32_t call, FrameSink& sink) {
  OpenCall* const open = calls_.find(call);
  if (open == nullptr) {  // our answer is under way
    drop_assembly(call);
    return;
  }
  const Error error(Errc::cancelled, "the caller gave up", Delivery::ran);
  if (open->is(CallState::in_part)) {
    Error not_run = error;
    not_run.deliver(Delivery::not_run);
    answer(call, not_run);
    close_call(open);
    return;
  }
  if (open->is(CallState::answered)) {
    lanes_.drop(call);
    open->clear(CallState::queued);
    answer(call, error);
    close_call(open);
    return;
  }
  if (open->is(CallState::queued)) {
    lanes_.drop(call);
    open->clear(CallState::queued);
    open->set(CallState::given_up);
    if (StreamWindow* const window = streams_.find(call)) streams_.erase(window);
  }
  Frame frame;
  frame.kind = FrameKind::cancel;
  frame.call = call;
  sink.on_frame(frame);
}

// ---- more than this side takes ------------------------------------------------------------------------------------

// The frame is well-formed as far as it was read but larger than this side takes: that call alone fails, and what the
// frame defines is counted, so that both dictionaries stay in step.
Result<std::size_t> TenonSession::take_oversize(const Place& place, const Head& head, FrameSink& sink) {
  Frame frame;
  Result<bool> told = admit_oversize(head, place.length - head.body_at, false, frame);
  if (!told.ok()) return std::move(told).error();
  const std::size_t taken = skip(place);
  if (*told) sink.on_frame(frame);
  return taken;
}

// True: `frame` is for the sink.
Result<bool> TenonSession::admit_oversize(const Head& head, std::size_t size, bool in_parts, Frame& frame) {
  std::string text = head.kind == Kind::request    ? "the request"
                     : head.kind == Kind::response ? "the response to call " + std::to_string(head.call)
                                                   : "a message of call " + std::to_string(head.call);
  if (head.headers.oversize == 0) {
    text += " has a body of " + std::to_string(size) + " bytes; the receiver takes " +
            std::to_string(limits_.max_frame) + " (limits.max_frame)";
  } else {
    text += head.headers.many
                ? " has " + std::to_string(head.headers.oversize) + " headers; the receiver takes " +
                      std::to_string(limits_.max_header_count) + " (limits.max_header_count)"
                : " has " + std::to_string(head.headers.oversize) + " bytes of headers; the receiver takes " +
                      std::to_string(limits_.max_headers) + " (limits.max_headers)";
    if (head.headers.ref.defines()) {
      if (head.headers.ref.id() != known_lists_.next()) {
        return fatal(Errc::malformed, "header list " + std::to_string(head.headers.ref.id()) + " defined out of turn");
      }
      known_lists_.define(nullptr, 0);
    }
  }
  Result<bool> wanted =
      head.kind == Kind::request ? admit_request(head, in_parts, frame) : admit(head, size, in_parts, frame);
  if (!wanted.ok() || !*wanted) return wanted;
  OpenCall* const open = calls_.find(head.call);
  if (head.kind == Kind::request) {
    if (open == nullptr) return false;  // one-way
    open->clear(CallState::in_part);
    close_call(open);
    answer(head.call, Error(Errc::too_large, std::move(text), Delivery::not_run, Advice::never));
    return false;
  }
  // While more of the call is to come its number is in use: it fails when the peer has ended it.
  if (open != nullptr) {
    if (head.kind == Kind::response) open->clear(CallState::has_head);
    spoil(*open);
    return false;
  }
  frame = Frame();
  frame.kind = FrameKind::error;
  frame.call = head.call;
  frame.error = Error(Errc::too_large, std::move(text), Delivery::ran, Advice::never);
  return true;
}

void TenonSession::spoil(OpenCall& open) {
  open.set(CallState::spoiled);
  append_cancel(open.call);
}

Error TenonSession::spoiled_error(std::uint32_t call) const {
  return Error(Errc::too_large,
               "the peer sent more for call " + std::to_string(call) + " than this side takes (limits.max_frame: " +
                   std::to_string(limits_.max_frame) + ", or the limits of headers)",
               Delivery::ran, Advice::never);
}

}  // namespace tenon::wire
