#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "known_instances.hpp"
#include "standing.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster {

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
  /// Some registry has said who is there.
  bool heard() const noexcept;
  /// Every registry has, or has said why it cannot.
  bool answered() const noexcept { return unanswered_ == 0; }
  std::size_t size() const noexcept;
  /// All instances, registry by registry; one that several know comes several times.
  template <class F>
  void each(F f) const {
    for (const KnownInstances& known : known_) known.each(f);
  }
  TimePoint next_expiry() const noexcept;
  void expire(TimePoint now);

  /// When it is given up unless somebody wants it again; the owner's.
  TimePoint ends = never;

 private:
  WatchedGroup(std::shared_ptr<Standing> standing, std::string group, const KnownInstances::Trust& trust,
               std::function<void()> changed);
  void on_snapshot(std::size_t index, const Result<Snapshot>& snapshot);
  std::string who() const { return service_.text() + ": "; }

  const std::shared_ptr<Standing> standing_;
  const ServiceName service_;
  const std::function<void()> changed_;
  std::vector<KnownInstances> known_;  // one for each registry
  std::vector<bool> answers_;
  std::size_t unanswered_;
  std::vector<std::unique_ptr<Watch>> watches_;
};

}  // namespace tenon::cluster
