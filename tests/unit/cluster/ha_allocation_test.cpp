// What a call costs that succeeds at the first attempt: no strategy takes memory for it.
#include <atomic>
#include <cstdlib>
#include <new>

#include "ha/backup_request.hpp"
#include "ha/failback.hpp"
#include "ha/failfast.hpp"
#include "ha/failover.hpp"
#include "ha/failsafe.hpp"
#include "ha/forking.hpp"
#include "ha_fixture.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(TENON_UNDER_TSAN)

namespace {
std::atomic<std::size_t> allocations{0};
}

void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace tenon::cluster {
namespace {

/// Answers after a turn of the loop, with nothing.
class Silent final : public Endpoint {
 public:
  Task<Result<Response>> call(Request&) override { return answer(); }
  Health health() const noexcept override { return Health::open; }
  const Instance& instance() const noexcept override { return instance_; }
  const Stats& stats() const noexcept override { return stats_; }

 private:
  static Task<Result<Response>> answer() {
    Clock& clock = Executor::current()->clock();
    sleep_until pause(clock, clock.now() + std::chrono::microseconds(100));
    (void)co_await pause;
    co_return Response();
  }
  Instance instance_;
  Stats stats_;
};

class Two final : public Candidates {
 public:
  Endpoint* next(Request& request) noexcept override {
    const std::size_t at = request.tried & 1;
    request.tried |= Tried{1} << at;
    return &endpoints[at];
  }
  std::vector<Endpoint*> all(Request&) override { return {&endpoints[0], &endpoints[1]}; }
  std::size_t size(const Request&) const noexcept override { return 2; }
  bool spend_retry() noexcept override { return true; }
  Error none_left(const Request&) const override { return Error(Errc::unavailable, "nobody"); }
  Silent endpoints[2];
};

template <class Strategy>
std::size_t allocations_of_1000_calls(bool idempotent) {
  test::ManualExecutor executor;
  fake::ListLog log;
  auto strategy = std::move(*Strategy::create({}, Environment{executor, log, executor.clock()}));
  const ServiceName service{"demo.Greeter", "", ""};
  const Method method{"SayHello", Shape::unary, &message_type<Void>(), &message_type<Void>()};
  Target target{&service, &method};
  target.idempotent = idempotent;
  Two candidates;
  const auto calls = [&](int count) {
    for (int i = 0; i < count; ++i) {
      Request request(target);
      CallInfo info;
      request.info = &info;
      request.deadline = executor.clock().now() + std::chrono::seconds(1);
      EXPECT_TRUE(executor.finish(strategy->call(request, candidates)).ok());
    }
  };
  calls(100);
  const std::size_t before = allocations;
  calls(1000);
  return allocations - before;
}

TEST(HaAllocations, ASuccessTakesNoMemory) {
  for (const bool idempotent : {false, true}) {
    EXPECT_EQ(allocations_of_1000_calls<Failfast>(idempotent), 0u);
    EXPECT_EQ(allocations_of_1000_calls<Failover>(idempotent), 0u);
    EXPECT_EQ(allocations_of_1000_calls<Failsafe>(idempotent), 0u);
    EXPECT_EQ(allocations_of_1000_calls<Failback>(idempotent), 0u);
    EXPECT_EQ(allocations_of_1000_calls<BackupRequest>(idempotent), 0u);
    EXPECT_EQ(allocations_of_1000_calls<Forking>(idempotent), 0u);
  }
}

TEST(HaAllocations, TheyAreCounted) {
  const std::size_t before = allocations;
  const auto some = std::make_unique<std::string>(1000, 'x');
  EXPECT_EQ(allocations - before, 2u);
}

}  // namespace
}  // namespace tenon::cluster

#endif
