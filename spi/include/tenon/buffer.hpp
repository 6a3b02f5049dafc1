#pragma once
// Bytes on their way out or in. Blocks are recycled per thread (see memory.hpp), so a warm call allocates nothing.

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "tenon/export.hpp"

namespace tenon {

/// A growable, contiguous byte buffer with unique ownership. Moving is three words; a moved-from or cleared buffer may
/// be used again. Not thread-safe; may be moved between threads.
class OutBuffer {
 public:
  OutBuffer() noexcept = default;
  OutBuffer(OutBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  OutBuffer& operator=(OutBuffer&& other) noexcept {
    if (this != &other) {
      release();
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
      capacity_ = std::exchange(other.capacity_, 0);
    }
    return *this;
  }
  ~OutBuffer() {
    if (data_) release();
  }

  char* data() noexcept { return data_; }
  const char* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  std::size_t capacity() const noexcept { return capacity_; }
  bool empty() const noexcept { return size_ == 0; }
  std::string_view view() const noexcept { return {data_, size_}; }

  /// Room for at least n more bytes; returns where they go. Follow with commit(). Throws std::bad_alloc.
  char* prepare(std::size_t n) {
    if (capacity_ - size_ < n) grow(n);
    return data_ + size_;
  }
  void commit(std::size_t n) noexcept { size_ += n; }
  void append(const void* bytes, std::size_t n) {
    if (n == 0) return;
    std::memcpy(prepare(n), bytes, n);
    size_ += n;
  }
  void append(std::string_view bytes) { append(bytes.data(), bytes.size()); }
  void push_back(char byte) {
    *prepare(1) = byte;
    ++size_;
  }
  /// Makes the size n; bytes beyond the old size are uninitialised.
  void resize(std::size_t n) {
    if (n > size_) prepare(n - size_);
    size_ = n;
  }
  /// Empties it and keeps the memory.
  void clear() noexcept { size_ = 0; }
  /// Gives the memory back.
  TENON_SPI void release() noexcept;

 private:
  TENON_SPI void grow(std::size_t n);
  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// Spans to be written by one gathered write. Fixed room: when full() the producer stops and is asked again.
class Gather {
 public:
  static constexpr std::size_t max_parts = 64;
  void add(std::string_view part) noexcept {
    if (part.empty()) return;
    parts_[count_++] = part;
    bytes_ += part.size();
  }
  bool full() const noexcept { return count_ == max_parts; }
  std::span<const std::string_view> parts() const noexcept { return {parts_, count_}; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::string_view parts_[max_parts];
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace tenon
