#pragma once
#include <cstddef>

namespace tenon::test {

/// False under sanitizers, which have an allocator of their own.
bool memory_is_counted() noexcept;

/// Bytes that malloc has handed out to all threads and not got back.
std::size_t memory_in_use() noexcept;

/// What the calling thread takes from malloc while one of these lives. One at a time on a thread.
class CountedMemory {
 public:
  CountedMemory() noexcept;
  std::size_t allocations() const noexcept;
  /// The most bytes held at a time, beyond what was held at first.
  std::size_t peak() const noexcept;
};

}  // namespace tenon::test
