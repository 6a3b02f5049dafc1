#pragma once
// A stream as its caller reads it. The methods of a generated client that return `stream` are ClientStreamMethods:
//
//   tenon::Stream<Quote> quotes = market.Watch(request);          // asks at once, does not wait
//   Quote quote;
//   while (true) {
//     tenon::Result<bool> more = quotes.next(quote);              // sync
//     tenon::Result<bool> more = co_await quotes.next(quote, tenon::use_task);                    // coroutine
//     quotes.next([](tenon::Result<std::optional<Quote>> next) {});  // callback; any Asio completion token works
//     if (!more.ok() || !*more) break;                             // failed, or ended well
//   }
//
// The server sends no more than the window (limits.stream_window) ahead of the reader.

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "tenon/client.hpp"

namespace tenon {

/// What a Stream is without its types: a call that goes on until the end of its messages. Lives on the heap; ended by
/// close(), after which it destroys itself on the reference's executor.
/// Threads: any, one operation at a time.
class TENON_SPI OpenStream {
 public:
  OpenStream(std::shared_ptr<Reference> reference, const Target& target) noexcept;
  OpenStream(const OpenStream&) = delete;
  OpenStream& operator=(const OpenStream&) = delete;

  /// Sends the request; `in` (an object of target.method->input) lives as long as this.
  void open(const void* in, const CallOptions& options);
  /// Asks for the next message, to be put into `into`, an object of target.method->output. True: it is there, or the
  /// end, or a failure. False: done(argument) follows once: on the executor next() was called from if that is one of
  /// ours, else on the reference's.
  bool next(void* into, void (*done)(void*) noexcept, void* argument) noexcept;
  /// Gives up what has not come. REQUIRES: no next() in progress. On the executor open() was called from, where the
  /// call has a parent.
  void close() noexcept;

  // After a next().
  /// True: a message is there. False: the stream has ended well. Fails with: what the handler failed with, cancelled,
  /// deadline_exceeded, unavailable (the connection is lost: what came before was whole).
  Result<bool> outcome() noexcept;
  Attachment& attachment() noexcept { return attachment_; }
  const Headers& headers() const noexcept { return headers_; }
  const Headers& trailers() const noexcept { return trailers_; }
  Reference& reference() noexcept { return *reference_; }

 protected:
  virtual ~OpenStream();

 private:
  enum State : int { opening, awaited, opened, closing };
  enum class Step : std::uint8_t { message, end, failed };
  struct Post : Work {
    OpenStream* stream = nullptr;
  };
  void on_opened() noexcept;
  bool advance() noexcept;  // the head is there; true: finished already
  bool pull() noexcept;     // on the reference's executor; true: finished already
  void arrived() noexcept;
  void report() noexcept;
  void destroy() noexcept;
  void post(Post& post, Executor& executor, void (*run)(Work*) noexcept) noexcept;

  std::shared_ptr<Reference> reference_;
  const Target& target_;
  Headers headers_;
  std::optional<OutgoingCall> call_;
  std::unique_ptr<Messages> messages_;
  Task<Result<std::optional<StreamMessage>>> task_;
  std::atomic<int> state_{opening};
  Post move_;  // a next() on its way between threads
  Post close_;
  Executor* origin_ = nullptr;  // where to report; null: where it completes
  void* into_ = nullptr;
  void (*done_)(void*) noexcept = nullptr;
  void* argument_ = nullptr;
  Step step_ = Step::end;
  bool pulled_ = false;
  Error error_;
  Attachment attachment_;
  Headers trailers_;
};

namespace detail {

template <class In>
class OpenStreamOf final : public OpenStream {
 public:
  OpenStreamOf(std::shared_ptr<Reference> reference, const Target& target, const In& in, const CallOptions& options)
      : OpenStream(std::move(reference), target), in_(in) {
    open(&in_, options);
  }

 private:
  const In in_;
};

/// Awaits OpenStream::next(). A named local of the coroutine that awaits it.
struct NextMessage {
  OpenStream& stream;
  void* into;
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> caller) noexcept {
    return !stream.next(
        into, [](void* address) noexcept { std::coroutine_handle<>::from_address(address).resume(); },
        caller.address());
  }
  void await_resume() const noexcept {}
};

TENON_SPI Task<Result<bool>> next_message(OpenStream& stream, void* into);
TENON_SPI Result<bool> wait_for_message(OpenStream& stream, void* into);

}  // namespace detail

