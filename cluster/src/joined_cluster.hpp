#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "call_candidates.hpp"
#include "cluster_options.hpp"
#include "generation.hpp"
#include "rules.hpp"
#include "standing.hpp"
#include "tenon/cluster.hpp"
#include "tenon/scope.hpp"
#include "watched_group.hpp"

namespace tenon::cluster {

/// One reference's instances as an invoker. A call costs nothing here but picking: no coroutine, no lock, no
/// allocation.
class JoinedCluster final : public ClusterInvoker {
 public:
  static Result<std::unique_ptr<ClusterInvoker>> join(ClusterParts parts, const ClusterOptions& options);
  ~JoinedCluster() override;

  Task<Result<Response>> call(Request& request) override;
  Health health() const noexcept override;
  Task<tenon::Broadcast> each(Request& request) override;
  Task<Result<void>> ready(TimePoint deadline) override;
  std::shared_ptr<const Members> members() const noexcept override;
  std::vector<Verdict> explain(const Request& request) const override;
  std::vector<Count> counts() const override;

 private:
  /// What observers and waiting calls hold: they may go on after the cluster.
  struct Link {
    JoinedCluster* cluster;  // null: gone
  };
  struct Expiry : Alarm {
    JoinedCluster* cluster = nullptr;
  };
  /// An endpoint as it was dialled, and as members show it: group by group (a changed weight needs no new connection,
  /// nor does an instance that is found in two groups).
  struct Dialled {
    std::shared_ptr<Endpoint> endpoint;
    std::shared_ptr<Condition> condition;
    std::map<std::string, std::shared_ptr<Endpoint>> shown;
  };
  using Dials = std::map<std::pair<std::string, std::string>, Dialled>;  // by id and address
  using Groups = std::map<std::string, std::shared_ptr<WatchedGroup>>;

  JoinedCluster(ClusterParts parts, const ClusterOptions& options);
  Result<void> watch();
  std::function<void()> on_change();
  void expire();
  void refresh();
  void doubt_kept();
  void update_groups(const std::set<std::string>& wanted);
  void follow_groups();
  bool hopeless() const noexcept { return standing_->now() >= hope_until_; }
  bool settled(const Members& members, const std::set<std::string>& wanted) const;
  std::shared_ptr<const Members> gather(const std::set<std::string>& wanted);
  void arm_expiry(bool is_settled);
  void dial(const Instance& instance, Dials& now, Members* members);
  std::shared_ptr<Endpoint> show(const Dialled& dialled, const Instance& instance);
  WatchedGroup& own() const { return *groups_.at(parts_.service.group); }

  Task<Result<Response>> call_now(Request& request);
  // Static: none of them touches a cluster that may be gone.
  static Task<Result<Response>> call_when_known(std::shared_ptr<const Link> link, std::shared_ptr<Standing> shared,
                                                Request& request);
  static Task<bool> known_by(std::shared_ptr<const Link> link, Executor& executor, TimePoint deadline,
                             Cancellation* cancel);
  static Task<tenon::Broadcast> ask_each(std::shared_ptr<const Link> link, std::shared_ptr<Standing> standing,
                                  Request& request);
  bool is_ready() const noexcept;
  void give_up_hope();
  static Task<Result<void>> wait_open(std::shared_ptr<const Link> link, std::shared_ptr<Standing> standing,
                                      TimePoint deadline);
  std::string who() const { return standing_->who(); }

  const std::shared_ptr<Standing> standing_;
  const ClusterParts& parts_;
  const KnownInstances::Trust trust_;
  Groups groups_;                 // the own one always
  std::shared_ptr<Rules> rules_;  // null: no router
  Dials dials_;
  CallCandidates candidates_;
  Generation* current_ = nullptr;  // null: there is still hope to hear of somebody
  Expiry expiry_;
  const TimePoint began_;
  TimePoint hope_until_;         // calls wait for the first word of a registry until then
  TimePoint settle_by_ = never;  // until then news are waited for before rules change
  TimePoint doubt_at_ = never;   // when instances that are kept, though not listed, are looked at
  bool following_ = false;       // follow_groups() is on its way
  std::shared_ptr<Link> link_;
};

}  // namespace tenon::cluster
