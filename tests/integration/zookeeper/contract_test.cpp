#include "contract/registry_contract.hpp"
#include "shared_server.hpp"

namespace tenon::test {

SharedServer* const shared = static_cast<SharedServer*>(testing::AddGlobalTestEnvironment(new SharedServer));

namespace {

RegistryCase::Connect open_zookeeper() { return connect_to(shared->options()); }

INSTANTIATE_TEST_SUITE_P(ZooKeeper, RegistryContract, testing::Values(RegistryCase{"server", open_zookeeper}),
                         registry_case_name);

}  // namespace
}  // namespace tenon::test
