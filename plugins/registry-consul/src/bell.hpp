#pragma once
#include <coroutine>

#include "tenon/clock.hpp"

namespace tenon::consul {

/// What coroutines wait at, each until it rings or its time has come. Threads: one executor's. Its end rings, too.
class Bell {
 public:
  explicit Bell(Clock& clock) noexcept : clock_(clock) {}
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;
  ~Bell() { ring(); }

  /// co_await bell.wait(until): true: it rang; false: the time came.
  class Wait {
   public:
    Wait(Bell& bell, TimePoint until) noexcept : bell_(bell), until_(until) {}
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> caller) noexcept {
      caller_ = caller;
      next_ = bell_.first_;
      bell_.first_ = this;
      timeout_.wait = this;
      timeout_.fire = [](Alarm* alarm) { static_cast<Timeout*>(alarm)->wait->time_out(); };
      if (until_ != never) bell_.clock_.arm(timeout_, until_);
    }
    bool await_resume() const noexcept { return rang_; }

   private:
    friend class Bell;
    struct Timeout : Alarm {
      Wait* wait = nullptr;
    };
    void time_out() noexcept {
      Wait** at = &bell_.first_;
      while (*at != this) at = &(*at)->next_;
      *at = next_;
      caller_.resume();
    }
    Bell& bell_;
    const TimePoint until_;
    std::coroutine_handle<> caller_;
    Wait* next_ = nullptr;
    Timeout timeout_;
    bool rang_ = false;
  };
  Wait wait(TimePoint until) noexcept { return Wait(*this, until); }

  /// Resumes whoever waits now, within. May end the bell.
  void ring() noexcept {
    Wait* waiting = first_;
    first_ = nullptr;
    for (Wait* each = waiting; each; each = each->next_) {
      clock_.cancel(each->timeout_);
      each->rang_ = true;
    }
    while (waiting) {
      Wait* const one = waiting;
      waiting = one->next_;
      one->caller_.resume();
    }
  }

 private:
  Clock& clock_;
  Wait* first_ = nullptr;
};

}  // namespace tenon::consul
