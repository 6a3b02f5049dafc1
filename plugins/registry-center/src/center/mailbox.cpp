#include "mailbox.hpp"

#include <utility>

namespace tenon::center {

namespace {

// "127.0.0.1:4080", "[::1]:4080" without the port; what has none (names of the memory transport) as it is.
std::string host_of(const CallInfo& call) {
  if (!call.peer) return {};
  const std::string& peer = call.peer->peer;
  const std::size_t colon = peer.rfind(':');
  if (colon == std::string::npos || colon == 0) return peer;
  if (peer.front() == '[' && peer[colon - 1] == ']') return peer.substr(1, colon - 2);
  return peer.substr(0, colon);
}

}  // namespace

Mailbox::Mailbox(Door& door, std::string name, const CallInfo& call)
    : Watcher(std::move(name), host_of(call)), door_(door), executor_(*call.executor), cancel_(call.cancel) {
  stop_.mailbox = this;
  stop_.fire = [](CancelHook* hook) noexcept { static_cast<Stop*>(hook)->mailbox->stopped(); };
  run = [](Work* work) noexcept {
    auto* const self = static_cast<Mailbox*>(work);
    std::coroutine_handle<> waiter;
    {
      const std::lock_guard lock(self->door_.mutex);
      self->posted_ = false;
      waiter = std::exchange(self->waiter_, {});
    }
    waiter.resume();
  };
}

Mailbox::~Mailbox() = default;

// Once it waits, exactly one of a post and stopped() lets it go on: whoever finds waiter_ and no post under way.
bool Mailbox::wait(std::coroutine_handle<> waiter) noexcept {
  if (cancel_ && !cancel_->add(stop_)) return false;
  const std::lock_guard lock(door_.mutex);
  if (news_ || over_) return false;
  waiter_ = waiter;
  return true;
}

void Mailbox::stopped() noexcept {
  std::coroutine_handle<> waiter;
  {
    const std::lock_guard lock(door_.mutex);
    if (posted_) return;
    waiter = std::exchange(waiter_, {});
  }
  if (waiter) waiter.resume();
}

void Mailbox::changed() noexcept {
  news_ = true;
  if (!waiter_ || posted_) return;
  posted_ = true;
  door_.to_wake.push_back(this);
}

void Mailbox::ended(const Error& why) noexcept {
  over_ = true;
  why_ = why;
  changed();
}

void Mailbox::wake(std::vector<Mailbox*> to_wake) noexcept {
  for (Mailbox* mailbox : to_wake) mailbox->executor_.post(*mailbox);
}

Result<bool> Mailbox::read() {
  if (cancelled()) return Error(Errc::cancelled, "center: the watcher is gone", Delivery::ran, Advice::never);
  if (over_ && why_) return why_;
  if (over_) return false;
  news_ = false;
  return true;
}

}  // namespace tenon::center
