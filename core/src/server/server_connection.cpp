#include "server/server_connection.hpp"

#include <utility>

#include "chain/encode_body.hpp"
#include "server/server_call.hpp"

namespace tenon {

namespace {
constexpr std::size_t move_above = 32u << 10;
constexpr std::size_t max_cached_routes = 4096;
}  // namespace

ServerConnection::ServerConnection(ServerSettings& settings, Loop& loop, std::unique_ptr<ByteStream> stream,
                                   const Protocol& protocol)
    : settings_(settings),
      loop_(loop),
      connection_(
          std::make_shared<Connection>(loop, *settings.log, std::move(stream),
                                       protocol.open(Side::server, settings.limits, settings.encodings->compressors()),
                                       std::string(protocol.name()), settings.connection, *this)) {
  ++loop_.kept_awake;
  settings_.connections.fetch_add(1, std::memory_order_relaxed);
}

ServerConnection::~ServerConnection() {
  --loop_.kept_awake;
  settings_.connections.fetch_sub(1, std::memory_order_relaxed);
}

void ServerConnection::start(std::string_view first, std::shared_ptr<ServerConnection> self) {
  self_ = std::move(self);
  connection_->start(first);
}

void ServerConnection::drain(const Error& reason) {
  if (draining_ || !connection_->open()) return;
  draining_ = true;
  const std::size_t before = connection_->unwritten();
  connection_->go_away(reason);
  untold_ = connection_->unwritten() == before;
  if (untold_)
    settings_.untold.fetch_add(1, std::memory_order_relaxed);
  else if (calls_.size() == 0)
    connection_->close_when_written(reason);
}

Result<ServerConnection::Cached> ServerConnection::resolve(const Frame& frame) const {
  auto route =
      settings_.dispatcher.find({frame.group, frame.interface, frame.version, frame.method, frame.loose_names});
  if (!route.ok()) return std::move(route).error();
  const Encoding* encoding = settings_.encodings->find(frame.serializer, frame.compressor);
  if (!encoding)
    return Error(Errc::unimplemented,
                 "serializer \"" + std::string(frame.serializer) + "\"" +
                     (frame.compressor.empty() ? "" : ", compressor \"" + std::string(frame.compressor) + "\"") +
                     " is not loaded here; add its plugin to the server's plugins.load",
                 Delivery::not_run, Advice::other_instance);
  return Cached{*route, encoding};
}

void ServerConnection::on_frame(Frame& frame) {
  switch (frame.kind) {
    case FrameKind::request: on_request(frame); break;
    case FrameKind::cancel:
      if (CallLink* call = calls_.find(frame.call)) static_cast<ServerCall*>(call)->cancel();
      break;
    case FrameKind::credit:
      if (CallLink* call = calls_.find(frame.call)) static_cast<ServerCall*>(call)->go_on();
      break;
    case FrameKind::goaway:
      // The client will send nothing more; what it still waits for is answered first.
      draining_ = true;
      if (calls_.size() == 0) connection_->close_when_written(Error(Errc::unavailable, "the client is done"));
      break;
    default: break;
  }
}

void ServerConnection::refuse(const Frame& request, Error error) {
  if (!request.one_way) return reply_error(request.call, std::move(error), Duration{0});
  // Nobody hears of it but whoever reads this.
  settings_.log->warn("one-way", "a one-way request of " + connection_->peer().peer + " was dropped: " + error.text());
}

void ServerConnection::on_request(Frame& frame) {
  if (draining_)
    return refuse(frame, Error(Errc::unavailable, "the server is stopping", Delivery::not_run, Advice::other_instance));
  if (settings_.paused.load(std::memory_order_relaxed))
    return refuse(frame, Error(Errc::unavailable, "the server is paused", Delivery::not_run, Advice::other_instance));
  if (settings_.in_flight.load(std::memory_order_relaxed) >= settings_.max_in_flight ||
      calls_.size() + connection_->notices >= settings_.limits.max_concurrent)
    return refuse(frame,
                  Error(Errc::overloaded,
                        "the server is serving " + std::to_string(settings_.in_flight.load(std::memory_order_relaxed)) +
                            " calls already",
                        Delivery::not_run, Advice::other_instance));
  if (!frame.one_way && calls_.find(frame.call)) {
    connection_->close(Error(Errc::malformed, "call number " + std::to_string(frame.call) + " is in use already"));
    return;
  }
  if (frame.token != 0 && frame.token < cache_.size() && cache_[frame.token].encoding) {
    const Cached& cached = cache_[frame.token];
    return begin(frame, cached);
  }
  auto resolved = resolve(frame);
  if (!resolved.ok()) return refuse(frame, std::move(resolved).error());
  if (frame.token != 0 && frame.token < max_cached_routes) {
    if (cache_.size() <= frame.token) cache_.resize(frame.token + 1);
    cache_[frame.token] = *resolved;
  }
  begin(frame, *resolved);
}

void ServerConnection::begin(Frame& frame, const Cached& cached) {
  const Target& target = *cached.route.target;
  if (frame.stream == (target.method->shape == Shape::server_stream))
    return ServerCall::run(*this, frame, cached.route, *cached.encoding);
  const std::string name = target.service->text() + "." + std::string(target.method->name);
  refuse(frame,
         Error(Errc::unimplemented,
               frame.stream ? name + " answers once, the request asks for a stream; is the caller's .proto older?"
                            : name + " is a server_stream, the request asks for one answer; ask by a client "
                                     "that knows streams, over a protocol that carries them",
               Delivery::not_run, Advice::never));
}

Result<void> ServerConnection::encode(const ServerCall& call, const Payload& payload, Frame& frame, OutBuffer& body) {
  Encoding encoding = call.encoding();
  if (!encoding.compressor) encoding.compressor = settings_.compressor.get();
  if (encoding.compressor && !connection_->session().accepts(encoding.compressor->encoding()))
    encoding.compressor = nullptr;
  frame.serializer = encoding.serializer->content_type();
  Result<std::string_view> compressor = encode_body(payload, encoding, body);
  if (!compressor.ok()) return std::move(compressor).error();
  frame.compressor = *compressor;
  if (body.size() > move_above)
    frame.owned = std::move(body);
  else
    frame.body = body.view();
  return {};
}

void ServerConnection::reply(ServerCall& call, Result<Response> result) {
  calls_.remove(call);
  if (!connection_->open()) return;
  if (!result.ok()) {
    reply_error(call.number, std::move(result).error(), loop_.clock().now() - call.started());
  } else {
    Frame frame;
    frame.kind = FrameKind::response;
    frame.call = call.number;
    frame.took = loop_.clock().now() - call.started();
    Result<void> done = encode(call, result->payload, frame, loop_.scratch());
    if (done.ok()) {
      frame.headers = std::move(result->headers);
      frame.attachment = std::move(result->attachment);
      frame.target = &call.target();
      done = connection_->send(frame);
    }
    // The caller must not wait for a reply that cannot be sent.
    if (!done.ok())
      reply_error(call.number, std::move(done).error().prefix("the reply of " + call.describe()).deliver(Delivery::ran),
                  loop_.clock().now() - call.started());
  }
  close_if_drained();
}

void ServerConnection::close_if_drained() {
  if (draining_ && !untold_ && calls_.size() == 0)
    connection_->close_when_written(Error(Errc::unavailable, "drained"));
}

void ServerConnection::reply_error(std::uint32_t number, Error error, Duration took) {
  Frame frame;
  frame.took = took;
  frame.kind = FrameKind::error;
  frame.call = number;
  frame.error = std::move(error);
  if (auto sent = connection_->send(frame); !sent.ok())
    settings_.log->warn("reply-lost",
                        "an error reply to " + connection_->peer().peer + " could not be sent: " + sent.error().text());
}

void ServerConnection::on_closed(const Error&) {
  if (std::exchange(untold_, false)) settings_.untold.fetch_sub(1, std::memory_order_relaxed);
  while (CallLink* link = calls_.any()) {
    auto* call = static_cast<ServerCall*>(link);
    calls_.remove(*link);
    call->detach(connection_);
    call->cancel();
  }
  if (self_) loop_.bury(std::move(self_));
}

}  // namespace tenon
