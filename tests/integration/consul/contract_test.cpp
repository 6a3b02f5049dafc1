#include "contract/registry_contract.hpp"
#include "shared_agent.hpp"

namespace tenon::test {

SharedAgent* const shared = static_cast<SharedAgent*>(testing::AddGlobalTestEnvironment(new SharedAgent));

namespace {

RegistryCase::Connect open_consul() { return connect_to(shared->options()); }

INSTANTIATE_TEST_SUITE_P(Consul, RegistryContract, testing::Values(RegistryCase{"agent", open_consul}),
                         registry_case_name);

}  // namespace
}  // namespace tenon::test
