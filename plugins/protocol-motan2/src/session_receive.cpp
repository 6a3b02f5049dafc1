// Bytes in.
#include <algorithm>
#include <new>

#include "failure.hpp"
#include "session.hpp"

namespace tenon::motan2 {
namespace {

// Larger heads and bodies leave the caller's buffer as they come in.
constexpr std::size_t direct_size = SessionOutput::block_from;

std::string printable(std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (!text.empty()) text += ' ';
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

}  // namespace

Error Motan2Session::fatal(Errc code, std::string text) {
  mode_ = Mode::failed;
  held_.clear();
  return Error(code, "protocol motan2: " + std::move(text));
}

Want Motan2Session::want() noexcept { return mode_ == Mode::body ? body_.want() : Want{}; }

Result<std::size_t> Motan2Session::received(std::string_view bytes, FrameSink& sink) {
  std::size_t at = 0;
  try {
    for (;;) {
      Result<std::size_t> taken = take(bytes.substr(at), sink);
      if (!taken.ok()) return taken;
      if (*taken == 0) return at;
      at += *taken;
      if (sink.enough()) return at;
    }
  } catch (const std::bad_alloc&) {
    return fatal(Errc::overloaded, "out of memory while reading a frame");
  }
}

Result<std::size_t> Motan2Session::take(std::string_view bytes, FrameSink& sink) {
  switch (mode_) {
    case Mode::frames: return take_frame(bytes, sink);
    case Mode::head: return take_gathered(bytes, sink);
    case Mode::body: {
      const std::size_t n = body_.append(bytes);
      finish_body(sink);
      return n;
    }
    case Mode::skip: {
      const std::size_t n = std::min(skip_, bytes.size());
      skip_ -= n;
      if (skip_ == 0) mode_ = Mode::frames;
      return n;
    }
    case Mode::failed: break;
  }
  return Error(Errc::unavailable, "protocol motan2: bytes after a fatal error of this connection");
}

Result<void> Motan2Session::received_direct(std::size_t n, FrameSink& sink) {
  if (mode_ != Mode::body || n > body_.want().size)
    return fatal(Errc::internal, "received_direct() of " + std::to_string(n) + " bytes that were not wanted");
  try {
    body_.commit(n);
    finish_body(sink);
  } catch (const std::bad_alloc&) {
    return fatal(Errc::overloaded, "out of memory while reading a large body");
  }
  return {};
}

Result<void> Motan2Session::check_head(const Head& head) {
  if (head.version == 0)
    return fatal(Errc::malformed,
                 "the peer speaks version 1 of Motan's protocol (\"motan\"); this side speaks motan2 only: set "
                 "protocol=\"motan2\" at the peer");
  if (head.version != version)
    return fatal(Errc::malformed, "a frame of version " + std::to_string(head.version) + "; there is only version " +
                                      std::to_string(version));
  const bool response = (head.type & bit_response) != 0;
  if (response != (side_ == Side::client))
    return fatal(Errc::malformed, side_ == Side::client ? "the server sent a request" : "the client sent a response");
  if (head.metadata > limits_.max_headers) {
    // Java says the same before it closes.
    const std::string text = "metadata of " + std::to_string(head.metadata) + " bytes; at most " +
                             std::to_string(limits_.max_headers) + " are read (limits.max_headers)";
    if (!response)
      answer(head.id, head.serializer, Error(Errc::too_large, text, Delivery::not_run, Advice::never), Duration{0},
             false);
    return fatal(Errc::too_large, text);
  }
  return {};
}

Result<std::size_t> Motan2Session::take_frame(std::string_view bytes, FrameSink& sink) {
  const std::string_view start = bytes.substr(0, magic.size());
  if (start != magic.substr(0, start.size()))
    return fatal(Errc::malformed, "a frame begins with f1 f1, not with " + printable(bytes.substr(0, 16)));
  if (bytes.size() < fixed_size) {
    // Enough to know that it will never be a frame of ours: a motan1 peer must not wait for a time-out.
    if (bytes.size() > 3 && static_cast<unsigned char>(bytes[3]) >> 3 != version) {
      char fixed[fixed_size] = {};
      bytes.copy(fixed, bytes.size());
      Head head = load_head(fixed);
      head.metadata = 0;
      if (auto checked = check_head(head); !checked.ok()) return std::move(checked).error();
    }
    return std::size_t{0};
  }
  const Head head = load_head(bytes.data());
  if (auto checked = check_head(head); !checked.ok()) return std::move(checked).error();
  const std::size_t head_size = fixed_size + head.metadata + length_size;
  if (bytes.size() < head_size) return head_size > direct_size ? gather_head(bytes, head_size) : std::size_t{0};
  const std::size_t body_size = load32(bytes.data() + head_size - length_size);
  const std::size_t here = std::min(body_size, bytes.size() - head_size);
  if (body_size > limits_.max_frame) {
    deliver_oversize(head, body_size, sink);
    if (here < body_size && mode_ == Mode::frames) {
      skip_ = body_size - here;
      mode_ = Mode::skip;
    }
    return head_size + here;
  }
  if (here < body_size) {
    if (body_size <= direct_size) return std::size_t{0};
    return begin_body(head, bytes, body_size, sink);
  }
  deliver(head, bytes.substr(fixed_size, head.metadata), bytes.substr(head_size, body_size), nullptr, sink);
  return head_size + body_size;
}

Result<std::size_t> Motan2Session::gather_head(std::string_view bytes, std::size_t size) {
  held_.assign(bytes);
  head_size_ = size;
  mode_ = Mode::head;
  return bytes.size();
}

Result<std::size_t> Motan2Session::take_gathered(std::string_view bytes, FrameSink& sink) {
  const std::size_t n = std::min(head_size_ - held_.size(), bytes.size());
  held_.append(bytes.substr(0, n));
  if (held_.size() < head_size_) return n;
  mode_ = Mode::frames;
  const std::string head = std::move(held_);
  held_.clear();
  Result<std::size_t> taken = take_frame(head, sink);  // without any of its body
  if (!taken.ok()) return taken;
  if (*taken == 0) {
    // A small body is still on its way: everything goes through begin_body(), whatever its size.
    const Head fixed = load_head(head.data());
    taken = begin_body(fixed, head, load32(head.data() + head.size() - length_size), sink);
    if (!taken.ok()) return taken;
  }
  return n;
}

Result<std::size_t> Motan2Session::begin_body(const Head& head, std::string_view bytes, std::size_t size,
                                              FrameSink& sink) {
  const std::size_t head_size = fixed_size + head.metadata + length_size;
  body_.begin(size);
  held_.assign(bytes.substr(0, head_size));
  mode_ = Mode::body;
  const std::string_view here = bytes.substr(head_size);
  if (!here.empty()) {
    body_.append(here);
    finish_body(sink);
  }
  return bytes.size();
}

void Motan2Session::finish_body(FrameSink& sink) {
  if (!body_.complete()) return;
  mode_ = Mode::frames;
  const std::string head = std::move(held_);
  held_.clear();
  OutBuffer body = body_.release();
  const Head fixed = load_head(head.data());
  deliver(fixed, std::string_view(head).substr(fixed_size, fixed.metadata), {}, &body, sink);
}

void Motan2Session::deliver(const Head& head, std::string_view metadata, std::string_view body, OutBuffer* owned,
                            FrameSink& sink) {
  if (head.type & bit_heartbeat)
    deliver_heartbeat(head, sink);
  else if (side_ == Side::server)
    deliver_request(head, metadata, body, owned, sink);
  else
    deliver_response(head, metadata, body, owned, sink);
}

void Motan2Session::deliver_request(const Head& head, std::string_view metadata, std::string_view body,
                                    OutBuffer* owned, FrameSink& sink) {
  RequestMetadata told;
  if (auto read = read_request(metadata, limits_.max_header_count, told); !read.ok()) {
    answer(head.id, head.serializer, read.error(), Duration{0}, false);
    return;
  }
  if (server_calls_.open() >= limits_.max_concurrent) {
    answer(head.id, head.serializer,
           Error(Errc::overloaded,
                 "more than " + std::to_string(limits_.max_concurrent) +
                     " requests in flight on this connection (limits.max_concurrent)",
                 Delivery::not_run, Advice::other_instance),
           Duration{0}, told.framework);
    return;
  }
  Frame frame;
  frame.kind = FrameKind::request;
  frame.call = server_calls_.begin(head.id, head.serializer, told.framework);
  frame.group = told.group;
  frame.interface = told.path;
  frame.version = told.version;
  frame.method = told.method;
  frame.loose_names = true;
  frame.remaining = std::chrono::milliseconds(static_cast<std::int64_t>(told.timeout_ms));
  frame.serializer = settings_->numbers.name(head.serializer);
  if (head.type & bit_gzip) frame.compressor = gzip;
  frame.headers = std::move(told.attachments);
  if (owned)
    frame.owned = std::move(*owned);
  else
    frame.body = body;
  delivering_ = &frame;
  sink.on_frame(frame);
  delivering_ = nullptr;
}

void Motan2Session::deliver_response(const Head& head, std::string_view metadata, std::string_view body,
                                     OutBuffer* owned, FrameSink& sink) {
  // A server whose pool is full answers heartbeats with an ordinary error.
  if (head.id >> 32 == ClientCalls::heartbeat) {
    deliver_heartbeat(head, sink);
    return;
  }
  if (!client_calls_.end(head.id)) return;  // given up, one-way, or never asked
  Frame frame;
  frame.call = static_cast<std::uint32_t>(head.id);
  ResponseMetadata told;
  if (auto read = read_response(metadata, limits_.max_header_count, told); !read.ok()) {
    frame.kind = FrameKind::error;
    frame.error = std::move(read).error().deliver(Delivery::ran);
  } else if (head.status != 0 || !told.exception.empty()) {
    frame.kind = FrameKind::error;
    frame.error = get_failure(told);
  } else {
    frame.kind = FrameKind::response;
    frame.serializer = settings_->numbers.name(head.serializer);
    if (head.type & bit_gzip) frame.compressor = gzip;
    frame.headers = std::move(told.attachments);
    if (owned)
      frame.owned = std::move(*owned);
    else
      frame.body = body;
  }
  frame.took = std::chrono::milliseconds(static_cast<std::int64_t>(told.process_ms));
  sink.on_frame(frame);
}

void Motan2Session::deliver_heartbeat(const Head& head, FrameSink& sink) {
  Frame frame;
  frame.kind = side_ == Side::server ? FrameKind::ping : FrameKind::pong;
  frame.call = static_cast<std::uint32_t>(head.id);
  ping_ = head;
  pong_due_ = side_ == Side::server;
  sink.on_frame(frame);
  if (pong_due_) send_pong();
}

void Motan2Session::deliver_oversize(const Head& head, std::size_t size, FrameSink& sink) {
  const std::string text = "a body of " + std::to_string(size) + " bytes; at most " +
                           std::to_string(limits_.max_frame) + " are read (limits.max_frame)";
  if (head.type & bit_heartbeat) return;
  if (side_ == Side::server) {
    answer(head.id, head.serializer, Error(Errc::too_large, "the request has " + text, Delivery::not_run,
                                           Advice::never),
           Duration{0}, false);
    return;
  }
  if (!client_calls_.end(head.id)) return;
  Frame frame;
  frame.kind = FrameKind::error;
  frame.call = static_cast<std::uint32_t>(head.id);
  frame.error = Error(Errc::too_large, "the reply has " + text, Delivery::ran, Advice::never);
  sink.on_frame(frame);
}

}  // namespace tenon::motan2
