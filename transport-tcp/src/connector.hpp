#pragma once
#include <coroutine>
#include <memory>
#include <string>
#include <vector>

#include "address.hpp"
#include "socket.hpp"
#include "tenon/transport.hpp"

namespace tenon::tcp {

/// One connect() on its way: looks the name up, then tries each address in turn until one answers. Awaited once; lives
/// in the coroutine that awaits it.
/// Threads: home's.
class Connector {
 public:
  /// `known`: the addresses of a name that has been looked up already; empty: look it up.
  Connector(const HostPort& to, Executor& home, TimePoint deadline, const TcpOptions& options,
            std::vector<SocketAddress> known = {});
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;
  ~Connector();

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> caller);
  Result<std::unique_ptr<ByteStream>> await_resume() { return std::move(result_); }

 private:
  /// What Asio's handlers hold: they may come after the connector has gone (a look-up cannot be interrupted).
  struct Pending;
  struct Limit : Alarm {
    Connector* connector = nullptr;
  };

  void resolve();
  void resolved(int error, const std::string& text, std::vector<SocketAddress> addresses);
  void try_next();
  void answered();
  void connected();
  void expired();
  void note(const std::string& what);
  void limit(TimePoint at);
  void finish(Result<std::unique_ptr<ByteStream>> result);
  Error late() const;

  const HostPort& to_;
  Executor& home_;
  const TimePoint deadline_;
  const TimePoint started_;
  const TcpOptions& options_;
  std::shared_ptr<Pending> pending_;
  std::vector<SocketAddress> addresses_;
  std::size_t tried_ = 0;
  std::string failures_;
  Limit limit_;
  bool suspended_ = false;
  bool finished_ = false;
  std::coroutine_handle<> caller_;
  Result<std::unique_ptr<ByteStream>> result_;
};

}  // namespace tenon::tcp
