#include "tenon/invoker_reference.hpp"

#include <atomic>
#include <utility>

namespace tenon {

InvokerReference::InvokerReference(std::shared_ptr<Invoker> invoker, ServiceName service, Executor& executor)
    : invoker_(std::move(invoker)), service_(std::move(service)), executor_(executor) {}

InvokerReference::~InvokerReference() = default;

Result<const Target*> InvokerReference::bind(const Method& method) {
  if (method.shape == Shape::client_stream || method.shape == Shape::bidi)
    return Error(Errc::unimplemented,
                 service_.text() + "." + std::string(method.name) + ": " + std::string(to_string(method.shape)) +
                     " methods are not carried yet; unary, one_way and server_stream are",
                 Delivery::not_run, Advice::never);
  const std::lock_guard lock(mutex_);
  for (const Bound& bound : bound_)
    if (bound.name == method.name && bound.method.input == method.input && bound.method.output == method.output &&
        bound.method.shape == method.shape && bound.method.idempotent == method.idempotent)
      return &bound.target;
  Bound& bound = bound_.emplace_back();
  bound.name = method.name;
  bound.method = method;
  bound.method.name = bound.name;
  bound.target.service = &service_;
  bound.target.method = &bound.method;
  bound.target.idempotent = method.idempotent;
  return &bound.target;
}

Result<void> InvokerReference::run(const Startable& what) {
  if (Executor::current())
    return Error(Errc::would_deadlock,
                 service_.text() +
                     ": a synchronous call on one of the framework's threads may wait for itself; use co_await with "
                     "use_task, or a callback",
                 Delivery::not_run, Advice::never);
  std::atomic<bool> done{false};
  const auto wake = [](void* argument) noexcept {
    auto* flag = static_cast<std::atomic<bool>*>(argument);
    flag->store(true, std::memory_order_release);
    flag->notify_one();
  };
  if (what.start(what.self, wake, &done)) return {};
  done.wait(false, std::memory_order_acquire);
  return {};
}

}  // namespace tenon
