#pragma once
#include <memory>
#include <string>

#include "messages.hpp"

namespace tenon::center {

struct Client;
struct Listed;
struct Text;

/// Somebody who wants to be told that something changed, never what: it looks when it has room.
/// Threads: called with the center's mutex held, on any. Ownership: its own; in the table from watch() until leave().
class Watcher {
 public:
  /// For operators: the application, and where it is.
  Watcher(std::string name, std::string host) : name(std::move(name)), host(std::move(host)) {}
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  virtual ~Watcher() = default;
  virtual void changed() noexcept = 0;
  /// There is nothing to watch any more; no error: its client said so itself. It has left.
  virtual void ended(const Error& why) noexcept = 0;

  const std::string name;
  const std::string host;
  // Where it stands; the table's.
  Client* client = nullptr;
  Listed* service = nullptr;
  Text* text = nullptr;
};

}  // namespace tenon::center
