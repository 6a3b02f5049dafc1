#pragma once
// Real registry centers on loopback, `tenon center`, with stores of their own, for tests to pause, kill and restart.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "support/child_process.hpp"

namespace tenon::test {

/// One center. Threads: one. Stopped, with its store, by the destructor.
class CenterServer {
 public:
  /// Not running yet. `settings`: more options of the service tenon.Center, as a manifest has them:
  /// "preserve_limit: 5, token: abc".
  explicit CenterServer(std::chrono::milliseconds lease, std::string settings = {});
  CenterServer(const CenterServer&) = delete;
  CenterServer& operator=(const CenterServer&) = delete;
  ~CenterServer();

  /// Starts it on the store that is there; throws std::runtime_error when it does not listen.
  void start();
  /// Ends it as a power cut would.
  void kill();
  void wipe();  ///< REQUIRES: not running
  /// It does nothing more when this returns, until resume().
  void pause();
  void resume() { process_->signal(SIGCONT); }
  /// From its next start on.
  void set(std::string settings) { settings_ = std::move(settings); }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  /// What it has logged, of all its runs.
  std::string log() const;
  /// For the registry "center", as manifests have it.
  std::string registry(const std::string& address, std::chrono::milliseconds connect_timeout) const;

 private:
  const std::chrono::milliseconds lease_;
  const std::uint16_t port_;
  const std::filesystem::path folder_;
  std::string settings_;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace tenon::test
