#pragma once
// Task<T>: the coroutine type of every asynchronous function in Tenon. Lazy: nothing runs before it is awaited or
// started. Frames are recycled per thread.
//
// A million synchronously completing awaits in a loop must not grow the stack, at -O0 and under sanitizers too, where
// symmetric transfer is a real call. So await_suspend() resumes the child itself and, when the child finished during
// that resume, returns false ("do not suspend"). Whether it finished *in that resume* is decided by a serial number
// kept per thread: no atomics, and no look at memory that another thread may already have freed.

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "tenon/export.hpp"
#include "tenon/memory.hpp"

namespace tenon {

template <class T>
class Task;

namespace detail {

/// Per thread: the innermost start in progress, and the last one that finished synchronously.
struct StartLedger {
  std::uint64_t active;
  std::uint64_t finished;
  std::uint64_t next;
  std::uint64_t end;
};
TENON_SPI extern constinit thread_local StartLedger ledger __attribute__((tls_model("initial-exec")));
/// Reserves a block of serials for this thread; unique in the process.
TENON_SPI void reserve_serials() noexcept;

class PromiseCore {
 public:
  static void* operator new(std::size_t size) { return memory::allocate(size); }
  static void operator delete(void* frame, std::size_t size) noexcept { memory::release(frame, size); }

  std::suspend_always initial_suspend() noexcept { return {}; }
  struct Final {
    bool await_ready() const noexcept { return false; }
    template <class P>
    void await_suspend(std::coroutine_handle<P> self) const noexcept {
      PromiseCore& promise = self.promise();
      if (promise.rescue_ && !promise.rescue_(promise)) return;  // another task goes on in its place
      promise.finish();
    }
    void await_resume() const noexcept {}
  };
  Final final_suspend() noexcept { return {}; }
  /// Reports the end; may destroy the frame.
  void finish() noexcept {
    if (serial_ == ledger.active)
      ledger.finished = serial_;  // start() below is our caller and will see it
    else
      on_done_(argument_);
  }
  void unhandled_exception() noexcept { exception_ = std::current_exception(); }

  /// Resumes the task for the first time. True: it finished already and on_done will not be called. False: it is
  /// suspended, or finished elsewhere meanwhile; on_done(argument) is or was called, exactly once, and nothing of the
  /// task may be touched here any more.
  bool start(std::coroutine_handle<> self, void (*on_done)(void*), void* argument) {
    StartLedger& mine = ledger;
    if (mine.next == mine.end) reserve_serials();
    const std::uint64_t serial = mine.next++;
    const std::uint64_t outer = std::exchange(mine.active, serial);
    serial_ = serial;
    on_done_ = on_done;
    argument_ = argument;
    self.resume();
    mine.active = outer;
    return mine.finished == serial;
  }

 protected:
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }
  bool threw() const noexcept { return exception_ != nullptr; }
  /// Looks at the value once it is there. True: it stands; false: finish() will be called later.
  bool (*rescue_)(PromiseCore&) noexcept = nullptr;

 private:
  void (*on_done_)(void*) = nullptr;
  void* argument_ = nullptr;
  std::uint64_t serial_ = 0;
  std::exception_ptr exception_;
};

template <class T>
class Promise final : public PromiseCore {
 public:
  /// See Task::rescue().
  using Rescuer = Task<T> (*)(T& value, void* self, void* argument);
  void rescue(Rescuer rescuer, void* self, void* argument) noexcept {
    rescuer_ = rescuer;
    self_ = self;
    rescue_argument_ = argument;
    rescue_ = [](PromiseCore& core) noexcept { return static_cast<Promise&>(core).look(); };
  }

  std::coroutine_handle<> handle() noexcept { return std::coroutine_handle<Promise>::from_promise(*this); }
  template <class U>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  T take() {
    rethrow();
    return std::move(*value_);
  }
  T& result() {
    rethrow();
    return *value_;
  }
  auto get_return_object() noexcept;

