#pragma once
#include <memory>

#include "group_targets.hpp"
#include "health/condition.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster {

/// A dialled instance as the reference's routers and balancers see it. What they see may change without its connections
/// (a weight, metadata), and one that is found in two groups of the service is connected once.
class Member final : public Endpoint {
 public:
  /// `targets`: of the instance's group; null: it is the reference's own.
  Member(std::shared_ptr<Endpoint> dialled, std::shared_ptr<const Condition> condition, Instance instance,
         std::shared_ptr<GroupTargets> targets)
      : dialled_(std::move(dialled)),
        condition_(std::move(condition)),
        instance_(std::move(instance)),
        targets_(std::move(targets)) {}

  Task<Result<Response>> call(Request& request) override {
    return targets_ ? targets_->call(dialled_.get(), targets_, request) : dialled_->call(request);
  }
  Health health() const noexcept override { return condition_->out() ? Health::closed : dialled_->health(); }
  const Instance& instance() const noexcept override { return instance_; }
  const Stats& stats() const noexcept override { return dialled_->stats(); }
  std::uint32_t effective_weight() const noexcept override {
    return instance_.serving ? condition_->effective(instance_.weight) : 0;
  }
  TimePoint ejected_until() const noexcept override { return condition_->ejected_until(); }

 private:
  const std::shared_ptr<Endpoint> dialled_;
  const std::shared_ptr<const Condition> condition_;
  const Instance instance_;
  const std::shared_ptr<GroupTargets> targets_;
};

}  // namespace tenon::cluster
