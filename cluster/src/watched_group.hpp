#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "known_instances.hpp"
#include "standing.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster {

/// A registry that has said nothing for so long is not waited for if what it said in an earlier life is known.
inline constexpr Duration registry_patience = std::chrono::milliseconds(500);

/// One group of a reference's service, as all its registries know it. Subscribed as long as it lives.
/// Threads: the reference's executor.
class WatchedGroup final : public std::enable_shared_from_this<WatchedGroup> {
 public:
  /// `changed` is called after every change, also while this is being made. Fails with: what Registry::watch() does.
  static Result<std::shared_ptr<WatchedGroup>> watch(std::shared_ptr<Standing> standing, std::string group,
                                                     const KnownInstances::Trust& trust, std::function<void()> changed);
  /// One that nobody is asked about.
  static std::shared_ptr<WatchedGroup> unknown(std::shared_ptr<Standing> standing, std::string group);
  const std::string& name() const noexcept { return service_.group; }
  /// Every registry has said who is there, or why it cannot say so.
  bool answered() const noexcept { return unanswered_ == 0; }
  /// It has, or others have, and it has had time.
  bool complete() const noexcept { return answered() || (out_of_patience_ && size() > 0); }
  /// Nothing is to be gained by waiting a little longer before calls are answered: everybody has spoken, or somebody
  /// named instances.
  bool decided() const noexcept { return answered() || size() > 0; }
  std::size_t size() const noexcept;
  /// All instances, registry by registry; one that several know comes several times.
  template <class F>
  void each(F f) const {
    for (const KnownInstances& known : known_) known.each(f);
  }
  /// How many are kept although their registry does not list them any more; those for which `gone` holds can leave.
  std::size_t kept() const noexcept;
  template <class F>
  void drop_kept(F gone) {
    for (KnownInstances& known : known_) known.drop_kept(gone);
  }
  TimePoint next_expiry() const noexcept;
  void expire(TimePoint now);
  /// The registries that have not answered have had time: what they said in an earlier life is used, if it is known.
  void stop_waiting();

  /// When it is given up unless somebody wants it again; the owner's.
  TimePoint ends = never;

 private:
  WatchedGroup(std::shared_ptr<Standing> standing, std::string group, const KnownInstances::Trust& trust,
               std::function<void()> changed);
  void on_snapshot(std::size_t index, const Result<Snapshot>& snapshot);
  void recall(std::size_t index, const std::string& why);
  void keep(std::size_t index, const Snapshot& snapshot);
  const std::string& registry(std::size_t index) const { return standing_->parts.registries[index].name; }
  std::string who() const { return service_.text() + ": "; }

  const std::shared_ptr<Standing> standing_;
  const ServiceName service_;
  const std::function<void()> changed_;
  std::vector<KnownInstances> known_;  // one for each registry
  std::vector<bool> answers_;
  std::size_t unanswered_;
  const TimePoint patient_until_;
  bool out_of_patience_ = false;
  std::vector<std::unique_ptr<Watch>> watches_;
};

}  // namespace tenon::cluster
