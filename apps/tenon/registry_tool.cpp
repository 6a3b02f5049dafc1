#include "registry_tool.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <thread>
#include <utility>

#include "command.hpp"
#include "registry_text.hpp"
#include "service_query.hpp"
#include "traffic_text.hpp"

namespace tenon::cli {

namespace {

/// How long a change may take to be seen where it was made.
constexpr Duration patience = std::chrono::seconds(5);
constexpr Duration between_looks = std::chrono::milliseconds(20);

Result<ServiceQuery> query_of(const std::string& service, const std::string& group) {
  return service.empty() ? Result<ServiceQuery>(ServiceQuery(group)) : ServiceQuery::parse(service, group);
}

// The instance before and after a change.
struct Steered {
  ServiceName service;
  Instance before;
};

Result<Steered> find(RegistryClient& registry, const SteerOptions& options) {
  auto query = ServiceQuery::parse(options.service, options.group);
  if (!query.ok()) return std::move(query).error();
  auto services = registry.services();
  if (!services.ok()) return std::move(services).error();
  auto service = query->one_of(*services, false);
  if (!service.ok()) return std::move(service).error();
  auto instances = registry.instances(*service);
  if (!instances.ok()) return std::move(instances).error();
  auto instance = find_instance(*instances, options.instance, *service);
  if (!instance.ok()) return std::move(instance).error();
  return Steered{std::move(*service), std::move(*instance)};
}

// Waits until the registry shows what is wanted of the instance.
template <class F>
Result<void> await_shown(RegistryClient& registry, const Steered& steered, F wanted) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    auto instances = registry.instances(steered.service);
    if (!instances.ok()) return std::move(instances).error();
    const auto there = std::find_if(instances->begin(), instances->end(),
                                    [&](const Instance& each) { return each.id == steered.before.id; });
    if (there == instances->end())
      return Error(Errc::not_found, steered.before.address + " has gone meanwhile", Delivery::maybe_run);
    if (wanted(*there)) return {};
    if (std::chrono::steady_clock::now() > until)
      return Error(Errc::deadline_exceeded,
                   "the registry does not show it after 5 s: its provider may have written something else meanwhile; "
                   "look at it with `tenon registry ls`",
                   Delivery::maybe_run);
    std::this_thread::sleep_for(between_looks);
  }
}

// `what`: "weight ", or nothing when the values say it.
void print_change(const Steered& steered, const char* what, const std::string& before, const std::string& after) {
  std::printf("%s %s: %s%s%s\n", steered.service.text().c_str(), steered.before.address.c_str(), what,
              before == after ? "is already " : (before + " -> ").c_str(), after.c_str());
}

// Instances that others announced do what is asked only for those who understand the mark.
void note_foreign(const Steered& steered) {
  if (is_foreign(steered.before))
    std::fprintf(stderr,
                 "note: %s was not announced by Tenon (it names no transport), so it is only marked: Tenon's consumers "
                 "heed the mark, others do not\n",
                 steered.before.address.c_str());
}

Result<std::vector<Subscriber>> foreign_subscribers(RegistryClient& registry, const ServiceName& service) {
  auto subscribers = registry.subscribers(service);
  if (subscribers.ok()) std::erase_if(*subscribers, [](const Subscriber& each) { return !each.foreign; });
  return subscribers;
}

}  // namespace

int list_registry(const ListOptions& options) {
  constexpr const char* who = "registry ls";
  auto query = query_of(options.service, options.group);
  if (!query.ok()) return complain(who, query.error());
  auto registry = RegistryClient::open(options.target);
  if (!registry.ok()) return complain(who, registry.error());
  auto services = (*registry)->services();
  if (!services.ok()) return complain(who, services.error());
  std::map<std::string, ListedGroup> groups;
  if (options.service.empty()) {
    auto names = (*registry)->groups();
    if (!names.ok()) return complain(who, names.error());
    for (const std::string& name : *names)
      if (query->group().empty() || name == query->group()) groups[name].name = name;
  }
  for (const ServiceName& service : *services) {
    if (!query->matches(service)) continue;
    ListedService listed{service, {}, {}};
    auto instances = (*registry)->instances(service);
    if (!instances.ok()) return complain(who, instances.error());
    listed.instances = std::move(*instances);
    auto subscribers = (*registry)->subscribers(service);
    if (!subscribers.ok()) return complain(who, subscribers.error());
    listed.subscribers = std::move(*subscribers);
    groups[service.group].name = service.group;
    groups[service.group].services.push_back(std::move(listed));
  }
  std::vector<ListedGroup> all;
  for (auto& [name, group] : groups) {
    auto document = (*registry)->read("command", name);
    if (document.ok() && !document->text.empty()) group.command_version = document->version;
    if (!document.ok()) std::fprintf(stderr, "warning: group %s: %s\n", name.c_str(), document.error().text().c_str());
    std::sort(group.services.begin(), group.services.end(),
              [](const ListedService& a, const ListedService& b) { return a.service.text() < b.service.text(); });
    all.push_back(std::move(group));
  }
  if (all.empty() && !options.json) {
    const bool anything = options.service.empty() && options.group.empty();
    std::fprintf(stderr, "tenon %s: %s\n", who,
                 anything ? "the registry is empty"
                          : ("the registry has nothing of " +
                             (options.service.empty() ? "group " + options.group : query->text()))
                                .c_str());
    return anything ? exit_ok : exit_failed;
  }
  std::printf("%s", (options.json ? groups_json(all) : groups_text(all)).c_str());
  return exit_ok;
}

int set_serving(const SteerOptions& options, bool serving) {
  const char* const who = serving ? "registry online" : "registry offline";
  auto registry = RegistryClient::open(options.target);
  if (!registry.ok()) return complain(who, registry.error());
  auto steered = find(**registry, options);
  if (!steered.ok()) return complain(who, steered.error());
  Instance after = steered->before;
  after.serving = serving;
  if (steered->before.serving != serving) {
    auto done = (*registry)->set_serving(steered->service, steered->before.id, serving);
    if (done.ok())
      done = await_shown(**registry, *steered, [&](const Instance& shown) { return shown.serving == serving; });
    if (!done.ok()) return complain(who, done.error());
    note_foreign(*steered);
  }
  print_change(*steered, "", state_text(steered->before), state_text(after));
  return exit_ok;
}

int set_weight(const SteerOptions& options) {
  constexpr const char* who = "registry weight";
  auto registry = RegistryClient::open(options.target);
  if (!registry.ok()) return complain(who, registry.error());
  auto steered = find(**registry, options);
  if (!steered.ok()) return complain(who, steered.error());
  if (steered->before.weight != options.weight) {
    auto done = (*registry)->set_weight(steered->service, steered->before.id, options.weight);
    if (done.ok())
      done = await_shown(**registry, *steered, [&](const Instance& shown) { return shown.weight == options.weight; });
    if (!done.ok()) return complain(who, done.error());
    note_foreign(*steered);
  }
  print_change(*steered, "weight ", std::to_string(steered->before.weight), std::to_string(options.weight));
  const auto foreign = foreign_subscribers(**registry, steered->service);
  if (!foreign.ok()) return complain(who, foreign.error());
  if (options.weight == 0 && !foreign->empty())
    std::fprintf(stderr,
                 "warning: clients that are not Tenon's follow %s: %s. Motan's take weight 0 for 1 and go on calling; "
                 "`tenon registry offline` stops them, too, for an instance that Tenon announced\n",
                 steered->service.text().c_str(), names_of(*foreign).c_str());
  return exit_ok;
}

}  // namespace tenon::cli
