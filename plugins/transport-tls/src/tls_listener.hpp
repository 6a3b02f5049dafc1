#pragma once
#include <coroutine>
#include <deque>
#include <list>
#include <memory>
#include <string>

#include "credential_store.hpp"
#include "engine.hpp"
#include "handshake.hpp"
#include "tenon/transport.hpp"

namespace tenon::tls {

/// A listening socket whose connections shake hands by themselves, as many at once as may: a slow or silent peer keeps
/// nobody waiting. Handshakes run on the listener's executor; connections move to their home afterwards.
class TlsListener final : public Listener {
 public:
  /// Begins to take connections in. `socket`: listens on `home`.
  TlsListener(std::unique_ptr<Listener> socket, Executor& home, Log& log, std::shared_ptr<CredentialStore> store,
              const TlsOptions& options);
  ~TlsListener() override { close(); }

  Task<Result<std::unique_ptr<ByteStream>>> accept(Executor& home) override;
  void close() noexcept override;
  const std::string& address() const noexcept override;

 private:
  struct State;
  struct Pending;
  struct Ready;
  struct Room;
  static Task<void> take_in(std::shared_ptr<State> state);
  static void take_in_detached(std::shared_ptr<State> state);
  static Task<Result<std::unique_ptr<ByteStream>>> accept(std::shared_ptr<State> state, Executor& home);

  std::shared_ptr<State> state_;
};

}  // namespace tenon::tls
