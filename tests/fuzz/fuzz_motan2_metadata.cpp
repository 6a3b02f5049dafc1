// Reads the input as metadata of a request and of a reply, and what the reply says as an error, which is written and
// read again. Checked here: attachments are few enough and can be sent on, an error loses nothing on its way through.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "failure.hpp"
#include "metadata.hpp"

namespace {

using namespace tenon;          // NOLINT
using namespace tenon::motan2;  // NOLINT

constexpr std::size_t max_count = 8;

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const Headers& attachments) {
  require(attachments.size() <= max_count);
  for (const auto& [key, value] : attachments.entries()) require(check_attachment(key, value).ok());
}

bool equal(const Error& a, const Error& b) {
  const Headers none;
  return a.code() == b.code() && a.delivery() == b.delivery() && a.advice() == b.advice() &&
         a.retry_after() == b.retry_after() && a.domain() == b.domain() && a.foreign_code() == b.foreign_code() &&
         (a.headers() ? *a.headers() : none).size() == (b.headers() ? *b.headers() : none).size();
}

// Written by a server and read by a client.
Error passed_on(const Error& error, bool framework) {
  std::string text;
  put_failure(text, error, framework, "g/path/1");
  put_last(text, key::process_time, "1");
  ResponseMetadata told;
  require(read_response(text, max_count + 1, told).ok());
  require(told.process_ms == 1 && !told.exception.empty());
  require(told.exception.find('\n') == std::string_view::npos && told.exception.size() < (20u << 10));
  return get_failure(told);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);

  RequestMetadata request;
  if (read_request(bytes, max_count, request).ok()) {
    check(request.attachments);
    for (const std::string_view name : {request.path, request.method, request.group, request.version})
      require(name.find('\n') == std::string_view::npos && name.size() <= size);
    require(request.timeout_ms <= std::uint64_t{1} << 40);
  }

  ResponseMetadata reply;
  if (!read_response(bytes, max_count, reply).ok()) return 0;
  check(reply.attachments);
  const Error error = get_failure(reply);
  require(error && !error.text().empty());
  const Error once = passed_on(error, false);
  const Error twice = passed_on(once, true);
  // What was not Motan's JSON becomes Tenon's own error, which reads as errcode 10001; from then on nothing changes.
  if (!error.domain().empty()) require(equal(error, once));
  require(once.code() == error.code() && once.delivery() == error.delivery() && equal(once, twice));
  return 0;
}
