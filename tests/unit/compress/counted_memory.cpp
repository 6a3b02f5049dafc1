#include "counted_memory.hpp"

#include <malloc.h>

#include <cstdint>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define TENON_TEST_OWN_ALLOCATOR
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(TENON_UNDER_TSAN)
#define TENON_TEST_OWN_ALLOCATOR
#endif

namespace {
struct Count {
  std::size_t allocations;
  std::int64_t held;
  std::int64_t peak;
};
constinit thread_local Count count = {};
}  // namespace

#ifndef TENON_TEST_OWN_ALLOCATOR

// glibc's, under the names that an interposed malloc can call.
extern "C" void* __libc_malloc(std::size_t size) noexcept;
extern "C" void __libc_free(void* memory) noexcept;

extern "C" __attribute__((visibility("default"))) void* malloc(std::size_t size) noexcept {
  void* memory = __libc_malloc(size);
  if (memory) {
    ++count.allocations;
    count.held += static_cast<std::int64_t>(malloc_usable_size(memory));
    if (count.held > count.peak) count.peak = count.held;
  }
  return memory;
}

extern "C" __attribute__((visibility("default"))) void free(void* memory) noexcept {
  if (memory) count.held -= static_cast<std::int64_t>(malloc_usable_size(memory));
  __libc_free(memory);
}

#endif

namespace tenon::test {

bool memory_is_counted() noexcept {
#ifdef TENON_TEST_OWN_ALLOCATOR
  return false;
#else
  return true;
#endif
}

std::size_t memory_in_use() noexcept {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

CountedMemory::CountedMemory() noexcept { count = {}; }
std::size_t CountedMemory::allocations() const noexcept { return count.allocations; }
std::size_t CountedMemory::peak() const noexcept { return static_cast<std::size_t>(count.peak); }

}  // namespace tenon::test
