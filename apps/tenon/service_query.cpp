#include "service_query.hpp"

#include <algorithm>
#include <utility>

#include "manifest/nearest.hpp"

namespace tenon::cli {

namespace {

constexpr std::size_t most_listed = 20;

std::string names_of(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most_listed); ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most_listed) text += " and " + std::to_string(names.size() - most_listed) + " more";
  return text;
}

}  // namespace

Result<ServiceQuery> ServiceQuery::parse(std::string_view text, const std::string& group) {
  const auto refuse = [&](const std::string& why) {
    return Error(Errc::config, '"' + std::string(text) + "\" is no service: " + why, Delivery::not_run, Advice::never);
  };
  ServiceQuery query(group);
  std::string_view rest = text;
  if (const std::size_t slash = rest.rfind('/'); slash != std::string_view::npos) {
    const std::string_view said = rest.substr(0, slash);
    if (said.empty()) return refuse("its group is empty; write GROUP/INTERFACE:VERSION");
    if (!group.empty() && said != group) return refuse("--group says \"" + group + '"');
    query.wanted_.group = said;
    rest.remove_prefix(slash + 1);
  }
  const std::size_t colon = rest.find(':');
  query.wanted_.interface = rest.substr(0, colon);
  if (colon != std::string_view::npos) query.wanted_.version = rest.substr(colon + 1);
  if (query.wanted_.interface.empty()) return refuse("write GROUP/INTERFACE:VERSION, or only INTERFACE");
  return query;
}

bool ServiceQuery::matches(const ServiceName& service) const noexcept {
  return (wanted_.interface.empty() || wanted_.interface == service.interface) &&
         (wanted_.group.empty() || wanted_.group == service.group) &&
         (wanted_.version.empty() || wanted_.version == service.version);
}

Result<ServiceName> ServiceQuery::one_of(const std::vector<ServiceName>& services, bool unknown) const {
  std::vector<std::string> fitting;
  const ServiceName* found = nullptr;
  for (const ServiceName& service : services) {
    if (!matches(service)) continue;
    fitting.push_back(service.text());
    found = &service;
  }
  if (fitting.size() == 1) return *found;
  if (fitting.size() > 1)
    return Error(Errc::invalid_argument,
                 text() + " may be any of " + std::to_string(fitting.size()) + " services: " + names_of(fitting) +
                     "; say which as GROUP/INTERFACE:VERSION",
                 Delivery::not_run, Advice::never);
  if (unknown) return wanted_;
  std::vector<std::string> all;
  std::vector<std::string_view> interfaces;
  for (const ServiceName& service : services) {
    all.push_back(service.text());
    interfaces.push_back(service.interface);
  }
  const std::string near = did_you_mean(wanted_.interface, interfaces);
  return Error(Errc::not_found,
               "the registry has no service " + text() +
                   (near.empty() ? "; it has: " + (all.empty() ? std::string("none") : names_of(all)) : near),
               Delivery::not_run, Advice::never);
}

Result<Instance> find_instance(const std::vector<Instance>& instances, const std::string& id_or_address,
                               const ServiceName& service) {
  const auto by_id =
      std::find_if(instances.begin(), instances.end(), [&](const Instance& each) { return each.id == id_or_address; });
  if (by_id != instances.end()) return *by_id;
  std::vector<const Instance*> there;
  for (const Instance& each : instances)
    if (each.address == id_or_address) there.push_back(&each);
  if (there.size() == 1) return *there.front();
  std::vector<std::string> ids;
  if (there.size() > 1) {
    for (const Instance* each : there) ids.push_back(each->id);
    return Error(Errc::invalid_argument,
                 service.text() + ": " + std::to_string(there.size()) + " instances are at " + id_or_address +
                     "; say which by its id: " + names_of(std::move(ids)),
                 Delivery::not_run, Advice::never);
  }
  for (const Instance& each : instances)
    ids.push_back(each.id == each.address ? each.address : each.address + " (id " + each.id + ")");
  return Error(Errc::not_found,
               service.text() + " has no instance with the id or address \"" + id_or_address +
                   "\"; it has: " + (ids.empty() ? std::string("none") : names_of(std::move(ids))),
               Delivery::not_run, Advice::never);
}

}  // namespace tenon::cli
