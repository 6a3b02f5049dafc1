#include <algorithm>
#include <vector>

#include "chain/encode_body.hpp"
#include "client/client_stream.hpp"
#include "client/endpoint.hpp"
#include "tenon/same_text.hpp"

namespace tenon {

namespace {
constexpr std::size_t move_above = 32u << 10;
}  // namespace

ClientConnection::ClientConnection(RemoteEndpoint& endpoint, std::unique_ptr<ByteStream> stream)
    : endpoint_(&endpoint),
      settings_(endpoint.settings_),
      connection_(std::make_shared<Connection>(
          *settings_->loop, *settings_->log, std::move(stream),
          settings_->protocol->open(Side::client, settings_->limits, settings_->encodings->compressors()),
          std::string(settings_->protocol->name()), settings_->connection, *this)) {}

ClientConnection::~ClientConnection() = default;

void ClientConnection::start() { connection_->start(); }

Result<void> ClientConnection::send(Exchange& exchange) {
  Request& request = exchange.request_;
  if (connection_->unwritten() > settings_->connection.max_unwritten)
    return Error(Errc::overloaded,
                 std::to_string(connection_->unwritten()) + " bytes wait to be written to " + connection_->peer().peer +
                     " (max_unwritten is " + std::to_string(settings_->connection.max_unwritten) + ")",
                 Delivery::not_run, Advice::other_instance);
  Frame& frame = outgoing_;
  frame.kind = FrameKind::request;
  frame.one_way = request.target->method->shape == Shape::one_way;
  frame.stream = request.target->method->shape == Shape::server_stream;
  if (!request.attachment.empty() || !frame.attachment.empty()) frame.attachment = request.attachment;
  frame.target = request.target;
  frame.serializer = settings_->content_type;
  frame.body = {};
  frame.owned.clear();
  frame.remaining = Duration{0};
  OutBuffer& body = settings_->loop->scratch();
  Result<std::string_view> compressor = encode_body(request.payload, *settings_->encoding, body);
  if (!compressor.ok()) return std::move(compressor).error().deliver(Delivery::not_run);
  frame.compressor = *compressor;
  if (body.size() > move_above)
    frame.owned = std::move(body);
  else
    frame.body = body.view();
  if (request.deadline != never) {
    const TimePoint now = settings_->loop->clock().now();
    frame.remaining = std::max<Duration>(request.deadline - now, Duration{1});
  }
  frame.call = pending_.add(&exchange);
  std::swap(frame.headers, request.headers);
  Result<void> sent = connection_->send(frame);
  std::swap(frame.headers, request.headers);
  if (!sent.ok()) {
    bool known = false;
    (void)pending_.take(frame.call, known);
    frame.owned.release();
    return std::move(sent).error().deliver(Delivery::not_run);
  }
  exchange.connection_ = this;
  exchange.number_ = frame.call;
  return {};
}

void ClientConnection::abandon(Exchange& exchange) {
  Frame frame;
  frame.kind = FrameKind::cancel;
  frame.call = exchange.number_;
  (void)connection_->send(frame);  // if it cannot be told, the answer is dropped all the same
  if (connection_->session().acknowledges_cancel()) {
    pending_.orphan(exchange.number_);
    ++settings_->loop->orphans;
  } else {
    bool known = false;
    (void)pending_.take(exchange.number_, known);
  }
}

// With thousands of calls in flight each one has left the caches by the time it is answered. Replies mostly come in the
// order of the requests, and numbers are given out in that order, so the next ones are a good guess: first the
// exchange, then the request it refers to with the caller's state behind it, then the reply object. A wrong guess costs
// nothing.
void ClientConnection::expect_after(std::uint32_t number) const noexcept {
  constexpr std::size_t line = 64;
  const auto fetch = [](const void* start, std::size_t size) {
    for (std::size_t at = 0; at < size; at += line) __builtin_prefetch(static_cast<const char*>(start) + at);
  };
  if (const Exchange* far = pending_.find(number + 8)) fetch(far, sizeof(Exchange));
  if (const Exchange* near = pending_.find(number + 4)) fetch(&near->request_, sizeof(Request) + 4 * line);
  if (const Exchange* next = pending_.find(number + 2)) fetch(next->request_.reply, line);
}

void ClientConnection::on_frame(Frame& frame) {
  switch (frame.kind) {
    case FrameKind::response:
    case FrameKind::error: {
      bool known = false;
      expect_after(frame.call);
      if (frame.stream || !streams_.empty()) {
        if (Exchange* exchange = frame.stream ? pending_.find(frame.call) : nullptr) {
          open_stream(*exchange, frame);
          break;
        }
        if (frame.stream || streams_.contains(frame.call)) {
          on_stream_frame(frame);
          break;
        }
      }
      Exchange* exchange = pending_.take(frame.call, known);
      if (exchange)
        on_reply(*exchange, frame);
      else
        answered(frame.call, known);
      break;
    }
    case FrameKind::message:
    case FrameKind::end: on_stream_frame(frame); break;
    case FrameKind::goaway:
      if (!going_away_) {
        going_away_ = true;
        if (endpoint_) endpoint_->lost(*this, frame.error);
      }
      break;
    default: break;  // nothing else is sent to clients
  }
  close_if_drained();
}

void ClientConnection::close_if_drained() {
  if (going_away_ && pending_.waiting() == 0) connection_->close_when_written(Error(Errc::unavailable, "drained"));
}

// An answer that nobody waits for.
void ClientConnection::answered(std::uint32_t number, bool known) {
  if (known)
    --settings_->loop->orphans;
  else
    settings_->log->warn("unexpected-reply", connection_->peer().peer + " answered call number " +
                                                 std::to_string(number) + ", which is not waiting; dropped");
}

Result<const Encoding*> ClientConnection::encoding_of(const Frame& frame) const {
  const Encoding* encoding = settings_->encoding;
  if (same_text(frame.serializer, settings_->content_type) && !encoding->compressor && frame.compressor.empty())
    return encoding;
  encoding = settings_->encodings->find(frame.serializer, frame.compressor);
  if (encoding) return encoding;
  return Error(Errc::unimplemented,
               connection_->peer().peer + " answered in serializer \"" + std::string(frame.serializer) +
                   "\", compressor \"" + std::string(frame.compressor) + "\", which is not loaded here",
               Delivery::ran);
}

void ClientConnection::decode(Exchange& exchange, Frame& frame) {
  Result<Response>& result = exchange.result_;
  Result<const Encoding*> found = encoding_of(frame);
  if (!found.ok()) {
    result = std::move(found).error();
    return;
  }
  const Encoding* const encoding = *found;
  const Request& request = exchange.request_;
  if (!frame.headers.empty()) result->headers = std::move(frame.headers);
  if (!frame.attachment.empty()) result->attachment = std::move(frame.attachment);
  if (!request.reply) {
    OutBuffer bytes = std::move(frame.owned);
    if (bytes.empty()) bytes.append(frame.body);
    result->payload = Payload::adopt_encoded(*encoding, std::move(bytes));
    return;
  }
  const MessageType& type = *request.target->method->output;
  Result<void> decoded;
  if (encoding->compressor) {
    Payload packed = Payload::borrow_encoded(*encoding, frame.bytes());
    decoded = packed.take_into(type, request.reply);
  } else {
    decoded = encoding->serializer->decode(frame.bytes(), type, request.reply);
  }
  if (decoded.ok()) {
    result->payload.refer_to(type, request.reply);
    return;
  }
  result = std::move(decoded)
               .error()
               .prefix("the reply of " + connection_->peer().peer + " to " + request.target->service->interface + "." +
                       std::string(request.target->method->name) + " cannot be decoded")
               .deliver(Delivery::ran);
}

void ClientConnection::on_reply(Exchange& exchange, Frame& frame) {
  if (frame.kind == FrameKind::response) {
    decode(exchange, frame);
    exchange.complete();
    return;
  }
  if (frame.resend && !exchange.resent_) {
    exchange.resent_ = true;
    if (auto sent = send(exchange); !sent.ok()) exchange.fail(std::move(sent).error());
    return;
  }
  exchange.fail(std::move(frame.error));
}

void ClientConnection::open_stream(Exchange& exchange, Frame& frame) {
  const std::uint32_t number = frame.call;
  pending_.hold(number);
  Response& response = *exchange.result_;
  response.headers = std::move(frame.headers);
  response.attachment = std::move(frame.attachment);
  auto stream = std::make_unique<ClientStream>(endpoint_->shared_from_this(), *this, exchange.request_, number,
                                               settings_->limits.stream_window);
  streams_[number] = stream.get();
  response.messages = std::move(stream);
  exchange.complete();
}

void ClientConnection::on_stream_frame(Frame& frame) {
  const auto found = streams_.find(frame.call);
  if (frame.kind == FrameKind::message) {
    if (found == streams_.end()) return;  // given up; the end is under way
    ClientStream& stream = *found->second;
    const std::size_t cost = stream_cost(frame.bytes().size(), frame.attachment.size());
    Result<const Encoding*> encoding = encoding_of(frame);
    if (!encoding.ok()) {
      abandon_stream(stream);
      return stream.on_failure(std::move(encoding).error());
    }
    StreamMessage message;
    OutBuffer bytes = std::move(frame.owned);
    if (bytes.empty()) bytes.append(frame.body);
    message.payload = Payload::adopt_encoded(**encoding, std::move(bytes));
    message.attachment = std::move(frame.attachment);
    return stream.on_message(std::move(message), cost);
  }
  if (frame.kind == FrameKind::response) return;  // the head of a stream that was given up
  if (found == streams_.end()) {
    bool known = false;
    (void)pending_.take(frame.call, known);
    return answered(frame.call, known);
  }
  ClientStream& stream = *found->second;
  streams_.erase(found);
  pending_.end_stream(frame.call);
  if (frame.error)
    stream.on_failure(std::move(frame.error));
  else
    stream.on_end(std::move(frame.headers));
}

void ClientConnection::give_credit(std::uint32_t number, std::uint32_t cost) {
  Frame frame;
  frame.kind = FrameKind::credit;
  frame.call = number;
  frame.credit = cost;
  (void)connection_->send(frame);  // fails only when the connection has
}

void ClientConnection::abandon_stream(ClientStream& stream) noexcept {
  const std::uint32_t number = stream.number();
  streams_.erase(number);
  Frame frame;
  frame.kind = FrameKind::cancel;
  frame.call = number;
  (void)connection_->send(frame);  // if it cannot be told, what comes is dropped all the same
  if (connection_->open() && connection_->session().acknowledges_cancel()) {
    pending_.orphan(number);
    ++settings_->loop->orphans;
  } else {
    pending_.end_stream(number);
  }
  close_if_drained();
}

void ClientConnection::on_closed(const Error& reason) {
  RemoteEndpoint* endpoint = std::exchange(endpoint_, nullptr);
  const std::string peer = connection_->peer().peer;
  // Calls are failed first: whoever retries must not pick this connection, and lost() may let go of it.
  std::vector<Exchange*> cut;
  while (Exchange* exchange = pending_.take_any()) cut.push_back(exchange);
  settings_->loop->orphans -= pending_.orphans();
  if (endpoint) {
    // The endpoint is kept by its callers until the last exchange has completed.
    const auto hold = endpoint->shared_from_this();
    if (going_away_)
      endpoint->left(*this);
    else
      endpoint->lost(*this, reason);
    if (!cut.empty()) endpoint->broke();
    for (Exchange* exchange : cut) {
      exchange->connection_ = nullptr;
      exchange->fail(
          Error(Errc::unavailable, "connection to " + peer + " lost: " + reason.text(), Delivery::maybe_run));
    }
  }
  while (!streams_.empty()) {  // a reader may give up another one of them
    ClientStream& stream = *streams_.begin()->second;
    streams_.erase(streams_.begin());
    pending_.end_stream(stream.number());
    stream.on_failure(
        Error(Errc::unavailable, "connection to " + peer + " lost in the stream: " + reason.text(), Delivery::ran));
  }
  if (keep_) settings_->loop->bury(std::move(keep_));
}

}  // namespace tenon
