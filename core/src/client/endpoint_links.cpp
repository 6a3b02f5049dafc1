// An endpoint's connections: made, lost, made again, let go of.
#include "client/endpoint.hpp"

namespace tenon {

namespace {
/// An instance that cannot be connected for the same reason is reported again.
constexpr Duration same_warning_after = std::chrono::seconds(10);
}  // namespace

/// One connection attempt: keeps the endpoint and the task alive until the transport has answered.
class Dial {
 public:
  static void run(std::shared_ptr<RemoteEndpoint> endpoint, std::size_t index, TimePoint deadline) {
    auto* dial = new Dial(std::move(endpoint), index);
    const EndpointSettings& settings = *dial->endpoint_->settings_;
    dial->task_ = dial->endpoint_->transport_->connect(dial->endpoint_->instance_.address, *settings.loop, deadline);
    if (dial->task_.start([](void* self) { static_cast<Dial*>(self)->finish(); }, dial)) dial->finish();
  }

 private:
  Dial(std::shared_ptr<RemoteEndpoint> endpoint, std::size_t index) : endpoint_(std::move(endpoint)), index_(index) {
    ++endpoint_->settings_->loop->outstanding;
  }
  void finish() {
    Result<std::unique_ptr<ByteStream>> stream = task_.take();
    const auto endpoint = std::move(endpoint_);
    const std::size_t index = index_;
    delete this;
    --endpoint->settings_->loop->outstanding;
    endpoint->dialled(index, std::move(stream));
  }

  std::shared_ptr<RemoteEndpoint> endpoint_;
  std::size_t index_;
  Task<Result<std::unique_ptr<ByteStream>>> task_;
};

void RemoteEndpoint::cut(const Error& reason) {
  const auto keep = shared_from_this();
  retire();
  for (Link& link : links_)
    if (const auto connection = link.connection) connection->close(reason);
  close_leaving(reason);
}

void RemoteEndpoint::close_leaving(const Error& reason) {
  while (!leaving_.empty()) {
    ClientConnection* leaving = leaving_.back();
    leaving_.pop_back();
    leaving->close(reason);
  }
}

void RemoteEndpoint::dial(std::size_t index) {
  if (retired_ || links_[index].dialling || links_[index].connection) return;
  links_[index].dialling = true;
  settings_->loop->clock().cancel(links_[index].retry);
  Dial::run(shared_from_this(), index, settings_->loop->clock().now() + settings_->connect_timeout);
}

void RemoteEndpoint::dialled(std::size_t index, Result<std::unique_ptr<ByteStream>> stream) {
  Link& link = links_[index];
  link.dialling = false;
  if (retired_) return;
  if (stream.ok()) {
    next_attempt_ = {};
    last_failure_ = {};
    link.connection = std::make_shared<ClientConnection>(*this, std::move(*stream));
    link.connection->start();
    while (waiting_first_) {
      ClientConnection* connection = pick();
      if (!connection) break;
      Exchange& exchange = *waiting_first_;
      dequeue(exchange);
      submit(exchange, *connection);
    }
    return;
  }
  const TimePoint now = settings_->loop->clock().now();
  const bool news = stream.error().text() != last_failure_.text() || now >= next_warning_;
  last_failure_ = std::move(stream).error();
  if (news) {
    settings_->log->warn("connect", describe() + ": " + last_failure_.text());
    next_warning_ = now + same_warning_after;
  }
  redial_later(index);
  for (const Link& other : links_)
    if (other.dialling || (other.connection && other.connection->usable())) return;
  while (waiting_first_) {
    Exchange& exchange = *waiting_first_;
    dequeue(exchange);
    exchange.fail(Error(Errc::unavailable, describe() + " cannot be connected: " + last_failure_.text(),
                        Delivery::not_run, Advice::other_instance));
  }
}

void RemoteEndpoint::redial_later(std::size_t index) {
  const Duration pause = backoff_.next();
  next_attempt_ = settings_->loop->clock().now() + pause;
  // A lazy endpoint is dialled by the next call after the pause; an eager one by its alarm.
  if (settings_->eager) settings_->loop->clock().arm(links_[index].retry, next_attempt_);
}

void RemoteEndpoint::lost(ClientConnection& connection, const Error& reason) {
  for (std::size_t index = 0; index < links_.size(); ++index) {
    Link& link = links_[index];
    if (link.connection.get() != &connection) continue;
    connection.keep(std::move(link.connection));  // it lives on until it is closed
    if (connection.open()) leaving_.push_back(&connection);
    link.connection = nullptr;
    if (retired_) continue;
    settings_->log->info("connection-lost", describe() + ": " + reason.text());
    if (!last_failure_) last_failure_ = reason;
    if (connection.heard()) backoff_.reset();  // a peer that only accepts is not one that works
    redial_later(index);
  }
}

void RemoteEndpoint::retire() {
  if (retired_) return;
  retired_ = true;
  for (Link& link : links_) settings_->loop->clock().cancel(link.retry);
  while (waiting_first_) {
    Exchange& exchange = *waiting_first_;
    dequeue(exchange);
    exchange.fail(Error(Errc::unavailable, describe() + " left before it was connected", Delivery::not_run,
                        Advice::other_instance));
  }
  if (stats_.in_flight == 0)
    finish_retiring();
  else
    keep_ = shared_from_this();
}

void RemoteEndpoint::finish_retiring() {
  const auto keep = keep_ ? std::move(keep_) : shared_from_this();
  for (Link& link : links_)
    if (auto connection = std::move(link.connection)) {
      connection->close(Error(Errc::unavailable, "the client is done"));
      settings_->loop->bury(std::move(connection));  // we may have been called from inside it
    }
  close_leaving(Error(Errc::unavailable, "the client is done"));
}

}  // namespace tenon
