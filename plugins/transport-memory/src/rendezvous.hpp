#pragma once
#include <coroutine>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "memory_stream.hpp"
#include "tenon/executor.hpp"

namespace tenon::mem {

/// A name somebody listens on, and the connections waiting to be accepted.
/// Threads: any; one mutex. accept() belongs to the listener's executor.
class Doorway : private Work, public std::enable_shared_from_this<Doorway> {
 public:
  Doorway(std::string name, Executor& executor, std::size_t backlog) noexcept;

  /// A connection made by a client, not yet accepted.
  struct Visitor {
    std::shared_ptr<Duplex> duplex;  ///< null: none
    std::uint64_t number = 0;
  };
  enum class Entry : std::uint8_t { taken, full, closed };

  const std::string& name() const noexcept { return name_; }
  Entry enter(Visitor visitor);
  /// The next visitor; without one, and not closed, remembers `waiting` and resumes it once, on the executor.
  bool next(Visitor& visitor, bool& closed, std::coroutine_handle<> waiting);
  void close() noexcept;

 private:
  void wake() noexcept;
  static void resume(Work* work) noexcept;

  const std::string name_;
  Executor& executor_;
  const std::size_t backlog_;
  std::mutex mutex_;
  std::deque<Visitor> visitors_;
  std::coroutine_handle<> waiting_;
  bool posted_ = false;
  bool closed_ = false;
  std::shared_ptr<Doorway> keep_;  // while posted
};

/// Where the two sides of a memory connection find each other by name.
///
/// This is the one table in Tenon that is shared by a whole process, and it has to be: it stands for the network. Each
/// App makes its own Transport object, and two Apps in one process must reach each other's listeners as they would
/// through the kernel's port table. It holds nothing but names in use, and every entry leaves with its listener.
class Rendezvous {
 public:
  /// This plugin's only table.
  static Rendezvous& of_process() noexcept;

  /// False: the name is taken.
  bool add(std::shared_ptr<Doorway> doorway);
  void remove(const Doorway& doorway) noexcept;
  /// Null: nobody listens.
  std::shared_ptr<Doorway> find(const std::string& name);
  std::uint64_t number() noexcept;

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Doorway>> doorways_;
  std::uint64_t last_number_ = 0;
};

}  // namespace tenon::mem
