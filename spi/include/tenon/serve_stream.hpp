#pragma once
// The typed side of a server_stream method: the handler writes messages one after the other; each write waits until
// the caller has room.
//
//   tenon::Task<tenon::Result<void>> Watch(const Query& query, tenon::StreamWriter<Quote>& out,
//                                          const tenon::CallInfo& info) override {
//     Quote quote;
//     while (next(quote)) {
//       tenon::Result<void> sent = co_await out.send(quote);
//       if (!sent.ok()) co_return sent;                          // the caller has gone
//     }
//     co_return tenon::Result<void>();                           // the stream ends well
//   }
//
// An error before the first message is an ordinary error reply; later it ends the stream.

#include <coroutine>
#include <memory>
#include <utility>

#include "tenon/serve.hpp"

namespace tenon {

/// A handler's messages as core takes them: asked for the next one, it lets the handler go on until it writes it, so
/// nothing is buffered. Threads: the call's executor.
class TENON_SPI ServedMessages : public Messages {
 public:
  ~ServedMessages() override;
  Task<Result<std::optional<StreamMessage>>> next() final;
  Headers& trailers() noexcept final { return trailers_; }
  /// Lets the handler run until its first message or its end. What it failed with before any message.
  /// `request` lives as long as this.
  Task<Result<void>> begin(const Request& request);

 protected:
  explicit ServedMessages(const MessageType& output) noexcept : output_(output) {}
  /// The handler, not started.
  virtual Task<Result<void>> handler() = 0;

  Headers trailers_;

 private:
  template <class T>
  friend class StreamWriter;
  class Advance;
  /// Awaited by the handler: hands a message over and waits for the next to be asked for.
  class TENON_SPI Send {
   public:
    Send(ServedMessages& messages, const void* value, Attachment attachment) noexcept
        : messages_(messages), value_(value), attachment_(std::move(attachment)) {}
    Send(const Send&) = delete;
    Send& operator=(const Send&) = delete;
    bool await_ready() const noexcept { return messages_.given_up(); }
    void await_suspend(std::coroutine_handle<> writer) noexcept;
    Result<void> await_resume() const;

   private:
    ServedMessages& messages_;
    const void* value_;
    Attachment attachment_;
  };
  bool given_up() const noexcept { return request_->cancel && request_->cancel->cancelled(); }
  void go_on();
  void asked_for();
  void ended() noexcept;

  const MessageType& output_;
  const Request* request_ = nullptr;
  Task<Result<void>> handler_;
  Result<void> result_;
  std::coroutine_handle<> writer_;  // the handler, waiting in send()
  std::coroutine_handle<> asker_;   // waits for the next message
  const void* value_ = nullptr;     // written and not taken yet
  Attachment attachment_;
  bool first_ = false;  // begin() has it
  bool ended_ = false;
};

/// Where a server_stream handler writes. Lives as long as the handler runs.
/// Threads: the call's executor; one send() at a time.
template <class T>
class StreamWriter {
 public:
  explicit StreamWriter(ServedMessages& messages, Headers& trailers) noexcept
      : messages_(messages), trailers_(trailers) {}
  StreamWriter(const StreamWriter&) = delete;
  StreamWriter& operator=(const StreamWriter&) = delete;

  /// co_await out.send(message): goes on when the next message is wanted. `message` is borrowed until then: a named
  /// object. Fails with: cancelled (the caller gave up, or is gone; further messages go nowhere).
  [[nodiscard]] ServedMessages::Send send(const T& message, Attachment attachment = {}) {
    return ServedMessages::Send(messages_, &message, std::move(attachment));
  }
  ServedMessages::Send send(T&& message, Attachment attachment = {}) = delete;
  /// The call being answered: who asks, its cancellation, its deadline, its headers. In service code made by
  /// protoc-gen-tenon the handler's `info`.
  const CallInfo& call() const noexcept { return *messages_.request_->info; }
  /// Headers sent behind the last message. Those of the head: CallInfo::reply, before the first message.
  Headers& trailers() noexcept { return trailers_; }

 private:
  ServedMessages& messages_;
  Headers& trailers_;
};

namespace detail {

template <class In, class Out, class Handler>
class ServedStream final : public ServedMessages {
 public:
  ServedStream(const Method& method, Handler handle)
      : ServedMessages(*method.output), in_(*method.input), writer_(*this, trailers_), handle_(std::move(handle)) {}
  void* in() noexcept { return in_.get(); }

 private:
  Task<Result<void>> handler() override { return handle_(*in_, writer_); }
  Made<In> in_;
  StreamWriter<Out> writer_;
  Handler handle_;
};

TENON_SPI Task<Result<Response>> begin_stream(std::unique_ptr<ServedMessages> messages, const Request& request);

}  // namespace detail

/// Runs `handler(const In&, StreamWriter<Out>&) -> Task<Result<void>>` for a request of Target input In, output Out.
template <class In, class Out, class Handler>
Task<Result<Response>> serve_stream(Request& request, Handler handler) {
  const Method& method = *request.target->method;
  auto messages = std::make_unique<detail::ServedStream<In, Out, Handler>>(method, std::move(handler));
  if (auto taken = request.payload.take_into(*method.input, messages->in()); !taken.ok())
    return ready<Result<Response>>(detail::bad_request(std::move(taken).error(), request));
  return detail::begin_stream(std::move(messages), request);
}

}  // namespace tenon
