#include "streams.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace tenon::gzip {

namespace {
constexpr int gzip_window = 15 + 16;  // the largest window, with gzip's header and trailer
constexpr int usual_memory = 8;

bool starts_member(std::string_view bytes) noexcept { return bytes.starts_with("\x1f\x8b"); }
}  // namespace

DeflateStream::~DeflateStream() {
  if (open_) ::deflateEnd(&stream_);
}

z_stream* DeflateStream::of_thread(int level) noexcept {
  thread_local std::array<DeflateStream, smallest - fastest + 1> streams;
  DeflateStream& chosen = streams[static_cast<std::size_t>(level - fastest)];
  if (chosen.open_) {
    ::deflateReset(&chosen.stream_);
    return &chosen.stream_;
  }
  const int code = ::deflateInit2(&chosen.stream_, level, Z_DEFLATED, gzip_window, usual_memory, Z_DEFAULT_STRATEGY);
  chosen.open_ = code == Z_OK;
  return chosen.open_ ? &chosen.stream_ : nullptr;
}

InflateStream::~InflateStream() {
  if (open_) ::inflateEnd(&stream_);
}

InflateStream* InflateStream::of_thread() noexcept {
  thread_local InflateStream stream;
  if (!stream.open_) stream.open_ = ::inflateInit2(&stream.stream_, gzip_window) == Z_OK;
  return stream.open_ ? &stream : nullptr;
}

/// Where output goes: `room` bytes from `into` on, over and over until `most` have come.
struct InflateStream::Target {
  char* into;
  std::size_t room;
  std::size_t most;
  std::size_t at = 0;
};

Run InflateStream::inflate_into(std::string_view body, char* into, std::size_t room) noexcept {
  return run(body, {into, room, room});
}

Run InflateStream::count(std::string_view body, std::size_t limit) noexcept {
  // One more than the limit may come: only then is it clear that the limit is what is wrong.
  const std::size_t most = limit == std::numeric_limits<std::size_t>::max() ? limit : limit + 1;
  Run counted = run(body, {nowhere_, sizeof nowhere_, most});
  if (counted.produced > limit) counted.ending = Ending::full;
  return counted;
}

Run InflateStream::run(std::string_view body, Target target) noexcept {
  Run run{.ending = Ending::complete};
  if (!starts_member(body)) {
    run.ending = body == "\x1f" ? Ending::truncated : Ending::foreign;
    return run;
  }
  do {
    if (!starts_member(body.substr(run.consumed))) {
      run.ending = Ending::trailing;
      return run;
    }
    run.ending = run_member(body, target, run);
  } while (run.ending == Ending::complete && run.consumed < body.size());
  return run;
}

Ending InflateStream::run_member(std::string_view body, Target& target, Run& run) noexcept {
  ::inflateReset(&stream_);
  for (;;) {
    const std::size_t input = std::min(body.size() - run.consumed, largest_step);
    const std::size_t output = std::min({target.room - target.at, target.most - run.produced, largest_step});
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data() + run.consumed));
    stream_.avail_in = static_cast<uInt>(input);
    stream_.next_out = reinterpret_cast<Bytef*>(target.into + target.at);
    stream_.avail_out = static_cast<uInt>(output);
    // Z_FINISH although more may follow: zlib then keeps no window of its own when one call does it all.
    const int code = ::inflate(&stream_, Z_FINISH);
    const std::size_t came = output - stream_.avail_out;
    run.consumed += input - stream_.avail_in;
    run.produced += came;
    target.at += came;
    if (target.at == target.room && run.produced < target.most) target.at = 0;

    if (code == Z_STREAM_END) return Ending::complete;
    if (code == Z_MEM_ERROR) return Ending::no_memory;
    if (code != Z_OK && code != Z_BUF_ERROR) {
      run.reason = stream_.msg ? stream_.msg : "the stream cannot be followed";
      return Ending::damaged;
    }
    if (run.produced == target.most && stream_.avail_out == 0) return Ending::full;
    if (run.consumed == body.size() && stream_.avail_out > 0) return Ending::truncated;
  }
}

}  // namespace tenon::gzip
