#pragma once
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace examples_test {

/// How a program ended, and what it said.
struct Outcome {
  int code = -1;  ///< exit code; 128 + n: ended by signal n; -1: did not end in time and was killed
  std::string out;
  std::string err;
};

/// A program of the build's bin folder, running in the background with `/` as its working directory.
/// Ends with its owner: killed by the destructor, and by the kernel if the test itself dies.
class Program {
 public:
  explicit Program(const std::string& name, const std::vector<std::string>& arguments);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  pid_t pid() const noexcept { return pid_; }
  /// Waits for the line "listening on … HOST:PORT", at most 20 s. "HOST:PORT"; empty: it did not come.
  std::string listening_address() const;
  /// Waits for the end, at most `limit`. Call once.
  Outcome wait(std::chrono::seconds limit = std::chrono::seconds(30));
  /// Sends SIGTERM, then wait(10 s).
  Outcome stop();

 private:
  std::filesystem::path folder_;  // holds what it writes
  pid_t pid_ = -1;
};

}  // namespace examples_test
