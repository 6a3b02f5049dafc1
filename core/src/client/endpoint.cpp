#include "client/endpoint.hpp"

#include <algorithm>

namespace tenon {

namespace {

/// An alarm that rings later than this tells that the thread did not get to run: the reply may be there, unread.
constexpr Duration starved_by = std::chrono::milliseconds(20);
/// Of Stats::peak_latency_us.
constexpr double peak_decay_seconds = 10;

std::string milliseconds(Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count()) + " ms";
}

/// What speaks against the instance as soon as it is said (Stats); a broken connection is counted once for all calls.
bool is_fault(const Error& error, bool sent, bool starved) noexcept {
  switch (error.code()) {
    case Errc::deadline_exceeded: return sent && !starved;
    case Errc::internal:
    case Errc::malformed: return error.delivery() != Delivery::not_run;
    default: return false;
  }
}

}  // namespace

bool Exchange::await_suspend(std::coroutine_handle<> caller) {
  caller_ = caller;
  if (endpoint_.begin(*this)) return false;
  suspended_ = true;
  return true;
}

void Exchange::complete() {
  finished_ = true;
  endpoint_.finished(*this, result_);
  if (suspended_) caller_.resume();
}

std::shared_ptr<Endpoint> RemoteEndpoint::dial(std::shared_ptr<const EndpointSettings> settings, Instance instance,
                                               std::shared_ptr<const Transport> transport) {
  std::shared_ptr<RemoteEndpoint> endpoint(
      new RemoteEndpoint(std::move(settings), std::move(instance), std::move(transport)));
  if (endpoint->settings_->eager)
    for (std::size_t index = 0; index < endpoint->links_.size(); ++index) endpoint->dial(index);
  Endpoint* handle = endpoint.get();
  auto release = [endpoint = std::move(endpoint)](Endpoint*) mutable { endpoint->retire(); };
  return std::shared_ptr<Endpoint>(handle, std::move(release));
}

RemoteEndpoint::RemoteEndpoint(std::shared_ptr<const EndpointSettings> settings, Instance instance,
                               std::shared_ptr<const Transport> transport)
    : settings_(std::move(settings)),
      instance_(std::move(instance)),
      transport_(std::move(transport)),
      direct_(*this),
      chain_(settings_->attempt_filters, direct_),
      links_(std::max<std::uint32_t>(settings_->connections, 1)),
      backoff_(std::random_device()(), settings_->max_reconnect_pause) {
  settings_->endpoints.push_back(this);
  for (std::size_t index = 0; index < links_.size(); ++index) {
    Link::Retry& retry = links_[index].retry;
    retry.endpoint = this;
    retry.index = index;
    retry.fire = [](Alarm* alarm) {
      auto* due = static_cast<Link::Retry*>(alarm);
      const auto keep = due->endpoint->shared_from_this();
      due->endpoint->dial(due->index);
    };
  }
}

RemoteEndpoint::~RemoteEndpoint() {
  for (Link& link : links_) settings_->loop->clock().cancel(link.retry);
  std::erase(settings_->endpoints, this);
}

std::string RemoteEndpoint::describe() const { return settings_->service.text() + " at " + instance_.address; }

Task<Result<Response>> RemoteEndpoint::call(Request& request) {
  if (chain_.empty()) return exchange(request);
  return chain_.first().call(request);
}

Task<Result<Response>> RemoteEndpoint::exchange(Request& request) {
  Exchange exchange(*this, request);
  co_return co_await exchange;
}

Health RemoteEndpoint::health() const noexcept {
  bool open = false;
  bool connected = false;
  bool dialling = false;
  for (const Link& link : links_) {
    const bool usable = link.connection && link.connection->usable();
    connected = connected || usable;
    open = open || (usable && !link.connection->full());
    dialling = dialling || link.dialling;
  }
  if (open) return stats_.in_flight < settings_->max_in_flight ? Health::open : Health::busy;
  if (connected) return Health::busy;
  // Who has a choice does not wait for a connection that may never come. A lazy one is dialled by a call, though: it
  // looks busy when its turn has come.
  if (dialling || settings_->eager) return Health::closed;
  return last_failure_ && settings_->loop->clock().now() < next_attempt_ ? Health::closed : Health::busy;
}

