#include "tenon/memory.hpp"

#include <bit>
#include <new>

#include "tenon/buffer.hpp"

namespace tenon {
namespace memory {

constinit thread_local Pool pool __attribute__((tls_model("initial-exec"))) = {};

namespace {
// Frees the thread's lists when the thread ends. Constructed on the thread's first slow allocation, so threads that
// never touch the pool pay nothing. After it ran, `registered` is false and blocks go straight back.
struct Drain {
  Drain() { pool.registered = true; }
  ~Drain() {
    pool.registered = false;
    for (Pool::Block*& list : pool.free)
      while (list) ::operator delete(std::exchange(list, list->next));
    for (std::uint32_t& count : pool.count) count = 0;
  }
};
thread_local bool drained = false;
}  // namespace

void* allocate_slow(std::size_t size) {
  if (!pool.registered && !drained) {
    thread_local Drain drain;
    drained = true;
  }
  const std::size_t index = (size - 1) / Pool::step;
  return ::operator new(index < Pool::classes ? (index + 1) * Pool::step : size);
}

void release_slow(void* block, std::size_t) noexcept { ::operator delete(block); }

}  // namespace memory

void OutBuffer::release() noexcept {
  if (data_) memory::release(data_, capacity_);
  data_ = nullptr;
  size_ = capacity_ = 0;
}

void OutBuffer::grow(std::size_t n) {
  std::size_t wanted = std::bit_ceil(size_ + n);
  if (wanted < 256) wanted = 256;
  if (wanted > (1u << 20)) wanted = (size_ + n + 0xFFFF) & ~std::size_t{0xFFFF};  // large: no doubling waste
  char* bigger = static_cast<char*>(memory::allocate(wanted));
  if (size_) std::memcpy(bigger, data_, size_);
  if (data_) memory::release(data_, capacity_);
  data_ = bigger;
  capacity_ = wanted;
}

}  // namespace tenon
