#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "tenon/catalog.hpp"
#include "tenon/cluster.hpp"
#include "tenon/use.hpp"

namespace tenon::cluster {

struct FailsafeOptions {
  Use<HaStrategy> inner{};
};
BOOST_DESCRIBE_STRUCT(FailsafeOptions, (), (inner))

/// HA strategy "failsafe": for calls whose failure must not disturb the caller (logging, counting). A failure is logged
/// (cause "failsafe") and counted, and the caller gets an empty answer: the method's output as it is by default,
/// nothing for one_way, a stream without messages. He cannot tell it from a real one. What is his own doing is told him
/// all the same: invalid_argument, cancelled, would_deadlock, config. A stream that breaks after its head is not
/// covered. Without `inner` one attempt, and no coroutine.
/// Source: Dubbo's failsafe.
class Failsafe final : public HaStrategy {
 public:
  using Options = FailsafeOptions;
  static Result<std::unique_ptr<Failsafe>> create(Options options, Environment environment);
  Task<Result<Response>> call(Request& request, Candidates& candidates) override;
  void release(Candidates& candidates) noexcept override;
  std::vector<Count> counts() const override;

 private:
  Failsafe(Options options, Log& log) : options_(std::move(options)), log_(log) {}
  Task<Result<Response>> call_inner(Request& request, Candidates& candidates);
  /// `result`, or the empty answer in its place.
  void calm(Request& request, Result<Response>& result);

  const Options options_;
  Log& log_;
  std::atomic<std::uint64_t> hidden_{0};
};

}  // namespace tenon::cluster

template <>
struct tenon::Describe<tenon::cluster::FailsafeOptions> {
  static constexpr auto members =
      tenon::members(tenon::member("inner", "the strategy whose failures are hidden; none: one attempt"));
};
