#pragma once
// The typed side of a Service: decode the request, run the handler, hand over the reply.

#include <memory>
#include <type_traits>
#include <utility>

#include "tenon/describe.hpp"
#include "tenon/service.hpp"

namespace tenon {

namespace detail {

/// An object made by type.create(), destroyed (or recycled) by type.destroy().
template <class T>
class Made {
 public:
  explicit Made(const MessageType& type) : type_(type), object_(static_cast<T*>(type.create())) {}
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  ~Made() {
    if (object_) type_.destroy(object_);
  }
  T& operator*() const noexcept { return *object_; }
  T* get() const noexcept { return object_; }
  T* release() noexcept { return std::exchange(object_, nullptr); }

 private:
  const MessageType& type_;
  T* object_;
};

/// What the handler left in CallInfo::reply.
inline void add_extras(const Request& request, Response& response) {
  if (!request.info || !request.info->reply) return;
  response.headers = std::move(request.info->reply->headers);
  response.attachment = std::move(request.info->reply->attachment);
}

/// Refuses a request whose payload cannot be decoded.
TENON_SPI Error bad_request(Error error, const Request& request);

}  // namespace detail

/// Runs `handler(const In&, Out&) -> Task<Result<void>>` for a request of Target input In, output Out.
/// The reply object comes from a per-thread store and is cleared, so a warm call allocates nothing.
template <class In, class Out, class Handler>
Task<Result<Response>> serve(Request& request, Handler handler) {
  const Method& method = *request.target->method;
  detail::Made<In> in(*method.input);
  if (auto taken = request.payload.take_into(*method.input, in.get()); !taken.ok())
    co_return detail::bad_request(std::move(taken).error(), request);
  detail::Made<Out> out(*method.output);
  Result<void> done = co_await handler(*in, *out);
  if (!done.ok()) co_return std::move(done).error().deliver(Delivery::ran);
  Response response;
  response.payload = Payload::adopt(*method.output, out.release());
  detail::add_extras(request, response);
  co_return std::move(response);
}

}  // namespace tenon
