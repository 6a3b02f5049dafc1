#pragma once
#include <signal.h>

namespace tenon {

/// SIGTERM, SIGINT, SIGUSR2 and SIGHUP as events, while it lives; the previous handlers come back afterwards. A SIGHUP
/// that is ignored already (nohup) stays so.
/// Threads: one instance at a time in a process (signals are the process's); its functions from any.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Blocks until one arrives that no wait() has returned for yet, or for each wake().
  void wait() const;
  void wake() const noexcept;
  /// How many have arrived.
  int count() const noexcept;
  /// The same without SIGHUP, of which a terminal that goes away sends several.
  int commands() const noexcept;
  /// "SIGTERM": the latest one.
  const char* name() const noexcept;

 private:
  struct sigaction previous_[4];
};

}  // namespace tenon
