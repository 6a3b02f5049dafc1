#include "answer.hpp"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "tenon/utf8.hpp"
#include "text.hpp"

namespace tenon::http {
namespace {

constexpr std::size_t max_text = 16u << 10;
constexpr std::size_t max_domain = 256;

// Sent by the protocol itself, or about the connection: a service that sets one could end its answer early.
constexpr std::string_view own_fields[] = {
    "connection", "content-encoding",  "content-length", "content-type",
    "keep-alive", "proxy-connection",  "retry-after",    "te",
    "trailer",    "transfer-encoding", "upgrade",
};

std::string_view reason(int status) noexcept {
  switch (status) {
    case 200: return "OK";
    case 204: return "No Content";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 499: return "Client Closed Request";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return "Internal Server Error";
  }
}

// JSON is UTF-8: one wrong byte would cost the whole answer.
std::string readable(std::string_view given, std::size_t limit) {
  std::string text(given.substr(0, limit));
  if (text.size() < given.size())  // not the half of a character
    while (!text.empty() && (static_cast<unsigned char>(given[text.size()]) & 0xC0) == 0x80) text.pop_back();
  if (is_utf8(text)) return text;
  for (char& c : text)
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  return text;
}

}  // namespace

int status_of(Errc code) noexcept {
  switch (code) {
    case Errc::invalid_argument:
    case Errc::malformed: return 400;
    case Errc::unauthenticated: return 401;
    case Errc::permission_denied: return 403;
    case Errc::not_found: return 404;
    case Errc::already_exists: return 409;
    case Errc::too_large: return 413;
    case Errc::application: return 422;
    case Errc::overloaded: return 429;
    case Errc::cancelled: return 499;
    case Errc::unimplemented: return 501;
    case Errc::unavailable: return 503;
    case Errc::deadline_exceeded: return 504;
    case Errc::ok:
    case Errc::internal:
    case Errc::would_deadlock:
    case Errc::config: break;
  }
  return 500;
}

std::string error_text(const Error& error) {
  boost::json::object told;
  told["code"] = std::string(to_string(error.code()));
  told["message"] = readable(error.text(), max_text);
  told["delivery"] = std::string(to_string(error.delivery()));
  if (!error.domain().empty()) {
    told["domain"] = readable(error.domain(), max_domain);
    told["foreign_code"] = error.foreign_code();
  }
  if (error.retry_after().count() > 0) told["retry_after_ms"] = error.retry_after().count();
  boost::json::object json;
  json["error"] = std::move(told);
  return boost::json::serialize(json);
}

Result<void> check_field(std::string_view name, std::string_view value) {
  const auto refused = [&](const std::string& why) {
    return Error(Errc::invalid_argument,
                 "protocol http: the header \"" + readable(name, 100) + "\" cannot be sent: " + why, Delivery::not_run);
  };
  if (!is_token(name)) return refused("a name is made of letters, digits and !#$%&'*+-.^_`|~");
  if (!std::all_of(value.begin(), value.end(), [](char c) { return is_field_text(c); }))
    return refused("its value has a control character");
  if (trim(value).size() != value.size()) return refused("its value begins or ends with a space, which is not carried");
  for (const std::string_view own : own_fields)
    if (same_word(own, name)) return refused("HTTP itself needs it");
  return {};
}

void put_field(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ").append(value).append("\r\n");
}

void put_error_fields(std::string& head, int status, const Error& error, const Limits& limits) {
  bool challenge = status == 401;
  if (const Headers* headers = error.headers(); headers && headers->size() <= limits.max_header_count) {
    std::size_t bytes = 0;
    for (const auto& [name, value] : headers->entries()) bytes += name.size() + value.size() + 4;
    for (const auto& [name, value] : headers->entries()) {
      if (bytes > limits.max_headers || !check_field(name, value).ok()) continue;
      put_field(head, name, value);
      challenge = challenge && !same_word(name, "www-authenticate");
    }
  }
  if (challenge) put_field(head, "WWW-Authenticate", "Bearer");
  if (const auto after = error.retry_after().count(); after > 0)
    put_field(head, "Retry-After", std::to_string(after / 1000 + (after % 1000 ? 1 : 0)));
}

void put_status(std::string& head, int status) {
  head.append("HTTP/1.1 ").append(std::to_string(status)).append(" ").append(reason(status)).append("\r\n");
}

void end_head(std::string& head, int status, std::string_view type, std::size_t body, const Call& call) {
  if (!type.empty()) put_field(head, "Content-Type", type);
  if (status != 204) put_field(head, "Content-Length", std::to_string(body));
  if (call.close) put_field(head, "Connection", "close");
  if (call.keep_alive && !call.close) put_field(head, "Connection", "keep-alive");
  head.append("\r\n");
}

}  // namespace tenon::http
