// Requests, responses and messages, read.
#include <array>

#include "failure.hpp"
#include "session.hpp"

namespace tenon::wire {
namespace {

// Flags each kind may carry; kinds that are not known carry none (flag_ignorable is looked at first).
constexpr std::array<std::uint8_t, 16> allowed_flags = [] {
  std::array<std::uint8_t, 16> flags{};
  flags[static_cast<int>(Kind::request)] = flag_one_way | flag_headers | flag_stream | flag_attachment;
  flags[static_cast<int>(Kind::response)] = flag_content | flag_headers | flag_stream | flag_attachment;
  flags[static_cast<int>(Kind::error)] = flag_unknown_entry | flag_headers;
  flags[static_cast<int>(Kind::message)] = flag_content | flag_attachment;
  flags[static_cast<int>(Kind::end)] = flag_failure | flag_headers;
  flags[static_cast<int>(Kind::fragment)] = flag_first;
  return flags;
}();

constexpr std::string_view kind_name(Kind kind) noexcept {
  constexpr std::string_view names[16] = {"0",    "request", "response", "error", "cancel", "ping",
                                          "pong", "goaway",  "message",  "end",   "credit", "fragment",
                                          "12",   "13",      "14",       "15"};
  return names[static_cast<int>(kind)];
}

constexpr bool is_known(Kind kind) noexcept { return kind >= Kind::request && kind <= Kind::fragment; }

// A peer of an older minor version must not send it. (It may ask for a stream, and is told that there are none.)
constexpr bool is_extended(Kind kind, std::uint8_t flags) noexcept {
  return kind == Kind::message || kind == Kind::end || kind == Kind::credit || (flags & flag_attachment) != 0 ||
         (kind == Kind::response && (flags & flag_stream) != 0);
}

// Which side may receive it.
constexpr bool fits(Kind kind, Side receiver) noexcept {
  switch (kind) {
    case Kind::request:
    case Kind::cancel:
    case Kind::credit: return receiver == Side::server;
    case Kind::response:
    case Kind::error:
    case Kind::message:
    case Kind::end: return receiver == Side::client;
    default: return true;
  }
}

}  // namespace

bool may_come_in_parts(Kind kind, std::uint8_t flags, Side receiver) noexcept {
  return (kind == Kind::request || kind == Kind::response || kind == Kind::message) && fits(kind, receiver) &&
         (flags & ~allowed_flags[static_cast<int>(kind)]) == 0;
}

Result<std::size_t> TenonSession::take_frame(std::string_view bytes, FrameSink& sink) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  std::uint64_t length = 0;
  if (const Scan scan = get_varint(at, end, length); scan != Scan::ok) {
    if (scan == Scan::more) return std::size_t{0};
    return fatal(Errc::malformed, "a frame's length is not a valid integer");
  }
  if (length == 0) return fatal(Errc::malformed, "a frame of length 0");
  if (length > max_length) {
    return fatal(Errc::too_large, "a frame announces " + std::to_string(length) + " bytes; more than " +
                                      std::to_string(max_length) + " are never accepted");
  }
  const auto rest = static_cast<std::size_t>(end - at);
  if (rest == 0) return std::size_t{0};
  Place place{at, static_cast<std::size_t>(at - bytes.data()), static_cast<std::size_t>(length), 0};
  place.here = rest < place.length ? rest : place.length;

  const auto type = static_cast<std::uint8_t>(*at);
  const auto kind = static_cast<Kind>(type & kind_mask);
  const auto flags = static_cast<std::uint8_t>(type & ~kind_mask);
  if (!is_known(kind) && (flags & flag_ignorable) != 0) return skip(place);
  if ((flags & ~allowed_flags[type & kind_mask]) != 0 || !is_known(kind)) {
    return fatal(Errc::malformed, "a frame of " + std::string(is_known(kind) ? "kind " : "unknown kind ") +
                                      std::string(kind_name(kind)) + " with flags " + std::to_string(flags >> 4) +
                                      "; this side speaks version 1." + std::to_string(minor_version));
  }
  if (!fits(kind, side_)) {
    return fatal(Errc::malformed, "a " + std::string(side_ == Side::client ? "server" : "client") +
                                      " sent a frame of kind " + std::string(kind_name(kind)));
  }
  if (!extended_ && is_extended(kind, flags)) {
    return fatal(Errc::malformed, "a frame of kind " + std::string(kind_name(kind)) + " with flags " +
                                      std::to_string(flags >> 4) +
                                      " although streams and attachments were not negotiated");
  }
  if (kind > Kind::response && kind != Kind::message) return take_control(place, type, sink);
  if (!place.complete() && place.length <= direct_size) return std::size_t{0};
  return take_exchange(place, kind, flags, sink);
}

