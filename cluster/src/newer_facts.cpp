#include "newer_facts.hpp"

namespace tenon::cluster {

namespace {

/// An endpoint whose instance has changed since it was dialled.
class NewerFacts final : public Endpoint {
 public:
  NewerFacts(std::shared_ptr<Endpoint> endpoint, Instance instance)
      : endpoint_(std::move(endpoint)), instance_(std::move(instance)) {}
  Task<Result<Response>> call(Request& request) override { return endpoint_->call(request); }
  Health health() const noexcept override { return endpoint_->health(); }
  const Instance& instance() const noexcept override { return instance_; }
  const Stats& stats() const noexcept override { return endpoint_->stats(); }
  const std::shared_ptr<Endpoint>& endpoint() const noexcept { return endpoint_; }

 private:
  std::shared_ptr<Endpoint> endpoint_;
  Instance instance_;
};

}  // namespace

bool same_place(const Instance& one, const Instance& other) noexcept {
  return one.id == other.id && one.address == other.address && one.transport == other.transport &&
         one.protocols == other.protocols;
}

std::shared_ptr<Endpoint> with_facts(const std::shared_ptr<Endpoint>& endpoint, const Instance& instance) {
  if (endpoint->instance() == instance) return endpoint;
  // Fronts do not pile up: a newer one stands before the dialled endpoint itself.
  const auto* front = dynamic_cast<const NewerFacts*>(endpoint.get());
  const std::shared_ptr<Endpoint>& dialled = front ? front->endpoint() : endpoint;
  if (dialled->instance() == instance) return dialled;
  return std::make_shared<NewerFacts>(dialled, instance);
}

}  // namespace tenon::cluster
