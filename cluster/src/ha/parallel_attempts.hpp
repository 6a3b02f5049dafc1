#pragma once
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "tenon/cluster.hpp"
#include "tenon/memory.hpp"

namespace tenon::cluster {

/// Attempts of one call that are under way at the same time, each with a request of its own. Their ends are read one by
/// one; the call may not end before all of them have, because they borrow from its request: cancel(), then read on.
/// A cancellation of the call reaches them all.
/// Threads: the reference's executor. Cost: recycled memory for each attempt, no allocation beyond that.
class ParallelAttempts {
 public:
  class Attempt;

  /// `request`: the call's; outlives this.
  ParallelAttempts(Request& request, Clock& clock) noexcept;
  ParallelAttempts(const ParallelAttempts&) = delete;
  ParallelAttempts& operator=(const ParallelAttempts&) = delete;
  /// REQUIRES: none is under way (asserted).
  ~ParallelAttempts();

  /// `number`: CallInfo::attempt. The caller's reply object goes to an attempt while no other has it; a winner without
  /// it brings its reply as a payload of its own.
  void start(Endpoint& endpoint, std::uint32_t number);
  std::size_t under_way() const noexcept { return under_way_; }
  /// Those whose end nobody has read yet: under way, or ended.
  std::size_t pending() const noexcept { return under_way_ + unread_; }
  /// Is one under way at `endpoint`?
  bool at(const Endpoint& endpoint) const noexcept;
  /// Calls visit(how long it has been on its way) for each.
  template <class F>
  void each_age(F visit) const;
  /// Tells those under way, and their servers, that nobody waits for them any more. They end soon, mostly at once.
  void cancel() noexcept { cancellation_.cancel(); }

  /// Completes with one that has ended, or, at `until`, with null. One at a time.
  class Next {
   public:
    Next(ParallelAttempts& attempts, TimePoint until) noexcept : attempts_(attempts), until_(until) {}
    Next(const Next&) = delete;
    Next& operator=(const Next&) = delete;
    bool await_ready() const noexcept { return attempts_.ended_first_ != nullptr; }
    void await_suspend(std::coroutine_handle<> caller) noexcept;
    std::unique_ptr<Attempt> await_resume() noexcept;

   private:
    friend class ParallelAttempts;
    struct Wake : Alarm {
      Next* next = nullptr;
    };
    void wake() noexcept;
    ParallelAttempts& attempts_;
    const TimePoint until_;
    std::coroutine_handle<> caller_;
    Wake wake_;
  };
  /// REQUIRES: one is pending, or `until` is set.
  Next next(TimePoint until = never) noexcept { return Next(*this, until); }

 private:
  struct Stop : CancelHook {
    ParallelAttempts* attempts = nullptr;
  };
  void ended(Attempt& attempt) noexcept;

  Request& request_;
  Clock& clock_;
  Cancellation cancellation_;
  Stop stop_;
  Attempt* running_ = nullptr;      // a list
  Attempt* ended_first_ = nullptr;  // a list, in the order they ended
  Attempt* ended_last_ = nullptr;
  const Attempt* replying_ = nullptr;  // has the caller's reply object
  std::size_t under_way_ = 0;
  std::size_t unread_ = 0;
  Next* waiter_ = nullptr;
};

/// One of them, as long as it is under way or nobody has looked at its end.
class ParallelAttempts::Attempt {
 public:
  Attempt(ParallelAttempts& attempts, Request& original, Endpoint& endpoint, std::uint32_t number);
  static void* operator new(std::size_t size) { return memory::allocate(size); }
  static void operator delete(void* attempt, std::size_t size) noexcept { memory::release(attempt, size); }

  Endpoint& endpoint;
  Result<Response> result;  ///< once it has ended
  Duration took{0};         ///< likewise

 private:
  friend class ParallelAttempts;
  void finish() noexcept;

  ParallelAttempts& attempts_;
  const TimePoint began_;
  Request request_;
  CallInfo info_;
  Task<Result<Response>> task_;
  Attempt* next_ = nullptr;
};

template <class F>
void ParallelAttempts::each_age(F visit) const {
  for (const Attempt* attempt = running_; attempt; attempt = attempt->next_) visit(clock_.now() - attempt->began_);
}

}  // namespace tenon::cluster
