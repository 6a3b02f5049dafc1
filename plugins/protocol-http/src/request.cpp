#include "request.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "text.hpp"

namespace tenon::http {
namespace {

constexpr std::string_view allow = "Allow: POST, OPTIONS\r\n";
constexpr std::string_view timeout_header = "x-timeout-ms";

Refusal bad(std::string text) {
  return fatal_refusal(400, Error(Errc::malformed, std::move(text), Delivery::not_run, Advice::never));
}

// Decimal digits and nothing else.
template <class T>
std::optional<T> number(std::string_view text) noexcept {
  T value{};
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool known_method(std::string_view method) noexcept {
  for (const std::string_view word : {"GET", "HEAD", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT"})
    if (method == word) return true;
  return false;
}

// "q=0", "q=0.000": the sender refuses it.
bool refused(std::string_view parameters) noexcept {
  while (!parameters.empty()) {
    const std::size_t end = std::min(parameters.find(';'), parameters.size());
    const std::string_view word = trim(parameters.substr(0, end));
    parameters.remove_prefix(std::min(end + 1, parameters.size()));
    if (word.size() < 3 || lower(word[0]) != 'q' || word[1] != '=') continue;
    return word.substr(2).find_first_not_of("0.") == std::string_view::npos;
  }
  return false;
}

// Bits of the compressors that Accept-Encoding names.
std::uint32_t accepted(std::string_view value, std::span<const std::string> compressors) noexcept {
  std::uint32_t yes = 0;
  std::uint32_t no = 0;
  bool any = false;
  for (std::string_view element = next_element(value); !element.empty(); element = next_element(value)) {
    const std::size_t end = std::min(element.find(';'), element.size());
    const std::string_view name = trim(element.substr(0, end));
    const bool wanted = !refused(element.substr(end));
    if (name == "*") any = any || wanted;
    for (std::size_t at = 0; at < std::min<std::size_t>(compressors.size(), 32); ++at)
      if (same_word(name, compressors[at])) (wanted ? yes : no) |= std::uint32_t{1} << at;
  }
  return (any ? ~std::uint32_t{0} : yes) & ~no;
}

// Fields that go to the service with the call.
bool handed_on(std::string_view name) noexcept {
  return name.starts_with("x-") || name == "traceparent" || name == "tracestate" || name == "authorization" ||
         name == "baggage";
}

Refusal read_compressor(std::string_view value, std::span<const std::string> compressors, Request& request) {
  for (std::string_view name = next_element(value); !name.empty(); name = next_element(value)) {
    if (same_word(name, "identity")) continue;
    const std::string word = same_word(name, "x-gzip") ? "gzip" : lower(name);
    if (!request.compressor.empty() || std::find(compressors.begin(), compressors.end(), word) == compressors.end()) {
      std::string known;
      for (const std::string& compressor : compressors) known += (known.empty() ? "" : ", ") + compressor;
      return refusal(415, Errc::unimplemented,
                     "Content-Encoding \"" + std::string(name.substr(0, 100)) +
                         "\" cannot be read here; one of these can: " + (known.empty() ? "none" : known),
                     "Accept-Encoding: " + (known.empty() ? std::string("identity") : known) + "\r\n");
    }
    request.compressor = word;
  }
  return {};
}

Refusal read_field(std::string_view given, std::string_view value, Request& request) {
  const std::string name = lower(given);
  if (name == timeout_header) {
    const auto milliseconds = number<std::uint32_t>(value);
    if (!milliseconds || *milliseconds == 0)
      return refusal(400, Errc::invalid_argument,
                     std::string(timeout_header) + " is not a number of milliseconds from 1 to 4294967295");
    request.remaining = std::chrono::milliseconds(*milliseconds);
    return {};
  }
  if (!handed_on(name)) return {};
  // A field that is sent in several lines is one list.
  if (const std::string* before = request.headers.find(name))
    request.headers.set(name, *before + ", " + std::string(value));
  else
    request.headers.set(name, value);
  return {};
}

}  // namespace

Refusal read_framing(const RequestHead& head, const Limits& limits, Request& request) {
  std::optional<std::uint64_t> length;
  std::size_t encodings = 0;
  std::size_t hosts = 0;
  bool close = false;
  bool keep_alive = false;
  std::string_view encoding;
  request.call.head_only = head.method == "HEAD";
  for (const auto& [name, value] : head.fields) {
    if (same_word(name, "content-length")) {
      const auto told = number<std::uint64_t>(value);
      if (!told) return bad("Content-Length is no number of bytes");
      if (length && *length != *told) return bad("two Content-Length that differ");
      length = told;
    } else if (same_word(name, "transfer-encoding")) {
      ++encodings;
      encoding = value;
    } else if (same_word(name, "host")) {
      ++hosts;
    } else if (same_word(name, "expect")) {
      request.expects_continue = request.expects_continue || same_word(value, "100-continue");
    } else if (same_word(name, "connection")) {
      std::string_view rest = value;
      for (std::string_view word = next_element(rest); !word.empty(); word = next_element(rest)) {
        close = close || same_word(word, "close");
        keep_alive = keep_alive || same_word(word, "keep-alive");
      }
    }
  }
  if (hosts > 1 || (head.http11 && hosts == 0)) return bad("a request of HTTP/1.1 has one Host");
  if (encodings > 0) {
    if (length) return bad("Content-Length and Transfer-Encoding in one request");
    if (!head.http11) return bad("Transfer-Encoding in a request of HTTP/1.0");
    if (encodings > 1) return bad("Transfer-Encoding twice in one request");
    if (!same_word(encoding, "chunked"))
      return fatal_refusal(501, Error(Errc::unimplemented,
                                      "Transfer-Encoding \"" + std::string(encoding.substr(0, 100)) +
                                          "\" is not read here, only chunked",
                                      Delivery::not_run, Advice::never));
    request.framing = Framing::chunked;
  } else if (length) {
    if (*length > limits.max_frame) {
      Refusal refused =
          fatal_refusal(413, Error(Errc::too_large,
                                   "the request has a body of " + std::to_string(*length) + " bytes; at most " +
                                       std::to_string(limits.max_frame) + " are read (limits.max_frame)",
                                   Delivery::not_run, Advice::never));
      refused.linger = true;
      return refused;
    }
    request.framing = *length ? Framing::length : Framing::none;
    request.length = static_cast<std::size_t>(*length);
  }
  // Only HTTP/1.1 knows the answer 100.
  request.expects_continue = request.expects_continue && head.http11 && request.framing != Framing::none;
  // What follows a CONNECT is not HTTP.
  request.call.close = close || (!head.http11 && !keep_alive) || head.method == "CONNECT";
  request.call.keep_alive = !head.http11 && !request.call.close;
  return {};
}

Refusal read_meaning(const RequestHead& head, const Settings& settings, std::span<const std::string> compressors,
                     Request& request) {
  request.call.type = settings.types.find({});
  if (head.method == "OPTIONS") return {204, Error(), std::string(allow)};
  if (head.method != "POST") {
    if (known_method(head.method))
      return refusal(405, Errc::invalid_argument,
                     "a call is a POST, not a " + std::string(head.method) +
                         ": its argument is the body, and running it twice may do something twice",
                     std::string(allow));
    return refusal(501, Errc::unimplemented, "there is no method " + std::string(head.method.substr(0, 100)) + " here");
  }
  if (Refusal refused = read_target(head.target, request)) return refused;

  std::string_view content_type;
  std::size_t content_types = 0;
  for (const auto& [name, value] : head.fields) {
    if (same_word(name, "content-type")) {
      content_type = value;
      ++content_types;
    } else if (same_word(name, "content-encoding")) {
      if (Refusal refused = read_compressor(value, compressors, request)) return refused;
    } else if (same_word(name, "accept-encoding")) {
      request.call.accepts |= accepted(value, compressors);
    } else if (same_word(name, "expect")) {
      if (!same_word(value, "100-continue")) return refusal(417, Errc::unimplemented, "Expect knows 100-continue only");
    } else if (Refusal refused = read_field(name, value, request)) {
      return refused;
    }
  }
  if (content_types > 1) return refusal(400, Errc::malformed, "Content-Type twice in one request");
  const MediaType* type = settings.types.find(content_type);
  if (!type)
    return refusal(415, Errc::unimplemented,
                   "Content-Type \"" + std::string(content_type.substr(0, 100)) +
                       "\" means no serializer here; these do: " + settings.types.text(),
                   "Accept-Post: " + settings.types.text() + "\r\n");
  request.call.type = type;
  return {};
}

}  // namespace tenon::http
