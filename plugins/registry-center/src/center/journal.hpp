#pragma once
#include <condition_variable>
#include <coroutine>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "store.hpp"
#include "tenon/executor.hpp"
#include "tenon/log.hpp"

namespace tenon::center {

/// The thread that writes to the store, one job after the other, so that no io thread waits for a disk.
/// Threads: any. Blocking: a mutex held for a few instructions; the destructor until all jobs are done.
class Journal {
 public:
  /// What is to be done on the journal's thread.
  using Job = std::function<Result<void>(Store&)>;

  /// At most `limit` writes wait. Fails with: unavailable (no thread).
  static Result<std::unique_ptr<Journal>> start(std::unique_ptr<Store> store, std::size_t limit, Log& log);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  /// Awaited: does the job and gives its result. A named local of the coroutine; goes on where it was awaited.
  /// Fails with: overloaded (too many wait already); what the job fails with.
  class Write : Work {
   public:
    /// `home`: where to go on.
    Write(Journal& journal, Executor& home, Job job) : journal_(journal), home_(home), job_(std::move(job)) {}
    Write(const Write&) = delete;
    Write& operator=(const Write&) = delete;
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> waiter);
    Result<void> await_resume() { return std::move(result_); }

   private:
    friend class Journal;
    Journal& journal_;
    Executor& home_;
    const Job job_;
    std::coroutine_handle<> waiter_;
    Result<void> result_;
  };

  /// Does the job some time; its failure is logged. Not bounded: the caller's number of jobs is.
  void later(Job job);

 private:
  struct Entry {
    Write* write = nullptr;  ///< null: nobody waits
    Job job;
  };
  Journal(std::unique_ptr<Store> store, std::size_t limit, Log& log)
      : store_(std::move(store)), limit_(limit), log_(log) {}
  void work() noexcept;
  Result<void> run(const Job& job) noexcept;

  const std::unique_ptr<Store> store_;
  const std::size_t limit_;
  Log& log_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<Entry> entries_;
  std::size_t waiting_ = 0;  // entries somebody waits for
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace tenon::center
