#include "server/dispatcher.hpp"

namespace tenon {

Offered::Offered(ServiceName name, std::shared_ptr<Service> service, std::vector<std::shared_ptr<Filter>> filters)
    : name_(std::move(name)),
      service_(std::move(service)),
      innermost_(*service_),
      chain_(std::move(filters), innermost_) {
  std::uint32_t index = 0;
  for (const Method& method : service_->methods()) {
    Target target;
    target.service = &name_;
    target.method = &method;
    target.index = index++;
    target.idempotent = method.idempotent;
    targets_.push_back(target);
  }
}

const Target* Offered::find(std::string_view method) const noexcept {
  for (const Target& target : targets_)
    if (target.method->name == method) return &target;
  return nullptr;
}

Result<void> Dispatcher::add(std::unique_ptr<Offered> offered) {
  for (const auto& other : services_)
    if (other->name() == offered->name())
      return Error(Errc::already_exists, "service " + offered->name().text() + " is offered twice");
  services_.push_back(std::move(offered));
  return {};
}

Result<Route> Dispatcher::find(std::string_view group, std::string_view interface, std::string_view version,
                               std::string_view method) const {
  std::string known;
  for (const auto& offered : services_) {
    const ServiceName& name = offered->name();
    if (name.interface != interface || name.group != group || name.version != version) {
      if (!known.empty()) known += ", ";
      known += name.text();
      continue;
    }
    const Target* target = offered->find(method);
    if (!target)
      return Error(Errc::not_found, "service " + name.text() + " has no method \"" + std::string(method) + "\"",
                   Delivery::not_run, Advice::never);
    if (target->method->shape != Shape::unary && target->method->shape != Shape::one_way)
      return Error(Errc::unimplemented,
                   name.text() + "." + std::string(method) + ": " + std::string(to_string(target->method->shape)) +
                       " methods are not supported yet",
                   Delivery::not_run, Advice::never);
    return Route{offered.get(), target};
  }
  const ServiceName asked{std::string(interface), std::string(group), std::string(version)};
  return Error(Errc::not_found,
               "no service " + asked.text() + " here; offered: " + (known.empty() ? "none" : known), Delivery::not_run,
               Advice::other_instance);
}

}  // namespace tenon
