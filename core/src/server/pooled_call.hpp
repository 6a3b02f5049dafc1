#pragma once
#include <atomic>

#include "pool/pool.hpp"
#include "server/server_call.hpp"

namespace tenon {

/// One request that a pool serves. Its connection's thread (home) puts it into the table and answers it; a pool thread
/// runs the handler in between. What crosses does so by a post:
///
///   home    submit ------------------------------------------------> answer() -> release
///   pool            execute(): handler … ends, result_ --- post --->
///   home    cancel, or the peer is gone: withdraw from the queue and answer, or post to the pool thread:
///   pool            Cancellation::cancel() -> release
///
/// Request, facts, cancellation and task are the pool thread's while it runs; connection, table link and stream are
/// home's always. The last release destroys it.
class PooledCall final : public ServerCall {
 public:
  /// Queues the request; a full queue answers `overloaded` at once. Threads: home.
  static void run(ServerConnection& connection, Frame& frame, const Route& route, const Encoding& encoding);
  /// The peer gave the call up, or is gone. One that waits is answered without being run. Threads: home.
  void give_up() noexcept;
  /// Its stream is over. Threads: home.
  void stream_over() noexcept;
  /// Its stream's handler has ended. Threads: the pool's.
  void left() noexcept { pool_.ended(ticket_); }

 private:
  struct Ticket : Pool::Job {
    PooledCall* call = nullptr;
  };
  struct Post : Work {
    PooledCall* call = nullptr;
  };
  PooledCall(ServerConnection& connection, Frame& frame, const Route& route, const Encoding& encoding);
  ~PooledCall() = default;
  void execute(bool expired) noexcept;  // pool thread
  void ended() noexcept;                // pool thread
  void answer() noexcept;               // home
  void release() noexcept;

  Pool& pool_;
  Invoker& entry_;
  Ticket ticket_;
  Post answer_;
  Post cancel_;
  Result<Response> result_;
  bool cancel_posted_ = false;
  std::atomic<int> holders_{1};
};

}  // namespace tenon
