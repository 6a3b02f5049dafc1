#include "center_app.hpp"
#include "client/center_registry.hpp"
#include "contract/registry_contract.hpp"

namespace tenon::test {
namespace {

/// A center of its own for each test, reached over a real connection.
RegistryCase::Connect open_center() {
  struct Place {
    center::CenterApp center{center::CenterOptions()};
    std::unique_ptr<App> client = start(client_options(std::string(center::interface), center.address()));
  };
  const auto place = std::make_shared<Place>();
  return [place](Environment environment) -> std::unique_ptr<Registry> {
    auto made = center::CenterRegistry::over(place->client->reference("r"), {}, environment);
    return made.ok() ? std::move(*made) : nullptr;
  };
}

INSTANTIATE_TEST_SUITE_P(Center, RegistryContract, testing::Values(RegistryCase{"center", open_center}),
                         registry_case_name);

}  // namespace
}  // namespace tenon::test
