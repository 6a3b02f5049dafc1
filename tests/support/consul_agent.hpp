#pragma once
// Real Consul agents on loopback, for tests to pause, kill and restart.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "support/child_process.hpp"

namespace tenon::test {

/// One agent that is its own server, on loopback ports it chose; keeps its data in a folder of the build. Needs the
/// program that tests/support/fetch_consul.sh gets. Threads: one. Killed, with its data, by the destructor.
class ConsulAgent {
 public:
  using Milliseconds = std::chrono::milliseconds;
  static constexpr Milliseconds patience = std::chrono::seconds(40);

  /// The program, or why there is none: then `program` is empty. Tests skip with that sentence.
  struct Program {
    std::string path;
    std::string missing;
  };
  static Program program();

  /// Not running yet. `settings`: more of its configuration, as JSON.
  explicit ConsulAgent(std::string settings = {});
  ConsulAgent(const ConsulAgent&) = delete;
  ConsulAgent& operator=(const ConsulAgent&) = delete;
  ~ConsulAgent();

  /// Starts it on the data that are there; throws when it has no leader within `patience`.
  void start();
  /// Ends it as a power cut would.
  void kill() { process_.reset(); }
  void wipe();  ///< REQUIRES: not running
  /// It does nothing more when this returns, until resume().
  void pause();
  void resume() { process_->signal(SIGCONT); }

  std::string address() const { return "127.0.0.1:" + std::to_string(ports_[0]); }
  /// What it answers to a request: its status in front, a space, the body. Empty: nothing within two seconds.
  std::string ask(const std::string& verb, const std::string& target, const std::string& body = {},
                  const std::string& token = {}) const;
  /// Takes off every service and every key, as if it were new.
  void clear() const;

 private:
  std::vector<std::uint16_t> ports_;  // HTTP, server, serf
  std::filesystem::path folder_;
  std::string settings_;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace tenon::test