ClientConnection* RemoteEndpoint::pick() noexcept {
  if (links_.size() == 1) {
    ClientConnection* only = links_.front().connection.get();
    return only && only->usable() && !only->full() ? only : nullptr;
  }
  for (std::size_t tried = 0; tried < links_.size(); ++tried) {
    Link& link = links_[next_link_];
    next_link_ = next_link_ + 1 == links_.size() ? 0 : next_link_ + 1;
    if (link.connection && link.connection->usable() && !link.connection->full()) return link.connection.get();
  }
  return nullptr;
}

bool RemoteEndpoint::begin(Exchange& exchange) {
  Clock& clock = settings_->loop->clock();
  exchange.started_ = clock.now();
  ++stats_.in_flight;
  ++stats_.calls;
  ++settings_->loop->outstanding;
  if (stats_.in_flight > settings_->max_in_flight) {
    exchange.fail(Error(
        Errc::overloaded,
        describe() + ": " + std::to_string(settings_->max_in_flight) + " calls are in flight already (max_in_flight)",
        Delivery::not_run, Advice::other_instance));
    return true;
  }
  if (ClientConnection* connection = pick()) return submit(exchange, *connection) || watch(exchange);
  bool dialling = false;
  bool connected = false;
  for (std::size_t index = 0; index < links_.size(); ++index) {
    connected = connected || (links_[index].connection && links_[index].connection->usable());
    if (!links_[index].connection && !links_[index].dialling && !retired_ && clock.now() >= next_attempt_) dial(index);
    dialling = dialling || links_[index].dialling;
  }
  if (exchange.finished_) return true;
  if (ClientConnection* connection = pick())
    return submit(exchange, *connection) || watch(exchange);  // the dial succeeded at once
  if (!dialling) {
    Error error(Errc::unavailable, "", Delivery::not_run, Advice::other_instance);
    if (connected)
      error = Error(Errc::overloaded, describe() + ": every connection carries as many calls as the peer allows",
                    Delivery::not_run, Advice::other_instance);
    else if (retired_)
      error = Error(Errc::unavailable, describe() + " is being closed", Delivery::not_run, Advice::other_instance);
    else
      error = Error(Errc::unavailable,
                    describe() + " is not connected: " + last_failure_.text() + "; next attempt in " +
                        milliseconds(std::max(next_attempt_ - clock.now(), Duration{0})),
                    Delivery::not_run, Advice::other_instance);
    exchange.fail(std::move(error));
    return true;
  }
  enqueue(exchange);
  return watch(exchange);
}

bool RemoteEndpoint::submit(Exchange& exchange, ClientConnection& connection) {
  if (auto sent = connection.send(exchange); !sent.ok()) {
    exchange.fail(std::move(sent).error());
    return true;
  }
  if (exchange.request_.target->method->shape != Shape::one_way) return false;
  connection.forget(exchange);
  exchange.complete();
  return true;
}

bool RemoteEndpoint::watch(Exchange& exchange) {
  const Request& request = exchange.request_;
  exchange.deadline_.exchange = exchange.cancel_.exchange = &exchange;
  if (request.deadline != never) {
    exchange.deadline_.fire = [](Alarm* alarm) {
      Exchange& late = *static_cast<Exchange::Deadline*>(alarm)->exchange;
      const RemoteEndpoint& endpoint = late.endpoint_;
      const TimePoint now = endpoint.settings_->loop->clock().now();
      const Duration waited = now - late.started_;
      late.starved_ = now - late.request_.deadline > starved_by;
      late.endpoint_.give_up(
          late, Error(Errc::deadline_exceeded,
                      endpoint.describe() + ": " + std::string(late.request_.target->method->name) +
                          (late.connection_ ? ": no reply within " : ": not connected within ") + milliseconds(waited),
                      late.connection_ ? Delivery::maybe_run : Delivery::not_run));
    };
    settings_->loop->clock().arm(exchange.deadline_, request.deadline);
  }
  if (!request.cancel) return false;
  exchange.cancel_.fire = [](CancelHook* hook) noexcept {
    Exchange& cancelled = *static_cast<Exchange::Cancel*>(hook)->exchange;
    cancelled.endpoint_.give_up(cancelled,
                                Error(Errc::cancelled, "the caller gave the call up",
                                      cancelled.connection_ ? Delivery::maybe_run : Delivery::not_run, Advice::never));
  };
  if (request.cancel->add(exchange.cancel_)) return false;
  exchange.cancel_.fire(&exchange.cancel_);
  return true;
}

