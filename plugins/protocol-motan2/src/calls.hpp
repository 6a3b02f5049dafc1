#pragma once
// Motan numbers calls with 64 bits of the client's choice, core with small numbers that it uses again. Two tables join
// them.

#include <cstdint>
#include <vector>

namespace tenon::motan2 {

/// Client: the id on the wire is the call's number and, above it, how often that number has been used; so the late
/// answer to a call that was given up is told from the answer to its successor.
class ClientCalls {
 public:
  /// The id for a new use of `number`. Throws std::bad_alloc.
  std::uint64_t begin(std::uint32_t number) {
    if (number >= uses_.size()) uses_.resize(number + std::size_t{1});
    Use& use = uses_[number];
    use.count = use.count == max_count ? 1 : use.count + 1;
    use.open = true;
    return std::uint64_t{use.count} << 32 | number;
  }
  /// Was `id` given out and is it still waited for? Then it is not any more.
  bool end(std::uint64_t id) noexcept {
    const auto number = static_cast<std::uint32_t>(id);
    if (number >= uses_.size() || !uses_[number].open || uses_[number].count != id >> 32) return false;
    uses_[number].open = false;
    return true;
  }
  /// Its answer will not be delivered.
  void abandon(std::uint32_t number) noexcept {
    if (number < uses_.size()) uses_[number].open = false;
  }
  /// The upper half of a heartbeat's id; no call has it.
  static constexpr std::uint32_t heartbeat = 0x7FFFFFFF;

 private:
  static constexpr std::uint32_t max_count = heartbeat - 1;  // Java reads ids as signed
  struct Use {
    std::uint32_t count = 0;
    bool open = false;
  };
  std::vector<Use> uses_;
};

/// Server: a small number for each request that is being served.
class ServerCalls {
 public:
  struct Call {
    std::uint64_t id = 0;
    std::uint8_t serializer = 0;
    bool framework = false;  ///< M_fws
    bool open = false;
    std::uint32_t next_free = none;
  };
  /// Throws std::bad_alloc.
  std::uint32_t begin(std::uint64_t id, std::uint8_t serializer, bool framework) {
    std::uint32_t number = free_;
    if (number == none) {
      number = static_cast<std::uint32_t>(calls_.size());
      calls_.emplace_back();
    } else {
      free_ = calls_[number].next_free;
    }
    calls_[number] = {id, serializer, framework, true, none};
    ++open_;
    return number;
  }
  /// Null when it is not open.
  const Call* find(std::uint32_t number) const noexcept {
    return number < calls_.size() && calls_[number].open ? &calls_[number] : nullptr;
  }
  /// REQUIRES: open.
  void end(std::uint32_t number) noexcept {
    calls_[number].open = false;
    calls_[number].next_free = free_;
    free_ = number;
    --open_;
  }
  std::size_t open() const noexcept { return open_; }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::vector<Call> calls_;
  std::uint32_t free_ = none;
  std::size_t open_ = 0;
};

}  // namespace tenon::motan2
