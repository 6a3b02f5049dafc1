#pragma once
#include <zookeeper/zookeeper.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "client_log.hpp"
#include "tenon/executor.hpp"

namespace tenon::zk {

class Client;

/// The way from ZooKeeper's threads to the executor, and the one place that knows the handle for closing it. Outlives
/// the client: what comes after close() is dropped.
/// Threads: any, except where it says otherwise.
class Mailbox : public std::enable_shared_from_this<Mailbox> {
 public:
  /// `owner`: whose letters these are, for callbacks that get nothing but this.
  Mailbox(Executor& executor, Client* owner, std::shared_ptr<ClientLog> log)
      : executor_(&executor), owner_(owner), log_(std::move(log)) {}
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  /// Runs letter() on the executor, unless it is closed by then. A letter may be destroyed on any thread.
  template <class F>
  void post(F letter) {
    struct Letter : Work {
      Letter(std::shared_ptr<Mailbox> to, F f) : box(std::move(to)), open(std::move(f)) {}
      std::shared_ptr<Mailbox> box;
      F open;
    };
    auto made = std::make_unique<Letter>(shared_from_this(), std::move(letter));
    made->run = [](Work* work) noexcept {
      const std::unique_ptr<Letter> arrived(static_cast<Letter*>(work));
      if (arrived->box->delivers()) arrived->open();
    };
    const std::lock_guard lock(mutex_);
    if (executor_) executor_->post(*made.release());
  }

  /// What the library has the address of until it gives it back. At the end of a handle it may forget to.
  struct Lent {
    Lent() = default;
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;
    virtual ~Lent() = default;
    /// Everything written before it was lent is seen by whoever asks, however the library passed the address on.
    Mailbox& mailbox() const noexcept { return *mailbox_.load(std::memory_order_acquire); }

   private:
    friend class Mailbox;
    std::atomic<Mailbox*> mailbox_ = nullptr;
  };
  void lend(std::unique_ptr<Lent> what) {
    Lent* const address = what.get();
    const std::lock_guard lock(mutex_);
    lent_.emplace(address, std::move(what));
    address->mailbox_.store(this, std::memory_order_release);
  }
  /// REQUIRES: lent, and not taken back.
  template <class T>
  std::unique_ptr<T> take_back(T* what) {
    const std::lock_guard lock(mutex_);
    auto node = lent_.extract(what);
    return std::unique_ptr<T>(static_cast<T*>(node.mapped().release()));
  }

  /// The handle that close() closes. False: it is closed already, the handle stays the caller's.
  bool keep(zhandle_t* handle) {
    const std::lock_guard lock(mutex_);
    if (executor_) handle_ = handle;
    return executor_ != nullptr;
  }

  /// To be used by letters only. Never changes.
  Client* owner() const noexcept { return owner_; }
  /// For the handle.
  ClientLog::Function log_function() const noexcept { return log_->function(); }

  /// close() leaves the handle open for that long. Threads: the executor's.
  void linger(std::chrono::milliseconds time) noexcept { linger_ = time; }
  /// No letter arrives any more; the handle is closed on a thread of its own, which keeps this alive. Threads: the
  /// executor's. Blocking: no.
  void close();

  /// Ends the session if it is connected. Blocking: up to some seconds.
  static void close_handle(zhandle_t* handle) noexcept;

 private:
  bool delivers() {
    const std::lock_guard lock(mutex_);
    return executor_ != nullptr;
  }

  void drain(zhandle_t* handle);

  std::mutex mutex_;
  std::condition_variable drained_;
  bool is_drained_ = false;
  std::chrono::milliseconds linger_{0};
  std::unordered_map<Lent*, std::unique_ptr<Lent>> lent_;
  Executor* executor_;  // null: closed
  zhandle_t* handle_ = nullptr;
  Client* const owner_;
  const std::shared_ptr<ClientLog> log_;  // the handle's threads write to it until it is closed
};

/// Runs f() on a thread of its own that no signal of the application is delivered to. False: there are no threads left,
/// f was not run.
bool run_apart(std::function<void()> f) noexcept;

}  // namespace tenon::zk
