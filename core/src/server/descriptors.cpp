#include "server/descriptors.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "tenon/functions.hpp"
#include "tenon/schema.hpp"

namespace tenon {

namespace {

/// What there is to describe; `own` is the describing service itself, which owns this.
struct Described {
  std::vector<std::shared_ptr<Service>> services;
  const Service* own = nullptr;

  std::vector<std::string> names() const {
    std::vector<std::string> names{std::string(own->interface())};
    for (const auto& service : services) names.emplace_back(service->interface());
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }

  const Service* find(std::string_view interface) const {
    if (interface == own->interface()) return own;
    for (const auto& service : services)
      if (service->interface() == interface) return service.get();
    return nullptr;
  }
};

Result<SchemaService> describe(const Described& described, const std::string& interface) {
  const Service* service = described.find(interface);
  if (!service) {
    std::string text = "tenon.Descriptors: no service \"" + interface + "\" is offered here; there are: ";
    for (const std::string& name : described.names()) text += name + ", ";
    text.resize(text.size() - 2);
    return Error(Errc::not_found, std::move(text), Delivery::ran, Advice::never);
  }
  SchemaService schema = describe_service(service->interface(), service->methods());
  schema.types.file_descriptor_set.data = service->file_descriptor_set();
  return schema;
}

}  // namespace

std::shared_ptr<Service> make_descriptors(std::vector<std::shared_ptr<Service>> services) {
  auto functions = std::make_shared<Functions>(std::string(descriptors_interface));
  auto described = std::make_shared<Described>();
  described->services = std::move(services);
  described->own = functions.get();
  functions->add(
      "services", [described] { return described->names(); }, true);
  functions->add(
      "describe", [described](const std::string& interface) { return describe(*described, interface); }, true);
  return functions;
}

}  // namespace tenon
