#pragma once
#include <coroutine>

#include "tenon/cancel.hpp"
#include "tenon/clock.hpp"

namespace tenon::cluster {

/// Waits for something that happens once: the first snapshot.
/// Threads: one executor's.
class Arrivals {
 public:
  class Wait;
  /// Resumes everybody who waits.
  void fire() noexcept;

 private:
  Wait* first_ = nullptr;
};

/// One wait: ends when it fires, at the deadline or when `cancel` fires, whichever is first; which one is for the
/// awaiter to look up.
class Arrivals::Wait {
 public:
  Wait(Arrivals& arrivals, Clock& clock, TimePoint deadline, Cancellation* cancel) noexcept
      : arrivals_(arrivals), clock_(clock), deadline_(deadline), cancel_(cancel) {}
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> caller) noexcept;
  void await_resume() const noexcept {}

 private:
  friend class Arrivals;
  struct Late : Alarm {
    Wait* wait = nullptr;
  };
  struct Stop : CancelHook {
    Wait* wait = nullptr;
  };
  void unlink() noexcept;

  Arrivals& arrivals_;
  Clock& clock_;
  TimePoint deadline_;
  Cancellation* cancel_;
  std::coroutine_handle<> caller_;
  Wait* previous_ = nullptr;
  Wait* next_ = nullptr;
  Late late_;
  Stop stop_;
};

}  // namespace tenon::cluster