// Responses with nothing but a body, to calls that are open: what a busy client reads, so they have a loop of their
// own. Returns the bytes of those it took; the first frame that is anything else takes the long way.
std::size_t TenonSession::take_plain_responses(std::string_view bytes, FrameSink& sink) {
  const char* frame = bytes.data();
  const char* const end = frame + bytes.size();
  while (mode_ == Mode::frames) {
    const char* at = frame;
    std::uint64_t length = 0;
    std::uint64_t call = 0;
    if (get_varint(at, end, length) != Scan::ok || length < 2 || length > static_cast<std::size_t>(end - at)) break;
    const char* const next = at + length;
    if (*at++ != static_cast<char>(Kind::response)) break;
    if (get_varint(at, next, call) != Scan::ok || call > UINT32_MAX) break;
    const auto body_size = static_cast<std::size_t>(next - at);
    if (body_size > limits_.max_frame) break;
    OpenCall* const open = calls_.find(static_cast<std::uint32_t>(call));
    if (open == nullptr || open->state != 0) break;
    const Contents::Content& asked = contents_[open->content];
    calls_.erase(open);
    plain_.kind = FrameKind::response;
    plain_.call = static_cast<std::uint32_t>(call);
    plain_.serializer = asked.serializer;
    plain_.compressor = asked.compressor;
    plain_.body = {at, body_size};
    frame = next;
    sink.on_frame(plain_);
  }
  return static_cast<std::size_t>(frame - bytes.data());
}

Result<std::size_t> TenonSession::take_exchange(const Place& place, Kind kind, std::uint8_t flags, FrameSink& sink) {
  Cursor cursor(place.fields + 1, place.here - 1, place.length - 1);
  Head head(kind, flags);
  if (const Scan scan = read_head(cursor, limits_, head); scan != Scan::ok) {
    if (scan == Scan::more) return begin_gather(place);
    return fatal(Errc::malformed, "the fields of a " + std::string(kind_name(kind)) + " frame of " +
                                      std::to_string(place.length) + " bytes are not valid");
  }
  ++head.body_at;  // the cursor began behind the type byte
  const std::size_t size = place.length - head.body_at;
  if (head.attachment > size) return too_long_attachment(head, size);
  if (head.headers.oversize != 0 || size > limits_.max_frame) return take_oversize(place, head, sink);
  if (!place.complete()) {
    if (size <= direct_size) return begin_gather(place);
    return begin_body(place, head);
  }
  Frame frame;
  Result<bool> wanted = admit(head, size, false, frame);
  if (!wanted.ok()) return std::move(wanted).error();
  if (*wanted) {
    const std::size_t body_size = size - static_cast<std::size_t>(head.attachment);
    frame.body = {place.fields + head.body_at, body_size};
    if (head.attachment != 0) {
      OutBuffer attachment;
      attachment.append(frame.body.data() + body_size, static_cast<std::size_t>(head.attachment));
      frame.attachment = Attachment(std::move(attachment));
    }
    sink.on_frame(frame);
  }
  return place.prefix + place.length;
}

Error TenonSession::too_long_attachment(const Head& head, std::size_t size) {
  return fatal(Errc::malformed, "a " + std::string(kind_name(head.kind)) + " frame for call " +
                                    std::to_string(head.call) + " announces an attachment of " +
                                    std::to_string(head.attachment) + " bytes and has " + std::to_string(size));
}

Result<bool> TenonSession::admit(const Head& head, std::size_t size, bool in_parts, Frame& frame) {
  if (head.kind == Kind::request) return admit_request(head, in_parts, frame);
  return head.kind == Kind::response ? admit_response(head, in_parts, frame)
                                     : admit_message(head, size, in_parts, frame);
}

Result<bool> TenonSession::admit_request(const Head& head, bool in_parts, Frame& frame) {
  if (closing_) return false;  // the client knows from our goaway that it was not read
  ++requests_;
  frame.kind = FrameKind::request;
  frame.call = head.call;
  frame.one_way = head.has(flag_one_way);
  frame.stream = head.has(flag_stream);
  if (frame.one_way && (frame.stream ? extended_ : in_parts)) {
    return fatal(Errc::malformed, "a one-way request with number " + std::to_string(head.call) +
                                      (frame.stream ? " asks for a stream" : " comes in parts"));
  }
  frame.remaining = std::chrono::milliseconds(
      static_cast<std::int64_t>(head.remaining_ms < max_remaining_ms ? head.remaining_ms : max_remaining_ms));
  if (calls_.find(head.call) != nullptr) {
    return fatal(Errc::malformed,
                 "a second request with number " + std::to_string(head.call) + " while the first is open");
  }
  std::uint8_t content = no_content;
  Result<bool> known = resolve_names(head, frame, content);
  if (!known.ok()) return known;
  if (head.has(flag_headers) && head.headers.oversize == 0) {
    Result<bool> known_list = resolve_headers(head.headers, frame.headers);
    if (!known_list.ok()) return known_list;
    *known = *known && *known_list;
  }
  if (frame.stream && !extended_) {
    if (!frame.one_way) {
      answer(head.call, Error(Errc::unimplemented, "a stream needs version 1.2 of the protocol on both sides",
                              Delivery::not_run, Advice::never));
    }
    return false;
  }
  if (!*known) {
    if (!frame.one_way) {
      answer(head.call,
             Error(Errc::unavailable, "the request refers to a dictionary entry that this side does not know",
                   Delivery::not_run),
             true);
    }
    return false;
  }
  if (frame.one_way) return true;
  if (calls_.size() >= limits_.max_concurrent) {
    answer(head.call, Error(Errc::overloaded,
                            "more than " + std::to_string(limits_.max_concurrent) +
                                " requests in flight on this connection (limits.max_concurrent)",
                            Delivery::not_run, Advice::other_instance));
    return false;
  }
  calls_.reserve_one();
  if (frame.stream) streams_.reserve_one();
  OpenCall& open = calls_.insert(head.call);
  open.content = content;
  if (in_parts) open.set(CallState::in_part);
  if (frame.stream) {
    open.set(CallState::asked_stream);
    streams_.insert(head.call).left = first_window_;
  }
  return true;
}

