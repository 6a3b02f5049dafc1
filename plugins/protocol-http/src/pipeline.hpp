#pragma once
// HTTP answers in the order of its requests, core in the order it likes.

#include <cstdint>
#include <deque>
#include <utility>

#include "request.hpp"
#include "tenon/buffer.hpp"

namespace tenon::http {

/// The requests of one connection that are not answered on the wire yet, in their order.
class Pipeline {
 public:
  struct Entry {
    Call call;
    bool answered = false;
    OutBuffer text;   ///< the answer, held back: its head and perhaps its body …
    OutBuffer block;  ///< … or a large body
  };

  bool empty() const noexcept { return entries_.empty(); }
  /// Entries that are not answered.
  std::size_t open() const noexcept { return open_; }
  /// Bytes of the answers held back.
  std::size_t held() const noexcept { return held_; }
  /// May the answer to any open request be compressed by compressor n?
  bool all_accept(std::uint32_t n) const noexcept { return n < 32 && open_ > 0 && accepting_[n] == open_; }

  /// Adds a request at the end; returns its number, which no other entry has. Throws std::bad_alloc.
  std::uint32_t begin(const Call& call) {
    entries_.push_back({call, false, {}, {}});
    count(call, 1);
    ++open_;
    return first_ + static_cast<std::uint32_t>(entries_.size() - 1);
  }
  /// Null when there is no open request of that number.
  Entry* find(std::uint32_t number) noexcept {
    const std::uint32_t at = number - first_;
    return at < entries_.size() && !entries_[at].answered ? &entries_[at] : nullptr;
  }
  bool is_first(const Entry& entry) const noexcept { return &entry == &entries_.front(); }
  bool is_last(const Entry& entry) const noexcept { return &entry == &entries_.back(); }
  /// Its answer is written, or is in `text` and `block`. REQUIRES: open.
  void answer(Entry& entry) noexcept {
    entry.answered = true;
    held_ += entry.text.size() + entry.block.size();
    count(entry.call, -1);
    --open_;
  }
  /// The first entry if it is answered, else null.
  Entry* ready() noexcept { return !entries_.empty() && entries_.front().answered ? &entries_.front() : nullptr; }
  /// Forgets the first entry, whose answer has `held` bytes. REQUIRES: ready().
  void pop(std::size_t held) noexcept {
    held_ -= held;
    entries_.pop_front();
    ++first_;
  }

 private:
  void count(const Call& call, int step) noexcept {
    for (std::uint32_t bits = call.accepts, n = 0; bits; bits >>= 1, ++n)
      if (bits & 1) accepting_[n] += static_cast<std::size_t>(step);
  }
  std::deque<Entry> entries_;
  std::uint32_t first_ = 1;  // number of the first entry
  std::size_t open_ = 0;
  std::size_t held_ = 0;
  std::size_t accepting_[32] = {};
};

}  // namespace tenon::http
