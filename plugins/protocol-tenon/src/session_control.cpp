// Errors, ends, cancels, pings and goodbyes, read.
#include <vector>

#include "failure.hpp"
#include "session.hpp"

namespace tenon::wire {
namespace {

constexpr std::size_t max_failure = max_text + max_name + 64;
constexpr std::size_t ping_size = 8;

}  // namespace

Result<std::size_t> TenonSession::take_control(const Place& place, std::uint8_t type, FrameSink& sink) {
  const auto flags = static_cast<std::uint8_t>(type & ~kind_mask);
  switch (static_cast<Kind>(type & kind_mask)) {
    case Kind::error:
    case Kind::end: return take_last(place, static_cast<Kind>(type & kind_mask), flags, sink);
    case Kind::credit: return take_credit(place, sink);
    case Kind::cancel: return take_cancel(place, sink);
    case Kind::ping: return take_ping(place, true, sink);
    case Kind::pong: return take_ping(place, false, sink);
    case Kind::goaway: return take_goaway(place, sink);
    case Kind::fragment: return take_fragment(place, flags, sink);
    default: break;
  }
  return fatal(Errc::internal, "a frame of kind " + std::to_string(type & kind_mask) + " went the wrong way");
}

// An error or an end: the last that comes of a call.
Result<std::size_t> TenonSession::take_last(const Place& place, Kind kind, std::uint8_t flags, FrameSink& sink) {
  const bool oversize = place.length > max_failure + limits_.max_headers + 2 * max_varint;
  if (!place.complete() && !oversize) return place.length > direct_size ? begin_gather(place) : std::size_t{0};
  const std::string what = kind == Kind::end ? "an end frame" : "an error frame";
  Cursor cursor(place.fields + 1, place.here - 1, place.length - 1);
  std::uint64_t call = 0;
  if (const Scan scan = cursor.varint(call); scan == Scan::more)
    return std::size_t{0};
  else if (scan == Scan::bad || call > 0xFFFFFFFFu)
    return fatal(Errc::malformed, what + " without a call number");
  Frame frame;
  frame.call = static_cast<std::uint32_t>(call);
  OpenCall* const open = calls_.find(frame.call);
  if (open == nullptr) return not_open(frame.call, kind == Kind::end ? "end" : "error");
  if (kind == Kind::end && !is_open_stream(*open)) {
    return fatal(Errc::malformed, "an end frame for call " + std::to_string(call) + ", which is no open stream");
  }
  const bool failed = kind == Kind::error || (flags & flag_failure) != 0;
  if (open->is(CallState::in_part) && !failed) {
    return fatal(Errc::malformed, "the stream of call " + std::to_string(call) + " ended well inside a message");
  }
  frame.kind = open->is(CallState::has_head) ? FrameKind::end : FrameKind::error;
  if (oversize) {
    frame.error = Error(Errc::too_large, "the peer's error reply to call " + std::to_string(call) + " has " +
                                             std::to_string(place.length) + " bytes, more than this side reads");
  } else {
    if (failed && get_failure(cursor, frame.error) != Scan::ok) {
      return fatal(Errc::malformed, "the fields of " + what + " for call " + std::to_string(call) + " are not valid");
    }
    if ((flags & flag_headers) != 0) {
      ListField field;
      Headers headers;
      if (read_list_field(cursor, limits_, field) != Scan::ok) {
        return fatal(Errc::malformed,
                     "the headers of " + what + " for call " + std::to_string(call) + " are not valid");
      }
      if (field.oversize != 0 || field.ref.value != 0) {
        return fatal(Errc::malformed, what + " for call " + std::to_string(call) +
                                          " has more headers than allowed, or takes them from the dictionary");
      }
      Result<bool> read = resolve_headers(field, headers);
      if (!read.ok()) return std::move(read).error();
      if (kind == Kind::end)
        frame.headers = std::move(headers);
      else
        frame.error.attach(std::move(headers));
    }
    if (cursor.left() != 0) return fatal(Errc::malformed, "bytes behind the fields of " + what);
    if (kind == Kind::error && (flags & flag_unknown_entry) != 0) {
      if (open->names != no_entry) sent_names_.forget(open->names);
      if (open->headers != no_entry) sent_lists_.forget(open->headers);
      frame.resend = frame.kind == FrameKind::error;
      frame.error.deliver(Delivery::not_run);
    }
  }
  if (open->is(CallState::spoiled)) frame.error = spoiled_error(frame.call);
  close_call(open);
  const std::size_t taken = skip(place);
  sink.on_frame(frame);
  return taken;
}

Result<std::size_t> TenonSession::take_cancel(const Place& place, FrameSink& sink) {
  if (place.length > 1 + 5)
    return fatal(Errc::malformed, "a cancel frame of " + std::to_string(place.length) + " bytes");
  if (!place.complete()) return std::size_t{0};
  Cursor cursor(place.fields + 1, place.here - 1, place.length - 1);
  std::uint64_t call = 0;
  if (cursor.varint(call) != Scan::ok || call > 0xFFFFFFFFu || cursor.left() != 0) {
    return fatal(Errc::malformed, "a cancel frame without a valid call number");
  }
  cancelled(static_cast<std::uint32_t>(call), sink);
  return place.prefix + place.length;
}

Result<std::size_t> TenonSession::take_ping(const Place& place, bool ping, FrameSink& sink) {
  if (place.length != 1 + ping_size) {
    return fatal(Errc::malformed, "a ping or pong frame of " + std::to_string(place.length) + " bytes instead of 9");
  }
  if (!place.complete()) return std::size_t{0};
  Frame frame;
  frame.kind = ping ? FrameKind::ping : FrameKind::pong;
  frame.body = {place.fields + 1, ping_size};
  for (std::size_t i = 4; i-- > 0;) frame.call = frame.call << 8 | static_cast<unsigned char>(frame.body[i]);
  pong_due_ = ping;
  const std::string_view opaque = frame.body;
  sink.on_frame(frame);
  if (pong_due_ && mode_ == Mode::frames) {
    Frame pong;
    pong.body = opaque;
    send_ping(pong, Kind::pong);
  }
  pong_due_ = false;
  return place.prefix + place.length;
}

Result<std::size_t> TenonSession::take_goaway(const Place& place, FrameSink& sink) {
  if (place.length > max_failure + 2 * max_varint) {
    return fatal(Errc::too_large, "a goaway frame of " + std::to_string(place.length) + " bytes");
  }
  if (!place.complete()) return std::size_t{0};
  Cursor cursor(place.fields + 1, place.here - 1, place.length - 1);
  std::uint64_t read_by_peer = 0;
  Frame frame;
  if (cursor.varint(read_by_peer) != Scan::ok || get_failure(cursor, frame.error) != Scan::ok || cursor.left() != 0) {
    return fatal(Errc::malformed, "the fields of a goaway frame are not valid");
  }
  if (side_ == Side::client && read_by_peer > requests_) {
    return fatal(Errc::malformed, "the peer says that it read " + std::to_string(read_by_peer) + " requests of " +
                                      std::to_string(requests_) + " sent");
  }
  const bool first = !leaving_;
  leaving_ = true;
  const std::string reason = frame.error.text();
  frame.kind = FrameKind::goaway;
  frame.call = 0xFFFFFFFFu;
  std::vector<std::uint32_t> unread;
  if (side_ == Side::client && first) {
    const auto last = static_cast<std::uint32_t>(read_by_peer);
    calls_.each([&](const OpenCall& open) {
      if (open.is(CallState::not_begun) || static_cast<std::int32_t>(open.sequence - last) > 0)
        unread.push_back(open.call);
    });
    for (const std::uint32_t call : unread) close_call(calls_.find(call));
  }
  sink.on_frame(frame);
  for (const std::uint32_t call : unread) {
    Frame refused;
    refused.kind = FrameKind::error;
    refused.call = call;
    refused.error = Error(Errc::unavailable, "the peer said goodbye before it read the request: " + reason,
                          Delivery::not_run, Advice::other_instance);
    sink.on_frame(refused);
  }
  return place.prefix + place.length;
}

}  // namespace tenon::wire