Result<bool> TenonSession::admit_response(const Head& head, bool in_parts, Frame& frame) {
  OpenCall* const open = calls_.find(head.call);
  if (open == nullptr) return not_open(head.call, "response");
  frame.stream = head.has(flag_stream);
  if (open->is(CallState::has_head) || open->is(CallState::spoiled) || open->is(CallState::queued) ||
      open->is(CallState::not_begun) || open->is(CallState::in_part) ||
      (frame.stream && !open->is(CallState::asked_stream))) {
    return fatal(Errc::malformed,
                 "the response to call " + std::to_string(head.call) +
                     (open->is(CallState::queued) || open->is(CallState::not_begun)
                          ? " has come before all of the request was sent"
                      : frame.stream && !open->is(CallState::asked_stream) ? " is a stream, which was not asked for"
                                                                           : " has come twice"));
  }
  frame.kind = FrameKind::response;
  frame.call = head.call;
  fill_content(head, *open, frame);
  if (in_parts) {
    open->set(CallState::in_part);
  } else if (frame.stream) {
    open->set(CallState::has_head);
  } else {
    close_call(open);
  }
  if (head.has(flag_headers) && head.headers.oversize == 0) {
    Result<bool> known = resolve_headers(head.headers, frame.headers);
    if (!known.ok()) return known;
    if (!*known) {
      return fatal(Errc::malformed, "the response to call " + std::to_string(head.call) + " refers to header list " +
                                        std::to_string(head.headers.ref.id()) + ", which the peer never defined");
    }
  }
  return true;
}

void TenonSession::fill_content(const Head& head, const OpenCall& open, Frame& frame) const noexcept {
  const Contents::Content& asked = contents_[open.content];
  frame.serializer = asked.serializer;
  frame.compressor = asked.compressor;
  if (head.has(flag_content)) {
    if (!head.text[4].empty()) frame.serializer = head.text[4];
    frame.compressor = head.text[5];
  }
}

Error TenonSession::not_open(std::uint32_t call, const char* what) {
  return fatal(Errc::malformed, std::string("a ") + what + " for call " + std::to_string(call) +
                                    ", which is not open (answered twice, or never asked)");
}

Result<bool> TenonSession::resolve_names(const Head& head, Frame& frame, std::uint8_t& content) {
  const Names* names = &head.text;
  if (head.names.refers()) {
    const KnownNames::Entry* const entry = known_names_.find(head.names.id());
    if (entry == nullptr) return false;
    names = &entry->names;
    content = entry->content;
    frame.token = static_cast<std::uint32_t>(head.names.id() + 1);
  } else {
    content = contents_.intern(head.text[4], head.text[5]);
    if (head.names.defines()) {
      if (head.names.id() != known_names_.next()) {
        return fatal(Errc::malformed, "names entry " + std::to_string(head.names.id()) + " defined where " +
                                          std::to_string(known_names_.next()) + " comes next");
      }
      if (known_names_.define(head.text, content) != nullptr) {
        frame.token = static_cast<std::uint32_t>(head.names.id() + 1);
      }
    }
  }
  frame.group = (*names)[0];
  frame.interface = (*names)[1];
  frame.version = (*names)[2];
  frame.method = (*names)[3];
  frame.serializer = (*names)[4];
  frame.compressor = (*names)[5];
  return true;
}

Result<bool> TenonSession::resolve_headers(const ListField& field, Headers& headers) {
  if (field.ref.refers()) {
    const Headers* const list = known_lists_.find(field.ref.id());
    if (list == nullptr) return false;
    headers = *list;
    return true;
  }
  if (!read_list(field.pairs, field.count, headers)) {
    return fatal(Errc::malformed, "a header list of " + std::to_string(field.size) + " bytes is not valid");
  }
  if (field.ref.defines()) {
    if (field.ref.id() != known_lists_.next()) {
      return fatal(Errc::malformed, "header list " + std::to_string(field.ref.id()) + " defined where " +
                                        std::to_string(known_lists_.next()) + " comes next");
    }
    known_lists_.define(&headers, field.size);
  }
  return true;
}

}  // namespace tenon::wire
