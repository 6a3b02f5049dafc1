#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "tenon/clock.hpp"
#include "tenon/result.hpp"

namespace tenon::cli {

/// A `tenon serve` of our own, in a process of its own.
/// Ownership: ends the process: SIGTERM, and SIGKILL when it has not gone after 5 s. It also ends when we die.
class Child {
 public:
  /// Runs this very program with `arguments` and waits for its ready line.
  /// Blocking: at most `patience`. Threads: before other threads exist. Fails with: unavailable.
  static Result<Child> serve(const std::vector<std::string>& arguments, Duration patience);

  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  /// "tcp:127.0.0.1:40123".
  const std::string& address() const noexcept { return address_; }
  pid_t pid() const noexcept { return pid_; }

 private:
  Child(pid_t pid, std::string address) : pid_(pid), address_(std::move(address)) {}
  void end() noexcept;
  pid_t pid_ = -1;
  std::string address_;
};

}  // namespace tenon::cli