 private:
  bool look() noexcept;
  struct Rescue;
  std::optional<T> value_;
  Rescuer rescuer_ = nullptr;
  void* self_ = nullptr;
  void* rescue_argument_ = nullptr;
};

template <>
class Promise<void> final : public PromiseCore {
 public:
  std::coroutine_handle<> handle() noexcept { return std::coroutine_handle<Promise>::from_promise(*this); }
  void return_void() noexcept {}
  void take() { rethrow(); }
  void result() { rethrow(); }
  auto get_return_object() noexcept;
};

inline void resume_address(void* address) { std::coroutine_handle<>::from_address(address).resume(); }

}  // namespace detail

/// A lazily started asynchronous computation of a T, with one owner.
/// A Task must not be destroyed while it is suspended on I/O: whoever starts it waits for its end (Scope, the runtime).
/// Threads: it runs on the thread that starts it and resumes on the thread where what it awaits completed.
/// Errors are values inside T (Result); an exception that escapes the body is rethrown to the awaiter.
template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::Promise<T>;
  using value_type = T;

  Task() noexcept = default;
  explicit Task(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
  Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      if (frame_) frame_.destroy();
      frame_ = std::exchange(other.frame_, {});
    }
    return *this;
  }
  ~Task() {
    if (frame_) frame_.destroy();
  }
  explicit operator bool() const noexcept { return static_cast<bool>(frame_); }

  // co_await task
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> parent) const {
    return !frame_.promise().start(frame_, &detail::resume_address, parent.address());
  }
  T await_resume() const { return frame_.promise().take(); }

  /// For code that is not a coroutine. True: finished already, take() the result now. False: done(argument) will be
  /// called once, on the completing thread, then take() it. Started at most once; keep the Task alive until then.
  bool start(void (*done)(void*), void* argument) const { return frame_.promise().start(frame_, done, argument); }
  T take() const { return frame_.promise().take(); }
  /// The value where it is, valid while the task lives; instead of take().
  decltype(auto) result() const { return frame_.promise().result(); }

  /// Looks at the value before the awaiter gets it: `rescuer(value, self, argument)` returns an empty Task to let it
  /// stand, or a task whose value replaces it (it may move from `value`). Costs three words instead of the coroutine
  /// that awaiting the task just to look at its value would be. Before the task is started; not for Task<void>.
  template <class U>
  void rescue(Task (*rescuer)(U& value, void* self, void* argument), void* self, void* argument) const noexcept {
    static_assert(std::is_same_v<T, U>);
    frame_.promise().rescue(rescuer, self, argument);
  }

 private:
  std::coroutine_handle<promise_type> frame_;
};

namespace detail {
template <class T>
auto Promise<T>::get_return_object() noexcept {
  return Task<T>(std::coroutine_handle<Promise>::from_promise(*this));
}
inline auto Promise<void>::get_return_object() noexcept {
  return Task<void>(std::coroutine_handle<Promise>::from_promise(*this));
}
}  // namespace detail

namespace detail {

/// The task that goes on in place of another.
template <class T>
struct Promise<T>::Rescue {
  Promise* promise;
  Task<T> task;
  static void* operator new(std::size_t size) { return memory::allocate(size); }
  static void operator delete(void* memory, std::size_t size) noexcept { memory::release(memory, size); }
  void end() noexcept {
    try {
      promise->value_.emplace(task.take());
    } catch (...) {
      promise->unhandled_exception();
    }
    delete this;
  }
};

template <class T>
bool Promise<T>::look() noexcept {
  if (threw()) return true;
  Task<T> next = rescuer_(*value_, self_, rescue_argument_);
  if (!next) return true;
  auto* rescue = new Rescue{this, std::move(next)};
  auto ended = [](void* argument) {
    auto* self = static_cast<Rescue*>(argument);
    Promise* promise = self->promise;
    self->end();
    promise->finish();
  };
  if (!rescue->task.start(ended, rescue)) return false;
  rescue->end();
  return true;
}

}  // namespace detail

/// A task that is already finished with `value`.
template <class T>
Task<T> ready(T value) {
  co_return std::move(value);
}

}  // namespace tenon
