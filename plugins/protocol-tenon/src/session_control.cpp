// Errors, cancels, pings, goodbyes and reserved kinds, read.
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
    case Kind::error: return take_error(place, flags, sink);
    case Kind::cancel: return take_cancel(place, sink);
    case Kind::ping: return take_ping(place, true, sink);
    case Kind::pong: return take_ping(place, false, sink);
    case Kind::goaway: return take_goaway(place, sink);
    case Kind::fragment: return take_fragment(place, flags);
    default: break;
  }
  return fatal(Errc::malformed,
               "a stream frame (kind " + std::to_string(type & kind_mask) + ") although streams were not negotiated");
}

Result<std::size_t> TenonSession::take_error(const Place& place, std::uint8_t flags, FrameSink& sink) {
  const bool oversize = place.length > max_failure + limits_.max_headers + 2 * max_varint;
  if (!place.complete() && !oversize) return place.length > direct_size ? begin_gather(place) : std::size_t{0};
  Cursor cursor(place.fields + 1, place.here - 1, place.length - 1);
  std::uint64_t call = 0;
  if (const Scan scan = cursor.varint(call); scan == Scan::more)
    return std::size_t{0};
  else if (scan == Scan::bad || call > 0xFFFFFFFFu)
    return fatal(Errc::malformed, "an error frame without a call number");
  Frame frame;
  frame.kind = FrameKind::error;
  frame.call = static_cast<std::uint32_t>(call);
  OpenCall* const open = calls_.find(frame.call);
  if (open == nullptr) return not_open(frame.call, "error");
  const OpenCall ended = *open;
  if (oversize) {
    frame.error = Error(Errc::too_large, "the peer's error reply to call " + std::to_string(call) + " has " +
                                             std::to_string(place.length) + " bytes, more than this side reads");
  } else {
    if (get_failure(cursor, frame.error) != Scan::ok) {
      return fatal(Errc::malformed, "the fields of an error frame for call " + std::to_string(call) + " are not valid");
    }
    if ((flags & flag_headers) != 0) {
      ListField field;
      Headers headers;
      if (read_list_field(cursor, limits_, field) != Scan::ok) {
        return fatal(Errc::malformed,
                     "the headers of an error frame for call " + std::to_string(call) + " are not valid");
      }
      if (field.oversize != 0 || field.ref.value != 0) {
        return fatal(Errc::malformed, "an error frame for call " + std::to_string(call) +
                                          " has more headers than allowed, or takes them from the dictionary");
      }
      Result<bool> read = resolve_headers(field, headers);
      if (!read.ok()) return std::move(read).error();
      frame.error.attach(std::move(headers));
    }
    if (cursor.left() != 0) return fatal(Errc::malformed, "bytes behind the fields of an error frame");
    if ((flags & flag_unknown_entry) != 0) {
      if (ended.names != no_entry) sent_names_.forget(ended.names);
      if (ended.headers != no_entry) sent_lists_.forget(ended.headers);
      frame.resend = true;
      frame.error.deliver(Delivery::not_run);
    }
  }
  calls_.erase(open);
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
  if (calls_.find(static_cast<std::uint32_t>(call)) != nullptr) {  // else our answer is under way
    Frame frame;
    frame.kind = FrameKind::cancel;
    frame.call = static_cast<std::uint32_t>(call);
    sink.on_frame(frame);
  }
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
      if (static_cast<std::int32_t>(open.sequence - last) > 0) unread.push_back(open.call);
    });
    for (const std::uint32_t call : unread) calls_.erase(calls_.find(call));
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

Result<std::size_t> TenonSession::take_fragment(const Place& place, std::uint8_t flags) {
  if (side_ == Side::client || (flags & flag_first) == 0) {
    return fatal(Errc::malformed, "a fragment frame although fragments were not negotiated");
  }
  Cursor cursor(place.fields + 1, place.here - 1, place.length - 1);
  std::uint64_t call = 0;
  if (const Scan scan = cursor.varint(call); scan == Scan::more)
    return std::size_t{0};
  else if (scan == Scan::bad || call > 0xFFFFFFFFu)
    return fatal(Errc::malformed, "a fragment frame without a call number");
  if (calls_.find(static_cast<std::uint32_t>(call)) != nullptr) {
    return fatal(Errc::malformed, "a fragment frame for call " + std::to_string(call) + ", which is open already");
  }
  if (!closing_) {
    answer(static_cast<std::uint32_t>(call),
           Error(Errc::unimplemented, "this peer does not speak fragments", Delivery::not_run, Advice::never));
  }
  return skip(place);
}

}  // namespace tenon::wire
