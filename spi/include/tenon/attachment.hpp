#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tenon/buffer.hpp"

namespace tenon {

/// Bytes that travel beside a message: never serialised, never compressed, written to the socket from where they are.
/// One pointer, null while empty. Copies share the bytes, which nobody changes.
/// Threads: one at a time for one object; copies may be used, and die, on different threads.
class TENON_SPI Attachment {
 public:
  Attachment() noexcept = default;
  /// Takes the bytes over. Empty bytes make an empty attachment.
  explicit Attachment(OutBuffer bytes);
  explicit Attachment(std::string bytes);
  /// Refers to bytes that live as long as `owner` and do not change.
  Attachment(std::shared_ptr<const void> owner, std::string_view bytes);

  Attachment(const Attachment& other) noexcept : shared_(other.shared_) {
    if (shared_) shared_->holders.fetch_add(1, std::memory_order_relaxed);
  }
  Attachment(Attachment&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}
  Attachment& operator=(Attachment other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~Attachment() {
    if (shared_) release();
  }

  bool empty() const noexcept { return shared_ == nullptr; }
  std::size_t size() const noexcept { return shared_ ? shared_->bytes.size() : 0; }
  /// Valid while this attachment or a copy of it lives.
  std::string_view bytes() const noexcept { return shared_ ? shared_->bytes : std::string_view(); }
  /// A part of the bytes, which stay shared. REQUIRES offset + size <= size(). Throws std::bad_alloc.
  Attachment part(std::size_t offset, std::size_t size) const;

 private:
  struct Shared {
    std::atomic<int> holders{1};
    std::string_view bytes;
    OutBuffer buffer;
    std::string text;
    std::shared_ptr<const void> owner;
  };
  void release() noexcept;
  Shared* shared_ = nullptr;
};

}  // namespace tenon
