#pragma once
// Whole reads and writes over a ByteStream, as tasks.

#include <algorithm>
#include <coroutine>
#include <memory>
#include <string>
#include <string_view>

#include "tenon/task.hpp"
#include "tenon/transport.hpp"

namespace tenon::test {

/// co_await Ready{stream, readable}: until a read (write) would not block.
struct Ready {
  ByteStream& stream;
  bool readable = true;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) const noexcept {
    const Completion resume{[](void* self) noexcept { std::coroutine_handle<>::from_address(self).resume(); },
                            caller.address()};
    if (readable)
      stream.wait_readable(resume);
    else
      stream.wait_writable(resume);
  }
  void await_resume() const noexcept {}
};

/// Writes all of `bytes`, `piece` bytes at most at a time. The errno of the failure, or 0.
inline Task<int> write_all(ByteStream& stream, std::string_view bytes, std::size_t piece = 1u << 20) {
  Ready ready{stream, false};
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, piece);
    const IoResult put = stream.try_write({&part, 1});
    if (put.status == IoResult::Status::failed) co_return put.error;
    if (put.status == IoResult::Status::would_block) {
      co_await ready;
      continue;
    }
    bytes.remove_prefix(put.bytes);
  }
  co_return 0;
}

struct ReadAll {
  std::string bytes;
  IoResult::Status last = IoResult::Status::done;  ///< done: `want` was reached
  int error = 0;
};

/// Reads until the end, a failure, or `want` bytes; at most `piece` bytes at a time.
inline Task<ReadAll> read_all(ByteStream& stream, std::size_t want = static_cast<std::size_t>(-1),
                              std::size_t piece = 64u << 10) {
  ReadAll read;
  Ready ready{stream, true};
  const std::unique_ptr<char[]> buffer(new char[piece]);
  while (read.bytes.size() < want) {
    const IoResult got = stream.try_read(buffer.get(), std::min(piece, want - read.bytes.size()));
    if (got.status == IoResult::Status::would_block) {
      co_await ready;
      continue;
    }
    if (got.status != IoResult::Status::done) {
      read.last = got.status;
      read.error = got.error;
      break;
    }
    read.bytes.append(buffer.get(), got.bytes);
  }
  co_return std::move(read);
}

/// Sends everything back until the end, then ends, too.
inline Task<void> echo(std::unique_ptr<ByteStream> stream) {
  Ready readable{*stream, true};
  const std::unique_ptr<char[]> buffer(new char[16u << 10]);
  while (true) {
    const IoResult got = stream->try_read(buffer.get(), 16u << 10);
    if (got.status == IoResult::Status::would_block) {
      co_await readable;
      continue;
    }
    if (got.status != IoResult::Status::done) co_return;
    auto back = write_all(*stream, {buffer.get(), got.bytes});
    const int failed = co_await back;
    if (failed != 0) co_return;
  }
}

}  // namespace tenon::test
