#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon {

class ServerCall;

/// Links of a call in its connection's table.
struct CallLink {
  std::uint32_t number = 0;
  CallLink* chain = nullptr;
};

/// The calls being served on one connection, by number: an intrusive hash table, so that a number chosen by the peer
/// costs no memory.
/// Threads: one.
class CallTable {
 public:
  std::size_t size() const noexcept { return size_; }
  CallLink* find(std::uint32_t number) const noexcept {
    if (buckets_.empty()) return nullptr;
    for (CallLink* link = buckets_[bucket(number)]; link; link = link->chain)
      if (link->number == number) return link;
    return nullptr;
  }
  /// REQUIRES: its number is not in the table.
  void add(CallLink& link) {
    if (size_ == buckets_.size()) grow();
    CallLink*& head = buckets_[bucket(link.number)];
    link.chain = head;
    head = &link;
    ++size_;
  }
  void remove(CallLink& link) noexcept {
    CallLink** at = &buckets_[bucket(link.number)];
    while (*at != &link) at = &(*at)->chain;
    *at = link.chain;
    --size_;
  }
  /// Any call; null when empty.
  CallLink* any() const noexcept {
    if (size_ == 0) return nullptr;
    for (CallLink* head : buckets_)
      if (head) return head;
    return nullptr;
  }

 private:
  std::size_t bucket(std::uint32_t number) const noexcept { return number & (buckets_.size() - 1); }
  void grow() {
    std::vector<CallLink*> old(buckets_.empty() ? 16 : buckets_.size() * 2);
    old.swap(buckets_);
    for (CallLink* link : old)
      while (link) {
        CallLink* next = link->chain;
        CallLink*& head = buckets_[bucket(link->number)];
        link->chain = head;
        head = link;
        link = next;
      }
  }
  std::vector<CallLink*> buckets_;  // a power of two
  std::size_t size_ = 0;
};

}  // namespace tenon
