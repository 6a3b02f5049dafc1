#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "tenon/catalog.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster {

struct BroadcastOptions {
  std::uint32_t fail_percent = 0;
};
BOOST_DESCRIBE_STRUCT(BroadcastOptions, (), (fail_percent))

/// HA strategy "broadcast": asks every instance that may serve the call, whether it is idempotent or not, and waits for
/// all of them (drop a cache, reload). The answer is the first one's, if no more than `fail_percent` of them failed and
/// one did not; else the first error, which says how many of how many failed and where. Its delivery is `ran` as soon
/// as one instance answered. Nothing is sent again. A stream cannot be broadcast: `unimplemented`. For a result per
/// instance see ClusterInvoker::each().
/// Source: Dubbo's broadcast, which asks one after the other; its broadcast.fail.percent.
class Broadcast final : public HaStrategy {
 public:
  using Options = BroadcastOptions;
  /// Fails with: config (more than 100 %).
  static Result<std::unique_ptr<Broadcast>> create(Options options, Environment environment);
  Task<Result<Response>> call(Request& request, Candidates& candidates) override;
  std::vector<Count> counts() const override;

 private:
  explicit Broadcast(const Options& options) : options_(options) {}
  Task<Result<Response>> ask(Request& request, std::vector<Endpoint*> everybody);

  const Options options_;
  std::atomic<std::uint64_t> asked_{0};
  std::atomic<std::uint64_t> failed_{0};
};

}  // namespace tenon::cluster

template <>
struct tenon::Describe<tenon::cluster::BroadcastOptions> {
  static constexpr auto members =
      tenon::members(tenon::member("fail_percent", "of the instances may fail, and the call succeeds all the same"));
};
