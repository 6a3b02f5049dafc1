#pragma once
// Real ZooKeeper servers on loopback, with data of their own, for tests to pause, kill and restart.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/free_port.hpp"

namespace tenon::test {

/// One server, or a member of an ensemble. Needs Java and the jars of the package libzookeeper-java; a test without
/// them fails. Ticks last 500 ms, so sessions last 1 s to 10 s. Threads: one. Stopped, with its data, by the
/// destructor.
class ZookeeperServer {
 public:
  using Milliseconds = std::chrono::milliseconds;
  static constexpr Milliseconds patience = std::chrono::seconds(30);

  /// Not running yet. `settings`: more lines for its configuration.
  explicit ZookeeperServer(std::string settings = {});
  ZookeeperServer(const ZookeeperServer&) = delete;
  ZookeeperServer& operator=(const ZookeeperServer&) = delete;
  ~ZookeeperServer();

  /// Starts it on the data that are there; throws when it does not answer within `patience`.
  void start();
  /// Starts it and does not wait.
  void launch();
  void await();
  /// Ends it as a power cut would.
  void kill();
  void wipe();  ///< REQUIRES: not running
  /// It does nothing more when this returns, until resume().
  void pause();
  void resume() { process_->signal(SIGCONT); }

  /// From its next start on it listens there, at the same port: another address of loopback, such as "127.0.0.2".
  void move(const std::string& host) { host_ = host; }

  std::string address() const { return host_ + ":" + std::to_string(port_); }
  std::uint16_t port() const noexcept { return port_; }
  /// Its answer to a four-letter word ("srvr", "cons", "wchp"); empty: none within a second.
  std::string ask(const std::string& word) const;

  /// Three of them that know each other, started.
  static std::vector<std::unique_ptr<ZookeeperServer>> ensemble();

 private:
  std::string host_ = "127.0.0.1";
  std::uint16_t port_;
  std::filesystem::path folder_;
  std::string settings_;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace tenon::test
