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

 private:
  const ServiceName service_;
  std::unordered_map<const Target*, Target> targets_;  // nodes stay where they are
};

/// An endpoint of another group of the service than the reference's own: the attempt carries that group's name.
class GroupEndpoint final : public Endpoint {
 public:
  GroupEndpoint(std::shared_ptr<Endpoint> dialled, Instance instance, std::shared_ptr<GroupTargets> targets)
      : dialled_(std::move(dialled)), instance_(std::move(instance)), targets_(std::move(targets)) {}
  Task<Result<Response>> call(Request& request) override { return call_as(dialled_.get(), targets_, request); }
  Health health() const noexcept override { return dialled_->health(); }
  const Instance& instance() const noexcept override { return instance_; }
  const Stats& stats() const noexcept override { return dialled_->stats(); }

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
  static Task<Result<Response>> call_as(Endpoint* dialled, std::shared_ptr<GroupTargets> targets, Request& request) {
    const Renamed renamed(request, *targets);
    co_return co_await dialled->call(request);
  }

  const std::shared_ptr<Endpoint> dialled_;
  const Instance instance_;
  const std::shared_ptr<GroupTargets> targets_;
};

}  // namespace tenon::cluster
