#pragma once
// Closed loops of `bench.Echo/Echo` calls: a slot calls again as soon as its answer is there.

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "figures.hpp"
#include "tenon/reference.hpp"

namespace tenon::cli {

/// How the calls are made.
enum class LoadMode {
  coroutine,  ///< slots are coroutines on the reference's io thread; request and reply objects are used again
  callback,   ///< slots are callbacks on the reference's io thread
  sync,       ///< one thread for each call in flight
  stream,     ///< slots read a stream each, as coroutines; a "call" is one message, its time the wait for it
};

/// One measurement's account: what came out inside the window.
/// Threads: ended() from one thread; completed() from any.
class Record {
 public:
  explicit Record(bench::Window window) : window_(window) {}

  /// The call begun at `started` has ended; now the next may begin: `started` becomes this moment, so that a closed
  /// loop reads the clock once for each call. False: the window is over, do not call again.
  bool ended(std::uint64_t& started, const Error& error, bool right_size);
  /// Calls ended since the beginning, warm-up included: for a progress line.
  std::uint64_t completed() const noexcept { return completed_.load(std::memory_order_relaxed); }
  /// REQUIRES: nobody calls ended() any more.
  void merge(const Record& other);

  const bench::Histogram& latency() const noexcept { return latency_; }
  std::uint64_t errors() const noexcept { return errors_; }
  /// The first failure's text; empty: there was none.
  const std::string& first_error() const noexcept { return first_error_; }

 private:
  const bench::Window window_;
  bench::Histogram latency_;
  std::uint64_t errors_ = 0;
  std::string first_error_;
  std::atomic<std::uint64_t> completed_{0};
};

/// What a load found.
struct LoadResult {
  bench::Figures figures;
  std::string first_error;
};

/// Told about every 200 ms how many calls have ended so far.
using LoadProgress = std::function<void(std::uint64_t completed)>;

/// Runs `workload` through `reference` for warmup + seconds. Blocking: that long, plus the calls' time-out at most.
/// Threads: none of the io threads. workload.mode is set from `mode`.
LoadResult run_load(const std::shared_ptr<Reference>& reference, LoadMode mode, bench::Workload workload, double warmup,
                    double seconds, const LoadProgress& progress);

/// One call, repeated until it works or `patience` is over: that the callee is there, before anything is measured.
Result<void> await_callee(const std::shared_ptr<Reference>& reference, std::size_t size, Duration patience);

}  // namespace tenon::cli
