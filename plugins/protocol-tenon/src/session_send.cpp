// Frames out.
#include <algorithm>
#include <cstring>
#include <new>

#include "failure.hpp"
#include "session.hpp"

namespace tenon::wire {
namespace {

constexpr std::size_t max_fixed = 4 * max_varint;  // type, call, references, remaining time

std::uint64_t milliseconds_up(Duration remaining) noexcept {
  const std::int64_t ns = remaining.count();
  if (ns == 0) return 0;
  if (ns < 0) return 1;  // over already; 0 would mean "no deadline"
  return std::min((static_cast<std::uint64_t>(ns) + 999'999) / 1'000'000, max_remaining_ms);
}

std::string method_text(const Target* target) {
  if (target == nullptr || target->service == nullptr || target->method == nullptr) return "(unknown method)";
  return target->service->text() + "." + std::string(target->method->name);
}

Error refused(Errc code, std::string text) {
  return Error(code, "protocol tenon: " + std::move(text), Delivery::not_run);
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
      case FrameKind::message:
      case FrameKind::end:
      case FrameKind::credit: break;
    }
    return refused(Errc::invalid_argument, "stream frames cannot be sent yet");
  } catch (const std::bad_alloc&) {
    return refused(Errc::overloaded, "out of memory while appending a frame");
  }
}

Result<void> TenonSession::check_sizes(const Frame& frame, std::string_view what, std::size_t& list_bytes) const {
  const std::size_t size = frame.bytes().size();
  if (size > peer_max_frame_) {
    return refused(Errc::too_large, std::string(what) + " has a body of " + std::to_string(size) + " bytes; at most " +
                                        std::to_string(peer_max_frame_) +
                                        " may be sent (limits.max_frame of both sides)");
  }
  list_bytes = 0;
  if (frame.headers.empty()) return {};
  if (frame.headers.size() > peer_max_header_count_) {
    return refused(Errc::too_large, std::string(what) + " has " + std::to_string(frame.headers.size()) +
                                        " headers; at most " + std::to_string(peer_max_header_count_) +
                                        " may be sent (limits.max_header_count of both sides)");
  }
  list_bytes = list_size(frame.headers);
  if (list_bytes > peer_max_headers_) {
    return refused(Errc::too_large, std::string(what) + " has " + std::to_string(list_bytes) +
                                        " bytes of headers; at most " + std::to_string(peer_max_headers_) +
                                        " may be sent (limits.max_headers of both sides)");
  }
  return {};
}

// `start` has one byte for the length in front of the fields; makes room when it needs more.
char* TenonSession::finish_head(char* start, char* end, std::size_t body_size) noexcept {
  const auto head_size = static_cast<std::size_t>(end - start) - 1;
  const std::uint64_t length = head_size + body_size;
  const std::size_t prefix = varint_size(length);
  if (prefix > 1) std::memmove(start + prefix, start + 1, head_size);
  put_varint(start, length);
  return start + prefix + head_size;
}

void TenonSession::finish_frame(char* start, char* end, std::string_view body, OutBuffer& block) noexcept {
  end = finish_head(start, end, block.empty() ? body.size() : block.size());
  if (block.empty() && !body.empty()) {
    std::memcpy(end, body.data(), body.size());
    end += body.size();
  }
  output_.commit(static_cast<std::size_t>(end - start));
  if (!block.empty()) output_.append_block(std::move(block));
}

// The request that makes the most of a busy connection: known names, no headers, a small body. False: nothing was
// done, it takes the long way.
bool TenonSession::send_plain_request(const Frame& frame) {
  if (side_ == Side::server || closing_ || leaving_ || frame.target == nullptr || frame.one_way ||
      !frame.headers.empty() || !frame.owned.empty() || frame.body.size() >= direct_size ||
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
  const std::string_view body = frame.bytes();
  std::size_t list_bytes = 0;
  if (body.size() > peer_max_frame_ || !frame.headers.empty()) {
    Result<void> fits = check_sizes(frame, "the request to " + method_text(&target), list_bytes);
    if (!fits.ok()) return fits;
  }

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
    const std::uint16_t id = entry ? sent_names_.next(text_bytes) : no_entry;
    if (id != no_entry) names = EntryRef::define(id);
  }
  SentLists::Choice list;
  if (list_bytes != 0) list = sent_lists_.choose(frame.headers, list_bytes);
  const std::size_t said_list_bytes = list_bytes != 0 && !list.ref.refers() ? list_bytes + max_varint : 0;

  // Everything that can fail comes first.
  OutBuffer block;
  const bool own_block = body.size() >= direct_size;
  char* const start =
      output_.prepare(max_fixed + max_varint + names_bytes + said_list_bytes + (own_block ? 0 : body.size()));
  if (own_block) {
    output_.reserve_block();
    if (frame.owned.empty()) block.append(body);
  }
  if (!frame.one_way) calls_.reserve_one();
  if (list.ref.defines()) sent_lists_.prepare(frame.headers, list);
  if (own_block && !frame.owned.empty()) block = std::move(frame.owned);

  char* at = start + 1;
  *at++ = static_cast<char>(static_cast<unsigned>(Kind::request) | (frame.one_way ? flag_one_way : 0u) |
                            (list_bytes != 0 ? flag_headers : 0u));
  at = put_varint(at, frame.call);
  at = put_varint(at, names.value);
  if (!names.refers())
    for (const std::string_view name : text) at = put_text(at, name);
  at = put_varint(at, milliseconds_up(frame.remaining));
  if (list_bytes != 0) {
    at = put_varint(at, list.ref.value);
    if (!list.ref.refers()) at = put_list(at, frame.headers, list_bytes);
  }
  finish_frame(start, at, body, block);

  ++requests_;
  if (names.defines()) sent_names_.defined(*entry, text_bytes);
  if (list.ref.defines()) sent_lists_.defined(list, list_bytes);
  if (!frame.one_way) {
    OpenCall& open = calls_.insert(frame.call);
    open.sequence = static_cast<std::uint32_t>(requests_);
    if (names.refers()) open.names = static_cast<std::uint16_t>(names.id());
    if (list.ref.refers()) open.headers = static_cast<std::uint16_t>(list.ref.id());
    open.content = content;
  }
  return {};
}

Result<void> TenonSession::send_response(Frame& frame) {
  if (side_ == Side::client) return refused(Errc::invalid_argument, "a client session sends no responses");
  OpenCall* const open = calls_.find(frame.call);
  if (open == nullptr) {
    return refused(Errc::invalid_argument, "a response to call " + std::to_string(frame.call) + ", which is not open");
  }
  const std::string_view body = frame.bytes();
  std::size_t list_bytes = 0;
  if (body.size() > peer_max_frame_ || !frame.headers.empty()) {
    Result<void> fits = check_sizes(
        frame, "the response of " + method_text(frame.target) + " to call " + std::to_string(frame.call), list_bytes);
    if (!fits.ok()) return fits;
  }
  bool as_asked = frame.serializer.empty() && frame.compressor.empty();
  if (open->content != no_content) {
    const Contents::Content& asked = contents_[open->content];
    as_asked =
        (frame.serializer.empty() || frame.serializer == asked.serializer) && frame.compressor == asked.compressor;
  }
  if (!as_asked && (frame.serializer.size() > max_name || frame.compressor.size() > max_name)) {
    return refused(Errc::invalid_argument, "a serializer's or compressor's name is too long");
  }
  const std::size_t content_bytes = as_asked ? 0 : text_size(frame.serializer) + text_size(frame.compressor);
  SentLists::Choice list;
  if (list_bytes != 0) list = sent_lists_.choose(frame.headers, list_bytes);
  const std::size_t said_list_bytes = list_bytes != 0 && !list.ref.refers() ? list_bytes + max_varint : 0;

  OutBuffer block;
  const bool own_block = body.size() >= direct_size;
  char* const start =
      output_.prepare(max_fixed + max_varint + content_bytes + said_list_bytes + (own_block ? 0 : body.size()));
  if (own_block) {
    output_.reserve_block();
    if (frame.owned.empty()) block.append(body);
  }
  if (list.ref.defines()) sent_lists_.prepare(frame.headers, list);
  if (own_block && !frame.owned.empty()) block = std::move(frame.owned);

  char* at = start + 1;
  *at++ = static_cast<char>(static_cast<unsigned>(Kind::response) | (as_asked ? 0u : flag_content) |
                            (list_bytes != 0 ? flag_headers : 0u));
  at = put_varint(at, frame.call);
  if (!as_asked) at = put_text(put_text(at, frame.serializer), frame.compressor);
  if (list_bytes != 0) {
    at = put_varint(at, list.ref.value);
    if (!list.ref.refers()) at = put_list(at, frame.headers, list_bytes);
  }
  finish_frame(start, at, body, block);
  if (list.ref.defines()) sent_lists_.defined(list, list_bytes);
  calls_.erase(open);
  return {};
}

Result<void> TenonSession::send_error(const Frame& frame) {
  if (side_ == Side::client) return refused(Errc::invalid_argument, "a client session sends no error replies");
  OpenCall* const open = calls_.find(frame.call);
  if (open == nullptr) {
    return refused(Errc::invalid_argument,
                   "an error reply to call " + std::to_string(frame.call) + ", which is not open");
  }
  answer(frame.call, frame.error);
  calls_.erase(open);
  return {};
}

// An error reply always fits: text is cut, headers beyond the limits are left out and the text says so.
void TenonSession::answer(std::uint32_t call, const Error& error, bool unknown_entry) {
  const Headers* headers = error.headers();
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
  frame.push_back(static_cast<char>(static_cast<unsigned>(Kind::error) | (unknown_entry ? flag_unknown_entry : 0u) |
                                    (headers ? flag_headers : 0u)));
  char* at = frame.prepare(max_varint);
  frame.commit(static_cast<std::size_t>(put_varint(at, call) - at));
  put_failure(*said, frame);
  if (headers) {
    at = frame.prepare(list_bytes + 2 * max_varint);
    frame.commit(static_cast<std::size_t>(put_list(put_varint(at, 0), *headers, list_bytes) - at));
  }
  append(frame);
}

Result<void> TenonSession::send_cancel(const Frame& frame) {
  if (side_ == Side::server) return refused(Errc::invalid_argument, "a server session cancels nothing");
  if (calls_.find(frame.call) == nullptr) return {};
  char* const start = output_.prepare(2 + max_varint);
  start[1] = static_cast<char>(Kind::cancel);
  char* const end = finish_head(start, put_varint(start + 2, frame.call), 0);
  output_.commit(static_cast<std::size_t>(end - start));
  return {};
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

void TenonSession::append(OutBuffer& frame) {
  char* const start = output_.prepare(max_varint + frame.size());
  char* const at = put_varint(start, frame.size());
  std::memcpy(at, frame.data(), frame.size());
  output_.commit(static_cast<std::size_t>(at - start) + frame.size());
}

}  // namespace tenon::wire
