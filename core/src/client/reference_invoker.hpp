#pragma once
#include <memory>

#include "client/bound_reference.hpp"

namespace tenon {

/// A reference as an option of another component (Use<Invoker>): callable from any io thread; resumes on the thread it
/// was called from.
class ReferenceInvoker final : public Invoker {
 public:
  explicit ReferenceInvoker(std::shared_ptr<BoundReference> reference) : reference_(std::move(reference)) {}
  Task<Result<Response>> call(Request& request) override {
    if (reference_->loop().here()) return reference_->invoker().call(request);
    if (request.target->method->shape == Shape::server_stream)
      return ready<Result<Response>>(Error(
          Errc::unimplemented,
          request.target->service->text() + ": a stream is read where its reference lives; call it on that thread",
          Delivery::not_run, Advice::never));
    return hand_over(request);
  }
  Health health() const noexcept override { return Health::open; }

 private:
  /// Continues the awaiting coroutine on `to`.
  struct Hop : Work {
    explicit Hop(Executor& executor) : to(executor) {}
    Executor& to;
    std::coroutine_handle<> caller;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) noexcept {
      caller = h;
      run = [](Work* work) noexcept { static_cast<Hop*>(work)->caller.resume(); };
      to.post(*this);
    }
    void await_resume() const noexcept {}
  };
  Task<Result<Response>> hand_over(Request& request) {
    Executor* home = Executor::current();
    Hop there(reference_->loop());
    co_await there;
    Result<Response> result = co_await reference_->invoker().call(request);
    if (home) {
      Hop back(*home);
      co_await back;
    }
    co_return std::move(result);
  }
  std::shared_ptr<BoundReference> reference_;
};

}  // namespace tenon
