#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "ha/by_reference.hpp"
#include "ha/resend_queue.hpp"
#include "tenon/catalog.hpp"
#include "tenon/cluster.hpp"
#include "tenon/use.hpp"

namespace tenon::cluster {

struct FailbackOptions {
  Use<HaStrategy> inner{};
  Duration interval = std::chrono::seconds(5);
  std::uint32_t retries = 3;
  std::uint32_t max_calls = 1000;
  ByteSize max_bytes = 16u << 20;
};
BOOST_DESCRIBE_STRUCT(FailbackOptions, (), (inner, interval, retries, max_calls, max_bytes))

/// HA strategy "failback": for calls that must arrive, but whose answer nobody needs (notifications). What failed and
/// may be sent again (it has not run, or the method is idempotent; what ran never) is copied into the reference's queue
/// and the caller gets an empty answer, as of "failsafe". What cannot be queued (it may not be sent again, is a stream,
/// or the queue is full) is the caller's error. What is queued is sent again every `interval`, the oldest first, at
/// most `retries` times, each with the method's own time limit (without one: the interval) and paid from the retry
/// budget; while that is spent all of it waits. A handler's error ends it. What is given up is logged (cause
/// "failback") and counted, also when the reference is closed: the queue is in memory only.
/// Source: Dubbo's failback; bounds, deliveries and the budget are ours.
class Failback final : public HaStrategy {
 public:
  using Options = FailbackOptions;
  /// Fails with: config (an interval or bound of 0).
  static Result<std::unique_ptr<Failback>> create(Options options, Environment environment);
  Task<Result<Response>> call(Request& request, Candidates& candidates) override;
  void release(Candidates& candidates) noexcept override;
  std::vector<Count> counts() const override;

 private:
  Failback(Options options, Log& log);
  Task<Result<Response>> call_inner(Request& request, Candidates& candidates);
  /// `result`, or the empty answer in its place if the call is sent again later.
  void settle(Request& request, Candidates& candidates, Result<Response>& result);

  const Options options_;
  Log& log_;
  const std::shared_ptr<ResendCounts> counts_ = std::make_shared<ResendCounts>();
  ByReference<ResendQueue> queues_;
};

}  // namespace tenon::cluster

template <>
struct tenon::Describe<tenon::cluster::FailbackOptions> {
  static constexpr auto members = tenon::members(
      tenon::member("inner", "the strategy of the call itself; none: one attempt"),
      tenon::member("interval", "between the attempts for a call that is sent again later"),
      tenon::member("retries", "how often it is sent again at most"),
      tenon::member("max_calls", "how many may wait in each reference; more are errors"),
      tenon::member("max_bytes", "how much memory they may take, about; more are errors"));
};
