// Feeds bytes to compressor gzip. First byte: bits 0-1 what the rest is (0: a gzip body, 1: a deflate stream that gets
// a correct header and trailer here, so that checksums do not stop the fuzzer, 2: bytes to compress, 3: a deflate
// stream twice, with a stated size that lies), bits 2-3 the limit, bits 4-7 the level.
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "gzip_compressor.hpp"

namespace {

using namespace tenon;  // NOLINT

constexpr std::size_t largest = 1u << 18;

void require(bool holds) {
  if (!holds) std::abort();
}

/// What zlib makes of a bare deflate stream by itself; empty when it is none or too much comes out. `used`: its length.
std::optional<std::string> inflate_bare(std::string_view bytes, std::size_t& used) {
  z_stream stream = {};
  require(::inflateInit2(&stream, -15) == Z_OK);
  std::string out(largest, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int code = ::inflate(&stream, Z_FINISH);
  used = bytes.size() - stream.avail_in;
  out.resize(stream.total_out);
  ::inflateEnd(&stream);
  if (code != Z_STREAM_END) return std::nullopt;
  return out;
}

void append_number(std::string& to, std::size_t number) {
  for (int i = 0; i < 4; ++i) to.push_back(static_cast<char>(number >> 8 * i & 0xff));
}

std::string gzip_member(std::string_view deflated, std::string_view content) {
  std::string body("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  body += deflated;
  append_number(body, ::crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size())));
  append_number(body, content.size());
  return body;
}

/// Inflates and checks what holds for any body. Empty: refused.
std::optional<std::string> inflate(const gzip::GzipCompressor& gzip, std::string_view body, std::size_t limit) {
  OutBuffer out;
  out.append("before");
  const Result<void> done = gzip.decompress(body, out, limit);
  require(out.view().starts_with("before"));
  require(out.size() - 6 <= limit);
  require(out.capacity() <= 2 * (limit + 6) + 512);
  if (done.ok()) return std::string(out.view().substr(6));
  require(out.size() == 6);
  require(done.error().code() == Errc::malformed || done.error().code() == Errc::too_large);
  require(!done.error().text().empty());
  return std::nullopt;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr std::size_t limits[] = {0, 1000, 5000, 2 * largest};
  const std::size_t limit = limits[data[0] >> 2 & 3];
  const gzip::GzipCompressor gzip({.min_size = 0, .level = 1 + (data[0] >> 4) % 9});
  switch (data[0] & 3) {
    case 0:
      if (const auto content = inflate(gzip, rest, limit)) {
        OutBuffer again;
        require(gzip.compress(*content, again).ok());
        require(inflate(gzip, again.view(), content->size()) == content);
      }
      break;
    case 1: {
      std::size_t used = 0;
      const auto content = inflate_bare(rest, used);
      const std::string body = gzip_member(rest.substr(0, used), content.value_or(""));
      const auto got = inflate(gzip, body, limit);
      require(got.has_value() == (content && content->size() <= limit));
      if (got) require(*got == *content);
      break;
    }
    case 2: {
      OutBuffer body;
      require(gzip.compress(rest, body).ok());
      require(inflate(gzip, body.view(), rest.size()) == std::string(rest));
      if (!rest.empty()) require(!inflate(gzip, body.view(), rest.size() - 1));
      break;
    }
    case 3: {
      std::size_t used = 0;
      const auto content = inflate_bare(rest, used);
      if (!content) break;
      const std::string once = gzip_member(rest.substr(0, used), *content);
      const auto twice = inflate(gzip, once + once, limit);
      require(twice.has_value() == (2 * content->size() <= limit));
      if (twice) require(*twice == *content + *content);
      std::string lie = once;
      lie[lie.size() - 4] = static_cast<char>(lie[lie.size() - 4] + 1 + (data[0] >> 4));
      require(!inflate(gzip, lie, limit));
      break;
    }
  }
  return 0;
}
