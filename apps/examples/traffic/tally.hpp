#pragma once
// What became of the calls, and who answered them.

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "greeter.tenon.h"

/// Counts the calls of one consumer. Threads: any.
class Tally {
 public:
  using Duration = std::chrono::steady_clock::duration;

  /// One instance, as its answers name it.
  struct Instance {
    std::uint64_t answers = 0;
    std::string process;  ///< the last one that spoke in its name: "process 4711"
  };
  /// Since the first call.
  struct Figures {
    std::uint64_t made = 0;
    std::uint64_t answered = 0;
    std::uint64_t failed = 0;
    std::map<std::string, Instance> instances;
    Duration slowest{0};  ///< of the answers
    std::string failure;  ///< why the last failed call did
  };

  /// Before a call.
  void made();
  /// After it. `took` is counted from when it was due, so that being late counts, too.
  void ended(const tenon::Result<demo::HelloReply>& reply, Duration took);

  Figures figures() const;

 private:
  mutable std::mutex mutex_;
  Figures figures_;
};
