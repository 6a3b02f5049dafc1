// How long the session waits for its peer.
#include <algorithm>
#include <new>

#include "session.hpp"

namespace tenon::http {
namespace {

constexpr Duration linger_time = std::chrono::seconds(2);
constexpr Duration max_tick = std::chrono::milliseconds(2500);

Error error(Errc code, std::string text) {
  return Error(code, "protocol http: " + std::move(text), Delivery::not_run, Advice::never);
}

}  // namespace

HttpSession::Phase HttpSession::phase() const noexcept {
  if (mode_ == Mode::linger) return Phase::linger;
  if (mode_ == Mode::done || unwritten() > 0 || !pipeline_.empty()) return Phase::busy;
  if (mode_ == Mode::body || mode_ == Mode::chunks) return Phase::body;
  if (!held_.empty()) return Phase::head;
  return heard_ ? Phase::idle : Phase::fresh;
}

TimePoint HttpSession::next_deadline() const noexcept {
  if (mode_ == Mode::failed) return never;
  Duration interval = max_tick;
  for (const Duration limit : {Duration(settings_->options.header_timeout), Duration(settings_->options.idle_timeout)})
    if (limit > Duration{0}) interval = std::min(interval, std::max<Duration>(limit / 4, std::chrono::milliseconds(1)));
  return ticked_ + interval;
}

// The session is told the time only here. What it waits for began after the tick before the one that notes it, so that
// nobody has less than the limit, and at most half as much more.
Result<void> HttpSession::tick(TimePoint now) {
  ticked_ = now;
  if (mode_ == Mode::failed) return {};
  const Phase current = phase();
  if (current != noted_phase_ || step_ != noted_step_) {
    noted_phase_ = current;
    noted_step_ = step_;
    since_ = now;
    return {};
  }
  Duration limit{0};
  switch (current) {
    case Phase::busy: return {};
    case Phase::fresh:
    case Phase::head: limit = settings_->options.header_timeout; break;
    case Phase::idle:
    case Phase::body: limit = settings_->options.idle_timeout; break;
    case Phase::linger: limit = linger_time; break;
  }
  if (limit == Duration{0} || now - since_ < limit) return {};
  try {
    return expire(current);
  } catch (const std::bad_alloc&) {
    mode_ = Mode::failed;
    return error(Errc::overloaded, "out of memory while answering a request that took too long to arrive");
  }
}

Result<void> HttpSession::expire(Phase current) {
  const auto told = [](std::chrono::milliseconds limit) { return std::to_string(limit.count()) + " ms"; };
  const HttpOptions& options = settings_->options;
  mode_ = Mode::failed;
  switch (current) {
    case Phase::linger:
      return error(Errc::too_large, "closed after a request was refused for its size; the client did not close");
    case Phase::fresh:
      return error(Errc::deadline_exceeded, "no request within " + told(options.header_timeout) + " (header_timeout)");
    case Phase::idle:
      return error(Errc::unavailable, "no request for " + told(options.idle_timeout) + " (idle_timeout)");
    case Phase::head:
    case Phase::body:
    case Phase::busy: break;
  }
  const bool head = current == Phase::head;
  const std::string text =
      head ? "the head of the request was not complete within " + told(options.header_timeout) + " (header_timeout)"
           : "nothing of the request's body came for " + told(options.idle_timeout) + " (idle_timeout)";
  if (head) request_ = {};
  request_.call.close = true;
  refuse(request_.call, refusal(408, Errc::deadline_exceeded, text));
  return error(Errc::deadline_exceeded, text);
}

}  // namespace tenon::http
