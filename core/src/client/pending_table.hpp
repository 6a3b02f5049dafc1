#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon {

class Exchange;

/// The calls of one connection that wait for a reply, by number. Numbers are slots, so they stay small on the wire. A
/// call that timed out or was cancelled leaves an orphan: its number is not used again before the peer's answer.
/// Threads: one.
class PendingTable {
 public:
  std::uint32_t add(Exchange* exchange) {
    std::uint32_t number = free_;
    if (number == none) {
      number = static_cast<std::uint32_t>(slots_.size());
      slots_.push_back({});
    } else {
      free_ = slots_[number].next_free;
    }
    slots_[number] = {exchange, none, true};
    ++waiting_;
    return number;
  }
  /// The answer to `number` arrived: its slot is free again. Null for an orphan or a number that is not in use
  /// (`known` tells them apart).
  Exchange* take(std::uint32_t number, bool& known) noexcept {
    known = number < slots_.size() && slots_[number].used;
    if (!known) return nullptr;
    Exchange* exchange = slots_[number].exchange;
    if (exchange)
      --waiting_;
    else
      --orphans_;
    slots_[number] = {nullptr, free_, false};
    free_ = number;
    return exchange;
  }
  /// `number` is answered by a stream: it stays in use, without an exchange, until end_stream().
  void hold(std::uint32_t number) noexcept { slots_[number].exchange = nullptr; }
  void end_stream(std::uint32_t number) noexcept {
    --waiting_;
    slots_[number] = {nullptr, free_, false};
    free_ = number;
  }
  Exchange* find(std::uint32_t number) const noexcept {
    return number < slots_.size() && slots_[number].used ? slots_[number].exchange : nullptr;
  }
  void orphan(std::uint32_t number) noexcept {
    slots_[number].exchange = nullptr;
    --waiting_;
    ++orphans_;
  }
  /// Takes out any waiting call; null when there is none.
  Exchange* take_any() noexcept {
    for (std::uint32_t number = 0; number < slots_.size() && waiting_ > 0; ++number)
      if (slots_[number].exchange) {
        bool known = false;
        return take(number, known);
      }
    return nullptr;
  }
  std::size_t waiting() const noexcept { return waiting_; }
  std::size_t orphans() const noexcept { return orphans_; }
  std::size_t in_use() const noexcept { return waiting_ + orphans_; }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Slot {
    Exchange* exchange = nullptr;
    std::uint32_t next_free = none;
    bool used = false;
  };
  std::vector<Slot> slots_;
  std::uint32_t free_ = none;
  std::size_t waiting_ = 0;
  std::size_t orphans_ = 0;
};

}  // namespace tenon
