#include "failure.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <algorithm>
#include <charconv>
#include <optional>

#include "tenon/utf8.hpp"

namespace tenon::motan2 {
namespace {

constexpr std::size_t max_text = 16u << 10;
constexpr std::size_t max_domain = 256;
constexpr std::string_view errtype_header = "errtype";
// Motan's clients look at how these two errors' texts begin.
constexpr std::int64_t not_exist = 404;
constexpr std::int64_t not_supported = 501;

enum ErrType : std::int64_t { framework_error = 0, service_error = 1, business_error = 2 };

/// What an errcode means here. The first row of a meaning that put_failure() produces is the one it sends.
struct Row {
  std::int64_t code;
  Errc errc;
  Delivery delivery;
  Advice advice;
};
constexpr Row rows[] = {
    {404, Errc::not_found, Delivery::not_run, Advice::other_instance},       // provider (path) does not exist
    {501, Errc::unimplemented, Delivery::not_run, Advice::never},            // unknown framework method
    {10001, Errc::internal, Delivery::maybe_run, Advice::none},              // generic service error
    {10002, Errc::overloaded, Delivery::not_run, Advice::other_instance},    // rejected
    {10003, Errc::deadline_exceeded, Delivery::maybe_run, Advice::none},     // timeout
    {10004, Errc::cancelled, Delivery::maybe_run, Advice::never},            // task cancelled
    {10101, Errc::not_found, Delivery::not_run, Advice::never},              // method not found
    {10201, Errc::too_large, Delivery::not_run, Advice::never},              // request length over limit
    {20001, Errc::internal, Delivery::maybe_run, Advice::none},              // framework: default
    {20002, Errc::internal, Delivery::maybe_run, Advice::none},              // encode
    {20003, Errc::malformed, Delivery::maybe_run, Advice::never},            // decode
    {20004, Errc::unavailable, Delivery::not_run, Advice::other_instance},   // init
    {20005, Errc::unavailable, Delivery::not_run, Advice::other_instance},   // export
    {20006, Errc::unavailable, Delivery::maybe_run, Advice::other_instance},  // server
    {20007, Errc::unavailable, Delivery::not_run, Advice::other_instance},   // refer
    {20008, Errc::unavailable, Delivery::not_run, Advice::other_instance},   // register
    {30001, Errc::application, Delivery::ran, Advice::never},                // thrown by the provider's code
    // motan-go
    {400, Errc::unavailable, Delivery::maybe_run, Advice::other_instance},   // channel error, timeout, rate limit
    {500, Errc::internal, Delivery::maybe_run, Advice::none},                // panic, no method, undecodable
    {1001, Errc::unavailable, Delivery::not_run, Advice::other_instance},    // no endpoint
    {1002, Errc::unavailable, Delivery::not_run, Advice::other_instance},    // no channel
    {1003, Errc::malformed, Delivery::not_run, Advice::never},               // unknown message
    {1004, Errc::malformed, Delivery::maybe_run, Advice::never},             // conversion failure
};

const Row* find_row(std::int64_t code) noexcept {
  for (const Row& row : rows)
    if (row.code == code) return &row;
  return nullptr;
}

std::int64_t usual_type(std::int64_t code) noexcept {
  if (code == 30001) return business_error;
  return code >= 20001 && code <= 20008 ? framework_error : service_error;
}

Row meaning(std::int64_t code, std::int64_t type) noexcept {
  if (const Row* row = find_row(code)) return *row;
  if (type == business_error) return {code, Errc::application, Delivery::ran, Advice::never};
  return {code, Errc::internal, Delivery::maybe_run, Advice::none};
}

// Only what certainly did not run may be answered with a code that peers send again.
std::int64_t code_of(const Error& error, bool framework) noexcept {
  if (error.code() == Errc::deadline_exceeded) return 10003;
  if (error.code() == Errc::cancelled) return 10004;
  if (error.delivery() == Delivery::ran) return 30001;
  if (error.delivery() == Delivery::maybe_run) return 10001;
  switch (error.code()) {
    case Errc::not_found:
      if (framework) return not_supported;
      return error.advice() == Advice::never ? 10101 : not_exist;
    case Errc::overloaded:
    case Errc::unavailable: return 10002;
    case Errc::too_large: return 10201;
    default: return 10001;
  }
}

// At most `limit` bytes, not the half of a UTF-8 sequence.
std::string cut(std::string text, std::size_t limit) {
  if (text.size() <= limit) return text;
  std::size_t end = limit;
  while (end > 0 && limit - end < 4 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text;
}

// JSON is UTF-8; a peer could not read anything of the error if one byte of its text were not.
std::string readable(std::string text) {
  if (is_utf8(text)) return text;
  for (char& c : text)
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  return text;
}

template <class T>
std::optional<T> number(std::string_view text) noexcept {
  T value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view word(std::string_view& rest) noexcept {
  const std::size_t space = std::min(rest.find(' '), rest.size());
  const std::string_view first = rest.substr(0, space);
  rest.remove_prefix(std::min(space + 1, rest.size()));
  return first;
}

// "errc delivery advice retry_after_ms code domain": see put_failure().
void apply_detail(std::string_view detail, Error& error) {
  const std::string_view name = word(detail);
  const auto delivery = number<unsigned>(word(detail));
  const auto advice = number<unsigned>(word(detail));
  const auto after = number<std::uint32_t>(word(detail));
  const auto code = number<std::int64_t>(word(detail));
  if (!delivery || *delivery > 2 || !advice || *advice > 3 || !after || !code || detail.size() > max_domain)
    return;
  if (detail == error_domain && *code != error.foreign_code()) return;  // it contradicts the errcode
  for (unsigned at = 1; at <= static_cast<unsigned>(Errc::already_exists); ++at) {
    const auto errc = static_cast<Errc>(at);
    if (to_string(errc) != name) continue;
    Error told(errc, error.text(), static_cast<Delivery>(*delivery));
    told.advise(static_cast<Advice>(*advice), std::chrono::milliseconds(*after));
    told.foreign(std::string(detail), *code);
    error = std::move(told);
    return;
  }
}

}  // namespace

void put_failure(std::string& metadata, const Error& error, bool framework, std::string_view wanted) {
  const bool foreign = error.domain() == error_domain;
  const std::int64_t code = foreign ? error.foreign_code() : code_of(error, framework);
  std::int64_t type = usual_type(code);
  if (const Headers* headers = error.headers()) {
    for (const auto& [name, value] : headers->entries()) {
      if (foreign && name == errtype_header) {
        type = number<std::int64_t>(value).value_or(type);
      } else if (check_attachment(name, value).ok()) {
        put(metadata, name, value);
      }
    }
  }
  // Also for a foreign code: a handler that passes on what another server told it has run nevertheless.
  const Row meant = meaning(code, type);
  const bool own_domain = foreign || error.domain().empty();
  if (meant.errc != error.code() || meant.delivery != error.delivery() || meant.advice != error.advice() ||
      error.retry_after().count() != 0 || !own_domain) {
    std::string detail(to_string(error.code()));
    const std::int64_t after = std::clamp<std::int64_t>(error.retry_after().count(), 0, UINT32_MAX);
    for (const std::int64_t part : {static_cast<std::int64_t>(error.delivery()),
                                    static_cast<std::int64_t>(error.advice()), after, error.foreign_code()})
      detail += " " + std::to_string(part);
    detail += " ";
    if (error.domain().size() <= max_domain && error.domain().find('\n') == std::string::npos)
      detail += error.domain();
    put(metadata, key::error_detail, detail);
  }
  boost::json::object json;
  json["errcode"] = code;
  std::string text;
  if (!foreign && code == not_exist) (text = "provider not exist serviceKey=").append(wanted).append(": ");
  if (!foreign && code == not_supported) text = "service not support: ";
  text += error.text();
  text = readable(cut(std::move(text), max_text));
  json["errmsg"] = text;
  json["errtype"] = type;
  std::string exception = boost::json::serialize(json);
  // Control characters take six bytes each.
  while (exception.size() > max_text + 256 && !text.empty()) {
    const std::size_t half = text.size() / 2;
    text = cut(std::move(text), half);
    json["errmsg"] = text;
    exception = boost::json::serialize(json);
  }
  put(metadata, key::exception, exception);
}

Error get_failure(ResponseMetadata& metadata) {
  boost::json::error_code fault;
  const boost::json::value json = boost::json::parse(metadata.exception, fault);
  const boost::json::object* object = fault ? nullptr : json.if_object();
  const boost::json::value* told = object ? object->if_contains("errcode") : nullptr;
  if (!told || !told->is_int64()) {
    const std::string said = cut(std::string(metadata.exception), max_text);
    Error error(Errc::internal,
                said.empty() ? std::string("the peer answered with an error that says nothing")
                             : "the peer answered with an error that is not motan2's JSON: " + said,
                Delivery::maybe_run);
    if (!metadata.attachments.empty()) error.attach(std::move(metadata.attachments));
    return error;
  }
  const std::int64_t code = told->get_int64();
  std::int64_t type = usual_type(code);
  bool unusual = false;
  if (const boost::json::value* at = object->if_contains("errtype"); at && at->is_int64()) {
    unusual = at->get_int64() != type;
    type = at->get_int64();
  }
  std::string text;
  if (const boost::json::value* at = object->if_contains("errmsg"); at && at->is_string())
    text.assign(at->get_string().data(), at->get_string().size());
  if (text.empty()) text = "errcode " + std::to_string(code);

  const Row meant = meaning(code, type);
  Error error(meant.errc, std::move(text), meant.delivery, meant.advice);
  error.foreign(std::string(error_domain), code);
  if (!metadata.error_detail.empty()) apply_detail(metadata.error_detail, error);
  if (error.domain() == error_domain) {
    metadata.attachments.erase(errtype_header);  // an attachment of that name would be taken for it
    if (unusual) metadata.attachments.set(errtype_header, std::to_string(type));
  }
  if (!metadata.attachments.empty()) error.attach(std::move(metadata.attachments));
  return error;
}

}  // namespace tenon::motan2
