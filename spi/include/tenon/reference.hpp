#pragma once
// A service as its callers hold it, and the non-template machinery under every form of call.

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tenon/call.hpp"

namespace tenon {

class OutgoingCall;

/// Lets a caller give calls up from any thread: pass it in CallOptions::cancel, keep it until the call completes.
/// One source may serve many calls. Threads: any.
class TENON_SPI CancelSource {
 public:
  CancelSource() = default;
  CancelSource(const CancelSource&) = delete;
  CancelSource& operator=(const CancelSource&) = delete;
  ~CancelSource();
  /// Every call that uses it, now or later, completes with `cancelled` at once; the server is told.
  void cancel() noexcept;

 private:
  friend class OutgoingCall;
  struct Link;
  std::mutex mutex_;
  bool cancelled_ = false;
  std::vector<std::shared_ptr<Link>> links_;
};

/// What a caller may set for one call. Everything has a default; write what differs:
///   greeter.SayHello(request, {.timeout = 50ms, .parent = &info});
struct CallOptions {
  /// For the whole call, retries included; for a stream to its end. 0: the method's or reference's; the latter does not
  /// count for streams.
  Duration timeout{0};
  Headers headers{};
  std::uint64_t hash_key = 0;        ///< for consistent hashing
  std::string instance{};            ///< only the instance with this id or address
  const CallInfo* parent = nullptr;  ///< the call being served: hands on its deadline, cancellation and trace headers
  CancelSource* cancel = nullptr;
  Headers* reply_headers = nullptr;        ///< where the reply's headers go; must outlive the call
  Attachment attachment{};                 ///< bytes sent beside the request
  Attachment* reply_attachment = nullptr;  ///< where those beside the reply go; must outlive the call
};

/// Something that is started once and ends once; what a blocking caller waits for.
struct Startable {
  void* self = nullptr;
  /// True: finished already. False: done(argument) follows once.
  bool (*start)(void* self, void (*done)(void*) noexcept, void* argument) noexcept = nullptr;
};

/// A service as an application refers to it (manifest: client.references). Shared; thread-safe.
class TENON_SPI Reference {
 public:
  static constexpr std::string_view kind = "reference";
  virtual ~Reference();
  virtual const ServiceName& service() const noexcept = 0;
  /// The method as this reference calls it (time-outs and retries of the manifest applied). Copies what it needs of
  /// `method`, whose MessageTypes must outlive the reference. The Target lives as long as the reference.
  /// Threads: any. Fails with: unimplemented (a shape that is not carried yet), config.
  virtual Result<const Target*> bind(const Method& method) = 0;
  /// Where its calls run. Calls made there are not handed over.
  virtual Executor& executor() noexcept = 0;
  /// Filters, cluster, endpoints. Threads: executor()'s only.
  virtual Invoker& invoker() noexcept = 0;
  /// At every instance at once; by default the invoker is the only one. Threads: executor()'s only.
  /// Ownership: as Callable::call.
  virtual Task<Broadcast> each(Request& request);
  /// Starts `what`, which goes on on executor(), and blocks the calling thread until it has ended; may drive the
  /// executor's loop meanwhile.
  /// Fails with: would_deadlock when the calling thread is an io thread (any executor's); a pool's may wait.
  virtual Result<void> run(const Startable& what) = 0;
};

/// One call in progress on the caller's side. Embedded in a coroutine frame, on a stack (sync) or in a heap object
/// (callback); must stay where it is from start to completion.
class TENON_SPI OutgoingCall {
 public:
  /// `in` and `reply` (an object of target.method->output) must outlive the call, `options` start().
  OutgoingCall(Reference& reference, const Target& target, const void* in, void* reply, const CallOptions& options);
  OutgoingCall(const OutgoingCall&) = delete;
  OutgoingCall& operator=(const OutgoingCall&) = delete;
  ~OutgoingCall();

  /// Starts it from any thread. True: finished already (only possible on the executor's thread). False:
  /// done(argument) follows once: on the executor the call was started from if that is one of ours, else on the
  /// reference's.
  bool start(void (*done)(void*) noexcept, void* argument) noexcept;
  Startable startable() noexcept {
    return {this, [](void* self, void (*done)(void*) noexcept, void* argument) noexcept {
              return static_cast<OutgoingCall*>(self)->start(done, argument);
            }};
  }
  /// After completion: the error, or none and the reply object is filled.
  Error& error() noexcept { return error_; }
  /// Where the reply's headers go besides CallOptions::reply_headers. Before start().
  void keep_headers(Headers* headers) { extras().kept_headers = headers; }
  /// It goes to every instance (Reference::each); the reply object is left alone. Before start().
  void make_broadcast() { extras().broadcast = std::make_unique<Broadcast>(); }
  /// After completion, when there was no error. REQUIRES make_broadcast().
  Broadcast take_broadcast() { return std::move(*extras_->broadcast); }
  /// Makes cancel() possible. Before start().
  void make_cancellable() { request_.cancel = &extras().cancellation; }
  /// The caller gives it up. REQUIRES make_cancellable(). Threads: the reference's executor.
  void cancel() noexcept { extras_->cancellation.cancel(); }
  /// After completion of a server_stream: its messages, to be used and destroyed on the reference's executor, before
  /// close_stream().
  std::unique_ptr<Messages> take_messages() noexcept { return extras_ ? std::move(extras_->messages) : nullptr; }
  /// A stream is over: from now on cancellation does not reach it. Threads: the reference's executor.
  void close_stream() noexcept;
  /// The parent's cancellation does not reach it any more. Threads: the one it was started from.
  void leave_parent() noexcept;
  Reference& reference() noexcept { return reference_; }

  // Awaitable, so that a coroutine can say co_await call (the call must be a named local).
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> caller) noexcept;
  void await_resume() const noexcept {}

 private:
  struct Post : Work {
    OutgoingCall* call = nullptr;
  };
  struct ParentHook : CancelHook {
    OutgoingCall* call = nullptr;
  };
  /// What few calls need: cancellation, a chosen instance, attachments, streams, broadcasts. Apart, because thousands
  /// of calls may wait at once.
  struct Extras {
    Cancellation cancellation;
    ParentHook parent_hook;
    std::shared_ptr<CancelSource::Link> link;
    std::string instance;
    Headers* kept_headers = nullptr;
    Attachment* reply_attachment = nullptr;
    std::unique_ptr<Messages> messages;
    std::unique_ptr<Broadcast> broadcast;
  };
  Extras& extras();
  bool begin(Executor& executor) noexcept;  // on its thread; true: finished
  void finished() noexcept;                 // on the executor's thread
  void settle() noexcept;                   // takes the task's result
  void link_cancel(const CallOptions& options);
  void post(Executor& executor, void (*run)(Work*) noexcept) noexcept;

  Reference& reference_;
  Request request_;
  CallInfo info_;
  std::unique_ptr<Extras> extras_;
  Duration timeout_;
  Headers* reply_headers_;
  Task<Result<Response>> task_;
  Executor* origin_ = nullptr;  // where to report; null: where it completed
  void (*done_)(void*) noexcept = nullptr;
  void* argument_ = nullptr;
  union {
    const CallOptions* options_;  // until it is started
    Post* post_;                  // while it travels between threads
  };
  Error error_;
};

}  // namespace tenon
