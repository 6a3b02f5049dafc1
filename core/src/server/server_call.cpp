#include "server/server_call.hpp"

#include <exception>

namespace tenon {

ServerCall::ServerCall(ServerConnection& connection, Frame& frame, const Route& route, const Encoding& encoding)
    : connection_(&connection),
      settings_(connection.settings_),
      encoding_(&encoding),
      request_(*route.target),
      one_way_(frame.one_way) {
  number = frame.call;
  Loop& loop = connection.loop_;
  info_.side = Side::server;
  info_.peer = &connection.connection_->peer();
  info_.target = route.target;
  info_.headers = &request_.headers;
  info_.started = loop.clock().now();
  info_.cancel = &cancellation_;
  info_.executor = &loop;
  info_.request_bytes = frame.bytes().size();
  if (frame.remaining > Duration{0}) info_.deadline = info_.started + frame.remaining;
  if (!frame.owned.empty())
    request_.payload = Payload::adopt_encoded(encoding, std::move(frame.owned));
  else
    request_.payload = Payload::borrow_encoded(encoding, frame.body);
  // The bytes are the read buffer's. The service decodes them before it suspends; filters might suspend first.
  if (route.offered->filtered()) request_.payload.own();
  request_.headers = std::move(frame.headers);
  request_.deadline = info_.deadline;
  request_.cancel = &cancellation_;
  request_.info = &info_;
}

void ServerCall::run(ServerConnection& connection, Frame& frame, const Route& route, const Encoding& encoding) {
  auto* call = new ServerCall(connection, frame, route, encoding);
  // A call that wants no answer is nobody's: its number may be used again at once, and the connection may go.
  if (call->one_way_)
    call->detach(connection.connection_);
  else
    connection.calls_.add(*call);
  connection.settings_.in_flight.fetch_add(1, std::memory_order_relaxed);
  try {
    call->task_ = route.offered->entry().call(call->request_);
  } catch (...) {
    // A handler that is not a coroutine threw: same treatment as one that is, in finish().
    call->task_ = [](std::exception_ptr thrown) -> Task<Result<Response>> {
      std::rethrow_exception(thrown);
      co_return Response();
    }(std::current_exception());
  }
  if (call->task_.start([](void* self) { static_cast<ServerCall*>(self)->finish(); }, call)) call->finish();
}

void ServerCall::finish() {
  Result<Response> result = Error(Errc::internal, "", Delivery::ran);
  try {
    result = task_.take();
  } catch (const std::exception& e) {
    const std::string where = request_.target->service->text() + "." + std::string(request_.target->method->name);
    settings_.log->error("handler-exception", where + " threw: " + e.what());
    result = Error(Errc::internal, where + " failed: " + e.what(), Delivery::ran);
  } catch (...) {
    const std::string where = request_.target->service->text() + "." + std::string(request_.target->method->name);
    settings_.log->error("handler-exception", where + " threw something that is not a std::exception");
    result = Error(Errc::internal, where + " failed", Delivery::ran);
  }
  task_ = {};
  settings_.in_flight.fetch_sub(1, std::memory_order_relaxed);
  if (connection_) connection_->reply(*this, std::move(result));
  delete this;
}

}  // namespace tenon
