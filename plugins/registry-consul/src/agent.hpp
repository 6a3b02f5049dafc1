#pragma once
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bell.hpp"
#include "connection.hpp"
#include "options.hpp"
#include "tenon/environment.hpp"
#include "tenon/task.hpp"

namespace tenon::consul {

/// Something that stands in Consul until it is taken off.
struct Standing {
  std::string id;     ///< of its registration
  std::string owner;  ///< in its stamp; anybody else's is not touched
};

/// What depends on an agent. Told on the executor, never within a call of its own to the agent.
class Dependant {
 public:
  virtual ~Dependant();
  /// The agent is there again, may have forgotten what it was told, or is not there any more.
  virtual void on_change() = 0;
  /// The registry ends: what is to be taken off, if anything.
  virtual void on_stop(std::vector<Standing>& left) = 0;
};

/// The agent of this process's registry: whether it is there, its few connections, what depends on it.
/// Threads: the executor's. Ownership: shared by what uses it; ended by stop(), after which it does nothing more but
/// take off what is left, for at most two seconds.
class Agent : public std::enable_shared_from_this<Agent> {
 public:
  Agent(ConsulOptions options, Environment environment);

  /// Looks whether it is there, on a turn of its own; goes on looking. Once.
  void start();
  void stop() noexcept;

  const ConsulOptions& options() const noexcept { return options_; }
  Clock& clock() const noexcept { return environment_.clock; }
  Log& log() const noexcept { return environment_.log; }
  Executor& executor() const noexcept { return environment_.executor; }
  const std::string& name() const noexcept { return settings_->name; }

  bool stopped() const noexcept { return stopped_; }
  /// It has answered lately.
  bool open() const noexcept { return open_; }
  /// Grows when it may have forgotten what it was told; 0 before its first answer.
  std::uint64_t generation() const noexcept { return generation_; }
  /// From when on it should be said that it is not there, unless it answers before; never while it is open.
  TimePoint hopeless_at() const noexcept;
  /// Why it is not open.
  Error trouble() const;
  /// A connection broke or an answer did not come: look now whether it is there and still knows us.
  void doubt() noexcept;

  void attach(Dependant& dependant) { dependants_.insert(&dependant); }
  void detach(Dependant& dependant) noexcept { dependants_.erase(&dependant); }

  /// A path of the agent's own, and a path that is looked up in the datacenter. `query`: "a=b&c=d", may be empty.
  static std::string local(std::string_view path, std::string_view query = {});
  std::string global(std::string_view path, std::string_view query = {}) const;

  /// One request over one of its connections, once one is free. Fails with: as Connection, and at once with trouble()
  /// while it is not open.
  static Task<Result<Answer>> ask(std::shared_ptr<Agent> agent, Verb verb, std::string target, std::string body = {});
  /// The same; every status but 200 is an error: not_found (404), permission_denied (401, 403), invalid_argument (other
  /// 4xx), unavailable (5xx). `what`: "cannot …", for the sentence.
  static Task<Result<Answer>> demand(std::shared_ptr<Agent> agent, std::string what, Verb verb, std::string target,
                                     std::string body = {});
  /// The error that a status is.
  Error refusal(const std::string& what, const Answer& answer) const;
  /// Waits until it is open. False: not by `until`, or stopped.
  static Task<bool> wait_open(std::shared_ptr<Agent> agent, TimePoint until);
  /// A session of Consul's that ends by itself in 10 to 20 seconds, and what is written in it with it.
  static Task<Result<std::string>> leaving_session(std::shared_ptr<Agent> agent);

  /// A connection of one's own. It is closed by stop().
  std::shared_ptr<Connection> connect();
  Duration request_limit() const noexcept { return options_.request_timeout; }
  /// Of snapshots: Consul's indices may go backwards.
  std::uint64_t next_revision() noexcept { return ++revision_; }
  /// Starts the stamps of one announcement; nobody else's are like it.
  std::string new_owner();

 private:
  class Free;
  static Task<void> run(std::shared_ptr<Agent> self);
  static Task<void> part(std::shared_ptr<Agent> self, std::vector<Standing> left);
  void set_open(bool open);
  void tell();
  void complain(const Error& error);
  void give_back(std::shared_ptr<Connection> connection);

  const Environment environment_;
  const ConsulOptions options_;
  const std::shared_ptr<const Connection::Settings> settings_;
  const std::string process_;  // random
  std::uint64_t owners_ = 0;
  bool started_ = false;
  bool stopped_ = false;
  bool open_ = false;
  bool doubted_ = false;   // since it was last asked
  bool doubtful_ = false;  // a connection broke while it was open
  TimePoint closed_since_;
  std::uint64_t generation_ = 0;
  std::uint64_t revision_ = 0;
  Error trouble_;
  TimePoint next_complaint_{};
  Bell alarm_;  // for its own loop
  std::set<Dependant*> dependants_;
  std::vector<std::weak_ptr<Connection>> connections_;  // all there are
  std::vector<std::shared_ptr<Connection>> idle_;
  std::size_t lent_ = 0;
  std::deque<Free*> waiting_;
  std::string leaving_;
  TimePoint leaving_until_{};
};

}  // namespace tenon::consul
