// Frames out.
#include <algorithm>
#include <cstring>
#include <new>

#include "failure.hpp"
#include "session.hpp"

namespace tenon::wire {
namespace {

constexpr std::size_t max_fixed = 5 * max_varint;  // type, call, references, remaining time, attachment

std::uint64_t milliseconds_up(Duration remaining) noexcept {
  const std::int64_t ns = remaining.count();
  if (ns == 0) return 0;
  if (ns < 0) return 1;  // over already; 0 would mean "no deadline"
  return std::min((static_cast<std::uint64_t>(ns) + 999'999) / 1'000'000, max_remaining_ms);
}

}  // namespace

Result<void> TenonSession::send(Frame& frame) {
  try {
    if (mode_ == Mode::failed) return refused(Errc::unavailable, "the connection has failed");
    switch (frame.kind) {
      case FrameKind::request: return send_request(frame);
      case FrameKind::response: return send_response(frame);
      case FrameKind::error: return send_error(frame);
      case FrameKind::cancel: return send_cancel(frame);
      case FrameKind::ping: send_ping(frame, Kind::ping); return {};
      case FrameKind::pong:
        send_ping(frame, Kind::pong);
        pong_due_ = false;
        return {};
      case FrameKind::goaway: close(frame.error); return {};
      case FrameKind::message: return send_message(frame);
      case FrameKind::end: return send_end(frame);
      case FrameKind::credit: return send_credit(frame);
    }
    return refused(Errc::invalid_argument, "a frame of unknown kind");
  } catch (const std::bad_alloc&) {
    return refused(Errc::overloaded, "out of memory while appending a frame");
  }
}

// The request that makes the most of a busy connection: known names, no headers, a small body. False: nothing was
// done, it takes the long way.
bool TenonSession::send_plain_request(const Frame& frame) {
  if (side_ == Side::server || closing_ || leaving_ || frame.target == nullptr || frame.one_way || frame.stream ||
      !frame.headers.empty() || !frame.attachment.empty() || !frame.owned.empty() || frame.body.size() >= direct_size ||
      frame.body.size() > peer_max_frame_ || calls_.size() >= max_concurrent_)
    return false;
  const SentNames::Entry* const entry =
      sent_names_.find_last(*frame.target, frame.serializer, frame.compressor, contents_);
  if (entry == nullptr || entry->id == no_entry) return false;
  char* const start = output_.prepare(max_fixed + max_varint + frame.body.size());
  OpenCall* const open = calls_.try_insert(frame.call);
  if (open == nullptr) return false;
  char* at = start + 1;
  *at++ = static_cast<char>(Kind::request);
  at = put_varint(at, frame.call);
  at = put_varint(at, EntryRef::refer(entry->id).value);
  at = put_varint(at, milliseconds_up(frame.remaining));
  at = finish_head(start, at, frame.body.size());
  if (!frame.body.empty()) std::memcpy(at, frame.body.data(), frame.body.size());
  output_.commit(static_cast<std::size_t>(at - start) + frame.body.size());
  open->sequence = static_cast<std::uint32_t>(++requests_);
  open->names = entry->id;
  open->content = entry->content;
  return true;
}

Result<void> TenonSession::send_request(Frame& frame) {
  if (send_plain_request(frame)) return {};
  if (side_ == Side::server) return refused(Errc::invalid_argument, "a server session sends no requests");
  if (closing_ || leaving_) {
    return refused(Errc::unavailable, leaving_ ? "the peer takes no new requests on this connection (goaway)"
                                               : "this connection is being closed");
  }
  if (frame.target == nullptr || frame.target->service == nullptr || frame.target->method == nullptr) {
    return refused(Errc::invalid_argument, "a request without a target");
  }
  const Target& target = *frame.target;
  if (!frame.one_way) {
    if (calls_.size() >= max_concurrent_) {
      return refused(Errc::overloaded, std::to_string(calls_.size()) +
                                           " requests are in flight on this connection, the " +
                                           "most that both sides allow (limits.max_concurrent)");
    }
    if (calls_.find(frame.call) != nullptr) {
      return refused(Errc::invalid_argument, "call number " + std::to_string(frame.call) + " is still open");
    }
  }
  if (frame.one_way && frame.stream) {
    return refused(Errc::invalid_argument, "a request without an answer asks for a stream: " + method_text(&target));
  }
  if (Result<void> speaks = check_extended(frame); !speaks.ok()) return speaks;
  std::size_t list_bytes = 0;
  if (frame.bytes().size() + frame.attachment.size() > peer_max_frame_ || !frame.headers.empty()) {
    Result<void> fits = check_sizes(frame, "the request to " + method_text(&target), list_bytes);
    if (!fits.ok()) return fits;
  }
  Departure departure = choose_way(frame, nullptr);

  SentNames::Entry* const entry = sent_names_.find(target, frame.serializer, frame.compressor, contents_);
  const std::uint8_t content = entry ? entry->content : contents_.intern(frame.serializer, frame.compressor);
  if (content == no_content) {
    return refused(Errc::overloaded, "more than 254 pairs of serializer and compressor on one connection");
  }
  EntryRef names;
  Names text;
  std::size_t text_bytes = 0;
  std::size_t names_bytes = 0;
  if (entry && entry->id != no_entry) {
    names = EntryRef::refer(entry->id);
  } else {
    text = {target.service->group, target.service->interface, target.service->version,
            target.method->name,   frame.serializer,          frame.compressor};
    for (const std::string_view name : text) {
      if (name.size() > max_name) {
        return refused(Errc::invalid_argument, "a name of " + std::to_string(name.size()) +
                                                   " bytes in the request to " + quoted(method_text(&target)) +
                                                   "; names have at most " + std::to_string(max_name));
      }
      text_bytes += name.size();
      names_bytes += text_size(name);
    }
    const std::uint16_t id = entry && departure.begins ? sent_names_.next(text_bytes) : no_entry;
    if (id != no_entry) names = EntryRef::define(id);
  }
  SentLists::Choice list;
  if (list_bytes != 0) list = sent_lists_.choose(frame.headers, list_bytes);
  if (list.ref.defines() && !departure.begins) list.ref = {};
  const std::size_t said_list_bytes = list_bytes != 0 && !list.ref.refers() ? list_bytes + max_varint : 0;

  // Everything that can fail comes first.
  prepare(departure, frame, max_fixed + names_bytes + said_list_bytes);
  if (!frame.one_way) calls_.reserve_one();
  if (frame.stream) streams_.reserve_one();
  if (list.ref.defines()) sent_lists_.prepare(frame.headers, list);

  char* at = departure.start + 1;
  *at++ = static_cast<char>(static_cast<unsigned>(Kind::request) | (frame.one_way ? flag_one_way : 0u) |
                            (list_bytes != 0 ? flag_headers : 0u) | (frame.stream ? flag_stream : 0u) |
                            (frame.attachment.empty() ? 0u : flag_attachment));
  at = put_varint(at, frame.call);
  at = put_varint(at, names.value);
  if (!names.refers())
    for (const std::string_view name : text) at = put_text(at, name);
  at = put_varint(at, milliseconds_up(frame.remaining));
  if (list_bytes != 0) {
    at = put_varint(at, list.ref.value);
    if (!list.ref.refers()) at = put_list(at, frame.headers, list_bytes);
  }
  if (!frame.attachment.empty()) at = put_varint(at, frame.attachment.size());
  finish(departure, frame, at, false);

  if (departure.begins) ++requests_;
  if (names.defines()) sent_names_.defined(*entry, text_bytes);
  if (list.ref.defines()) sent_lists_.defined(list, list_bytes);
  if (!frame.one_way) {
    OpenCall& open = calls_.insert(frame.call);
    open.sequence = static_cast<std::uint32_t>(requests_);
    if (names.refers()) open.names = static_cast<std::uint16_t>(names.id());
    if (list.ref.refers()) open.headers = static_cast<std::uint16_t>(list.ref.id());
    open.content = content;
    if (departure.waits()) open.set(CallState::queued);
    if (!departure.begins) open.set(CallState::not_begun);
    if (frame.stream) {
      open.set(CallState::asked_stream);
      streams_.insert(frame.call).left = first_window_;
    }
  }
  return {};
}

// As send_plain_request(): a small answer, encoded as its request was.
bool TenonSession::send_plain_response(const Frame& frame) {
  if (side_ == Side::client || frame.stream || !frame.headers.empty() || !frame.attachment.empty() ||
      !frame.owned.empty() || frame.body.size() >= direct_size || frame.body.size() > peer_max_frame_)
    return false;
  OpenCall* const open = calls_.find(frame.call);
  if (open == nullptr || open->state != 0 || open->content == no_content) return false;
  const Contents::Content& asked = contents_[open->content];
  if (!same_text(frame.compressor, asked.compressor) ||
      (!frame.serializer.empty() && !same_text(frame.serializer, asked.serializer)))
    return false;
  char* const start = output_.prepare(max_fixed + max_varint + frame.body.size());
  start[1] = static_cast<char>(Kind::response);
  char* const at = finish_head(start, put_varint(start + 2, frame.call), frame.body.size());
  if (!frame.body.empty()) std::memcpy(at, frame.body.data(), frame.body.size());
  output_.commit(static_cast<std::size_t>(at - start) + frame.body.size());
  calls_.erase(open);
  return true;
}

Result<void> TenonSession::send_response(Frame& frame) {
  if (send_plain_response(frame)) return {};
  if (side_ == Side::client) return refused(Errc::invalid_argument, "a client session sends no responses");
  OpenCall* const open = calls_.find(frame.call);
  if (open == nullptr || open->is(CallState::answered) || open->is(CallState::in_part)) {
    return refused(Errc::invalid_argument, "a response to call " + std::to_string(frame.call) + ", which is not open");
  }
  if (open->is(CallState::has_head) || (frame.stream && !open->is(CallState::asked_stream))) {
    return refused(Errc::invalid_argument,
                   open->is(CallState::has_head)
                       ? "a second response to call " + std::to_string(frame.call) + ", which is a stream"
                       : "a stream for call " + std::to_string(frame.call) + ", which did not ask for one");
  }
  if (Result<void> speaks = check_extended(frame); !speaks.ok()) return speaks;
  std::size_t list_bytes = 0;
  if (frame.bytes().size() + frame.attachment.size() > peer_max_frame_ || !frame.headers.empty()) {
    Result<void> fits = check_sizes(
        frame, "the response of " + method_text(frame.target) + " to call " + std::to_string(frame.call), list_bytes);
    if (!fits.ok()) return fits;
  }
  Result<std::size_t> content_bytes = content_size(frame, *open);
  if (!content_bytes.ok()) return std::move(content_bytes).error();
  Departure departure = choose_way(frame, open);
  SentLists::Choice list;
  if (list_bytes != 0) list = sent_lists_.choose(frame.headers, list_bytes);
  if (list.ref.defines() && !departure.begins) list.ref = {};
  const std::size_t said_list_bytes = list_bytes != 0 && !list.ref.refers() ? list_bytes + max_varint : 0;

  prepare(departure, frame, max_fixed + *content_bytes + said_list_bytes);
  if (list.ref.defines()) sent_lists_.prepare(frame.headers, list);

  char* at = departure.start + 1;
  *at++ = static_cast<char>(static_cast<unsigned>(Kind::response) | (*content_bytes == 0 ? 0u : flag_content) |
                            (list_bytes != 0 ? flag_headers : 0u) | (frame.stream ? flag_stream : 0u) |
                            (frame.attachment.empty() ? 0u : flag_attachment));
  at = put_varint(at, frame.call);
  if (*content_bytes != 0) at = put_text(put_text(at, frame.serializer), frame.compressor);
  if (list_bytes != 0) {
    at = put_varint(at, list.ref.value);
    if (!list.ref.refers()) at = put_list(at, frame.headers, list_bytes);
  }
  if (!frame.attachment.empty()) at = put_varint(at, frame.attachment.size());
  finish(departure, frame, at, !frame.stream);
  if (list.ref.defines()) sent_lists_.defined(list, list_bytes);
  if (frame.stream) open->set(CallState::has_head);
  if (departure.waits()) {
    open->set(CallState::queued);
    if (!frame.stream) open->set(CallState::answered);
  } else if (!frame.stream) {
    close_call(open);
  }
  return {};
}

// Bytes that say how the frame is encoded; 0 when that is as the request was.
Result<std::size_t> TenonSession::content_size(const Frame& frame, const OpenCall& open) const {
  bool as_asked = frame.serializer.empty() && frame.compressor.empty();
  if (open.content != no_content) {
    const Contents::Content& asked = contents_[open.content];
    as_asked =
        (frame.serializer.empty() || frame.serializer == asked.serializer) && frame.compressor == asked.compressor;
  }
  if (as_asked) return std::size_t{0};
  if (frame.serializer.size() > max_name || frame.compressor.size() > max_name) {
    return refused(Errc::invalid_argument, "a serializer's or compressor's name is too long");
  }
  return text_size(frame.serializer) + text_size(frame.compressor);
}

Result<void> TenonSession::send_message(Frame& frame) {
  if (side_ == Side::client) return refused(Errc::invalid_argument, "a client session sends no messages");
  OpenCall* const open = calls_.find(frame.call);
  if (open == nullptr || !open->is(CallState::has_head) || open->is(CallState::answered)) {
    return refused(Errc::invalid_argument, "a message for call " + std::to_string(frame.call) +
                                               ", which is no open stream, or its head was not sent");
  }
  const std::size_t cost = stream_cost(frame.bytes().size(), frame.attachment.size());
  if (frame.bytes().size() + frame.attachment.size() > peer_max_frame_) {
    std::size_t none = 0;
    return check_sizes(frame, "a message of " + method_text(frame.target) + " to call " + std::to_string(frame.call),
                       none);
  }
  StreamWindow* const window = streams_.find(frame.call);
  if (window == nullptr || window->left <= 0) {
    return refused(Errc::invalid_argument, "a message for call " + std::to_string(frame.call) +
                                               " without credit; wait until credit() is above 0");
  }
  Result<std::size_t> content_bytes = content_size(frame, *open);
  if (!content_bytes.ok()) return std::move(content_bytes).error();
  Departure departure = choose_way(frame, open);
  prepare(departure, frame, max_fixed + *content_bytes);
  char* at = departure.start + 1;
  *at++ = static_cast<char>(static_cast<unsigned>(Kind::message) | (*content_bytes == 0 ? 0u : flag_content) |
                            (frame.attachment.empty() ? 0u : flag_attachment));
  at = put_varint(at, frame.call);
  if (*content_bytes != 0) at = put_text(put_text(at, frame.serializer), frame.compressor);
  if (!frame.attachment.empty()) at = put_varint(at, frame.attachment.size());
  finish(departure, frame, at, false);
  window->left -= static_cast<std::int64_t>(cost);
  if (departure.waits()) open->set(CallState::queued);
  return {};
}

}  // namespace tenon::wire
