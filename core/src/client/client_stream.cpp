#include "client/client_stream.hpp"

#include <algorithm>
#include <utility>

#include "client/endpoint.hpp"

namespace tenon {

ClientStream::ClientStream(std::shared_ptr<RemoteEndpoint> endpoint, ClientConnection& connection,
                           const Request& request, std::uint32_t number, std::uint32_t window)
    : endpoint_(std::move(endpoint)),
      connection_(&connection),
      request_(request),
      number_(number),
      credit_from_(std::max<std::size_t>(window / 2, 1)) {
  endpoint_->stream_began();
  watch();
}

ClientStream::~ClientStream() {
  if (!connection_) return;
  abandon();
  over();
}

void ClientStream::watch() {
  deadline_.stream = cancel_.stream = this;
  if (request_.deadline != never) {
    deadline_.fire = [](Alarm* alarm) {
      ClientStream& stream = *static_cast<Deadline*>(alarm)->stream;
      stream.give_up(Error(Errc::deadline_exceeded, stream.describe() + ": the stream has not ended in time",
                           Delivery::ran, Advice::never));
    };
    endpoint_->loop().clock().arm(deadline_, request_.deadline);
  }
  if (!request_.cancel) return;
  cancel_.fire = [](CancelHook* hook) noexcept {
    ClientStream& stream = *static_cast<Cancel*>(hook)->stream;
    stream.give_up(
        Error(Errc::cancelled, stream.describe() + ": the caller gave the stream up", Delivery::ran, Advice::never));
  };
  if (!request_.cancel->add(cancel_)) cancel_.fire(&cancel_);
}

std::string ClientStream::describe() const {
  return request_.target->service->text() + "." + std::string(request_.target->method->name) + " at " +
         endpoint_->instance().address;
}

void ClientStream::abandon() noexcept { connection_->abandon_stream(*this); }

void ClientStream::over() noexcept {
  connection_ = nullptr;
  endpoint_->loop().clock().cancel(deadline_);
  Cancellation::remove(cancel_);
  const std::shared_ptr<RemoteEndpoint> endpoint = endpoint_;  // it may retire
  endpoint->stream_ended();
}

void ClientStream::wake() {
  if (reader_) std::exchange(reader_, {}).resume();
}

// The caller's own wish comes first: what waits is not read any more.
void ClientStream::give_up(Error error) {
  if (!connection_) return;
  abandon();
  waiting_.clear();
  ended_ = true;
  error_ = std::move(error);
  over();
  wake();
}

void ClientStream::on_message(StreamMessage message, std::size_t cost) {
  waiting_.push_back({std::move(message), cost});
  wake();
}

void ClientStream::on_end(Headers trailers) {
  ended_ = true;
  trailers_ = std::move(trailers);
  over();
  wake();
}

void ClientStream::on_failure(Error error) {
  ended_ = true;
  error_ = std::move(error);
  over();
  wake();
}

/// Awaited by next(): until there is something to tell.
class ClientStream::Arrival {
 public:
  explicit Arrival(ClientStream& stream) noexcept : stream_(stream) {}
  bool await_ready() const noexcept { return !stream_.waiting_.empty() || stream_.ended_; }
  void await_suspend(std::coroutine_handle<> reader) const noexcept { stream_.reader_ = reader; }
  void await_resume() const noexcept {}

 private:
  ClientStream& stream_;
};

Task<Result<std::optional<StreamMessage>>> ClientStream::next() {
  Arrival arrival(*this);
  co_await arrival;
  Result<std::optional<StreamMessage>> next = std::optional<StreamMessage>();
  if (!waiting_.empty()) {
    next->emplace(std::move(waiting_.front().message));
    consumed_ += waiting_.front().cost;
    waiting_.pop_front();
    if (connection_ && consumed_ >= credit_from_)
      connection_->give_credit(number_, static_cast<std::uint32_t>(std::exchange(consumed_, 0)));
  } else if (error_) {
    next = error_;
  }
  co_return std::move(next);
}

}  // namespace tenon
