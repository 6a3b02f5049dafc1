#include "app/watched_attempts.hpp"

#include <utility>

namespace tenon {

namespace {

struct Watch {
  AttemptSeen seen;
  Instance instance;
};

class WatchedEndpoint final : public Endpoint {
 public:
  WatchedEndpoint(std::shared_ptr<Endpoint> watched, const AttemptSeen& seen)
      : watched_(std::move(watched)), watch_(std::make_shared<Watch>(Watch{seen, watched_->instance()})) {}

  Task<Result<Response>> call(Request& request) override { return attempt(*watched_, watch_, request); }
  Health health() const noexcept override { return watched_->health(); }
  const Instance& instance() const noexcept override { return watched_->instance(); }
  const Stats& stats() const noexcept override { return watched_->stats(); }
  std::uint32_t effective_weight() const noexcept override { return watched_->effective_weight(); }
  TimePoint ejected_until() const noexcept override { return watched_->ejected_until(); }

 private:
  // Static: this may go while the call is in flight, as endpoints do; the watched one then stays until it has ended.
  static Task<Result<Response>> attempt(Endpoint& watched, std::shared_ptr<const Watch> watch, Request& request) {
    const TimePoint begun = std::chrono::steady_clock::now();
    auto task = watched.call(request);
    Result<Response> result = co_await task;
    watch->seen(watch->instance, std::chrono::steady_clock::now() - begun, result.ok() ? nullptr : &result.error());
    co_return std::move(result);
  }

  const std::shared_ptr<Endpoint> watched_;
  const std::shared_ptr<const Watch> watch_;
};

class WatchedDialer final : public Dialer {
 public:
  WatchedDialer(std::shared_ptr<Dialer> dialer, AttemptSeen seen)
      : dialer_(std::move(dialer)), seen_(std::move(seen)) {}

  Result<std::shared_ptr<Endpoint>> dial(const Instance& instance) override {
    auto dialled = dialer_->dial(instance);
    if (!dialled.ok()) return dialled;
    std::shared_ptr<Endpoint> watched = std::make_shared<WatchedEndpoint>(std::move(*dialled), seen_);
    return watched;
  }

 private:
  const std::shared_ptr<Dialer> dialer_;
  const AttemptSeen seen_;
};

}  // namespace

std::shared_ptr<Dialer> watched_dialer(std::shared_ptr<Dialer> dialer, AttemptSeen seen) {
  return std::make_shared<WatchedDialer>(std::move(dialer), std::move(seen));
}

}  // namespace tenon
