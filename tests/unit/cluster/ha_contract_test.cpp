#include "contract/ha_contract.hpp"

#include "ha/backup_request.hpp"
#include "ha/broadcast.hpp"
#include "ha/failback.hpp"
#include "ha/failfast.hpp"
#include "ha/failover.hpp"
#include "ha/failsafe.hpp"
#include "ha/forking.hpp"

namespace tenon::test {
namespace {

template <class T>
HaCase of(const char* name, const typename T::Options& options = {}) {
  return {.name = name, .make = [options](Environment environment) {
            return std::unique_ptr<HaStrategy>(std::move(*T::create(options, environment)));
          }};
}
HaCase several(HaCase one, std::size_t at_once) {
  one.at_once = at_once;
  return one;
}
HaCase hiding(HaCase one) {
  one.hides_failures = true;
  return one;
}
HaCase everybody(HaCase one) {
  one.everybody = true;
  return one;
}
template <class T>
HaCase around_failover(const char* name) {
  return {.name = name, .make = [](Environment environment) {
            typename T::Options options;
            options.inner.component = std::move(*cluster::Failover::create({}, environment));
            return std::unique_ptr<HaStrategy>(std::move(*T::create(std::move(options), environment)));
          }};
}
const cluster::BackupRequestOptions soon{.after = std::chrono::milliseconds(10)};

INSTANTIATE_TEST_SUITE_P(
    Strategies, HaContract,
    testing::Values(of<cluster::Failover>("failover"), of<cluster::Failfast>("failfast"),
                    hiding(of<cluster::Failsafe>("failsafe")),
                    hiding(around_failover<cluster::Failsafe>("failsafe_around_failover")),
                    hiding(of<cluster::Failback>("failback")),
                    hiding(around_failover<cluster::Failback>("failback_around_failover")),
                    several(of<cluster::Forking>("forking"), 2),
                    several(of<cluster::Forking>("forking_three", {.forks = 3}), 3),
                    everybody(of<cluster::Broadcast>("broadcast")),
                    several(of<cluster::BackupRequest>("backup_request", soon), 2),
                    of<cluster::BackupRequest>("backup_request_without_samples")),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon::test
