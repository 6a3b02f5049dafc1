#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "backoff.hpp"
#include "bell.hpp"
#include "client.hpp"
#include "tenon/environment.hpp"
#include "tenon/result.hpp"
#include "tenon/task.hpp"

namespace tenon::zk {

class Reconciler;

struct SessionOptions {
  ClientOptions client;
  Duration connect_timeout{};  ///< when whoever waits is told that there is no connection yet
  std::string host;            ///< our address as others see it; empty: found out
  std::string label;           ///< for messages: "ZooKeeper at zk1:2181"
};

/// The one session of a registry, and what follows it. It gets a new one when the old one has ended, when the server
/// does not say whether it has (a client that meets a server without its history tries for ever), and when there never
/// was one. Reconcilers attach to it and are told; they do the rest. Threads: the executor's. Blocking: never.
class Session final : private Client::Listener {
 public:
  Session(SessionOptions options, Environment environment);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() override;  ///< stop()

  /// Ends what is under way, within; reconcilers are orphaned. The connection is closed elsewhere.
  void stop();

  bool ready() const noexcept { return connected_; }
  bool stopped() const noexcept { return stopped_; }
  /// Of the session now, or the last one; 0: there was none.
  std::int64_t id() const noexcept { return id_; }
  /// Rings when it gets ready, when the first time for that has passed, and at stop().
  Bell& bell() noexcept { return bell_; }
  /// When somebody who waits for a connection should stop: the end of connect_timeout since it was lost or wanted
  /// first.
  TimePoint hopeless_at() const noexcept { return hopeless_at_; }
  /// Why it is not ready.
  Error unavailable() const;
  /// Grows with each call: the order of what observers are told.
  std::uint64_t next_revision() noexcept { return ++revision_; }
  /// Our address as the server sees it; with brackets when it is IPv6.
  const std::string& host() const noexcept { return host_; }
  const std::string& label() const noexcept { return options_.label; }
  Clock& clock() const noexcept { return clock_; }
  Log& log() const noexcept { return log_; }

  // Without a connection these answer ZCONNECTIONLOSS at once.
  Operation get(const std::string& path, bool watch) { return ask(Operation::What::get, path, watch); }
  Operation exists(const std::string& path, bool watch) { return ask(Operation::What::exists, path, watch); }
  Operation children(const std::string& path, bool watch) { return ask(Operation::What::children, path, watch); }
  /// Persistent.
  Operation create(const std::string& path, const std::string& data) {
    return change(Operation::What::create, path, data, -1);
  }
  Operation create_ephemeral(const std::string& path, const std::string& data) {
    return change(Operation::What::create_ephemeral, path, data, -1);
  }
  Operation set(const std::string& path, const std::string& data, int version) {
    return change(Operation::What::set, path, data, version);
  }
  Operation remove(const std::string& path, int version = -1) {
    return change(Operation::What::remove, path, {}, version);
  }
  /// All or none.
  Operation apply(std::vector<Step> steps) { return Operation(usable(), std::move(steps)); }
  /// Takes back the watches at `path`, if nobody attached wants exactly that path. Nobody waits for it.
  void forget(const std::string& path);

  /// `paths`: it is told of events at each and at what is up to two levels below.
  void attach(Reconciler& reconciler, const std::vector<std::string>& paths);
  void detach(Reconciler& reconciler, const std::vector<std::string>& paths) noexcept;

 private:
  struct Timer : Alarm {
    Session* session = nullptr;
  };
  Client* usable() const noexcept { return connected_ ? client_.get() : nullptr; }
  Operation ask(Operation::What what, const std::string& path, bool watch) {
    return Operation(usable(), what, path, watch);
  }
  Operation change(Operation::What what, const std::string& path, const std::string& data, int version) {
    return Operation(usable(), what, path, data, version);
  }

  void on_connected(std::int64_t session, Duration timeout) override;
  void on_disconnected() override;
  void on_expired() override;
  void on_refused(const std::string& reason) override;
  void on_event(const std::string& path) override;

  void open();
  // Gives the client up and comes back after `pause`.
  void reopen(Duration pause);
  void give_up_hope();
  void give_up_session();
  enum class Cause : std::uint8_t { lost, expired, refused };
  void warn_sometimes(Cause why, const std::string& text);
  void find_host();
  template <class F>
  void each(F f);

  const SessionOptions options_;
  Executor& executor_;
  Clock& clock_;
  Log& log_;
  const std::shared_ptr<ClientLog> client_log_;
  std::unique_ptr<Client> client_;
  bool connected_ = false;
  TimePoint connected_at_{};
  int short_lives_ = 0;  // connections in a row that were lost at once
  bool stopped_ = false;
  bool hopeless_ = false;
  std::int64_t id_ = 0;
  std::uint64_t revision_ = 0;
  Duration timeout_;  // of the session, as agreed with the server
  std::string host_;
  std::string reason_ = "it has not answered yet";
  TimePoint hopeless_at_;
  TimePoint next_warning_[3] = {};  // by Cause
  Backoff backoff_;
  Bell bell_;
  Timer hope_;      // to tell that there is no connection
  Timer watchdog_;  // to give the client up
  Timer reopening_;
  std::vector<Reconciler*> attached_;
  std::unordered_multimap<std::string, Reconciler*> interests_;
};

/// Creates the persistent node and those above it that are missing. Returns ZooKeeper's code; ZOK when they are there.
Task<int> make_path(Session& session, std::string path);

/// Waits until there is a connection, at most until `until`. Returns whether there is.
Task<bool> wait_ready(Session& session, TimePoint until);

/// What a failed operation means, for people: "cannot create /motan/…: not authenticated; …".
Error failure(const std::string& what, int code);

}  // namespace tenon::zk