void RemoteEndpoint::enqueue(Exchange& exchange) {
  exchange.previous_ = waiting_last_;
  (waiting_last_ ? waiting_last_->next_ : waiting_first_) = &exchange;
  waiting_last_ = &exchange;
}

void RemoteEndpoint::dequeue(Exchange& exchange) noexcept {
  (exchange.previous_ ? exchange.previous_->next_ : waiting_first_) = exchange.next_;
  (exchange.next_ ? exchange.next_->previous_ : waiting_last_) = exchange.previous_;
  exchange.previous_ = exchange.next_ = nullptr;
}

void RemoteEndpoint::give_up(Exchange& exchange, Error error) {
  if (exchange.connection_)
    exchange.connection_->abandon(exchange);
  else
    dequeue(exchange);
  exchange.fail(std::move(error));
}

void RemoteEndpoint::finished(Exchange& exchange, const Result<Response>& result) {
  Clock& clock = settings_->loop->clock();
  clock.cancel(exchange.deadline_);
  Cancellation::remove(exchange.cancel_);
  --stats_.in_flight;
  --settings_->loop->outstanding;
  const double took = std::chrono::duration<double, std::micro>(clock.now() - exchange.started_).count();
  if (result.ok()) {
    stats_.latency_ewma_us += (took - stats_.latency_ewma_us) * 0.0424;  // half-life of 16 calls
    note(false, took);
  } else {
    ++stats_.errors;
    const Error& error = result.error();
    // A call that had less time than the instance usually takes says nothing about it.
    const bool fair = error.code() != Errc::deadline_exceeded || took >= 2 * stats_.latency_ewma_us;
    if (fair && is_fault(error, exchange.connection_ != nullptr, exchange.starved_))
      note(true, took);
    else if (error.delivery() == Delivery::ran)
      stats_.consecutive_faults = 0;  // it answers
  }
  if (retired_ && stats_.in_flight == 0) finish_retiring();
}

void RemoteEndpoint::note(bool fault, double took_us) noexcept {
  if (fault) {
    ++stats_.faults;
    ++stats_.consecutive_faults;
  } else {
    stats_.consecutive_faults = 0;
  }
  const TimePoint now = settings_->loop->clock().now();
  if (took_us >= stats_.peak_latency_us) {
    stats_.peak_latency_us = took_us;
  } else {
    // exp(-age / 10 s) as the first terms of its denominator's series: two multiplications instead of a library call.
    const double age = std::chrono::duration<double>(now - stats_.peak_at).count() / peak_decay_seconds;
    const double kept = 1 / (1 + age * (1 + age / 2));
    stats_.peak_latency_us = stats_.peak_latency_us * kept + took_us * (1 - kept);
  }
  stats_.peak_at = now;
}

void RemoteEndpoint::stream_began() noexcept {
  ++stats_.in_flight;
  ++settings_->loop->outstanding;
}

void RemoteEndpoint::stream_ended() noexcept {
  --stats_.in_flight;
  --settings_->loop->outstanding;
  if (retired_ && stats_.in_flight == 0) finish_retiring();
}

Result<std::shared_ptr<Endpoint>> EndpointDialer::dial(const Instance& instance) {
  const std::string& name = instance.transport.empty() ? settings_->transport : instance.transport;
  const auto found = settings_->transports.find(name);
  if (found == settings_->transports.end())
    return Error(Errc::config, "instance " + instance.address + " of " + settings_->service.text() +
                                   " wants transport \"" + name +
                                   "\", which is not loaded; add its plugin to plugins.load");
  const std::string protocol(settings_->protocol->name());
  if (!instance.protocols.empty() && std::ranges::find(instance.protocols, protocol) == instance.protocols.end())
    return Error(Errc::config, "instance " + instance.address + " of " + settings_->service.text() +
                                   " does not speak protocol \"" + protocol + "\"");
  if (auto checked = found->second->check(instance.address); !checked.ok()) return std::move(checked).error();
  return RemoteEndpoint::dial(settings_, instance, found->second);
}

}  // namespace tenon
