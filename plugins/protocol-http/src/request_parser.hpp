#pragma once
// The syntax of requests, by Boost.Beast. Its headers are heavy: one source file sees them.

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "tenon/buffer.hpp"
#include "tenon/result.hpp"

namespace tenon::http {

struct Field {
  std::string_view name;   ///< as it was sent
  std::string_view value;  ///< without spaces around it
};

/// The parts of a head; views into its bytes.
struct RequestHead {
  std::string_view method, target;
  bool http11 = true;  ///< false: HTTP/1.0
  std::vector<Field> fields;
};

/// Threads: one at a time.
class RequestParser {
 public:
  /// Bytes of a chunk's first line, or of all trailers.
  static constexpr std::size_t max_chunk_line = 8u << 10;

  RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;
  ~RequestParser();

  /// Parses a whole head: `bytes` end with the empty line.
  /// Fails with: malformed; too_large (more than max_fields lines); unimplemented (a version other than 1.0 and 1.1).
  Result<void> head(std::string_view bytes, std::size_t max_fields, RequestHead& head);

  /// Begins the chunked body of the head that was parsed last, of at most `limit` bytes in all.
  /// REQUIRES: that head says "Transfer-Encoding: chunked" once, and head() has succeeded.
  void begin_chunks(std::size_t limit);
  /// Appends what chunks hold to `body` (null: drops it) and returns how many of the `bytes` are done with; the rest is
  /// part of a line and is presented again, followed by more. Trailers are read and dropped.
  /// Fails with: malformed (also a line too long), too_large (more than the limit; known before the bytes come). Throws
  /// std::bad_alloc.
  Result<std::size_t> chunks(std::string_view bytes, OutBuffer* body);
  /// The last chunk and the trailers have been read.
  bool chunks_done() const noexcept;

 private:
  class Message;
  std::unique_ptr<Message> message_;
};

}  // namespace tenon::http
