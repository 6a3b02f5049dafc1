#pragma once
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "tenon/log.hpp"

namespace tenon::zk {

/// Where ZooKeeper's C library writes. A library that cannot reach its server writes ten lines a second; of one kind
/// (one place in its source) one in ten seconds passes, and says how many did not.
/// Threads: any.
class ClientLog {
 public:
  using Function = void (*)(const char* message);
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::duration pause = std::chrono::seconds(10);

  /// REQUIRES: detach() before `log` ends.
  explicit ClientLog(Log& log);
  ClientLog(const ClientLog&) = delete;
  ClientLog& operator=(const ClientLog&) = delete;
  ~ClientLog();

  /// For zookeeper_init2(): the library's callback has no argument, so each ClientLog has a function of its own. When
  /// more than 32 exist, the others' lines are dropped. Valid for ever; silent when this is gone.
  Function function() const noexcept;
  /// From now on nothing is written.
  void detach() noexcept;
  /// One line of the library.
  void write(std::string_view message, Clock::time_point now) noexcept;

 private:
  struct Kind {
    Clock::time_point next{};
    std::size_t suppressed = 0;
  };
  static constexpr std::size_t most_kinds = 64;

  std::mutex mutex_;
  Log* log_;
  std::map<std::string, Kind, std::less<>> kinds_;
  std::size_t slot_;
};

}  // namespace tenon::zk
