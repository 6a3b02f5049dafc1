#pragma once
#include <memory>
#include <optional>

#include "loop/loop.hpp"
#include "tenon/call.hpp"

namespace tenon {

class ServerCall;

/// The answer of a server_stream call: asks the handler for messages as the caller has room for them, and sends them.
/// Threads: the connection's (home), but for the handler's messages, which are asked for and destroyed where the
/// handler runs: home, or a pool's thread (away).
///
///   home   pump ── post ──>                    <── post ── sends it, pumps on
///   away                    messages.next() …
class ServedStream {
 public:
  /// `away`: null for home. `call` owns this.
  ServedStream(ServerCall& call, std::unique_ptr<Messages> messages, Loop& home, Loop* away);
  /// Takes and sends what there is room for. May end the call, and with it this.
  void pump();
  /// The caller wants no more, or is gone: the handler is told and what it still writes goes nowhere. May end the call.
  void cancel(Error reason);

 private:
  struct Post : Work {
    ServedStream* stream = nullptr;
  };
  void ask();               // where the handler runs; begins one next()
  void arrived() noexcept;  // there: its result
  void go_on();             // home: it has arrived; may end the call
  void deliver();
  bool over() const noexcept;
  void finish();

  ServerCall& call_;
  Loop& home_;
  Loop* const away_;
  std::unique_ptr<Messages> messages_;
  Task<Result<std::optional<StreamMessage>>> task_;
  Result<std::optional<StreamMessage>> result_;
  Headers trailers_;
  Post move_;
  Error reason_;         // why it was cancelled
  bool asking_ = false;  // a next() is in progress
  bool cancelled_ = false;
  bool pumping_ = false;
};

}  // namespace tenon
