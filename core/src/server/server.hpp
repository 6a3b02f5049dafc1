#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/server_connection.hpp"

namespace tenon {

/// Accepts connections, finds out which protocol each speaks, and ends them in order.
/// Threads: built, drained and destroyed from one foreign thread; everything else on the loops.
class Server {
 public:
  Server(std::unique_ptr<ServerSettings> settings, std::vector<Loop*> loops);
  /// REQUIRES: stopped.
  ~Server();

  ServerSettings& settings() noexcept { return *settings_; }
  /// Binds at once; connections are accepted from start() on.
  /// Fails with: unavailable, naming the address.
  Result<void> listen(const std::string& address, std::shared_ptr<const Transport> transport,
                      std::vector<std::shared_ptr<const Protocol>> protocols);
  void start();
  std::vector<std::string> addresses() const;
  /// Shows the open connections of `loop` to visit(const ServerConnection&). REQUIRES: on its thread.
  template <class F>
  void each_connection(const Loop& loop, F visit) const {
    for (const auto& home : homes_) {
      if (home->loop != &loop) continue;
      for (const auto& weak : home->connections)
        if (const auto connection = weak.lock(); connection && connection->open()) visit(*connection);
    }
  }

  /// Stops accepting and tells every client; running calls go on.
  void drain(const Error& reason);
  /// True when nothing is running and what is still open is peers who cannot know that they should leave.
  bool answered() const noexcept {
    return settings_->in_flight.load() == 0 && settings_->connections.load() == settings_->untold.load();
  }
  /// True when nothing is running and every connection is closed.
  bool idle() const noexcept {
    return settings_->in_flight.load() == 0 && settings_->connections.load() == 0 && sniffing_.load() == 0;
  }
  /// Closes what is left. Calls still running keep running; their replies are dropped.
  void force(const Error& reason);
  /// Ends the pools' threads. REQUIRES: idle. Blocking: until they are joined.
  void stop_pools();

 private:
  class Sniffer;
  class Admission;
  struct Listening {
    std::shared_ptr<const Transport> transport;
    std::vector<std::shared_ptr<const Protocol>> protocols;
    std::unique_ptr<Listener> listener;
    Task<void> accepting;
    std::atomic<bool> done{true};
  };
  /// The connections of one loop, touched on that loop only.
  struct Home {
    Loop* loop;
    std::vector<std::weak_ptr<ServerConnection>> connections;
    std::vector<Sniffer*> sniffers;
    bool draining = false;
  };

  Task<void> accept(Listening& listening);
  void admit(Home& home, const Listening& listening, std::unique_ptr<ByteStream> stream);
  void serve(Home& home, std::unique_ptr<ByteStream> stream, const Protocol& protocol, std::string_view first);

  std::unique_ptr<ServerSettings> settings_;
  std::vector<std::unique_ptr<Home>> homes_;
  std::vector<std::unique_ptr<Listening>> listening_;
  std::size_t next_home_ = 0;
  bool started_ = false;
  std::atomic<std::size_t> sniffing_{0};
};

}  // namespace tenon
