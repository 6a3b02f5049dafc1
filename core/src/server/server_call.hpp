#pragma once
#include <memory>

#include "server/call_table.hpp"
#include "server/server_connection.hpp"
#include "tenon/call.hpp"

namespace tenon {

/// One request being served. Owns itself from start to answer.
class ServerCall final : public CallLink {
 public:
  static void* operator new(std::size_t size) { return memory::allocate(size); }
  static void operator delete(void* call, std::size_t size) noexcept { memory::release(call, size); }

  /// Runs the request; may finish before it returns.
  static void run(ServerConnection& connection, Frame& frame, const Route& route, const Encoding& encoding);
  /// The peer gave the call up, or is gone.
  void cancel() noexcept { cancellation_.cancel(); }
  /// The connection is gone: the reply will be dropped.
  void detach(std::shared_ptr<Connection> stream) noexcept {
    connection_ = nullptr;
    stream_ = std::move(stream);
  }
  const Encoding& encoding() const noexcept { return *encoding_; }
  const Target& target() const noexcept { return *request_.target; }
  TimePoint started() const noexcept { return info_.started; }

 private:
  ServerCall(ServerConnection& connection, Frame& frame, const Route& route, const Encoding& encoding);
  void finish();

  ServerConnection* connection_;
  ServerSettings& settings_;
  const Encoding* encoding_;
  Request request_;
  CallInfo info_;
  Cancellation cancellation_;
  Task<Result<Response>> task_;
  std::shared_ptr<Connection> stream_;  // once detached: keeps CallInfo::peer alive
  bool one_way_;
};

}  // namespace tenon
