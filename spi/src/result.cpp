#include "tenon/result.hpp"

#include "tenon/headers.hpp"

namespace tenon {

std::string_view to_string(Errc code) noexcept {
  switch (code) {
    case Errc::ok: return "ok";
    case Errc::cancelled: return "cancelled";
    case Errc::deadline_exceeded: return "deadline_exceeded";
    case Errc::unavailable: return "unavailable";
    case Errc::overloaded: return "overloaded";
    case Errc::not_found: return "not_found";
    case Errc::invalid_argument: return "invalid_argument";
    case Errc::malformed: return "malformed";
    case Errc::too_large: return "too_large";
    case Errc::unauthenticated: return "unauthenticated";
    case Errc::permission_denied: return "permission_denied";
    case Errc::unimplemented: return "unimplemented";
    case Errc::application: return "application";
    case Errc::internal: return "internal";
    case Errc::would_deadlock: return "would_deadlock";
    case Errc::config: return "config";
    case Errc::already_exists: return "already_exists";
  }
  return "unknown";
}

std::string_view to_string(Delivery delivery) noexcept {
  switch (delivery) {
    case Delivery::not_run: return "not_run";
    case Delivery::maybe_run: return "maybe_run";
    case Delivery::ran: return "ran";
  }
  return "unknown";
}

struct Error::Detail {
  Errc code = Errc::internal;
  Delivery delivery = Delivery::maybe_run;
  Advice advice = Advice::none;
  std::chrono::milliseconds after{0};
  std::string text;
  std::string domain;
  std::int64_t foreign_code = 0;
  Headers headers;
};

namespace {
const std::string no_text;
}

Error::Error(Errc code, std::string text, Delivery delivery, Advice advice) : detail_(new Detail) {
  detail_->code = code;
  detail_->delivery = delivery;
  detail_->advice = advice;
  detail_->text = std::move(text);
}
Error::Error(const Error& other) : detail_(other.detail_ ? new Detail(*other.detail_) : nullptr) {}
void Error::destroy() noexcept { delete detail_; }

Errc Error::code() const noexcept { return detail_ ? detail_->code : Errc::ok; }
Delivery Error::delivery() const noexcept { return detail_ ? detail_->delivery : Delivery::ran; }
Advice Error::advice() const noexcept { return detail_ ? detail_->advice : Advice::none; }
std::chrono::milliseconds Error::retry_after() const noexcept {
  return detail_ ? detail_->after : std::chrono::milliseconds(0);
}
const std::string& Error::text() const noexcept { return detail_ ? detail_->text : no_text; }
const std::string& Error::domain() const noexcept { return detail_ ? detail_->domain : no_text; }
std::int64_t Error::foreign_code() const noexcept { return detail_ ? detail_->foreign_code : 0; }
const Headers* Error::headers() const noexcept {
  return detail_ && !detail_->headers.empty() ? &detail_->headers : nullptr;
}

Error& Error::deliver(Delivery delivery) & noexcept {
  if (detail_) detail_->delivery = delivery;
  return *this;
}
Error& Error::advise(Advice advice, std::chrono::milliseconds after) & noexcept {
  if (detail_) {
    detail_->advice = advice;
    detail_->after = after;
  }
  return *this;
}
Error& Error::foreign(std::string domain, std::int64_t code) & {
  if (detail_) {
    detail_->domain = std::move(domain);
    detail_->foreign_code = code;
  }
  return *this;
}
Error& Error::attach(Headers headers) & {
  if (detail_) detail_->headers = std::move(headers);
  return *this;
}
Error& Error::prefix(std::string_view where) & {
  if (detail_) detail_->text.insert(0, std::string(where) + ": ");
  return *this;
}

}  // namespace tenon
