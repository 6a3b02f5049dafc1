#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/export.hpp"

namespace tenon {

/// Text pairs that travel with a request, a response or an error. One pointer, null while empty, so that calls
/// without headers pay nothing. Keys are case-sensitive, unique, sent in the order they were set.
/// Threads: one at a time; const functions concurrently.
class TENON_SPI Headers {
 public:
  using Entry = std::pair<std::string, std::string>;

  Headers() noexcept = default;
  Headers(std::initializer_list<Entry> entries);
  Headers(Headers&&) noexcept = default;
  Headers& operator=(Headers&&) noexcept = default;
  Headers(const Headers& other);
  Headers& operator=(const Headers& other);
  ~Headers() = default;

  bool empty() const noexcept { return !entries_ || entries_->empty(); }
  std::size_t size() const noexcept { return entries_ ? entries_->size() : 0; }
  std::span<const Entry> entries() const noexcept {
    return entries_ ? std::span<const Entry>(*entries_) : std::span<const Entry>();
  }
  /// The value, or null when the key is not there. Valid until the next change.
  const std::string* find(std::string_view key) const noexcept;
  /// Adds or replaces.
  void set(std::string_view key, std::string_view value);
  /// True if it was there.
  bool erase(std::string_view key) noexcept;
  void clear() noexcept { entries_.reset(); }
  bool operator==(const Headers& other) const noexcept;

 private:
  std::unique_ptr<std::vector<Entry>> entries_;
};

}  // namespace tenon
