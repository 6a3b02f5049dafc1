#pragma once
#include <coroutine>
#include <mutex>
#include <vector>

#include "tenon/call.hpp"
#include "watcher.hpp"

namespace tenon::center {

class Mailbox;

/// The mutex over everything a center knows, and who is to be woken when it is given back.
struct Door {
  std::mutex mutex;
  std::vector<Mailbox*> to_wake;
};

/// One stream's place to wait for news: a mark that there are some, never a queue of them. A named local of the
/// stream's handler; woken on the call's own executor.
/// Threads: changed(), ended() with the door's mutex held, on any; the rest on the call's executor.
class Mailbox final : public Watcher, private Work {
 public:
  /// `name`: who watches. `call` lives as long as this.
  Mailbox(Door& door, std::string name, const CallInfo& call);
  ~Mailbox() override;

  /// co_await mailbox.news(): goes on when there is news, when the subscription is over, or when the caller is.
  auto news() noexcept {
    struct Awaiter {
      Mailbox& mailbox;
      bool await_ready() const noexcept { return false; }
      bool await_suspend(std::coroutine_handle<> waiter) noexcept { return mailbox.wait(waiter); }
      void await_resume() const noexcept { Cancellation::remove(mailbox.stop_); }
    };
    return Awaiter{*this};
  }
  /// With the mutex held: the news is read. Fails with: cancelled (the caller is gone), what ended() was given. False:
  /// the client ended it itself.
  Result<bool> read();
  /// Without the mutex: wakes those who are `to_wake`.
  static void wake(std::vector<Mailbox*> to_wake) noexcept;

  void changed() noexcept override;
  void ended(const Error& why) noexcept override;

 private:
  struct Stop : CancelHook {
    Mailbox* mailbox = nullptr;
  };
  bool wait(std::coroutine_handle<> waiter) noexcept;
  void stopped() noexcept;
  bool cancelled() const noexcept { return cancel_ && cancel_->cancelled(); }

  Door& door_;
  Executor& executor_;
  Cancellation* const cancel_;
  Stop stop_;
  // Under the mutex.
  std::coroutine_handle<> waiter_;  // null: nobody waits
  bool news_ = true;
  bool over_ = false;
  bool posted_ = false;
  Error why_;
};

}  // namespace tenon::center
