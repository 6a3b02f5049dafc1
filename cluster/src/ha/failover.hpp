#pragma once
#include <cstdint>
#include <memory>

#include "tenon/catalog.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster {

struct FailoverOptions {
  std::uint32_t retries = 2;
};
BOOST_DESCRIBE_STRUCT(FailoverOptions, (), (retries))

/// HA strategy "failover": what has not run is sent to another instance; what may have run only when the method is
/// idempotent; what ran never. Within the call's one deadline and the reference's retry budget. An error whose advice
/// is `never` or `after` ends the call: the service as a whole wants no more of it now.
///
/// When every attempt has failed the first error is reported, with the number of attempts; its delivery is the worst
/// of all attempts. Never the same instance twice while another that can take calls is untried (Candidates).
/// Source: Dubbo's and Motan's failover; the rule about deliveries is Finagle's (only what is known not to have run, or
/// may run twice), the budget Finagle's.
class Failover final : public HaStrategy {
 public:
  using Options = FailoverOptions;
  static Result<std::unique_ptr<Failover>> create(Options options, Environment environment);
  Task<Result<Response>> call(Request& request, Candidates& candidates) override;

 private:
  /// The attempts after the first, which failed with `error`.
  Task<Result<Response>> resend(Request& request, Candidates& candidates, Error error) const;
  explicit Failover(const Options& options) : options_(options) {}
  const Options options_;
};

}  // namespace tenon::cluster

template <>
struct tenon::Describe<tenon::cluster::FailoverOptions> {
  static constexpr auto members = tenon::members(
      tenon::member("retries", "how often a call is sent again at most; a method's own number (methods:) wins"));
};
