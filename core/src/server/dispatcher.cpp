#include "server/dispatcher.hpp"

namespace tenon {

Offered::Offered(ServiceName name, std::shared_ptr<Service> service, std::vector<std::shared_ptr<Filter>> filters,
                 std::vector<Pool*> pools)
    : name_(std::move(name)),
      service_(std::move(service)),
      pools_(std::move(pools)),
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

const Target* Offered::find(std::string_view method, bool loose) const noexcept {
  for (const Target& target : targets_)
    if (target.method->name == method) return &target;
  if (!loose || method.empty()) return nullptr;
  constexpr unsigned char letter_case = 'a' ^ 'A';
  for (const Target& target : targets_) {
    const std::string_view name = target.method->name;
    const auto first = static_cast<unsigned char>(name.empty() ? 0 : name.front());
    const auto other = static_cast<unsigned char>(method.front());
    if ((first | letter_case) >= 'a' && (first | letter_case) <= 'z' && (first ^ other) == letter_case &&
        name.substr(1) == method.substr(1))
      return &target;
  }
  return nullptr;
}

Result<void> Dispatcher::add(std::unique_ptr<Offered> offered) {
  for (const auto& other : services_)
    if (other->name() == offered->name())
      return Error(Errc::already_exists, "service " + offered->name().text() + " is offered twice");
  services_.push_back(std::move(offered));
  return {};
}

// The one service of that interface, in that group or in any; null when there are none or several.
const Offered* Dispatcher::only(const Wanted& wanted, bool any_group) const noexcept {
  const Offered* found = nullptr;
  for (const auto& offered : services_) {
    if (offered->name().interface != wanted.interface) continue;
    if (!any_group && offered->name().group != wanted.group) continue;
    if (found) return nullptr;
    found = offered.get();
  }
  return found;
}

const Offered* Dispatcher::match(const Wanted& wanted) const noexcept {
  for (const auto& offered : services_) {
    const ServiceName& name = offered->name();
    if (name.interface == wanted.interface && name.group == wanted.group && name.version == wanted.version)
      return offered.get();
  }
  if (!wanted.loose) return nullptr;
  const Offered* same_group = only(wanted, false);
  return same_group ? same_group : only(wanted, true);
}

Result<Route> Dispatcher::find(const Wanted& wanted) const {
  const Offered* offered = match(wanted);
  if (!offered) {
    std::string known;
    for (const auto& other : services_) known += (known.empty() ? "" : ", ") + other->name().text();
    const ServiceName asked{std::string(wanted.interface), std::string(wanted.group), std::string(wanted.version)};
    return Error(Errc::not_found, "no service " + asked.text() + " here; offered: " + (known.empty() ? "none" : known),
                 Delivery::not_run, Advice::other_instance);
  }
  const Target* target = offered->find(wanted.method, wanted.loose);
  if (!target)
    return Error(Errc::not_found,
                 "service " + offered->name().text() + " has no method \"" + std::string(wanted.method) + "\"",
                 Delivery::not_run, Advice::never);
  if (target->method->shape == Shape::client_stream || target->method->shape == Shape::bidi)
    return Error(Errc::unimplemented,
                 offered->name().text() + "." + std::string(wanted.method) + ": " +
                     std::string(to_string(target->method->shape)) +
                     " methods are not carried yet; unary, one_way and server_stream are",
                 Delivery::not_run, Advice::never);
  return Route{offered, target, offered->pool(*target)};
}

}  // namespace tenon
