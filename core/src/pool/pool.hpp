#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "tenon/result.hpp"

namespace tenon {

struct PoolCounts;

/// N threads that serve requests beside the io threads, and the one bounded queue they share. Each thread is an
/// Executor with a loop of its own, so that a suspended handler goes on where it was suspended.
///
/// A thread takes the next request as soon as it has nothing else to run: its handler ended or is suspended. Requests
/// belong to no thread before one takes them, so a slow one delays no other as long as a thread is free.
/// Threads: any, unless it says otherwise. Blocking: a mutex held for a few instructions.
class Pool {
 private:
  struct Worker;

 public:
  /// A request on its way through a pool, embedded in its owner.
  struct Job {
    /// Called once on a pool thread, unless it was withdrawn. `expired`: its deadline passed while it waited; nothing
    /// of it may run. Otherwise its owner calls Pool::ended() when it is over. May destroy the job.
    void (*run)(Job& job, bool expired) noexcept = nullptr;
    TimePoint deadline = never;

   private:
    friend class Pool;
    Job* prev_ = nullptr;
    Job* next_ = nullptr;
    Worker* worker_ = nullptr;  // who took it; null as long as it is queued
  };

  /// Starts `threads` threads (at least 1); at most `queue` requests wait for one.
  /// Fails with: unavailable (the system gives no more threads).
  static Result<std::unique_ptr<Pool>> start(std::string name, std::size_t threads, std::size_t queue);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  /// stop().
  ~Pool();

  const std::string& name() const noexcept { return name_; }
  /// Hands the job over. False: the queue is full, and the job stays the caller's. It may have run before this returns.
  bool submit(Job& job) noexcept;
  /// Takes a job back that nobody has begun: null, and it will never run. Otherwise the loop of the thread that took
  /// it; what is posted there now runs after job.run. REQUIRES: submitted, and its owner still lives.
  Loop* withdraw(Job& job) noexcept;
  /// A job that ran, unexpired, is over.
  void ended(Job& job) noexcept;
  PoolCounts counts() const;
  /// Why submit() refused: names the pool and its bounds.
  std::string full_text() const;

  /// Ends the threads after what was posted to them, and joins them: blocks as long as a handler does.
  /// REQUIRES: no job is queued or will be submitted.
  void stop();

 private:
  /// One thread. As a Work it is the thread's look into the queue: posted by who claims it, or by itself.
  struct Worker : Work {
    Pool* pool = nullptr;
    Worker* next_idle = nullptr;
    bool claimed = false;                    // posted by submit() and not yet there
    std::atomic<std::size_t> unfinished{0};  // handlers that began here: running or suspended
    Loop loop;
  };
  Pool(std::string name, std::size_t queue) : name_(std::move(name)), limit_(queue) {}
  void take(Worker& worker) noexcept;
  Worker* claim() noexcept;

  const std::string name_;
  const std::size_t limit_;
  std::vector<std::unique_ptr<Worker>> workers_;

  mutable std::mutex mutex_;  // of everything below
  Job queue_;                 // head of the ring, oldest next
  std::size_t queued_ = 0;
  Worker* idle_ = nullptr;  // latest first: its caches are warm
  std::size_t idle_count_ = 0;
  std::size_t claimed_ = 0;
  std::uint64_t rejected_ = 0;
  std::uint64_t expired_ = 0;
};

/// True on the thread of any pool: it may wait, and a synchronous call is fine there.
bool on_pool_thread() noexcept;

}  // namespace tenon
