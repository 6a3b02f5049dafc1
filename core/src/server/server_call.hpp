#pragma once
#include <memory>

#include "server/call_table.hpp"
#include "server/served_stream.hpp"
#include "server/server_connection.hpp"
#include "tenon/call.hpp"

namespace tenon {

/// One request being served on its connection's own thread. Owns itself from start to answer. PooledCall is the other
/// kind.
class ServerCall : public CallLink {
 public:
  static void* operator new(std::size_t size) { return memory::allocate(size); }
  static void operator delete(void* call, std::size_t size) noexcept { memory::release(call, size); }

  /// Runs the request; may finish before it returns.
  static void run(ServerConnection& connection, Frame& frame, const Route& route, const Encoding& encoding);
  /// The peer gave the call up, or is gone. May end the call.
  void cancel() noexcept {
    if (served_)
      served_->cancel(Error(Errc::cancelled, describe() + ": the caller gave the stream up", Delivery::ran));
    else
      tell_handler();
  }
  /// The caller has room for more of its stream. May end the call.
  void go_on() {
    if (served_) served_->pump();
  }
  /// The connection is gone: the reply will be dropped.
  void detach(std::shared_ptr<Connection> stream) noexcept {
    connection_ = nullptr;
    stream_ = std::move(stream);
  }
  const Encoding& encoding() const noexcept { return *encoding_; }
  const Target& target() const noexcept { return *request_.target; }
  TimePoint started() const noexcept { return info_.started; }
  /// "demo.Greeter.SayHello".
  std::string describe() const;

  // For the ServedStream.
  bool may_send();
  Result<void> send_message(StreamMessage& message);
  void end_stream(Error error, Headers trailers);
  /// Fires the handler's cancellation, on its thread.
  void tell_handler() noexcept {
    if (pooled_)
      cancel_pooled();
    else
      cancellation_.cancel();
  }
  /// The handler has ended. Threads: the pool's.
  void leave_pool() noexcept;

 protected:
  /// It is a one-way call that begins to be served: it counts as one of its connection's until notice_ended().
  void become_notice(const std::shared_ptr<Connection>& stream) noexcept {
    ++stream->notices;
    detach(stream);
  }
  void notice_ended() noexcept {
    if (one_way_) --stream_->notices;
  }
  ServerCall(ServerConnection& connection, Frame& frame, const Route& route, const Encoding& encoding);
  ServerCall(const ServerCall&) = delete;
  ServerCall& operator=(const ServerCall&) = delete;
  ~ServerCall() = default;
  /// Runs the handler. True: it has ended already. False: done(self) follows.
  bool start(Invoker& entry, void (*done)(void* self), void* self);
  /// Sends the head; messages follow. `away`: the pool's thread on which the handler runs.
  void begin_stream(Response head, Loop* away);
  /// What the handler made of it; an exception becomes an error. Once it has ended.
  Result<Response> take_result();

  ServerConnection* connection_;
  ServerSettings& settings_;
  Loop* const home_;
  const Encoding* encoding_;
  Request request_;
  CallInfo info_;
  Cancellation cancellation_;
  Task<Result<Response>> task_;
  ReplyExtras extras_;
  std::unique_ptr<ServedStream> served_;
  std::shared_ptr<Connection> stream_;  // once detached: keeps CallInfo::peer alive
  const bool one_way_;
  const bool pooled_;

 private:
  void finish();
  void cancel_pooled() noexcept;
};

}  // namespace tenon
