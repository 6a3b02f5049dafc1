#pragma once
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "app/signals.hpp"
#include "tenon/clock.hpp"
#include "tenon/log.hpp"

namespace tenon {

/// What tells an application to stop: signals, and whoever may ask its admin service. And the promise behind it: the
/// process is gone within a second after the grace, whatever is stuck by then.
/// Threads: any, where nothing else is said.
class StopRequests {
 public:
  /// From now on signals are requests. `grace`: what theirs leave for calls in flight.
  StopRequests(Log& log, Duration grace);
  /// Threads: one that nothing keeps. Blocking: joins its thread.
  ~StopRequests();
  StopRequests(const StopRequests&) = delete;
  StopRequests& operator=(const StopRequests&) = delete;

  /// A request that is no signal; a signal that follows is the first one, and may shorten the grace.
  void ask(Duration grace, std::string who);
  bool asked() const;
  /// A second signal: nobody is waited for any more.
  bool forced() const;
  /// Blocking: until there is a request.
  void wait() const;
  /// Who made the first: "SIGTERM".
  std::string who() const;
  /// When calls in flight have had their time; `never` before the first request.
  TimePoint deadline() const;

  /// Between these two the process may take its time: it is not the application's.
  void rest();
  void resume();
  /// When the process will be ended, whatever it does then; `never` before the first request.
  TimePoint end() const;

 private:
  void run();
  void note_signals();
  void note(Duration grace, std::string who);
  [[noreturn]] void end_process();

  Log& log_;
  const Duration grace_;
  const StopSignals signals_;
  mutable std::mutex mutex_;  // of everything below
  mutable std::condition_variable changed_;
  bool asked_ = false;
  bool signalled_ = false;
  bool forced_ = false;
  bool resting_ = false;
  bool over_ = false;
  std::string who_;
  TimePoint deadline_ = never;
  TimePoint end_ = never;
  std::thread thread_;
};

}  // namespace tenon
