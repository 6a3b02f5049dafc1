#pragma once
// What reaches a program from outside: signals that ask for its end, and lines.

#include <chrono>
#include <functional>
#include <string>

/// Standard input, and SIGINT, SIGTERM and SIGHUP. Threads: one. Made before others are started, so that they leave the
/// signals to it.
class Outside {
 public:
  using Time = std::chrono::steady_clock;

  Outside();
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;
  ~Outside();

  /// Hands over the lines that come until `until`. False: a signal asks for the end. Blocking: yes.
  bool wait(Time::time_point until, const std::function<void(const std::string& line)>& on_line);

 private:
  void read(const std::function<void(const std::string& line)>& on_line);

  int signals_;
  int input_;  // -1: at its end
  std::string line_;
};
