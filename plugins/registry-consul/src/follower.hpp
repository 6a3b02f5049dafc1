#pragma once
#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "agent.hpp"
#include "backoff.hpp"

namespace tenon::consul {

/// Follows something of Consul's by blocking queries over a connection of its own: asks with the index of the last
/// answer, hears what is there when it has changed or the wait is over, asks again.
/// An index that goes backwards or is none, and every failure, begin anew with a query that does not block; failures
/// are followed by pauses. Threads: the executor's. Ownership: shared; keeps itself alive until it has ended.
class Follower : public std::enable_shared_from_this<Follower>, private Dependant {
 public:
  ~Follower() override;
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  /// Asks, on a turn of its own. Once.
  void begin();
  void end() noexcept;
  bool over() const noexcept { return ended_ || agent_->stopped(); }

 protected:
  /// `path`: escaped; what it answers must carry X-Consul-Index. `what`: "the instances of …", for sentences.
  Follower(std::shared_ptr<Agent> agent, std::string path, std::string query, std::string what);

  /// Status 200, or 404: there is nothing. `anew`: between this answer and the one before something may have been
  /// missed, or the agent may have begun a new history. Fails with: malformed; then it is asked again.
  virtual Task<Result<void>> learn(const Answer& answer, bool anew) = 0;
  /// What was learned last may be out of date. Called once, until something is learned again.
  virtual void on_stale(const Error& why) = 0;

  const std::shared_ptr<Agent>& agent() const noexcept { return agent_; }

 private:
  static Task<void> run(std::shared_ptr<Follower> self);
  Task<Result<void>> turn();
  void failed(const Error& why);
  void on_change() override;
  void on_stop(std::vector<Standing>&) override {}
  Duration next_wait();

  const std::shared_ptr<Agent> agent_;
  const std::string path_;
  const std::string query_;
  const std::string what_;
  const std::shared_ptr<Connection> connection_;
  Bell alarm_;
  std::minstd_rand random_;
  std::uint64_t index_ = 0;
  bool anew_ = true;
  bool ended_ = false;
  bool stale_ = false;
  TimePoint failing_since_ = never;
  TimePoint next_warning_{};
};

}  // namespace tenon::consul
