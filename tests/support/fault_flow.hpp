#pragma once
// One direction of a connection through the fault proxy.

#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <random>
#include <string>
#include <string_view>

#include "support/fault_proxy.hpp"

namespace tenon::test {

/// Reads from one socket, holds what is not due yet, writes to the other.
/// Threads: the proxy's.
class FaultFlow {
 public:
  using Time = std::chrono::steady_clock;

  /// What a step found out about the connection.
  enum class Fate { goes_on, cut_half, cut_close, cut_reset };

  /// `counter` is guarded by `counting`.
  FaultFlow(int from, int to, const Faults& faults, std::uint64_t seed, FaultProxy::Traffic& counter,
            std::mutex& counting);

  void set(const Faults& faults) noexcept {
    if (!dropping_) faults_ = faults;
  }
  void stall(bool stalled) noexcept { faults_.stall = stalled && !dropping_; }

  /// Wants to know when `from` is readable.
  bool wants_input() const noexcept;
  /// When `to` should be asked whether it takes more: time_point::max() when there is nothing to send.
  Time::time_point due() const noexcept;

  /// `from` is readable.
  Fate read();
  /// Sends what is due. Also tells when the direction is over.
  Fate write();
  /// Forgets what is held; everything that still comes is dropped.
  void drop();
  /// The end of the source was read, and the end was passed on or nothing may follow any more.
  bool over() const noexcept { return source_ended_ && finished_; }
  /// The end has been passed on: write() has nothing to do any more.
  bool finished() const noexcept { return finished_; }
  void finish_now() noexcept;

 private:
  struct Chunk {
    std::string bytes;
    std::size_t sent = 0;
    Time::time_point due;
  };
  void take(std::string_view bytes);
  void hold(std::string_view bytes);
  std::size_t next_size();
  Fate at_cut() const noexcept;
  std::size_t most_held() const noexcept;

  const int from_;
  const int to_;
  Faults faults_;
  std::mt19937_64 random_;
  FaultProxy::Traffic& counter_;
  std::mutex& counting_;
  std::deque<Chunk> held_;
  std::size_t held_bytes_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t sent_ = 0;
  std::string repeated_;
  Time::time_point last_read_{};
  Time::time_point next_send_{};
  Time::time_point last_due_{};
  bool source_ended_ = false;
  bool source_failed_ = false;
  bool dropping_ = false;
  bool finished_ = false;
};

}  // namespace tenon::test
