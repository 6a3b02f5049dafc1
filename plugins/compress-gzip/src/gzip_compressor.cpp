#include "gzip_compressor.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <optional>
#include <string>

#include "streams.hpp"

namespace tenon::gzip {

namespace {

constexpr std::size_t smallest_member = 18;  // 10 bytes of header, 8 of trailer
constexpr std::size_t highest_ratio = 1032;  // deflate's: 258 bytes for 2 bits

std::string bytes_text(std::size_t n) { return std::to_string(n) + (n == 1 ? " byte" : " bytes"); }

Error out_of_memory(std::string_view what, std::size_t size) {
  return Error(Errc::overloaded, "gzip: no memory to " + std::string(what) + " a body of " + bytes_text(size));
}

std::string first_bytes(std::string_view body) {
  std::string text;
  for (const char byte : body.substr(0, 4)) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(byte));
    text += (text.empty() ? "" : " ") + std::string(digits);
  }
  return text;
}

/// What the last member's trailer says about its size, when that can be true and allowed. Exact for a body of one
/// member from an honest sender.
std::optional<std::size_t> stated_size(std::string_view body, std::size_t limit) noexcept {
  if (body.size() < smallest_member) return std::nullopt;
  std::size_t size = 0;
  for (int i = 1; i <= 4; ++i) size = size << 8 | static_cast<unsigned char>(body[body.size() - i]);
  if (size > limit || size / highest_ratio > body.size()) return std::nullopt;
  return size;
}

Error refusal(const Run& run, std::string_view body, std::size_t limit) {
  const std::string who = "gzip: a body of " + bytes_text(body.size());
  switch (run.ending) {
    case Ending::foreign:
      return Error(Errc::malformed,
                   who + " is not in gzip format: it starts with " + first_bytes(body) + ", not 1f 8b");
    case Ending::truncated:
      return Error(Errc::malformed,
                   who + " is truncated: it ends inside a member, after " + bytes_text(run.produced) + " of output");
    case Ending::trailing:
      return Error(Errc::malformed, who + " is followed by something else: at byte " + std::to_string(run.consumed) +
                                        " comes " + first_bytes(body.substr(run.consumed)) +
                                        ", not another gzip member");
    case Ending::full:
      return Error(Errc::too_large,
                   who + " inflates to more than the limit of " + bytes_text(limit) +
                       "; send less at once or raise the receiver's limit",
                   Delivery::maybe_run, Advice::never);
    case Ending::no_memory: return out_of_memory("inflate", body.size());
    case Ending::damaged:
    case Ending::complete: break;
  }
  return Error(Errc::malformed, who + " is damaged at byte " + std::to_string(run.consumed) + " (" + run.reason + ")");
}

}  // namespace

Result<std::unique_ptr<GzipCompressor>> GzipCompressor::create(Options options, Environment) {
  if (options.level < fastest || options.level > smallest)
    return Error(Errc::config,
                 "level is " + std::to_string(options.level) + "; gzip has the levels 1 (fastest) to 9 (smallest)",
                 Delivery::not_run, Advice::never);
  return std::make_unique<GzipCompressor>(options);
}

Result<void> GzipCompressor::compress(std::string_view bytes, OutBuffer& out) const try {
  z_stream* stream = DeflateStream::of_thread(options_.level);
  if (!stream) return out_of_memory("compress", bytes.size());
  // The bound is about as long as the input; pages that are not written to cost nothing.
  std::size_t room = ::deflateBound(stream, bytes.size());
  char* into = out.prepare(room);
  std::size_t produced = 0;
  for (int code = Z_OK; code != Z_STREAM_END;) {
    const std::size_t input = std::min(bytes.size(), largest_step);
    const std::size_t output = std::min(room - produced, largest_step);
    stream->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream->avail_in = static_cast<uInt>(input);
    stream->next_out = reinterpret_cast<Bytef*>(into + produced);
    stream->avail_out = static_cast<uInt>(output);
    code = ::deflate(stream, input == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    bytes.remove_prefix(input - stream->avail_in);
    produced += output - stream->avail_out;
    if (code != Z_STREAM_END && (code != Z_OK || produced == room))
      return Error(Errc::internal, "gzip: zlib broke its promise about the size of its output", Delivery::not_run);
  }
  out.commit(produced);
  return {};
} catch (const std::bad_alloc&) {
  return out_of_memory("compress", bytes.size());
}

Result<void> GzipCompressor::decompress(std::string_view bytes, OutBuffer& out, std::size_t limit) const try {
  if (bytes.empty()) return Error(Errc::malformed, "gzip: the body is empty; even nothing has 20 bytes in gzip format");
  InflateStream* stream = InflateStream::of_thread();
  if (!stream) return out_of_memory("inflate", bytes.size());
  if (const std::optional<std::size_t> size = stated_size(bytes, limit)) {
    const Run run = stream->inflate_into(bytes, out.prepare(std::max<std::size_t>(*size, 1)), *size);
    if (run.ending == Ending::complete) {
      out.commit(run.produced);
      return {};
    }
    if (run.ending != Ending::full) return refusal(run, bytes, limit);
  }
  // Several members, too much, or a lie. Which of these is found out before there is memory for it.
  Run run = stream->count(bytes, limit);
  if (run.ending != Ending::complete) return refusal(run, bytes, limit);
  const std::size_t size = run.produced;
  if (out.empty()) out.release();  // else the old block would live while the new one is made
  run = stream->inflate_into(bytes, out.prepare(std::max<std::size_t>(size, 1)), size);
  if (run.ending != Ending::complete) return refusal(run, bytes, limit);
  out.commit(run.produced);
  return {};
} catch (const std::bad_alloc&) {
  return out_of_memory("inflate", bytes.size());
}

}  // namespace tenon::gzip
