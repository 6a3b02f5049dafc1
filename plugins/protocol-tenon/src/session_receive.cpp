// Requests and responses, read.
#include <array>

#include "failure.hpp"
#include "session.hpp"

namespace tenon::wire {
namespace {

// Flags each kind may carry; kinds that are not known carry none (flag_ignorable is looked at first).
constexpr std::array<std::uint8_t, 16> allowed_flags = [] {
  std::array<std::uint8_t, 16> flags{};
  flags[static_cast<int>(Kind::request)] = flag_one_way | flag_headers | flag_stream;
  flags[static_cast<int>(Kind::response)] = flag_content | flag_headers;
  flags[static_cast<int>(Kind::error)] = flag_unknown_entry | flag_headers;
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

// Which side may receive it.
constexpr bool fits(Kind kind, Side receiver) noexcept {
  switch (kind) {
    case Kind::request:
    case Kind::cancel: return receiver == Side::server;
    case Kind::response:
    case Kind::error: return receiver == Side::client;
    default: return true;
  }
}

}  // namespace

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
  if (kind > Kind::response) return take_control(place, type, sink);
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
    if (open == nullptr) break;
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
  const std::size_t body_size = place.length - head.body_at;
  if (head.headers.oversize != 0 || body_size > limits_.max_frame) return take_oversize(place, head, sink);
  if (!place.complete()) {
    if (body_size <= direct_size) return begin_gather(place);
    return begin_body(place, kind, flags, sink);
  }
  Frame frame;
  Result<bool> wanted = admit(head, frame);
  if (!wanted.ok()) return std::move(wanted).error();
  if (*wanted) {
    frame.body = {place.fields + head.body_at, body_size};
    sink.on_frame(frame);
  }
  return place.prefix + place.length;
}

Result<bool> TenonSession::admit(const Head& head, Frame& frame) {
  return head.kind == Kind::request ? admit_request(head, frame) : admit_response(head, frame);
}

Result<bool> TenonSession::admit_request(const Head& head, Frame& frame) {
  if (closing_) return false;  // the client knows from our goaway that it was not read
  ++requests_;
  frame.kind = FrameKind::request;
  frame.call = head.call;
  frame.one_way = head.has(flag_one_way);
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
  if (head.has(flag_stream)) {
    if (!frame.one_way) {
      answer(head.call, Error(Errc::unimplemented, "this peer does not speak streams yet (feature not negotiated)",
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
  calls_.insert(head.call).content = content;
  return true;
}

Result<bool> TenonSession::admit_response(const Head& head, Frame& frame) {
  OpenCall* const open = calls_.find(head.call);
  if (open == nullptr) return not_open(head.call, "response");
  const std::uint8_t content = open->content;
  calls_.erase(open);
  frame.kind = FrameKind::response;
  frame.call = head.call;
  const Contents::Content& asked = contents_[content];
  frame.serializer = asked.serializer;
  frame.compressor = asked.compressor;
  if (head.has(flag_content)) {
    if (!head.text[4].empty()) frame.serializer = head.text[4];
    frame.compressor = head.text[5];
  }
  if (head.has(flag_headers)) {
    Result<bool> known = resolve_headers(head.headers, frame.headers);
    if (!known.ok()) return known;
    if (!*known) {
      return fatal(Errc::malformed, "the response to call " + std::to_string(head.call) + " refers to header list " +
                                        std::to_string(head.headers.ref.id()) + ", which the peer never defined");
    }
  }
  return true;
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

// The frame is well-formed as far as it was read but larger than this side takes: that call alone fails, and what the
// frame defines is counted, so that both dictionaries stay in step.
Result<std::size_t> TenonSession::take_oversize(const Place& place, const Head& head, FrameSink& sink) {
  std::string text = head.kind == Kind::request ? "the request" : "the response to call " + std::to_string(head.call);
  if (head.headers.oversize == 0) {
    text += " has a body of " + std::to_string(place.length - head.body_at) + " bytes; the receiver takes " +
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
  Frame frame;
  if (head.kind == Kind::request) {
    Result<bool> wanted = admit_request(head, frame);
    if (!wanted.ok()) return std::move(wanted).error();
    if (OpenCall* const open = *wanted && !frame.one_way ? calls_.find(head.call) : nullptr) {
      calls_.erase(open);
      answer(head.call, Error(Errc::too_large, std::move(text), Delivery::not_run, Advice::never));
    }
    return skip(place);
  }
  OpenCall* const open = calls_.find(head.call);
  if (open == nullptr) return not_open(head.call, "response");
  calls_.erase(open);
  if (head.has(flag_headers) && head.headers.oversize == 0) {
    Result<bool> known = resolve_headers(head.headers, frame.headers);
    if (!known.ok()) return std::move(known).error();
    frame.headers.clear();
  }
  frame.kind = FrameKind::error;
  frame.call = head.call;
  frame.error = Error(Errc::too_large, std::move(text), Delivery::ran, Advice::never);
  const std::size_t taken = skip(place);
  sink.on_frame(frame);
  return taken;
}

}  // namespace tenon::wire
