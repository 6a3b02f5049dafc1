#include "mailbox.hpp"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <system_error>
#include <thread>

namespace tenon::zk {

bool run_apart(std::function<void()> f) noexcept {
  // The mask is inherited, by the threads that ZooKeeper's library starts there, too.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = true;
  try {
    std::thread(std::move(f)).detach();
  } catch (const std::system_error&) {
    started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

void Mailbox::close() {
  zhandle_t* handle = nullptr;
  {
    const std::lock_guard lock(mutex_);
    executor_ = nullptr;
    handle = std::exchange(handle_, nullptr);
  }
  if (!handle) return;
  // Its threads are joined there, one of which may be resolving a name; callbacks still to come need this box.
  const auto end = [handle, self = shared_from_this(), linger = linger_] {
    std::this_thread::sleep_for(linger);
    self->drain(handle);
    close_handle(handle);
    const std::lock_guard lock(self->mutex_);
    self->lent_.clear();
  };
  if (run_apart(end)) return;
  close_handle(handle);
  const std::lock_guard lock(mutex_);
  lent_.clear();
}

// Waits until the library has worked off what it has received: it leaks that when it is closed.
void Mailbox::drain(zhandle_t* handle) {
  if (zoo_state(handle) != ZOO_CONNECTED_STATE) return;
  const auto done = [](int, const Stat*, const void* box) {
    auto* self = static_cast<Mailbox*>(const_cast<void*>(box));
    const std::lock_guard lock(self->mutex_);
    self->is_drained_ = true;
    self->drained_.notify_all();
  };
  if (zoo_aexists(handle, "/", 0, done, this) != ZOK) return;
  std::unique_lock lock(mutex_);
  (void)drained_.wait_for(lock, std::chrono::seconds(1), [this] { return is_drained_; });
}

void Mailbox::close_handle(zhandle_t* handle) noexcept { (void)zookeeper_close(handle); }

}  // namespace tenon::zk
