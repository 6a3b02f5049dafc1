#pragma once
// Recycled memory for the call path: coroutine frames and byte blocks.

#include <cstddef>
#include <cstdint>

#include "tenon/export.hpp"

namespace tenon::memory {

/// Per-thread free lists by size class (64 … 2048 bytes in steps of 64), at most `cap` blocks each; freed at thread
/// exit. A block may be released on another thread than it came from. Larger requests go to operator new.
struct Pool {
  static constexpr std::size_t step = 64;
  static constexpr std::size_t classes = 32;
  struct Block {
    Block* next;
  };
  Block* free[classes];
  std::uint32_t count[classes];
  bool registered;
};

TENON_SPI extern constinit thread_local Pool pool __attribute__((tls_model("initial-exec")));

TENON_SPI void* allocate_slow(std::size_t size);
TENON_SPI void release_slow(void* block, std::size_t size) noexcept;

/// Like operator new(size) / operator delete: throws std::bad_alloc.
inline void* allocate(std::size_t size) {
  const std::size_t index = (size - 1) / Pool::step;
  if (index < Pool::classes && pool.free[index]) {
    Pool::Block* block = pool.free[index];
    pool.free[index] = block->next;
    --pool.count[index];
    return block;
  }
  return allocate_slow(size);
}
/// `size` as it was asked for.
inline void release(void* memory, std::size_t size) noexcept {
  const std::size_t index = (size - 1) / Pool::step;
  if (index < Pool::classes && pool.registered && pool.count[index] < 16384) {
    auto* block = static_cast<Pool::Block*>(memory);
    block->next = pool.free[index];
    pool.free[index] = block;
    ++pool.count[index];
    return;
  }
  release_slow(memory, size);
}

}  // namespace tenon::memory
