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
  std::atomic<std::size_t> in_flight{0};  ///< calls being served
  std::atomic<std::size_t> connections{0};
  /// Open connections of which the peer does not know that the server is stopping: their protocol has no word for it.
  std::atomic<std::size_t> untold{0};
  std::atomic<bool> paused{false};        ///< requests are refused, for a while
  std::atomic<std::size_t> unwritten{0};  ///< bytes of replies that wait on connections, about
};

/// One accepted connection: requests in, calls run, replies out. Calls outlive it when the peer goes: they are told
/// (cancellation) and their replies are dropped.
/// Threads: its loop's.
class ServerConnection final : public ConnectionOwner, public std::enable_shared_from_this<ServerConnection> {
 public:
  ServerConnection(ServerSettings& settings, Loop& loop, std::unique_ptr<ByteStream> stream, const Protocol& protocol);
  ~ServerConnection();
  void start(std::string_view first, std::shared_ptr<ServerConnection> self);

  /// No new requests: goodbye to the peer, running calls go on; closes when they are answered. Where the protocol has
  /// no goodbye, requests are refused (not_run) until the peer or the server closes.
  void drain(const Error& reason);
  void close(Error reason) { connection_->close(std::move(reason)); }
  bool open() const noexcept { return connection_->open(); }
  std::size_t in_flight() const noexcept { return calls_.size(); }
  const PeerInfo& peer() const noexcept { return connection_->peer(); }
  std::size_t unwritten() const noexcept { return connection_->unwritten(); }
  TimePoint since() const noexcept { return since_; }

 private:
  friend class ServerCall;
  friend class PooledCall;
  void on_frame(Frame& frame) override;
  void on_closed(const Error& reason) override;
  void on_request(Frame& frame);
  void refuse(const Frame& request, Error error);
  void reply(ServerCall& call, Result<Response> result);
  // Of streams.
  Result<void> send_head(ServerCall& call, Response& head);
  Result<void> send_message(ServerCall& call, StreamMessage& message);
  void end_stream(ServerCall& call, Error error, Headers trailers);
  /// May one more message of its stream be sent now? If not, it is told when it may: by credit, or by on_room().
  bool has_room(const ServerCall& call);
  void on_room() override;
  /// Encodes `payload` as the call asked for, into `frame` and `body`.
  Result<void> encode(const ServerCall& call, const Payload& payload, Frame& frame, OutBuffer& body);
  void close_if_drained();
  void reply_error(std::uint32_t number, Error error, Duration took);
  /// The route of a request, from the connection's cache when its names were abbreviated.
  struct Cached {
    Route route;
    const Encoding* encoding = nullptr;
  };
  Result<Cached> resolve(const Frame& frame) const;
  void begin(Frame& frame, const Cached& cached);

  ServerSettings& settings_;
  Loop& loop_;
  std::shared_ptr<Connection> connection_;
  std::shared_ptr<ServerConnection> self_;  // until it is closed
  std::vector<Cached> cache_;               // by Frame::token
  CallTable calls_;
  std::vector<std::uint32_t> stalled_;  // streams that wait for on_room()
  const TimePoint since_ = loop_.clock().now();
  bool draining_ = false;
  bool untold_ = false;  // draining, and the peer cannot know
};

}  // namespace tenon
