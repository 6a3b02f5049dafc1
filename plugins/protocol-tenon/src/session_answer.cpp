// Frames out that carry no body: errors, ends, credit, cancels, pings.
#include <cstring>

#include "failure.hpp"
#include "session.hpp"

namespace tenon::wire {

OutBuffer TenonSession::failure_frame(Kind kind, std::uint8_t flags, std::uint32_t call, const Error& error,
                                      const Headers* headers) const {
  // Such a frame always fits: text is cut, headers beyond the limits are left out and the text says so.
  const std::size_t list_bytes = headers ? list_size(*headers) : 0;
  Error cut;
  const Error* said = &error;
  if (headers && (list_bytes > peer_max_headers_ || headers->size() > peer_max_header_count_)) {
    headers = nullptr;
    cut = error;
    cut.prefix("(" + std::to_string(list_bytes) + " bytes of headers left out, the caller's limit is lower)");
    said = &cut;
  }
  OutBuffer frame;
  frame.push_back(static_cast<char>(static_cast<unsigned>(kind) | flags | (headers ? flag_headers : 0u)));
  char* at = frame.prepare(max_varint);
  frame.commit(static_cast<std::size_t>(put_varint(at, call) - at));
  if (kind == Kind::error || (flags & flag_failure) != 0) put_failure(*said, frame);
  if (headers) {
    at = frame.prepare(list_bytes + 2 * max_varint);
    frame.commit(static_cast<std::size_t>(put_list(put_varint(at, 0), *headers, list_bytes) - at));
  }
  return frame;
}

void TenonSession::answer(std::uint32_t call, const Error& error, bool unknown_entry) {
  append(
      failure_frame(Kind::error, unknown_entry ? flag_unknown_entry : std::uint8_t{0}, call, error, error.headers()));
}

// The frame that ends an open call, behind what waits of it.
void TenonSession::append_last(OpenCall* open, OutBuffer frame) {
  if (!open->is(CallState::queued)) {
    append(frame);
    close_call(open);
    return;
  }
  WaitingFrame waiting;
  waiting.head = std::move(frame);
  waiting.last = true;
  lanes_.add(open->call, std::move(waiting));
  open->set(CallState::answered);
}

Result<void> TenonSession::send_error(const Frame& frame) {
  if (side_ == Side::client) return refused(Errc::invalid_argument, "a client session sends no error replies");
  OpenCall* const open = calls_.find(frame.call);
  if (open == nullptr || open->is(CallState::answered) || open->is(CallState::in_part)) {
    return refused(Errc::invalid_argument,
                   "an error reply to call " + std::to_string(frame.call) + ", which is not open");
  }
  append_last(open, failure_frame(Kind::error, 0, frame.call, frame.error, frame.error.headers()));
  return {};
}

Result<void> TenonSession::send_end(const Frame& frame) {
  if (side_ == Side::client) return refused(Errc::invalid_argument, "a client session ends no streams");
  OpenCall* const open = calls_.find(frame.call);
  if (open == nullptr || !open->is(CallState::has_head) || open->is(CallState::answered)) {
    return refused(Errc::invalid_argument,
                   "the end of call " + std::to_string(frame.call) + ", which is no open stream");
  }
  Error error = frame.error;
  if (open->is(CallState::given_up)) {
    // Not even the head may have left. An error ends a stream at any time.
    if (!error) error = Error(Errc::cancelled, "the caller gave up, and not all of the stream was sent", Delivery::ran);
    append_last(open, failure_frame(Kind::error, 0, frame.call, error,
                                    frame.headers.empty() ? error.headers() : &frame.headers));
    return {};
  }
  if (!error) {
    std::size_t list_bytes = 0;
    Frame trailers;
    trailers.headers = frame.headers;
    Result<void> fits = check_sizes(
        trailers,
        "the end of the stream of " + method_text(frame.target) + ", call " + std::to_string(frame.call) + ",",
        list_bytes);
    if (!fits.ok()) return fits;
  }
  append_last(open, failure_frame(Kind::end, error ? flag_failure : std::uint8_t{0}, frame.call, error,
                                  frame.headers.empty() ? nullptr : &frame.headers));
  return {};
}

Result<void> TenonSession::send_credit(const Frame& frame) {
  if (side_ == Side::server) return refused(Errc::invalid_argument, "a server session gives no credit");
  OpenCall* const open = calls_.find(frame.call);
  if (open == nullptr || open->is(CallState::spoiled)) return {};
  StreamWindow* const window = open->is(CallState::asked_stream) ? streams_.find(frame.call) : nullptr;
  if (window == nullptr) {
    return refused(Errc::invalid_argument,
                   "credit for call " + std::to_string(frame.call) + ", which did not ask for a stream");
  }
  if (frame.credit == 0 || window->left + std::int64_t{frame.credit} > max_window) {
    return refused(Errc::invalid_argument, "credit of " + std::to_string(frame.credit) + " bytes for call " +
                                               std::to_string(frame.call) + ", which has " +
                                               std::to_string(window->left));
  }
  OutBuffer credit;
  char* const start = credit.prepare(1 + 2 * max_varint);
  start[0] = static_cast<char>(Kind::credit);
  credit.commit(static_cast<std::size_t>(put_varint(put_varint(start + 1, frame.call), frame.credit) - start));
  if (open->is(CallState::queued)) {
    WaitingFrame waiting;
    waiting.head = std::move(credit);
    lanes_.add(frame.call, std::move(waiting));
  } else {
    append(credit);
  }
  window->left += frame.credit;
  return {};
}

std::int64_t TenonSession::credit(std::uint32_t call) const noexcept {
  if (side_ == Side::client) return 0;
  const StreamWindow* const window = streams_.find(call);
  return window ? window->left : 0;
}

Result<void> TenonSession::send_cancel(const Frame& frame) {
  if (side_ == Side::server) return refused(Errc::invalid_argument, "a server session cancels nothing");
  OpenCall* const open = calls_.find(frame.call);
  if (open == nullptr) return {};
  if (open->is(CallState::not_begun)) {
    // The peer never heard of it and answers nothing; received() tells the sink.
    if (!open->is(CallState::queued)) return {};
    unsent_cancels_.push_back(frame.call);
    lanes_.drop(frame.call);
    open->clear(CallState::queued);
    return {};
  }
  append_cancel(frame.call);
  if (!open->is(CallState::queued)) return {};
  lanes_.drop(frame.call);
  open->clear(CallState::queued);
  return {};
}

void TenonSession::append_cancel(std::uint32_t call) {
  char* const start = output_.prepare(2 + max_varint);
  start[1] = static_cast<char>(Kind::cancel);
  char* const end = finish_head(start, put_varint(start + 2, call), 0);
  output_.commit(static_cast<std::size_t>(end - start));
}

void TenonSession::send_ping(const Frame& frame, Kind kind) {
  greet();
  constexpr std::size_t size = 8;
  char* const start = output_.prepare(2 + size);
  start[0] = 1 + size;
  start[1] = static_cast<char>(kind);
  if (frame.body.size() == size) {
    std::memcpy(start + 2, frame.body.data(), size);
  } else {
    for (std::size_t i = 0; i < size; ++i) start[2 + i] = i < 4 ? static_cast<char>(frame.call >> (8 * i)) : '\0';
  }
  output_.commit(2 + size);
}

void TenonSession::append(const OutBuffer& frame) {
  char* const start = output_.prepare(max_varint + frame.size());
  char* const at = put_varint(start, frame.size());
  std::memcpy(at, frame.data(), frame.size());
  output_.commit(static_cast<std::size_t>(at - start) + frame.size());
}

}  // namespace tenon::wire
