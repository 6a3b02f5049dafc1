#pragma once
#include <memory>
#include <string>
#include <vector>

#include "backoff.hpp"
#include "session.hpp"
#include "tenon/task.hpp"

namespace tenon::zk {

/// Brings something in ZooKeeper, or what is known of it, to what it should be: after each wake(), on each new
/// connection, and again after a pause when that failed. Only one run at a time; changes meanwhile cause another.
/// Threads: the executor's. Ownership: shared; a run keeps it alive.
class Reconciler : public std::enable_shared_from_this<Reconciler> {
 public:
  virtual ~Reconciler();
  Reconciler(const Reconciler&) = delete;
  Reconciler& operator=(const Reconciler&) = delete;

  /// Something changed. Starts nothing while there is no connection.
  void wake();

  // The session's.
  void on_ready(bool new_session);
  void orphan() noexcept;
  virtual void on_event(const std::string&) { wake(); }
  /// What it has written should stay for a moment when the session ends.
  virtual bool lingers() const noexcept { return false; }
  /// There has been no connection for long.
  virtual void on_stale(const Error&) {}

 protected:
  /// `paths`: see Session::attach().
  Reconciler(Session& session, std::vector<std::string> paths);
  /// One run. False: try again later.
  virtual Task<bool> reconcile() = 0;
  /// Watches and ephemeral nodes of the session before are gone, or somebody else's.
  virtual void on_new_session() {}
  /// A run has ended, or never comes (orphaned). May be the end of it.
  virtual void on_rest() {}

  /// Null: the registry has ended.
  Session* session() const noexcept { return session_; }
  bool running() const noexcept { return running_; }
  /// Wakes it at `at`, or as soon as there is a connection after that.
  void wake_at(TimePoint at);
  /// Logs, at most once in ten seconds.
  void warn(const std::string& text);

 private:
  struct Retry : Alarm {
    Reconciler* reconciler = nullptr;
  };
  void begin();
  void end();

  Session* session_;
  Clock& clock_;
  const std::vector<std::string> paths_;
  bool running_ = false;
  bool again_ = false;
  Task<bool> task_;
  std::shared_ptr<Reconciler> running_self_;
  Backoff backoff_;
  Retry retry_;
  TimePoint next_warning_{};
};

}  // namespace tenon::zk
