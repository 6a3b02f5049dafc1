#pragma once
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tenon::wire {

inline constexpr std::uint16_t no_entry = 0xFFFF;
inline constexpr std::uint8_t no_content = 0xFF;

/// What there is to know about a call besides that it is open. 0 for a plain call that is waiting for its answer.
enum class CallState : std::uint8_t {
  asked_stream = 1,  ///< the request asked for a stream: there is an entry in the table of streams …
  has_head = 2,      ///< … and the answer said that it is one; client: and core has seen that
  queued = 4,        ///< frames of it wait to leave in parts, or behind such a frame
  answered = 8,      ///< server: the last of them ends the call
  not_begun = 16,    ///< client: nothing of the request has left
  in_part = 32,      ///< a frame of it has come in part
  spoiled = 64,      ///< client: it fails with too_large as soon as the peer has ended it
  given_up = 128,    ///< server: the client cancelled the stream and unsent messages were dropped
};

/// A request that has not been answered yet.
struct OpenCall {
  std::uint32_t call = 0;
  std::uint32_t sequence = 0;      ///< client: how many requests this side had sent, this one included (low bits)
  std::uint16_t names = no_entry;  ///< client: dictionary entries it relied on
  std::uint16_t headers = no_entry;
  std::uint8_t content = no_content;  ///< serializer and compressor of the request
  std::uint8_t state = 0;             ///< bits of CallState
  bool used = false;

  bool is(CallState bit) const noexcept { return (state & static_cast<std::uint8_t>(bit)) != 0; }
  void set(CallState bit) noexcept { state = static_cast<std::uint8_t>(state | static_cast<std::uint8_t>(bit)); }
  void clear(CallState bit) noexcept { state = static_cast<std::uint8_t>(state & ~static_cast<std::uint8_t>(bit)); }
};
static_assert(sizeof(OpenCall) == 16);  // a busy connection looks at one for every frame

/// Entries by call number (OpenCall and others with `call` and `used`): open addressing, memory in proportion to the
/// most that were there at once.
/// Threads: one at a time.
template <class Entry>
class NumberTable {
 public:
  /// own: numbers are our own small slot numbers. Otherwise a stranger chose them and they are mixed with a factor the
  /// stranger does not know, so that chosen collisions do not make the table slow.
  explicit NumberTable(bool own) noexcept : own_(own) {
    if (own) return;
    std::uint64_t seed = reinterpret_cast<std::uintptr_t>(this);
    seed = (seed ^ (seed >> 29)) * 0xBF58476D1CE4E5B9u;
    factor_ = static_cast<std::uint32_t>(seed >> 32) | 1u;
  }

  std::size_t size() const noexcept { return size_; }

  Entry* find(std::uint32_t call) noexcept { return const_cast<Entry*>(std::as_const(*this).find(call)); }
  const Entry* find(std::uint32_t call) const noexcept {
    if (size_ == 0) return nullptr;
    for (std::size_t i = place(call);; i = (i + 1) & mask_) {
      if (!slots_[i].used) return nullptr;
      if (slots_[i].call == call) return &slots_[i];
    }
  }
  /// Makes the next insert() unable to throw.
  void reserve_one() {
    if ((size_ + 1) * 2 > capacity()) grow();
  }
  /// REQUIRES reserve_one() before, and the number is not in the table.
  Entry& insert(std::uint32_t call) noexcept {
    std::size_t i = place(call);
    while (slots_[i].used) i = (i + 1) & mask_;
    slots_[i] = Entry{};
    slots_[i].call = call;
    slots_[i].used = true;
    ++size_;
    return slots_[i];
  }
  /// insert() where it needs no memory and the number is new; else null, and nothing was done. Of an OpenCall that
  /// comes back, names, content and sequence are not set.
  Entry* try_insert(std::uint32_t call) noexcept {
    if ((size_ + 1) * 2 > capacity()) return nullptr;
    std::size_t i = place(call);
    for (; slots_[i].used; i = (i + 1) & mask_)
      if (slots_[i].call == call) return nullptr;
    ++size_;
    slots_[i].call = call;
    slots_[i].headers = no_entry;
    slots_[i].state = 0;
    slots_[i].used = true;
    return &slots_[i];
  }
  /// REQUIRES `slot` came from find() and nothing changed since.
  void erase(Entry* slot) noexcept {
    std::size_t hole = static_cast<std::size_t>(slot - slots_.get());
    for (std::size_t i = (hole + 1) & mask_; slots_[i].used; i = (i + 1) & mask_) {
      if (((i - place(slots_[i].call)) & mask_) >= ((i - hole) & mask_)) {  // it may move up into the hole
        slots_[hole] = slots_[i];
        hole = i;
      }
    }
    slots_[hole].used = false;
    --size_;
  }
  template <class F>
  void each(F&& visit) const {
    for (std::size_t i = 0; i < capacity(); ++i)
      if (slots_[i].used) visit(slots_[i]);
  }

 private:
  std::size_t capacity() const noexcept { return slots_ ? mask_ + 1 : 0; }
  // Neighbouring numbers must not become neighbouring slots: a long run of used slots makes erase() slow. Our own are
  // dense, so every second slot does, and calls that follow each other share cache lines.
  std::size_t place(std::uint32_t call) const noexcept {
    if (own_) return (std::size_t{call} << 1) & mask_;
    call *= factor_;
    call ^= call >> 15;
    return (call * 0x9E3779B1u) >> shift_;
  }
  void grow() {
    const std::size_t old = capacity();
    const std::size_t wanted = old ? old * 2 : 32;
    std::unique_ptr<Entry[]> before = std::move(slots_);
    try {
      slots_ = std::make_unique<Entry[]>(wanted);
    } catch (...) {
      slots_ = std::move(before);
      throw;
    }
    mask_ = wanted - 1;
    shift_ = 32 - static_cast<unsigned>(std::countr_zero(wanted));
    size_ = 0;
    for (std::size_t i = 0; i < old; ++i)
      if (before[i].used) insert(before[i].call) = std::move(before[i]);
  }

  const bool own_;
  std::unique_ptr<Entry[]> slots_;
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
  unsigned shift_ = 0;
  std::uint32_t factor_ = 1;
};

using CallTable = NumberTable<OpenCall>;

/// A call that asked for a stream.
struct StreamWindow {
  std::uint32_t call = 0;
  bool used = false;
  /// What the server may still send, as stream_cost() counts; the last message may have taken it below 0.
  std::int64_t left = 0;
};
using StreamTable = NumberTable<StreamWindow>;

}  // namespace tenon::wire
