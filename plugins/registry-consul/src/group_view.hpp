#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "group_words.hpp"
#include "tenon/registry.hpp"

namespace tenon::consul {

/// What is known of the providers of one group, whatever their service, and who wants to know. In Consul a group is
/// one service, so one blocking query follows all of it.
///
/// Who is missing in an answer is gone if it left on purpose, or somebody else has its address, or it is one of few
/// whose time to live has passed. Otherwise it is kept for one time to live more: when the answer is the first after
/// the agent was away (it may have lost what it knew), or when more than half are missing at once (the agent stood
/// still, so that it heard of nobody). Threads: the executor's. Ownership: its Watches, and a run.
class GroupView final : public Follower {
 public:
  GroupView(std::shared_ptr<Agent> agent, const std::string& group, std::shared_ptr<GroupWords> words);
  ~GroupView() override;

  /// Somebody who is told. Held by a Watch.
  struct Subscriber {
    std::string interface;
    std::string version;
    SnapshotObserver observer;
    bool ended = false;
    bool told = false;
    bool stale = false;
    Snapshot last;
  };
  std::shared_ptr<Subscriber> subscribe(const Subscription& subscription, SnapshotObserver observer);
  /// The last one ends the view.
  void end_of(Subscriber& subscriber);

 private:
  struct Known {
    Provider provider;
    TimePoint kept_until = never;  // never: it is listed
  };
  struct Left {
    Provider provider;
    TimePoint until;
  };
  struct Kick : Alarm {
    GroupView* view = nullptr;
  };

  Task<Result<void>> learn(const Answer& answer, bool anew) override;
  void on_stale(const Error& why) override;
  std::map<std::string, Provider> read(const std::vector<Registered>& listed);
  Task<std::map<std::string, Word>> tombs();
  void drop_expired();
  void kick_at(TimePoint at);
  void on_kick();
  void publish();
  Snapshot snapshot(const Subscriber& subscriber) const;
  void tell(const std::shared_ptr<Subscriber>& subscriber);

  const std::string group_;
  const std::string service_;
  Clock& clock_;
  bool loaded_ = false;
  Error stale_;
  TimePoint grace_until_{};
  std::map<std::string, Known> known_;  // by the registration's id
  std::map<std::string, Left> left_;    // the same
  std::vector<std::shared_ptr<Subscriber>> subscribers_;
  GroupWords::Listener words_;
  Kick kick_;
};

}  // namespace tenon::consul
