// Bytes in.
#include <algorithm>
#include <new>

#include "session.hpp"

namespace tenon::http {
namespace {

// Larger bodies leave the caller's buffer as they come in.
constexpr std::size_t direct_size = SessionOutput::block_from;
constexpr std::size_t max_dropped = 16u << 20;  // bytes that a peer which was cut off may still send
constexpr std::string_view http2 = "PRI * HTTP/2.0\r\n";

Error error(Errc code, std::string text) {
  return Error(code, "protocol http: " + std::move(text), Delivery::not_run, Advice::never);
}

int status_of_head(Errc code) noexcept {
  return code == Errc::unimplemented ? 505 : code == Errc::too_large ? 431 : 400;
}

Refusal heard_out(int status, Error error) {
  Refusal refused = fatal_refusal(status, std::move(error));
  refused.linger = true;
  return refused;
}

}  // namespace

Want HttpSession::want() noexcept {
  return mode_ == Mode::body && direct_ && request_.length > direct_size ? body_.want() : Want{};
}

Result<std::size_t> HttpSession::received(std::string_view bytes, FrameSink& sink) {
  if (mode_ == Mode::failed) return error(Errc::unavailable, "bytes after a fatal error of this connection");
  heard_ = true;
  std::size_t at = 0;
  try {
    while (at < bytes.size()) {
      Result<std::size_t> taken = take(bytes.substr(at), sink);
      if (!taken.ok()) {
        mode_ = Mode::failed;
        return taken;
      }
      if (*taken == 0) break;
      at += *taken;
      if (sink.enough()) break;
    }
    offer_continue();
  } catch (const std::bad_alloc&) {
    mode_ = Mode::failed;
    return error(Errc::overloaded, "out of memory while reading a request");
  }
  return at;
}

Result<void> HttpSession::received_direct(std::size_t n, FrameSink& sink) {
  const Want wanted = want();
  if (!wanted.into || n > wanted.size) {
    mode_ = Mode::failed;
    return error(Errc::internal, "received_direct() of " + std::to_string(n) + " bytes that were not wanted");
  }
  try {
    ++step_;
    body_.commit(n);
    if (body_.complete()) {
      OutBuffer body = body_.release();
      finish_request({}, &body, sink);
    }
  } catch (const std::bad_alloc&) {
    mode_ = Mode::failed;
    return error(Errc::overloaded, "out of memory while reading a large body");
  }
  return {};
}

Result<std::size_t> HttpSession::take(std::string_view bytes, FrameSink& sink) {
  switch (mode_) {
    case Mode::head: return take_head(bytes, sink);
    case Mode::body: return take_body(bytes, sink);
    case Mode::chunks: return take_chunks(bytes, sink);
    case Mode::linger:
      dropped_ += bytes.size();
      if (dropped_ > max_dropped)
        return error(Errc::too_large, "the peer goes on sending after its request was refused for its size");
      break;
    case Mode::done:
    case Mode::failed: break;
  }
  return bytes.size();
}

Result<std::size_t> HttpSession::find_head(std::string_view bytes) {
  for (std::size_t end = bytes.find('\n', scanned_); end != std::string_view::npos; end = bytes.find('\n', scanned_)) {
    if (end == 0 || bytes[end - 1] != '\r')
      return Error(Errc::malformed, "a line of the head ends with LF alone, not with CR LF");
    const bool empty = end - 1 == line_;
    line_ = scanned_ = end + 1;
    if (empty) return end + 1;
  }
  scanned_ = bytes.size();
  return std::size_t{0};
}

Result<std::size_t> HttpSession::take_head(std::string_view bytes, FrameSink& sink) {
  const std::size_t before = held_.size();
  if (before == 0 && !blank_ && bytes[0] == '\r') {
    // Some clients send an empty line after a body.
    if (bytes.size() < 2) return std::size_t{0};
    if (bytes[1] == '\n') {
      blank_ = true;
      return std::size_t{2};
    }
  }
  // One byte more than may be, so that too much is seen.
  const std::string_view piece = bytes.substr(0, limits_.max_headers + 1 - before);
  if (before > 0) held_.append(piece);
  const std::string_view all = before > 0 ? std::string_view(held_) : piece;
  const Result<std::size_t> end = find_head(all);
  if (!end.ok()) return give_up(fatal_refusal(400, end.error()), bytes, sink);
  if ((*end ? *end : all.size()) > limits_.max_headers)
    return give_up(
        heard_out(431, Error(Errc::too_large,
                             "the head of the request has more than the " + std::to_string(limits_.max_headers) +
                                 " bytes that are read (limits.max_headers)",
                             Delivery::not_run, Advice::never)),
        bytes, sink);
  if (*end == 0) {
    if (before == 0) {
      held_.assign(piece);
      ++step_;
    }
    return piece.size();
  }
  if (auto begun = begin_request(all.substr(0, *end), sink); !begun.ok()) return std::move(begun).error();
  return *end - before;
}

Result<std::size_t> HttpSession::give_up(Refusal refused, std::string_view bytes, FrameSink& sink) {
  if (mode_ == Mode::head) request_ = {};
  if (auto ended = fatal(std::move(refused), sink); !ended.ok()) return std::move(ended).error();
  return bytes.size();
}

// Idle connections keep no buffer.
void HttpSession::release_head() {
  std::string().swap(held_);
  line_ = scanned_ = 0;
  blank_ = false;
}

Result<void> HttpSession::begin_request(std::string_view head, FrameSink& sink) {
  ++step_;
  request_ = {};
  if (head.starts_with(http2))
    return fatal(fatal_refusal(505, Error(Errc::unimplemented,
                                          "the client begins with HTTP/2, this server speaks HTTP/1.1 and HTTP/1.0: "
                                          "have the client use HTTP/1.1 (curl: --http1.1)",
                                          Delivery::not_run, Advice::never)),
                 sink);
  if (auto parsed = parser_.head(head, limits_.max_header_count, parsed_); !parsed.ok()) {
    const int status = status_of_head(parsed.error().code());
    Refusal refused = fatal_refusal(status, std::move(parsed).error());
    refused.linger = status == 431;
    return fatal(std::move(refused), sink);
  }
  if (Refusal refused = read_framing(parsed_, limits_, request_)) return fatal(std::move(refused), sink);
  request_.refusal = read_meaning(parsed_, *settings_, compressors_, request_);
  release_head();
  if (request_.refusal && request_.expects_continue) {
    // The peer may send the body or not; nobody can tell what comes next.
    request_.call.close = true;
    finish_request({}, nullptr, sink);
    return {};
  }
  continue_due_ = request_.expects_continue;
  switch (request_.framing) {
    case Framing::none: finish_request({}, nullptr, sink); break;
    case Framing::length:
      mode_ = Mode::body;
      direct_ = false;
      left_ = request_.length;
      break;
    case Framing::chunked:
      mode_ = Mode::chunks;
      parser_.begin_chunks(limits_.max_frame);
      break;
  }
  return {};
}

Result<std::size_t> HttpSession::take_body(std::string_view bytes, FrameSink& sink) {
  ++step_;
  continue_due_ = false;
  if (request_.refusal) {
    const std::size_t n = std::min(left_, bytes.size());
    left_ -= n;
    if (left_ == 0) finish_request({}, nullptr, sink);
    return n;
  }
  if (!direct_ && bytes.size() >= request_.length) {
    finish_request(bytes.substr(0, request_.length), nullptr, sink);
    return request_.length;
  }
  if (!direct_) body_.begin(request_.length);
  direct_ = true;
  const std::size_t n = body_.append(bytes);
  if (body_.complete()) {
    OutBuffer body = body_.release();
    finish_request({}, &body, sink);
  }
  return n;
}

Result<std::size_t> HttpSession::take_chunks(std::string_view bytes, FrameSink& sink) {
  ++step_;
  continue_due_ = false;
  Result<std::size_t> used = parser_.chunks(bytes, request_.refusal ? nullptr : &chunks_);
  if (!used.ok()) {
    const bool large = used.error().code() == Errc::too_large;
    Refusal refused = fatal_refusal(large ? 413 : 400, std::move(used).error());
    refused.linger = large;
    return give_up(std::move(refused), bytes, sink);
  }
  if (parser_.chunks_done()) {
    OutBuffer body = std::move(chunks_);
    finish_request({}, body.empty() ? nullptr : &body, sink);
  }
  return used;
}

void HttpSession::finish_request(std::string_view body, OutBuffer* owned, FrameSink& sink) {
  mode_ = Mode::head;
  continue_due_ = false;
  const bool last = request_.call.close;
  if (request_.refusal) {
    refuse(request_.call, request_.refusal);
  } else if (pipeline_.open() >= limits_.max_concurrent) {
    refuse(request_.call, {503, Error(Errc::overloaded,
                                      "more than " + std::to_string(limits_.max_concurrent) +
                                          " requests in flight on this connection (limits.max_concurrent)",
                                      Delivery::not_run, Advice::other_instance)});
  } else {
    deliver(body, owned, sink);
  }
  if (last) end_requests(Error(Errc::unavailable, "the client is done"), sink);
}

void HttpSession::deliver(std::string_view body, OutBuffer* owned, FrameSink& sink) {
  Frame frame;
  frame.kind = FrameKind::request;
  frame.call = pipeline_.begin(request_.call);
  frame.group = request_.group;
  frame.interface = request_.interface;
  frame.version = request_.version;
  frame.method = request_.method;
  frame.loose_names = true;
  frame.remaining = request_.remaining;
  frame.serializer = request_.call.type->serializer;
  frame.compressor = request_.compressor;
  frame.headers = std::move(request_.headers);
  if (owned)
    frame.owned = std::move(*owned);
  else if (body.empty() && frame.compressor.empty() && frame.serializer == "json")
    frame.body = "{}";  // no argument: curl -X POST
  else
    frame.body = body;
  sink.on_frame(frame);
}

void HttpSession::end_requests(const Error& reason, FrameSink& sink) {
  mode_ = Mode::done;
  release_head();
  Frame frame;
  frame.kind = FrameKind::goaway;
  frame.error = reason;
  sink.on_frame(frame);
}

Result<void> HttpSession::fatal(Refusal refused, FrameSink& sink) {
  const bool alone = pipeline_.empty();
  continue_due_ = false;
  chunks_.release();
  request_.call.close = true;
  refuse(request_.call, refused);
  release_head();
  Error reason = error(refused.error.code(), refused.error.text());
  if (!alone) {
    end_requests(reason, sink);
    return {};
  }
  if (refused.linger) {
    mode_ = Mode::linger;
    ++step_;
    return {};
  }
  mode_ = Mode::failed;
  return reason;
}

void HttpSession::offer_continue() {
  if (!continue_due_ || !pipeline_.empty()) return;
  continue_due_ = false;
  constexpr std::string_view text = "HTTP/1.1 100 Continue\r\n\r\n";
  text.copy(output_.prepare(text.size()), text.size());
  output_.commit(text.size());
}

}  // namespace tenon::http
