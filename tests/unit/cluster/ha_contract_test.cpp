#include "contract/ha_contract.hpp"

#include "failfast.hpp"
#include "failover.hpp"
#include "support/manual_executor.hpp"
#include "support/recording_log.hpp"

namespace tenon::test {
namespace {

template <class T>
HaCase of(const char* name) {
  return {name, [] {
            static ManualExecutor executor;
            static RecordingLog log;
            return std::move(*T::create(typename T::Options{}, Environment{executor, log, executor.clock()}));
          }};
}
INSTANTIATE_TEST_SUITE_P(Strategies, HaContract,
                         testing::Values(of<cluster::Failover>("failover"), of<cluster::Failfast>("failfast")),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon::test
