#pragma once
#include <memory>

#include "tenon/cluster.hpp"

namespace tenon::cluster {

/// An endpoint whose instance has changed in what does not touch its connections: weight, metadata.
class AmendedEndpoint final : public Endpoint {
 public:
  AmendedEndpoint(std::shared_ptr<Endpoint> dialled, Instance instance)
      : dialled_(std::move(dialled)), instance_(std::move(instance)) {}
  Task<Result<Response>> call(Request& request) override { return dialled_->call(request); }
  Health health() const noexcept override { return dialled_->health(); }
  const Instance& instance() const noexcept override { return instance_; }
  const Stats& stats() const noexcept override { return dialled_->stats(); }

 private:
  const std::shared_ptr<Endpoint> dialled_;
  const Instance instance_;
};

}  // namespace tenon::cluster
