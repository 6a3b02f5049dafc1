#pragma once
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "chain/encodings.hpp"
#include "chain/filter_chain.hpp"
#include "client/backoff.hpp"
#include "client/pending_table.hpp"
#include "connection/connection.hpp"
#include "tenon/cluster.hpp"

namespace tenon {

class ClientConnection;
class ClientStream;
class RemoteEndpoint;

/// How endpoints of one reference connect and speak. Outlives them.
struct EndpointSettings {
  ServiceName service;
  std::map<std::string, std::shared_ptr<const Transport>, std::less<>> transports;  ///< by plugin name
  std::string transport;  ///< for instances that do not name one
  std::shared_ptr<const Protocol> protocol;
  std::shared_ptr<const Encodings> encodings;
  std::shared_ptr<Serializer> own_serializer;  ///< as the reference configured it
  std::shared_ptr<Compressor> own_compressor;
  Encoding own_encoding;
  const Encoding* encoding = nullptr;  ///< how requests are sent: &own_encoding
  std::string_view content_type;       ///< encoding->serializer's
  Limits limits;
  ConnectionOptions connection;
  Duration connect_timeout = std::chrono::seconds(1);
  Duration max_reconnect_pause = std::chrono::seconds(30);
  std::uint32_t connections = 1;
  bool eager = true;
  std::size_t max_in_flight = 100000;
  std::vector<std::shared_ptr<Filter>> attempt_filters;
  Loop* loop = nullptr;
  Log* log = nullptr;
  /// The endpoints there are. Threads: the loop's.
  mutable std::vector<RemoteEndpoint*> endpoints;
};

/// One attempt on its way: encoded, numbered, waiting for its reply. Lives in the coroutine frame that awaits it.
class Exchange {
 public:
  Exchange(RemoteEndpoint& endpoint, Request& request) noexcept : endpoint_(endpoint), request_(request) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> caller);
  Result<Response>&& await_resume() noexcept { return std::move(result_); }

 private:
  friend class ClientConnection;
  friend class RemoteEndpoint;
  struct Deadline : Alarm {
    Exchange* exchange = nullptr;
  };
  struct Cancel : CancelHook {
    Exchange* exchange = nullptr;
  };
  /// result_ is there.
  void complete();
  void fail(Error error) {
    result_ = std::move(error);
    complete();
  }

  RemoteEndpoint& endpoint_;
  Request& request_;
  ClientConnection* connection_ = nullptr;  // null: waiting for a connection
  std::uint32_t number_ = 0;
  bool resent_ = false;
  bool suspended_ = false;
  bool finished_ = false;
  bool starved_ = false;  // its deadline passed while this thread was busy or not running
  std::coroutine_handle<> caller_;
  TimePoint started_{};
  Deadline deadline_;
  Cancel cancel_;
  Exchange* previous_ = nullptr;  // in the endpoint's list of those waiting for a connection
  Exchange* next_ = nullptr;
  Result<Response> result_;
};

/// One open connection of an endpoint with its pending calls.
class ClientConnection final : public ConnectionOwner {
 public:
  ClientConnection(RemoteEndpoint& endpoint, std::unique_ptr<ByteStream> stream);
  ~ClientConnection();
  void start();

  /// Sends the request. On failure nothing is pending.
  Result<void> send(Exchange& exchange);
  /// The caller has given the call up: tells the server, keeps the number reserved.
  void abandon(Exchange& exchange);
  /// A call that wants no answer was sent.
  void forget(const Exchange& exchange) {
    bool known = false;
    (void)pending_.take(exchange.number_, known);
  }
  /// The reader of a stream has consumed `cost` of it.
  void give_credit(std::uint32_t number, std::uint32_t cost);
  /// The reader of a stream wants no more of it: tells the server, drops what comes until the end.
  void abandon_stream(ClientStream& stream) noexcept;
  /// Makes it own itself until it is closed.
  void keep(std::shared_ptr<ClientConnection> self) noexcept { keep_ = std::move(self); }
  bool usable() const noexcept { return !going_away_ && connection_->open(); }
  bool full() const noexcept { return pending_.in_use() >= connection_->session().max_concurrent(); }
  bool open() const noexcept { return connection_->open(); }
  bool heard() const noexcept { return connection_->heard(); }
  const PendingTable& pending() const noexcept { return pending_; }
  const PeerInfo& peer() const noexcept { return connection_->peer(); }
  std::size_t unwritten() const noexcept { return connection_->unwritten(); }
  TimePoint since() const noexcept { return since_; }
  void close(Error reason) { connection_->close(std::move(reason)); }

 private:
  void on_frame(Frame& frame) override;
  void on_closed(const Error& reason) override;
  void on_reply(Exchange& exchange, Frame& frame);
  void on_stream_frame(Frame& frame);
  /// The head of a stream: `exchange` completes, its number stays in use.
  void open_stream(Exchange& exchange, Frame& frame);
  void answered(std::uint32_t number, bool known);
  /// Brings closer to the CPU what the replies after this one will touch.
  void expect_after(std::uint32_t number) const noexcept;
  /// Fills the exchange's result.
  void decode(Exchange& exchange, Frame& frame);
  /// How a body was encoded. Fails with: unimplemented (a serializer or compressor that is not loaded here).
  Result<const Encoding*> encoding_of(const Frame& frame) const;
  void close_if_drained();

