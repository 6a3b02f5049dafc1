#pragma once
#include <memory>

#include "server/call_table.hpp"
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
  /// The peer gave the call up, or is gone.
  void cancel() noexcept {
    if (pooled_)
      cancel_pooled();
    else
      cancellation_.cancel();
  }
  /// The connection is gone: the reply will be dropped.
  void detach(std::shared_ptr<Connection> stream) noexcept {
    connection_ = nullptr;
    stream_ = std::move(stream);
  }
  const Encoding& encoding() const noexcept { return *encoding_; }
  const Target& target() const noexcept { return *request_.target; }
  TimePoint started() const noexcept { return info_.started; }

 protected:
  ServerCall(ServerConnection& connection, Frame& frame, const Route& route, const Encoding& encoding);
  ServerCall(const ServerCall&) = delete;
  ServerCall& operator=(const ServerCall&) = delete;
  ~ServerCall() = default;
  /// Runs the handler. True: it has ended already. False: done(self) follows.
  bool start(Invoker& entry, void (*done)(void* self), void* self);
  /// What the handler made of it; an exception becomes an error. Once it has ended.
  Result<Response> take_result();

  ServerConnection* connection_;
  ServerSettings& settings_;
  const Encoding* encoding_;
  Request request_;
  CallInfo info_;
  Cancellation cancellation_;
  Task<Result<Response>> task_;
  std::shared_ptr<Connection> stream_;  // once detached: keeps CallInfo::peer alive
  const bool one_way_;
  const bool pooled_;

 private:
  void finish();
  void cancel_pooled() noexcept;
};

}  // namespace tenon
