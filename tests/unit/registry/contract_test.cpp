#include "contract/registry_contract.hpp"
#include "memory_registry.hpp"
#include "static_registry.hpp"

namespace tenon::test {
namespace {

RegistryCase::Connect open_memory() {
  static std::atomic<int> stores = 0;
  inprocess::MemoryRegistryOptions options;
  options.name = "contract " + std::to_string(++stores);
  return [options](Environment environment) -> std::unique_ptr<Registry> {
    auto made = inprocess::MemoryRegistry::create(options, environment);
    return made.ok() ? std::move(*made) : nullptr;
  };
}

RegistryCase::Connect open_static() {
  return [](Environment environment) -> std::unique_ptr<Registry> {
    auto made = fixed::StaticRegistry::create({}, environment);
    return made.ok() ? std::move(*made) : nullptr;
  };
}

INSTANTIATE_TEST_SUITE_P(Memory, RegistryContract, testing::Values(RegistryCase{"memory", open_memory}),
                         registry_case_name);
INSTANTIATE_TEST_SUITE_P(Static, RegistryContract,
                         testing::Values(RegistryCase{"static", open_static, false, false, false}), registry_case_name);

}  // namespace
}  // namespace tenon::test
