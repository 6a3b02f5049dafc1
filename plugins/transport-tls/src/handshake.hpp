#pragma once
#include "engine.hpp"
#include "tenon/clock.hpp"

namespace tenon::tls {

/// One handshake on its way, with a time limit. To be awaited, or started with a completion.
/// Threads: the socket's executor's. Ownership: borrows the engine; who ends it early destroys both.
class Handshake {
 public:
  Handshake(Engine& engine, Clock& clock, TimePoint limit);
  Handshake(const Handshake&) = delete;
  Handshake& operator=(const Handshake&) = delete;
  ~Handshake() { clock_.cancel(alarm_); }

  /// True: it is over already, and `done` will not be called. Else it is called once, never inline; it may destroy
  /// this.
  bool start(Completion done);

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> caller) {
    return !start(
        {[](void* self) noexcept { std::coroutine_handle<>::from_address(self).resume(); }, caller.address()});
  }
  void await_resume() const noexcept {}

  bool succeeded() const noexcept { return outcome_ == Outcome::succeeded; }
  bool late() const noexcept { return outcome_ == Outcome::late; }

 private:
  enum class Outcome : std::uint8_t { none, succeeded, failed, late };
  struct Limit : Alarm {
    Handshake* handshake = nullptr;
  };
  void advance();
  void on_writable();
  void await_room();
  void finish(Outcome outcome);

  Engine& engine_;
  Clock& clock_;
  const TimePoint limit_;
  Limit alarm_;
  Completion done_;
  Outcome outcome_ = Outcome::none;
  bool started_ = false;  // start() has returned: completions are called
  bool shaken_ = false;
  bool writing_ = false;  // waits for the socket to take more
};

}  // namespace tenon::tls
