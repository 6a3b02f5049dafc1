#pragma once
#include <atomic>
#include <memory>
#include <string>

#include "loop/loop.hpp"
#include "tenon/log.hpp"
#include "tenon/protocol.hpp"
#include "tenon/transport.hpp"

namespace tenon {

/// What a connection tells the side that uses it (client or server).
class ConnectionOwner {
 public:
  /// All kinds but ping and pong. May send on the connection.
  virtual void on_frame(Frame& frame) = 0;
  /// crowded() was true and is not any more. May send on the connection.
  virtual void on_room() {}
  /// Once, when the connection is over, whoever ended it. The owner may let go of the connection here.
  virtual void on_closed(const Error& reason) = 0;

 protected:
  ~ConnectionOwner() = default;
};

struct ConnectionOptions {
  Duration heartbeat = std::chrono::seconds(5);
  std::uint32_t heartbeat_misses = 5;
  std::size_t max_unwritten = 4u << 20;  ///< beyond it nothing is added that can wait
  bool pause_reading = false;  ///< stop reading while more than max_unwritten waits (server)
  /// Bytes that wait on all connections that share it; null: nobody counts. Beyond `max_total` each has less room.
  std::atomic<std::size_t>* total = nullptr;
  std::size_t max_total = 0;
};

/// A byte stream joined with a protocol session: bulk reads into the thread's one buffer, one gathered write per turn
/// of the loop (and per ~8 KiB inside a long batch), heartbeat when idle.
/// Threads: its loop's. Ownership: shared; an event in progress keeps it alive.
class Connection final : private FrameSink, private TurnEnd, public std::enable_shared_from_this<Connection> {
 public:
  Connection(Loop& loop, Log& log, std::unique_ptr<ByteStream> stream, std::unique_ptr<Session> session,
             std::string protocol, const ConnectionOptions& options, ConnectionOwner& owner);
  ~Connection() override;

  /// Begins to read; `first` are bytes already read (sniffing). Call once, with a shared owner in place.
  void start(std::string_view first = {});

  Session& session() noexcept { return *session_; }
  const PeerInfo& peer() const noexcept { return peer_; }
  bool open() const noexcept { return !closed_; }
  /// The peer has said something.
  bool heard() const noexcept { return spoken_to_; }
  std::size_t unwritten() const noexcept { return session_->unwritten(); }
  /// How many one-way calls of the peer's run. The server's count; it stands here because they keep this object when
  /// the connection ends before they do.
  std::size_t notices = 0;
  /// Does so much wait to be written that nothing should be added that can wait? on_room() tells the end of it.
  bool crowded() noexcept {
    if (session_->unwritten() > room()) crowded_ = true;
    return crowded_;
  }

  /// Appends a frame; it leaves at the end of the turn at the latest. Errors as Session::send().
  Result<void> send(Frame& frame);
  /// Says goodbye, writes what it can without waiting, closes. on_closed() follows inline. Idempotent.
  void close(Error reason);
  /// Says goodbye and goes on: running calls may finish.
  void go_away(const Error& reason);
  /// Closes as soon as everything has been written.
  void close_when_written(Error reason);

 private:
  void on_frame(Frame& frame) override;
  void on_readable();
  void read_direct(const Want& want);
  bool parse(std::string_view bytes);
  void await_readable();
  void flush();
  void wait_writable();
  void mark_dirty() { loop_.at_turn_end(*this); }
  void after_session();  // a session may have something to write, or another deadline, without being asked
  /// The peer broke the protocol: tells it and the log, then fails.
  void violated(Error error);
  void write_farewell();
  /// How much may wait here.
  std::size_t room() const noexcept;
  void count_unwritten() noexcept;
  void fail(Error error);
  void beat();
  std::string first_words() const;  // a hint, as long as the peer has said nothing
  void watch_deadline();

  void go_on_parsing();

  struct Resume : Work {
    std::shared_ptr<Connection> connection;
  };
  struct OwnAlarm : Alarm {
    Connection* connection = nullptr;
  };

  Loop& loop_;
  Log& log_;
  std::unique_ptr<ByteStream> stream_;
  std::unique_ptr<Session> session_;
  PeerInfo peer_;
  const ConnectionOptions options_;
  ConnectionOwner& owner_;
  std::string stash_;  // an incomplete frame between two reads, or what is held back; empty most of the time
  Resume resume_;
  OwnAlarm heartbeat_;
  OwnAlarm session_alarm_;
  TimePoint heard_;
  std::uint32_t missed_ = 0;
  bool spoken_to_ = false;    // the peer has said something
  std::size_t counted_ = 0;   // our share of *options_.total
  std::size_t flush_at_ = 0;  // unwritten bytes that leave before the batch is over
  bool reading_ = false;      // inside an event: flush at its end
  bool waiting_read_ = false;
  bool waiting_write_ = false;
  bool crowded_ = false;  // somebody was told to wait
  bool held_ = false;     // the stash has more than an incomplete frame: too much waits to be written
  bool closing_ = false;  // close once everything is written
  bool closed_ = false;
  Error closing_reason_;
};

}  // namespace tenon
