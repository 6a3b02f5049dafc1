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

/// A `tenon` in the background. Killed by the destructor if it still runs.
class RunningTool {
 public:
  explicit RunningTool(const std::vector<std::string>& arguments);
  RunningTool(const RunningTool&) = delete;
  RunningTool& operator=(const RunningTool&) = delete;
  ~RunningTool();

  /// Reads until its standard output has had this text. False: not within 20 s, or it has ended.
  bool says(const std::string& text);
  /// What it said so far, as says() has read it.
  const std::string& out() const noexcept { return said_; }
  /// Sends SIGTERM; how it ended, after at most 10 s, and all it said.
  Outcome stop();
  /// SIGKILL.
  void kill();

 private:
  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::string said_;
};

/// A `tenon serve`, or another subcommand that serves, in the background.
class ServerProcess {
 public:
  /// Waits for the ready line, at most 20 s; `address()` is empty when there was none.
  explicit ServerProcess(const std::vector<std::string>& arguments, const std::string& subcommand = "serve");

  /// "tcp:127.0.0.1:40123".
  const std::string& address() const noexcept { return address_; }
  const std::string& ready_line() const noexcept { return ready_line_; }
  /// Sends SIGTERM; how it ended, after at most 10 s, and what it said after the ready line.
  Outcome stop();
  /// SIGKILL.
  void kill() { tool_.kill(); }

 private:
  RunningTool tool_;
  std::string ready_line_;
  std::string address_;
};

}  // namespace cli_test
