#include "server/server_call.hpp"

#include <exception>

#include "server/pooled_call.hpp"

namespace tenon {

ServerCall::ServerCall(ServerConnection& connection, Frame& frame, const Route& route, const Encoding& encoding)
    : connection_(&connection),
      settings_(connection.settings_),
      home_(&connection.loop_),
      encoding_(&encoding),
      request_(*route.target),
      one_way_(frame.one_way),
      pooled_(route.pool != nullptr) {
  number = frame.call;
  Loop& loop = connection.loop_;
  info_.side = Side::server;
  info_.peer = &connection.connection_->peer();
  info_.target = route.target;
  info_.headers = &request_.headers;
  info_.started = loop.clock().now();
  info_.attachment = &request_.attachment;
  info_.reply = &extras_;
  info_.cancel = &cancellation_;
  info_.executor = &loop;
  info_.request_bytes = frame.bytes().size();
  if (frame.remaining > Duration{0}) info_.deadline = info_.started + frame.remaining;
  if (!frame.owned.empty())
    request_.payload = Payload::adopt_encoded(encoding, std::move(frame.owned));
  else
    request_.payload = Payload::borrow_encoded(encoding, frame.body);
  // The bytes are the read buffer's. The service decodes them before it suspends; filters might suspend first, and
  // another thread comes later.
  if (pooled_ || route.offered->filtered()) request_.payload.own();
  request_.headers = std::move(frame.headers);
  request_.attachment = std::move(frame.attachment);
  request_.deadline = info_.deadline;
  request_.cancel = &cancellation_;
  request_.info = &info_;
}

void ServerCall::run(ServerConnection& connection, Frame& frame, const Route& route, const Encoding& encoding) {
  if (route.pool) return PooledCall::run(connection, frame, route, encoding);
  auto* call = new ServerCall(connection, frame, route, encoding);
  // A call that wants no answer is nobody's: its number may be used again at once, and the connection may go.
  if (call->one_way_)
    call->become_notice(connection.connection_);
  else
    connection.calls_.add(*call);
  connection.settings_.in_flight.fetch_add(1, std::memory_order_relaxed);
  auto done = [](void* self) { static_cast<ServerCall*>(self)->finish(); };
  if (call->start(route.offered->entry(), done, call)) call->finish();
}

bool ServerCall::start(Invoker& entry, void (*done)(void*), void* self) {
  try {
    task_ = entry.call(request_);
  } catch (...) {
    // A handler that is not a coroutine threw: same treatment as one that is, in take_result().
    task_ = [](std::exception_ptr thrown) -> Task<Result<Response>> {
      std::rethrow_exception(thrown);
      co_return Response();
    }(std::current_exception());
  }
  return task_.start(done, self);
}

std::string ServerCall::describe() const {
  return request_.target->service->text() + "." + std::string(request_.target->method->name);
}

Result<Response> ServerCall::take_result() {
  Result<Response> result = Error(Errc::internal, "", Delivery::ran);
  try {
    result = task_.take();
  } catch (const std::exception& e) {
    settings_.log->error("handler-exception", describe() + " threw: " + e.what());
    result = Error(Errc::internal, describe() + " failed: " + e.what(), Delivery::ran);
  } catch (...) {
    settings_.log->error("handler-exception", describe() + " threw something that is not a std::exception");
    result = Error(Errc::internal, describe() + " failed", Delivery::ran);
  }
  task_ = {};
  if (result.ok() && (result->messages != nullptr) != (target().method->shape == Shape::server_stream))
    result = Error(Errc::internal,
                   describe() + (result->messages ? " answered with a stream although it is none"
                                                  : " is a server_stream and answered without one"),
                   Delivery::ran);
  return result;
}

void ServerCall::finish() {
  Result<Response> result = take_result();
  if (result.ok() && result->messages) return begin_stream(std::move(*result), nullptr);
  settings_.in_flight.fetch_sub(1, std::memory_order_relaxed);
  notice_ended();
  if (connection_) connection_->reply(*this, std::move(result));
  delete this;
}

void ServerCall::begin_stream(Response head, Loop* away) {
  served_ = std::make_unique<ServedStream>(*this, std::move(head.messages), *home_, away);
  Result<void> sent;
  if (connection_) sent = connection_->send_head(*this, head);
  if (!connection_ || !sent.ok())
    served_->cancel(sent.ok() ? Error(Errc::cancelled, "the caller is gone", Delivery::ran) : std::move(sent).error());
  else
    served_->pump();
}

bool ServerCall::may_send() { return connection_ && connection_->has_room(*this); }

Result<void> ServerCall::send_message(StreamMessage& message) { return connection_->send_message(*this, message); }

void ServerCall::end_stream(Error error, Headers trailers) {
  settings_.in_flight.fetch_sub(1, std::memory_order_relaxed);
  if (connection_) connection_->end_stream(*this, std::move(error), std::move(trailers));
  if (pooled_) return static_cast<PooledCall*>(this)->stream_over();
  delete this;
}

void ServerCall::leave_pool() noexcept { static_cast<PooledCall*>(this)->left(); }

void ServerCall::cancel_pooled() noexcept { static_cast<PooledCall*>(this)->give_up(); }

}  // namespace tenon