/// The messages of one call, one after the other. Movable; its end gives up what has not come (the server is told).
/// Threads: any, one operation at a time; destroyed only when no next() is in progress. A call with
/// CallOptions::parent is read where its parent runs.
template <class Out>
class [[nodiscard]] Stream {
 public:
  /// One whose every next() fails with `error`.
  explicit Stream(Error error) : error_(std::move(error)) {}
  explicit Stream(OpenStream* open) noexcept : open_(open) {}
  Stream(Stream&& other) noexcept = default;
  Stream& operator=(Stream&& other) noexcept = default;

  /// True: `message` holds the next one; its memory is used again. False: the stream has ended well; then, and after a
  /// failure, it is over. Blocks (would_deadlock on an io thread).
  Result<bool> next(Out& message) {
    if (!open_) return error_;
    return detail::wait_for_message(*open_, &message);
  }
  /// As a coroutine. `message` must live until it has ended.
  Task<Result<bool>> next(Out& message, use_task_t) {
    if (!open_) return ready<Result<bool>>(error_);
    return detail::next_message(*open_, &message);
  }
  /// Callback, future, awaitable: any Asio completion token for void(Result<std::optional<Out>>).
  template <detail::Token Token>
  auto next(Token&& token) {
    auto begin = [this](auto handler) {
      using Handler = decltype(handler);
      if (!open_) {
        auto executor = boost::asio::get_associated_executor(handler, boost::asio::system_executor());
        auto refuse = [handler = std::move(handler), error = error_]() mutable {
          std::move(handler)(Result<std::optional<Out>>(std::move(error)));
        };
        boost::asio::dispatch(executor, std::move(refuse));
        return;
      }
      CallbackNext<Handler>::run(*open_, std::move(handler));
    };
    return boost::asio::async_initiate<Token, void(Result<std::optional<Out>>)>(std::move(begin), token);
  }

  /// Those of the stream's head. After the first next().
  const Headers& headers() const noexcept { return open_ ? open_->headers() : none(); }
  /// Those behind its last message. After the end.
  const Headers& trailers() const noexcept { return open_ ? open_->trailers() : none(); }
  /// The bytes that came beside the last message.
  Attachment attachment() const noexcept { return open_ ? open_->attachment() : Attachment(); }

 private:
  struct Close {
    void operator()(OpenStream* open) const noexcept { open->close(); }
  };
  template <class Handler>
  class CallbackNext {
   public:
    static void run(OpenStream& stream, Handler handler) {
      auto* self = new CallbackNext(stream, std::move(handler));
      auto done = [](void* next) noexcept { static_cast<CallbackNext*>(next)->complete(); };
      if (stream.next(&self->message_, done, self)) self->complete();
    }

   private:
    CallbackNext(OpenStream& stream, Handler handler) : stream_(stream), handler_(std::move(handler)) {}
    void complete() noexcept {
      auto executor = boost::asio::get_associated_executor(handler_, boost::asio::system_executor());
      Result<bool> more = stream_.outcome();
      Result<std::optional<Out>> result = std::optional<Out>();
      if (!more.ok())
        result = std::move(more).error();
      else if (*more)
        result = std::optional<Out>(std::move(message_));
      Handler handler = std::move(handler_);
      delete this;
      auto finish = [handler = std::move(handler), result = std::move(result)]() mutable {
        std::move(handler)(std::move(result));
      };
      boost::asio::dispatch(executor, std::move(finish));
    }
    OpenStream& stream_;
    Out message_{};
    Handler handler_;
  };
  static const Headers& none() noexcept {
    static const Headers empty;
    return empty;
  }

  std::unique_ptr<OpenStream, Close> open_;
  Error error_;
};

/// One server_stream method of a client. Copyable; valid while its reference lives.
/// Threads: any. The request is copied.
template <class In, class Out>
class ClientStreamMethod {
 public:
  ClientStreamMethod(std::shared_ptr<Reference> reference, const Method& method)
      : reference_(std::move(reference)), target_(reference_->bind(method)) {}

  /// Whether the method could be bound; the error otherwise.
  const Result<const Target*>& bound() const noexcept { return target_; }

  /// Sends the request at once. What goes wrong is told by the first next().
  Stream<Out> operator()(const In& in, const CallOptions& options = {}) const {
    if (!target_.ok()) return Stream<Out>(target_.error());
    return Stream<Out>(new detail::OpenStreamOf<In>(reference_, **target_, in, options));
  }

 private:
  std::shared_ptr<Reference> reference_;
  Result<const Target*> target_;
};

}  // namespace tenon
