#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "tenon/cluster.hpp"

namespace tenon::cluster {

/// What becomes of calls that are sent again later, and how much of it there may be.
struct ResendLimits {
  Duration interval{0};
  std::uint32_t retries = 0;
  std::size_t calls = 0;
  std::size_t bytes = 0;
};

/// Of all queues of one strategy. Threads: any.
struct ResendCounts {
  std::atomic<std::uint64_t> queued{0};  ///< now
  std::atomic<std::uint64_t> sent{0};
  std::atomic<std::uint64_t> dropped{0};
};

/// The calls of one reference that have failed and are sent again, the oldest first.
/// Threads: the reference's executor. Ownership: keeps itself while one is under way.
class ResendQueue final : public std::enable_shared_from_this<ResendQueue> {
 public:
  ResendQueue(const ResendLimits& limits, std::shared_ptr<ResendCounts> counts, Candidates& candidates,
              Executor& executor, Log& log);
  ResendQueue(const ResendQueue&) = delete;
  ResendQueue& operator=(const ResendQueue&) = delete;
  ~ResendQueue();

  /// Takes a copy of what is to be sent. False: there is no room.
  bool add(const Request& request);
  /// Drops everything, ends what is under way, and does not touch the candidates again.
  void release() noexcept;

 private:
  struct Kept;
  struct Due : Alarm {
    ResendQueue* queue = nullptr;
  };
  /// Sends what is due, as far as the budget goes.
  void turn();
  void send(Kept& kept);
  void ended(Kept& kept);
  void drop(const Kept& kept, const Error& error);
  void erase(std::list<Kept>& from, std::list<Kept>::iterator position) noexcept;
  void arm() noexcept;
  TimePoint now() const noexcept { return executor_.clock().now(); }

  const ResendLimits limits_;
  const std::shared_ptr<ResendCounts> counts_;
  Candidates* candidates_;  // null: released
  Executor& executor_;
  Log& log_;
  Cancellation cancellation_;
  std::list<Kept> waiting_;  // by the time they are due
  std::list<Kept> sending_;
  std::size_t bytes_ = 0;  // of both
  TimePoint not_before_{};
  bool turning_ = false;  // what ends at once is not sent on from inside its own end
  Due due_;
};

}  // namespace tenon::cluster
