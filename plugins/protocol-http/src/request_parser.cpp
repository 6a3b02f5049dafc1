#include "request_parser.hpp"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cstdint>
#include <limits>
#include <string>

#include "text.hpp"

namespace tenon::http {
namespace beast = boost::beast;

namespace {

using ErrorCode = beast::error_code;

std::string_view view(beast::string_view text) noexcept { return {text.data(), text.size()}; }

Error malformed(std::string text) { return Error(Errc::malformed, std::move(text), Delivery::not_run, Advice::never); }

// "GET / HTTP/2.0": well-formed, but nothing that is spoken here.
bool other_version(std::string_view line) noexcept {
  constexpr std::string_view shape = " HTTP/1.1";
  if (line.size() < shape.size() || std::count(line.begin(), line.end(), ' ') != 2) return false;
  const std::string_view version = line.substr(line.size() - shape.size());
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return version.starts_with(" HTTP/") && digit(version[6]) && version[7] == '.' && digit(version[8]);
}

// What Beast lets pass, or takes for something else than others do: one control character is enough for a proxy and a
// server to disagree about where a request ends.
Result<void> check_lines(std::string_view bytes) {
  std::size_t begin = 0;
  while (begin < bytes.size()) {
    const std::size_t end = bytes.find("\r\n", begin);
    if (end == std::string_view::npos) return malformed("the head does not end with an empty line");
    const std::string_view line = bytes.substr(begin, end - begin);
    for (const char c : line)
      if (!is_field_text(c))
        return malformed("a control character (" + std::to_string(static_cast<unsigned char>(c)) +
                         ") in the head of the request");
    if (!line.empty() && (line[0] == ' ' || line[0] == '\t'))
      return malformed("a line of the head begins with a space: folded lines are not read");
    begin = end + 2;
  }
  return {};
}

}  // namespace

/// One message's parser: Beast's are not used twice.
class RequestParser::Message final : public beast::http::basic_parser<true> {
 public:
  Message(RequestHead& head, std::size_t max_fields) : head_(&head), max_fields_(max_fields) {}

  OutBuffer* body = nullptr;  ///< where chunks go; null: nowhere

  void end_head() noexcept { head_ = nullptr; }
  bool too_many_fields() const noexcept { return too_many_; }

 private:
  // The same whether the bytes come at once or one by one.
  void count_line(std::size_t size, ErrorCode& error) noexcept {
    line_ += size;
    if (line_ > max_chunk_line) error = beast::http::error::header_limit;
  }
  void on_request_impl(beast::http::verb, beast::string_view method, beast::string_view target, int version,
                       ErrorCode&) override {
    head_->method = view(method);
    head_->target = view(target);
    head_->http11 = version == 11;
  }
  void on_field_impl(beast::http::field, beast::string_view name, beast::string_view value, ErrorCode& error) override {
    if (!head_) return count_line(name.size() + value.size(), error);  // a trailer
    if (head_->fields.size() == max_fields_) {
      too_many_ = true;
      error = beast::http::error::header_limit;
      return;
    }
    head_->fields.push_back({view(name), trim(view(value))});
  }
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view bytes, ErrorCode&) override {
    if (body) body->append(bytes.data(), bytes.size());
    return bytes.size();
  }
  std::size_t on_body_impl(beast::string_view bytes, ErrorCode&) override { return bytes.size(); }
  void on_response_impl(int, beast::string_view, int, ErrorCode&) override {}
  void on_header_impl(ErrorCode&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) override {}
  void on_chunk_header_impl(std::uint64_t, beast::string_view extension, ErrorCode& error) override {
    line_ = 0;
    count_line(extension.size(), error);
  }
  void on_finish_impl(ErrorCode&) override {}

  RequestHead* head_;
  const std::size_t max_fields_;
  bool too_many_ = false;
  std::size_t line_ = 0;  // bytes of a chunk's extension, or of the trailers
};

RequestParser::RequestParser() = default;
RequestParser::~RequestParser() = default;

Result<void> RequestParser::head(std::string_view bytes, std::size_t max_fields, RequestHead& head) {
  head = {};
  message_.reset();
  if (Result<void> checked = check_lines(bytes); !checked.ok()) return checked;
  const std::string_view line = bytes.substr(0, bytes.find("\r\n"));
  auto message = std::make_unique<Message>(head, max_fields);
  message->body_limit(boost::none);  // the session's affair
  message->header_limit(
      static_cast<std::uint32_t>(std::min<std::size_t>(bytes.size() + 1, std::numeric_limits<std::uint32_t>::max())));
  ErrorCode error;
  const std::size_t used = message->put({bytes.data(), bytes.size()}, error);
  if (message->too_many_fields())
    return Error(Errc::too_large,
                 "more than " + std::to_string(max_fields) + " header fields (limits.max_header_count)",
                 Delivery::not_run, Advice::never);
  if (error == beast::http::error::bad_version && other_version(line))
    return Error(Errc::unimplemented,
                 "the request is made in " + std::string(line.substr(line.size() - 8)) +
                     "; this server speaks HTTP/1.1 and HTTP/1.0",
                 Delivery::not_run, Advice::never);
  if (error || used != bytes.size() || !message->is_header_done())
    return malformed("the head of the request is not HTTP: " + (error ? error.message() : "it ends too early"));
  message->end_head();
  message_ = std::move(message);
  return {};
}

void RequestParser::begin_chunks(std::size_t limit) {
  message_->body_limit(limit);
  message_->eager(true);
}

Result<std::size_t> RequestParser::chunks(std::string_view bytes, OutBuffer* body) {
  // Beast asserts that it sees the last chunk whole, and nothing that is shorter is the end of a body.
  constexpr std::string_view last_chunk = "0\r\n\r\n";
  if (bytes.size() < last_chunk.size()) return std::size_t{0};
  message_->body = body;
  ErrorCode error;
  const std::size_t used = message_->put({bytes.data(), bytes.size()}, error);
  if (error == beast::http::error::body_limit)
    return Error(Errc::too_large, "the chunks of the body are larger in all than what is read (limits.max_frame)",
                 Delivery::not_run, Advice::never);
  if (error && error != beast::http::error::need_more)
    return malformed("the chunks of the body are not HTTP's: " + error.message());
  if (bytes.size() - used > max_chunk_line && !message_->is_done())
    return malformed("a chunk's first line, or the trailers, have more than " + std::to_string(max_chunk_line) +
                     " bytes");
  return used;
}

bool RequestParser::chunks_done() const noexcept { return message_->is_done(); }

}  // namespace tenon::http
