#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "chain/encodings.hpp"
#include "connection/connection.hpp"
#include "pool/pool.hpp"
#include "server/call_table.hpp"
#include "server/dispatcher.hpp"

namespace tenon {

/// What the connections of one server share. Outlives them.
struct ServerSettings {
  Dispatcher dispatcher;
  std::map<std::string, std::unique_ptr<Pool>, std::less<>> pools;
  std::shared_ptr<const Encodings> encodings;
  std::shared_ptr<const Compressor> compressor;  ///< of replies whose request was not compressed; null: none
  Limits limits;
  ConnectionOptions connection;
  std::size_t max_in_flight = 100000;
  std::size_t max_connections = 10000;
  Log* log = nullptr;
  std::atomic<std::size_t> in_flight{0};    ///< calls being served
  std::atomic<std::size_t> connections{0};
};

/// One accepted connection: requests in, calls run, replies out. Calls outlive it when the peer goes: they are told
/// (cancellation) and their replies are dropped.
/// Threads: its loop's.
class ServerConnection final : public ConnectionOwner, public std::enable_shared_from_this<ServerConnection> {
 public:
  ServerConnection(ServerSettings& settings, Loop& loop, std::unique_ptr<ByteStream> stream, const Protocol& protocol);
  ~ServerConnection();
  void start(std::string_view first, std::shared_ptr<ServerConnection> self);

  /// No new requests: goodbye to the peer, running calls go on; closes when they are answered.
  void drain(const Error& reason);
  void close(Error reason) { connection_->close(std::move(reason)); }
  bool open() const noexcept { return connection_->open(); }
  std::size_t in_flight() const noexcept { return calls_.size(); }

 private:
  friend class ServerCall;
  friend class PooledCall;
  void on_frame(Frame& frame) override;
  void on_closed(const Error& reason) override;
  void on_request(Frame& frame);
  void refuse(const Frame& request, Error error);
  void reply(ServerCall& call, Result<Response> result);
  void reply_error(std::uint32_t number, Error error, Duration took);
  /// The route of a request, from the connection's cache when its names were abbreviated.
  struct Cached {
    Route route;
    const Encoding* encoding = nullptr;
  };
  Result<Cached> resolve(const Frame& frame) const;

  ServerSettings& settings_;
  Loop& loop_;
  std::shared_ptr<Connection> connection_;
  std::shared_ptr<ServerConnection> self_;  // until it is closed
  std::vector<Cached> cache_;               // by Frame::token
  CallTable calls_;
  bool draining_ = false;
};

}  // namespace tenon
