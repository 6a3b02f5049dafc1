#include "traffic/router.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "traffic/table.hpp"

namespace tenon::cluster::traffic {

namespace {

Error refuse(const std::string& why) { return Error(Errc::config, why, Delivery::not_run, Advice::never); }

std::vector<Place> places_of(const std::vector<std::string>& addresses) {
  std::vector<Place> places;
  for (const std::string& address : addresses) places.push_back(Place{address, {}, Ip::parse(address)});
  return places;
}

bool allowed(const Endpoint& member, const std::vector<const RouteRule*>& rules) {
  const Place place = Place::of(member.instance().address);
  return std::all_of(rules.begin(), rules.end(), [&](const RouteRule* rule) { return rule->to.contains(place); });
}

bool takes_calls(const Endpoint& member) { return member.instance().serving && member.instance().weight > 0; }

}  // namespace

std::vector<std::string> own_addresses() {
  std::set<std::string> found;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return {};
  for (const ifaddrs* each = all; each; each = each->ifa_next) {
    if (!each->ifa_addr || (each->ifa_flags & IFF_LOOPBACK) != 0) continue;
    char text[INET6_ADDRSTRLEN] = {};
    const int family = each->ifa_addr->sa_family;
    const void* address = nullptr;
    if (family == AF_INET)
      address = &reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr;
    else if (family == AF_INET6)
      address = &reinterpret_cast<const sockaddr_in6*>(each->ifa_addr)->sin6_addr;
    if (address && inet_ntop(family, address, text, sizeof text)) found.insert(text);
  }
  freeifaddrs(all);
  return {found.begin(), found.end()};
}

Result<std::unique_ptr<TrafficRouter>> TrafficRouter::create(Options options, Environment) {
  for (const std::string& address : options.addresses)
    if (!Ip::parse(address)) return refuse("addresses: \"" + address + "\" is no IP address");
  for (const std::string& group : options.mix_groups)
    if (auto merged = MergeGroup::parse(group); !merged.ok() || merged->weight)
      return refuse("mix_groups: \"" + group + "\" is no group's name; shares are a command's");
  std::vector<std::string> client = options.addresses.empty() ? own_addresses() : options.addresses;
  return std::unique_ptr<TrafficRouter>(new TrafficRouter(std::move(options), std::move(client), {}));
}

TrafficRouter::TrafficRouter(Options options, std::vector<std::string> client, ServiceName service)
    : options_(std::move(options)),
      client_(std::move(client)),
      places_(places_of(client_)),
      service_(std::move(service)) {
  if (options_.mix_groups.empty()) return;
  fixed_.remark = "mix_groups";
  fixed_.merge_groups.push_back({service_.group.empty() ? options_.default_group : service_.group, {}});
  for (const std::string& group : options_.mix_groups)
    if (MergeGroup merged{group, {}}; group_of(merged) != service_.group) fixed_.merge_groups.push_back(merged);
}

std::shared_ptr<Router> TrafficRouter::for_service(const ServiceName& service) {
  return std::shared_ptr<Router>(new TrafficRouter(options_, client_, service));
}

std::string TrafficRouter::group_of(const MergeGroup& merged) const {
  return service_.group.empty() && merged.group == options_.default_group ? std::string() : merged.group;
}

const Command* TrafficRouter::command(const CommandList& list) const noexcept {
  if (const Command* found = list.find(service_.interface)) return found;
  return fixed_.merge_groups.empty() ? nullptr : &fixed_;
}

Result<CommandList> TrafficRouter::read(const std::vector<Document>& documents) const {
  CommandList all;
  for (const Document& document : documents) {
    auto list = parse_commands(document.text);
    if (!list.ok()) return std::move(list).error();
    for (Command& command : list->commands) all.commands.push_back(std::move(command));
    for (std::string& complaint : list->complaints) all.complaints.push_back(std::move(complaint));
  }
  all.sort();  // they may come from several registries
  return all;
}

Result<std::vector<std::string>> TrafficRouter::groups(const std::vector<Document>& documents) {
  auto list = read(documents);
  if (!list.ok()) return std::move(list).error();
  std::vector<std::string> others;
  if (const Command* in_force = command(*list))
    for (const MergeGroup& merged : in_force->merge_groups)
      if (std::string group = group_of(merged); group != service_.group) others.push_back(std::move(group));
  return others;
}

Reasons TrafficRouter::reasons(const Command* in_force) const {
  if (!in_force) return Reasons(service_.group);
  std::vector<std::string> groups;
  for (const MergeGroup& merged : in_force->merge_groups) groups.push_back(group_of(merged));
  std::vector<std::size_t> concerned;
  for (std::size_t i = 0; i < in_force->route_rules.size(); ++i)
    if (in_force->route_rules[i].concerns(places_)) concerned.push_back(i);
  std::string name = in_force == &fixed_ ? fixed_.remark : in_force->name();
  return Reasons(service_.group, *in_force, std::move(name), std::move(groups), std::move(concerned));
}

Result<std::unique_ptr<Router::Table>> TrafficRouter::compile(const Members& members,
                                                              const std::vector<Document>& documents) {
  if (service_.interface.empty()) return refuse("router traffic: for_service() comes first");
  auto list = read(documents);
  if (!list.ok()) return std::move(list).error();
  std::map<std::string, Members> by_group;
  for (const auto& member : members) by_group[member->instance().group].push_back(member);
  std::vector<TrafficTable::Share> shares;
  std::vector<std::string> complaints = std::move(list->complaints);
  const Command* const in_force = command(*list);
  const auto made = [&]() -> std::unique_ptr<Table> {
    std::random_device random;
    const std::uint64_t start = std::uint64_t{random()} << 32 | random();
    return std::make_unique<TrafficTable>(std::move(shares), std::move(complaints), start, reasons(in_force));
  };

  Members& own = by_group[service_.group];
  if (!in_force) {
    shares.push_back({std::move(own), 1});
    return made();
  }
  std::vector<const RouteRule*> rules;
  for (const RouteRule& rule : in_force->route_rules)
    if (rule.concerns(places_)) rules.push_back(&rule);
  const auto filtered = [&](const Members& all) {
    Members left;
    for (const auto& member : all)
      if (allowed(*member, rules)) left.push_back(member);
    return left;
  };

  if (in_force->merge_groups.empty()) {
    if (own.empty()) {  // no fault of the command's
      shares.push_back({});
      return made();
    }
    shares.push_back({filtered(own), 1});
  } else if (in_force->mixes()) {
    Members pool;
    std::set<std::pair<std::string, std::string>> addresses;  // one offered in several groups takes one share
    for (const MergeGroup& merged : in_force->merge_groups)
      for (const auto& member : filtered(by_group[group_of(merged)]))
        if (addresses.emplace(member->instance().transport, member->instance().address).second) pool.push_back(member);
    shares.push_back({std::move(pool), 1});
  } else {
    for (const MergeGroup& merged : in_force->merge_groups)
      if (Command::weight(merged) > 0)
        shares.push_back({filtered(by_group[group_of(merged)]), Command::weight(merged)});
  }
  // Who takes no calls is no place to go on to either; a group of nobody else leaves its share to the others.
  const std::size_t listed = shares.size();
  for (TrafficTable::Share& share : shares)
    std::erase_if(share.members, [](const auto& member) { return !takes_calls(*member); });
  std::erase_if(shares, [](const TrafficTable::Share& share) { return share.members.empty(); });
  if (!shares.empty()) {
    if (shares.size() < listed)
      complaints.push_back(in_force->name() + ": " + std::to_string(listed - shares.size()) + " of " +
                           std::to_string(listed) + " groups have nobody to serve; the others take their share");
    return made();
  }
  if (options_.on_empty == OnEmpty::fail) return made();
  return Error(Errc::unavailable, in_force->name() + " leaves no instance that could serve", Delivery::not_run);
}

}  // namespace tenon::cluster::traffic
