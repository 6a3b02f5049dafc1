#pragma once
#include <signal.h>

#include <atomic>

namespace tenon {

/// SIGTERM, SIGINT and SIGUSR2 as requests to stop, while it lives; the previous handlers come back afterwards.
/// Threads: one instance at a time in a process (signals are the process's).
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Blocks until the first arrives.
  void wait_for_first() const;
  /// How many have arrived.
  const std::atomic<int>& count() const noexcept;
  /// "SIGTERM": the latest one.
  const char* name() const noexcept;

 private:
  struct sigaction previous_[3];
};

}  // namespace tenon
