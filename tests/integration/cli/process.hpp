#pragma once
#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace cli_test {

/// How a program ended, and what it said.
struct Outcome {
  int code = -1;  ///< exit code; 128 + n: ended by signal n; -1: did not end in time and was killed
  std::string out;
  std::string err;
};

/// Runs `tenon arguments…` to its end. Blocking: at most `limit`.
Outcome tenon(const std::vector<std::string>& arguments, std::chrono::seconds limit = std::chrono::seconds(20));
/// The same with this file as standard input.
Outcome tenon_reading(const std::string& file, const std::vector<std::string>& arguments,
                      std::chrono::seconds limit = std::chrono::seconds(20));

/// A `tenon serve` in the background.
class ServerProcess {
 public:
  /// Waits for the ready line, at most 20 s; `address()` is empty when there was none.
  explicit ServerProcess(const std::vector<std::string>& arguments);
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  /// Kills it if it still runs.
  ~ServerProcess();

  /// "tcp:127.0.0.1:40123".
  const std::string& address() const noexcept { return address_; }
  const std::string& ready_line() const noexcept { return ready_line_; }
  /// Sends SIGTERM; how it ended, after at most 10 s.
  Outcome stop();

 private:
  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::string ready_line_;
  std::string address_;
};

}  // namespace cli_test
