#pragma once
#include <memory>
#include <string>

#include "layout.hpp"
#include "reconciler.hpp"
#include "tenon/registry.hpp"

namespace tenon::zk {

/// Shows operators that this process consumes a service: a node below `client`. Its name is new with each session, so
/// it is never in the way of another. That it cannot be written stops nothing.
/// Threads: the executor's. Ownership: of itself until end() is fulfilled.
class ConsumerNode final : public Reconciler {
 public:
  ConsumerNode(Session& session, const Layout& layout, Subscription subscription);
  void begin();
  void end();

 private:
  Task<bool> reconcile() override;
  void on_rest() override;

  const Subscription subscription_;
  const std::string folder_;
  const std::uint64_t serial_;  // of this process: the last one may be on its way out under a similar name
  bool wanted_ = false;
  std::string stands_at_;
  std::shared_ptr<Reconciler> self_;
};

}  // namespace tenon::zk
