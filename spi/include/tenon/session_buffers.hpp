#pragma once
// What most sessions need on both sides of the parser: bytes that wait to be written, and a large body as it comes in.

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/attachment.hpp"
#include "tenon/buffer.hpp"
#include "tenon/protocol.hpp"

namespace tenon {

/// The bytes a session has to write, in order. Small frames are copied one behind the other into blocks of about
/// 64 KiB; large bodies stay in the buffer they came in. Blocks come from and return to a few spares of the thread,
/// so a session with nothing to write holds no block.
/// Threads: one at a time.
class TENON_SPI SessionOutput {
 public:
  /// From this size on a body deserves append_block(): copying it would cost more than a part of its own.
  static constexpr std::size_t block_from = 32u << 10;

  /// Room for n contiguous bytes at the end; follow with commit(n or less). Throws std::bad_alloc, then unchanged.
  char* prepare(std::size_t n) {
    if (open_) {
      OutBuffer& tail = parts_.back().bytes;
      if (tail.capacity() - tail.size() >= n) return tail.data() + tail.size();
    }
    return prepare_slow(n);
  }
  void commit(std::size_t n) noexcept {
    parts_.back().bytes.commit(n);
    unwritten_ += n;
  }
  /// Makes the next append_block() unable to throw. Pointers from prepare() stay valid.
  void reserve_block();
  /// Queues a block of its own. REQUIRES reserve_block() since the last append_block(). The block is not empty.
  void append_block(OutBuffer block) noexcept;
  /// Queues bytes of `kept` where they are. REQUIRES as append_block(); `bytes` lie in kept.bytes() and are not empty.
  void append_shared(Attachment kept, std::string_view bytes) noexcept;

  /// See Session::produce.
  void produce(Gather& gather, std::size_t budget) const;
  /// REQUIRES n <= unwritten().
  void written(std::size_t n) noexcept;
  std::size_t unwritten() const noexcept { return unwritten_; }

 private:
  struct Part {
    OutBuffer bytes;
    Attachment kept;         // or: who keeps …
    std::string_view shared;  // … these
    std::size_t begin = 0;   // first unwritten byte
    bool small = true;       // may be recycled
    std::string_view view() const noexcept { return kept.empty() ? bytes.view() : shared; }
  };
  char* prepare_slow(std::size_t n);
  std::vector<Part> parts_;
  std::size_t first_ = 0;  // parts before it are written
  std::size_t unwritten_ = 0;
  bool open_ = false;  // the last part takes more small frames
};

/// A body on its way in, read to its own buffer. An announced size is only believed up to 1 MiB; beyond it the buffer
/// at most doubles what has arrived, so a peer that lies about a length costs no memory.
/// Threads: one at a time.
class TENON_SPI IncomingBody {
 public:
  static constexpr std::size_t believed = 1u << 20;

  /// Starts a body of `size` bytes, not 0. Throws std::bad_alloc, as do append() and commit().
  void begin(std::size_t size);
  /// Where the next bytes go: never more than are missing.
  Want want() noexcept;
  /// n bytes were read to want().into.
  void commit(std::size_t n);
  /// Takes what belongs to the body from the front of `bytes`; returns how many that were.
  std::size_t append(std::string_view bytes);
  bool complete() const noexcept { return left_ == 0; }
  /// The bytes. REQUIRES complete().
  OutBuffer release() noexcept { return std::move(bytes_); }

 private:
  OutBuffer bytes_;
  std::size_t left_ = 0;
};

}  // namespace tenon