  RemoteEndpoint* endpoint_;
  std::shared_ptr<const EndpointSettings> settings_;
  std::shared_ptr<Connection> connection_;
  std::shared_ptr<ClientConnection> keep_;
  PendingTable pending_;
  std::unordered_map<std::uint32_t, ClientStream*> streams_;
  const TimePoint since_ = settings_->loop->clock().now();
  Frame outgoing_;  // send()'s, kept because making one anew costs more than filling it
  bool going_away_ = false;
};

/// An instance with its connections. Reconnecting is its own business and ends with it.
/// Threads: its loop's. Ownership: `dial()` gives a handle; when the last handle is gone the endpoint retires: calls
/// in flight end, connections close, then it disappears.
class RemoteEndpoint final : public Endpoint, public std::enable_shared_from_this<RemoteEndpoint> {
 public:
  /// A handle whose release retires the endpoint.
  static std::shared_ptr<Endpoint> dial(std::shared_ptr<const EndpointSettings> settings, Instance instance,
                                        std::shared_ptr<const Transport> transport);
  ~RemoteEndpoint() override;
  /// Ends every call and connection now: the application is going down.
  void cut(const Error& reason);

  Task<Result<Response>> call(Request& request) override;
  Health health() const noexcept override;
  const Instance& instance() const noexcept override { return instance_; }
  const Stats& stats() const noexcept override { return stats_; }
  /// For those who watch: calls visit(connection or null, whether it is being dialled) for each of the N connections.
  template <class F>
  void each_link(F visit) const {
    for (const Link& link : links_) visit(static_cast<const ClientConnection*>(link.connection.get()), link.dialling);
  }
  /// Why the last attempt to connect failed, until one succeeds.
  const Error& last_failure() const noexcept { return last_failure_; }
  bool retired() const noexcept { return retired_; }

  // A stream counts as a call in flight to its end.
  void stream_began() noexcept;
  void stream_ended() noexcept;
  Loop& loop() const noexcept { return *settings_->loop; }

 private:
  friend class Exchange;
  friend class ClientConnection;
  friend class Dial;
  /// One of the N connections: open, being dialled, or waiting to be dialled again.
  struct Link {
    std::shared_ptr<ClientConnection> connection;
    bool dialling = false;
    struct Retry : Alarm {
      RemoteEndpoint* endpoint = nullptr;
      std::size_t index = 0;
    } retry;
  };
  class Direct final : public Invoker {
   public:
    explicit Direct(RemoteEndpoint& endpoint) : endpoint_(endpoint) {}
    Task<Result<Response>> call(Request& request) override { return endpoint_.exchange(request); }
    Health health() const noexcept override { return endpoint_.health(); }

   private:
    RemoteEndpoint& endpoint_;
  };

  RemoteEndpoint(std::shared_ptr<const EndpointSettings> settings, Instance instance,
                 std::shared_ptr<const Transport> transport);
  Task<Result<Response>> exchange(Request& request);
  /// True: it finished already.
  bool begin(Exchange& exchange);
  bool submit(Exchange& exchange, ClientConnection& connection);
  bool watch(Exchange& exchange);
  void finished(Exchange& exchange, const Result<Response>& result);
  /// An attempt has told something about the instance; `took`: how long it was on its way.
  void note(bool fault, double took_us) noexcept;
  ClientConnection* pick() noexcept;
  void dial(std::size_t index);
  void dialled(std::size_t index, Result<std::unique_ptr<ByteStream>> stream);
  void lost(ClientConnection& connection, const Error& reason);
  /// A connection with calls on it broke: one fault, however many calls it was.
  void broke() noexcept {
    ++stats_.faults;
    ++stats_.consecutive_faults;
  }
  /// One that was going away is closed.
  void left(ClientConnection& connection) noexcept { std::erase(leaving_, &connection); }
  void close_leaving(const Error& reason);
  void redial_later(std::size_t index);
  void enqueue(Exchange& exchange);
  void dequeue(Exchange& exchange) noexcept;
  void give_up(Exchange& exchange, Error error);
  void retire();
  void finish_retiring();
  std::string describe() const;

  std::shared_ptr<const EndpointSettings> settings_;
  Instance instance_;
  std::shared_ptr<const Transport> transport_;
  Stats stats_;
  Direct direct_;
  FilterChain chain_;
  std::vector<Link> links_;
  std::size_t next_link_ = 0;
  Backoff backoff_;
  Error last_failure_;
  TimePoint next_attempt_{};
  TimePoint next_warning_{};  // about the same failure to connect
  Exchange* waiting_first_ = nullptr;
  Exchange* waiting_last_ = nullptr;
  bool retired_ = false;
  std::shared_ptr<RemoteEndpoint> keep_;  // while retiring
  std::vector<ClientConnection*> leaving_;  // the peer said goodbye; open until it has answered
};

/// Makes RemoteEndpoints for a cluster.
class EndpointDialer final : public Dialer {
 public:
  explicit EndpointDialer(std::shared_ptr<const EndpointSettings> settings) : settings_(std::move(settings)) {}
  Result<std::shared_ptr<Endpoint>> dial(const Instance& instance) override;

 private:
  std::shared_ptr<const EndpointSettings> settings_;
};

}  // namespace tenon
