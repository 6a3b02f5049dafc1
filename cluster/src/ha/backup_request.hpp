#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "ha/by_reference.hpp"
#include "ha/failover.hpp"
#include "tenon/catalog.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster {

struct BackupRequestOptions {
  Duration after{0};
  std::uint32_t percentile = 95;
  Duration least = std::chrono::milliseconds(1);
  std::uint32_t ratio = 10;
  std::uint32_t retries = 2;
};
BOOST_DESCRIBE_STRUCT(BackupRequestOptions, (), (after, percentile, least, ratio, retries))

/// HA strategy "backup-request" (hedging): a call that is not answered after a while is sent to a second instance, too;
/// the first success is the answer, the other attempt is cancelled and its server told. "A while" is `after`, or, when
/// that is 0, the `percentile` of what this method took lately in this reference, at least `least`; until enough calls
/// have been seen there are no backups. At most one backup for each call, for at most `ratio` percent of the calls of
/// ten seconds, and each paid from the reference's retry budget: a service that is slow as a whole is not asked twice.
/// Never to an instance that the call has gone to.
///
/// What fails is sent again as by "failover", `retries` times at most, when no other attempt is under way. A handler's
/// own error (application) ends the call; after any other one the attempt that is still under way is waited for.
/// Methods that are not idempotent, one_way and streams are "failover" alone.
/// Cost: a coroutine and a timer for each call.
/// Source: Dean and Barroso, "The Tail at Scale"; Finagle's BackupRequestFilter (percentile, budget, at most one),
/// brpc's rate-limited backup policy; Motan's and Dubbo's names.
class BackupRequest final : public HaStrategy {
 public:
  using Options = BackupRequestOptions;
  /// Fails with: config (a percentile outside 1 … 99, a ratio above 100, a negative time).
  static Result<std::unique_ptr<BackupRequest>> create(Options options, Environment environment);
  Task<Result<Response>> call(Request& request, Candidates& candidates) override;
  void release(Candidates& candidates) noexcept override;
  std::vector<Count> counts() const override;

 private:
  struct Seen;  // of one reference
  class Hedged;
  BackupRequest(const Options& options, std::unique_ptr<Failover> failover);
  Task<Result<Response>> hedge(std::shared_ptr<Seen> seen, Request& request, Candidates& candidates, Endpoint& first,
                               Clock& clock);

  const Options options_;
  const std::unique_ptr<Failover> failover_;
  ByReference<Seen> seen_;
  std::atomic<std::uint64_t> backups_{0};
  std::atomic<std::uint64_t> won_{0};
  std::atomic<std::uint64_t> refused_{0};
};

}  // namespace tenon::cluster

template <>
struct tenon::Describe<tenon::cluster::BackupRequestOptions> {
  static constexpr auto members = tenon::members(
      tenon::member("after", "how long an answer is waited for; 0: as long as `percentile` of the calls take"),
      tenon::member("percentile", "of the method's latest calls are answered before the backup is sent"),
      tenon::member("least", "a measured delay is never shorter"),
      tenon::member("ratio", "backups for at most so many percent of the calls of ten seconds"),
      tenon::member("retries", "how often a failed call is sent again; a method's own number (methods:) wins"));
};
