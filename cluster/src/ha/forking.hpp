#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "tenon/catalog.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster {

struct ForkingOptions {
  std::uint32_t forks = 2;
};
BOOST_DESCRIBE_STRUCT(ForkingOptions, (), (forks))

/// HA strategy "forking": asks `forks` instances at once; the first success is the answer, the others are cancelled and
/// their servers told. When all fail the error is what "failover" would report of them. Only idempotent unary methods
/// are forked: others, and streams, are asked of one instance, once. Each attempt beyond the first is paid from the
/// retry budget; without it, or without that many instances, there are fewer.
/// Source: Dubbo's forking; what is idempotent, the cancelling and the budget are ours.
class Forking final : public HaStrategy {
 public:
  using Options = ForkingOptions;
  /// Fails with: config (no forks).
  static Result<std::unique_ptr<Forking>> create(Options options, Environment environment);
  Task<Result<Response>> call(Request& request, Candidates& candidates) override;
  std::vector<Count> counts() const override;

 private:
  explicit Forking(const Options& options) : options_(options) {}
  Task<Result<Response>> fork(Request& request, Candidates& candidates, Endpoint& first, Clock& clock);

  const Options options_;
  std::atomic<std::uint64_t> forks_{0};
};

}  // namespace tenon::cluster

template <>
struct tenon::Describe<tenon::cluster::ForkingOptions> {
  static constexpr auto members =
      tenon::members(tenon::member("forks", "how many instances are asked at once, if the retry budget allows"));
};
