// Streams of one connection: head, messages, end, and when there is room for more.
#include <utility>

#include "server/server_call.hpp"
#include "server/server_connection.hpp"

namespace tenon {

Result<void> ServerConnection::send_head(ServerCall& call, Response& head) {
  Frame frame;
  frame.kind = FrameKind::response;
  frame.stream = true;
  frame.call = call.number;
  frame.target = &call.target();
  frame.took = loop_.clock().now() - call.started();
  frame.headers = std::move(head.headers);
  frame.attachment = std::move(head.attachment);
  Result<void> sent = connection_->send(frame);
  if (!sent.ok()) return std::move(sent).error().prefix("the head of " + call.describe()).deliver(Delivery::ran);
  return sent;
}

Result<void> ServerConnection::send_message(ServerCall& call, StreamMessage& message) {
  Frame frame;
  frame.kind = FrameKind::message;
  frame.call = call.number;
  frame.target = &call.target();
  Result<void> sent = encode(call, message.payload, frame, loop_.scratch());
  if (sent.ok()) {
    frame.attachment = std::move(message.attachment);
    sent = connection_->send(frame);
  }
  if (!sent.ok()) return std::move(sent).error().prefix("a message of " + call.describe()).deliver(Delivery::ran);
  return sent;
}

void ServerConnection::end_stream(ServerCall& call, Error error, Headers trailers) {
  calls_.remove(call);
  if (!connection_->open()) return;
  Frame frame;
  frame.kind = FrameKind::end;
  frame.call = call.number;
  frame.target = &call.target();
  frame.headers = std::move(trailers);
  frame.error = std::move(error);
  if (Result<void> sent = connection_->send(frame); !sent.ok()) {
    // The caller must not wait for an end that cannot be sent.
    frame.headers.clear();
    frame.error = std::move(sent).error().prefix("the end of " + call.describe()).deliver(Delivery::ran);
    if (sent = connection_->send(frame); !sent.ok())
      settings_.log->warn("reply-lost", "the end of a stream to " + connection_->peer().peer +
                                            " could not be sent: " + sent.error().text());
  }
  close_if_drained();
}

bool ServerConnection::has_room(const ServerCall& call) {
  if (!connection_->open() || connection_->session().credit(call.number) <= 0) return false;
  if (!connection_->crowded()) return true;
  stalled_.push_back(call.number);
  return false;
}

void ServerConnection::on_room() {
  const std::vector<std::uint32_t> stalled = std::move(stalled_);
  stalled_.clear();
  for (const std::uint32_t number : stalled)
    if (CallLink* call = calls_.find(number)) static_cast<ServerCall*>(call)->go_on();
}

}  // namespace tenon
