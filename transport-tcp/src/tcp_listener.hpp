#pragma once
#include <memory>
#include <string>

#include "socket.hpp"
#include "tenon/log.hpp"
#include "tenon/scope.hpp"
#include "tenon/transport.hpp"
#include "unix_file.hpp"

namespace tenon::tcp {

/// A listening socket.
class TcpListener final : public Listener {
 public:
  /// Fails with: unavailable, naming the address.
  static Result<std::unique_ptr<Listener>> open(const SocketAddress& address, Executor& home, Log& log,
                                                const TcpOptions& options);
  ~TcpListener() override { close(); }

  Task<Result<std::unique_ptr<ByteStream>>> accept(Executor& home) override { return accept(state_, home); }
  void close() noexcept override;
  const std::string& address() const noexcept override { return state_->address; }

 private:
  /// Shared with an accept() that is pending while the listener is destroyed.
  struct State {
    State(Watched s, Executor& e, Log& l, const TcpOptions& o)
        : socket(std::move(s)), executor(e), log(l), options(o) {}
    Watched socket;
    Executor& executor;
    Log& log;
    const TcpOptions options;
    std::string address;
    UnixFile file;
    bool closed = false;
    int in_a_row = 0;
    Cancellation closing;
  };
  struct Arrival;
  explicit TcpListener(std::shared_ptr<State> state) : state_(std::move(state)) {}
  static Task<Result<std::unique_ptr<ByteStream>>> accept(std::shared_ptr<State> state, Executor& home);

  std::shared_ptr<State> state_;
};

}  // namespace tenon::tcp
