#include "center_app.hpp"
#include "client/center_registry.hpp"
#include "contract/registry_contract.hpp"
#include "settled_registry.hpp"

namespace tenon::test {
namespace {

/// A center of its own for each test, reached over a real connection.
RegistryCase::Connect open_center() {
  const auto place = std::make_shared<center::CenterApp>(center::CenterOptions());
  return [place](Environment environment) -> std::unique_ptr<Registry> {
    auto client = start(client_options(std::string(center::interface), place->address()));
    auto made = center::CenterRegistry::over(client->reference("r"), {}, environment);
    if (!made.ok()) return nullptr;
    return std::make_unique<SettledRegistry>(std::move(*made), std::move(client));
  };
}

INSTANTIATE_TEST_SUITE_P(Center, RegistryContract, testing::Values(RegistryCase{"center", open_center}),
                         registry_case_name);

}  // namespace
}  // namespace tenon::test
