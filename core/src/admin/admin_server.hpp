#pragma once
#include <memory>
#include <string>
#include <vector>

#include "admin/app_facts.hpp"
#include "server/server.hpp"

namespace tenon::admin {

/// Offers tenon.Admin (and tenon.Descriptors for it) on a unix socket, from a thread and a server of its own: io
/// threads that are stuck do not keep it from answering, and its calls are no calls of the application. Threads: made
/// and destroyed by one foreign thread.
class AdminServer {
 public:
  /// What it is built of.
  struct Parts {
    std::string address;
    std::shared_ptr<const Transport> transport;
    std::vector<std::shared_ptr<const Protocol>> protocols;
    std::shared_ptr<const Encodings> encodings;
    Log* log = nullptr;
  };
  /// Bound of one answer, for whoever makes the encodings.
  static constexpr std::size_t max_frame = 16u << 20;

  /// Listens and serves at once.
  /// Fails with: config (the address), unavailable (in use, no such directory, the socket's mode is not 0600).
  static Result<std::unique_ptr<AdminServer>> start(Parts parts, std::shared_ptr<AppFacts> facts);
  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;
  /// Removes the socket and closes the connections. Blocking: until the answers under way are there, at most 0.7 s.
  ~AdminServer();

 private:
  AdminServer(std::unique_ptr<ServerSettings> settings, std::shared_ptr<Loop> loop);

  std::shared_ptr<Loop> loop_;
  std::unique_ptr<Server> server_;
};

}  // namespace tenon::admin
