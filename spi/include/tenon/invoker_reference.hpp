#pragma once
// Typed clients over anything that can be called.
//
//   struct Options { tenon::Use<tenon::Invoker> center; };           // a plugin's option: a reference, or an address
//   auto reference = std::make_shared<tenon::InvokerReference>(options.center.component, name, environment.executor);
//   tenon::ClientFunction<Opened(Opening)> open{reference, "open"};   // or a generated client

#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "tenon/reference.hpp"

namespace tenon {

/// A Reference over one Invoker. It adds nothing to a call: no filters, and no time limit but the call's own.
/// Threads: any, as every Reference. Ownership: shares the invoker.
class TENON_SPI InvokerReference final : public Reference {
 public:
  /// `service` is whom calls ask for; `executor` is where the invoker is called, and outlives this.
  InvokerReference(std::shared_ptr<Invoker> invoker, ServiceName service, Executor& executor);
  ~InvokerReference() override;

  const ServiceName& service() const noexcept override { return service_; }
  Result<const Target*> bind(const Method& method) override;
  Executor& executor() noexcept override { return executor_; }
  Invoker& invoker() noexcept override { return *invoker_; }
  Result<void> run(const Startable& what) override;

 private:
  struct Bound {
    std::string name;
    Method method;
    Target target;
  };
  const std::shared_ptr<Invoker> invoker_;
  const ServiceName service_;
  Executor& executor_;
  std::mutex mutex_;
  std::deque<Bound> bound_;  // Targets stay where they are
};

}  // namespace tenon
