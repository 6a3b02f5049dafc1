#pragma once
#include <memory>
#include <string>
#include <unordered_map>

#include "tenon/cluster.hpp"

namespace tenon::cluster {

/// The methods of a reference's service as another group's servers know them: requests name the group they are for.
/// Never shrinks: protocols know a Target by its address for as long as a connection.
/// Threads: the reference's executor.
class GroupTargets {
 public:
  explicit GroupTargets(ServiceName service) : service_(std::move(service)) {}
  GroupTargets(const GroupTargets&) = delete;
  GroupTargets& operator=(const GroupTargets&) = delete;
  /// `target` as that group's. Stable.
  const Target* of(const Target& target) {
    Target& own = targets_[&target];
    own = target;
    own.service = &service_;
    return &own;
  }

  /// One attempt at an endpoint of that group.
  static Task<Result<Response>> call(Endpoint* dialled, std::shared_ptr<GroupTargets> targets, Request& request) {
    const Renamed renamed(request, *targets);
    co_return co_await dialled->call(request);
  }

 private:
  /// For the time of the attempt the request is the group's; whoever looks at it afterwards finds his own again.
  class Renamed {
   public:
    Renamed(Request& request, GroupTargets& targets) : request_(request), target_(request.target) {
      request.target = targets.of(*target_);
    }
    Renamed(const Renamed&) = delete;
    Renamed& operator=(const Renamed&) = delete;
    ~Renamed() { request_.target = target_; }

   private:
    Request& request_;
    const Target* const target_;
  };
  const ServiceName service_;
  std::unordered_map<const Target*, Target> targets_;  // nodes stay where they are
};

}  // namespace tenon::cluster
