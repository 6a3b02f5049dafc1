#pragma once
#include <cstddef>
#include <vector>

#include "tenon/buffer.hpp"

namespace tenon::wire {

/// The bytes a session has to write, in order. Small frames are copied one behind the other into blocks of about
/// 64 KiB; large bodies stay in the buffer they came in. Blocks come from and return to a few spares of the thread,
/// so a session with nothing to write holds no block.
/// Threads: one at a time.
class Output {
 public:
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

  /// See Session::produce.
  void produce(Gather& gather, std::size_t budget) const;
  /// REQUIRES n <= unwritten().
  void written(std::size_t n) noexcept;
  std::size_t unwritten() const noexcept { return unwritten_; }

 private:
  struct Part {
    OutBuffer bytes;
    std::size_t begin = 0;  // first unwritten byte
    bool small = true;      // may be recycled
  };
  char* prepare_slow(std::size_t n);
  std::vector<Part> parts_;
  std::size_t first_ = 0;  // parts before it are written
  std::size_t unwritten_ = 0;
  bool open_ = false;  // the last part takes more small frames
};

}  // namespace tenon::wire
