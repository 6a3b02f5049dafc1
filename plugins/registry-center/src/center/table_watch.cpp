// Who watches, what leases bring, and what operators see.
#include <algorithm>

#include "limits.hpp"
#include "table.hpp"

namespace tenon::center {

namespace {

Instance shown(const Held& held) {
  Instance instance = held.facts;
  if (held.laid) {
    instance.weight = held.laid->weight.value_or(instance.weight);
    instance.serving = held.laid->serving.value_or(instance.serving);
  }
  return instance;
}

}  // namespace

// Who may watch one more.
Result<Client*> Table::admit(const ClientKey& key, TimePoint now) {
  Result<Client*> client = find(key, now);
  if (!client.ok()) return client;
  const auto full = [&](const std::string& what) {
    return Error(Errc::overloaded, "center: client " + quoted((*client)->name) + ": " + what, Delivery::not_run,
                 Advice::never);
  };
  if ((*client)->watchers.size() >= max_subscriptions_of_client)
    return full("it watches " + std::to_string((*client)->watchers.size()) +
                " services and documents already; one client watches at most " +
                std::to_string(max_subscriptions_of_client));
  if (subscriptions_ >= options_.max_subscriptions)
    return full("there are " + std::to_string(subscriptions_) + " subscriptions already (max_subscriptions)");
  return client;
}

void Table::enlist(Client& client, Watcher& watcher) {
  watcher.client = &client;
  client.watchers.insert(&watcher);
  ++subscriptions_;
}

Result<void> Table::watch(const ClientKey& key, const ServiceName& service, Watcher& watcher, TimePoint now) {
  if (auto checked = check_service(service); !checked.ok()) return std::move(checked).error().prefix("center");
  if (auto checked = check_application(watcher.name); !checked.ok()) return std::move(checked).error().prefix("center");
  Result<Client*> client = admit(key, now);
  if (!client.ok()) return std::move(client).error();
  enlist(**client, watcher);
  watcher.service = &open_service(service);
  watcher.service->watchers.insert(&watcher);
  return {};
}

Result<void> Table::watch_document(const ClientKey& key, const std::string& kind, const std::string& group,
                                   Watcher& watcher, TimePoint now) {
  if (auto checked = check_document_name(kind, group); !checked.ok())
    return std::move(checked).error().prefix("center");
  Result<Client*> client = admit(key, now);
  if (!client.ok()) return std::move(client).error();
  enlist(**client, watcher);
  texts_.watch(watcher, kind, group);
  return {};
}

void Table::leave(Watcher& watcher) noexcept {
  if (!watcher.client) return;
  std::exchange(watcher.client, nullptr)->watchers.erase(&watcher);
  --subscriptions_;
  if (watcher.text) return texts_.leave(watcher);
  Listed& service = *std::exchange(watcher.service, nullptr);
  service.watchers.erase(&watcher);
  if (service.watchers.empty()) service.list.reset();
  forget_if_unused(service);
}

void Table::end_watchers(Client& client, const Error& why) {
  while (!client.watchers.empty()) {
    Watcher& watcher = **client.watchers.begin();
    leave(watcher);
    watcher.ended(why);
  }
}

void Table::end_all(const Error& why) {
  for (auto& [id, client] : clients_) end_watchers(client, why);
}

void Table::expire_tombs(TimePoint now) {
  const auto over = [&] { return tombs_.front().until <= now || tombs_.size() > options_.max_instances; };
  for (; !tombs_.empty() && over(); tombs_.pop_front()) {
    const Tomb& tomb = tombs_.front();
    Listed* const service = known(tomb.of.service);
    if (!service) continue;
    const auto shown_until = service->withdrawn.find(tomb.of.id);
    if (shown_until == service->withdrawn.end() || shown_until->second != tomb.until) continue;
    service->withdrawn.erase(shown_until);
    service->list.reset();  // the next one is without it; nobody needs to be told
    forget_if_unused(*service);
  }
}

// Watchers must hear that from now on what is missing is gone.
void Table::become_whole() {
  whole_ = true;
  for (auto& [name, service] : services_)
    if (!service.watchers.empty()) changed(service);
}

Round Table::tick(TimePoint now) {
  Round round;
  round.all = instances_;
  expire_tombs(now);
  operator_state_.expire(now);
  if (!whole_ && now >= TimePoint{} + doubt_) {
    round.became_whole = true;
    become_whole();
  }
  std::vector<Client*> overdue;
  bool loses = false;
  for (auto& [id, client] : clients_) {
    const Duration silent = now - client.seen;
    if (silent > lease_ - beat_) round.missing += client.instances.size();
    if (silent < patience_) continue;
    overdue.push_back(&client);
    loses = loses || !client.instances.empty();
  }
  round.preservation = preservation_.look(round.missing, instances_, loses, now);
  for (Client* client : overdue) {
    if ((preservation_.active() || now < spared_until_) && !client->instances.empty()) continue;
    const Duration silent = now - client->seen;
    round.lost.push_back({client->name, silent, client->instances.size(), client->watchers.size()});
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(silent).count();
    drop(*client, false,
         Error(Errc::not_found,
               "center: client " + quoted(client->name) + " was silent for " + std::to_string(ms) +
                   " ms and is not known any more; open it again",
               Delivery::ran),
         now);
  }
  return round;
}

TimePoint Table::advance_pushes(TimePoint now) {
  std::vector<Listed*> idle;
  const TimePoint next = pushes_.advance(now, idle);
  for (Listed* service : idle) forget_if_unused(*service);
  return next;
}

std::shared_ptr<const List> Table::list(Listed& service) const {
  if (service.list) return service.list;
  auto list = std::make_shared<List>();
  list->revision = service.revision;
  list->whole = whole_;
  list->instances.reserve(service.instances.size());
  for (const auto& [id, held] : service.instances) list->instances.push_back(shown(held));
  list->withdrawn.reserve(service.withdrawn.size());
  for (const auto& [id, until] : service.withdrawn) list->withdrawn.push_back(id);
  service.list = std::move(list);
  return service.list;
}

std::vector<ServiceName> Table::services() const {
  std::vector<ServiceName> names;
  for (const auto& [name, service] : services_)
    if (!service.instances.empty() || !service.watchers.empty()) names.push_back(name);
  return names;
}

std::vector<Instance> Table::instances(const ServiceName& service) const {
  std::vector<Instance> instances;
  if (const Listed* const listed = known(service))
    for (const auto& [id, held] : listed->instances) instances.push_back(shown(held));
  return instances;
}

std::vector<Subscriber> Table::subscribers(const ServiceName& service) const {
  const Listed* const listed = known(service);
  if (!listed) return {};
  std::set<std::pair<std::string, std::string>> seen;
  for (const Watcher* watcher : listed->watchers)
    seen.emplace(watcher->name.empty() ? watcher->client->name : watcher->name, watcher->host);
  std::vector<Subscriber> subscribers;
  for (const auto& [name, host] : seen) subscribers.push_back({name, host, false});
  return subscribers;
}

std::vector<std::string> Table::groups() const {
  std::set<std::string> groups;
  for (const auto& [name, service] : services_)
    if (!service.instances.empty() || !service.watchers.empty()) groups.insert(name.group);
  texts_.groups(groups);
  return {groups.begin(), groups.end()};
}

State Table::state(TimePoint now) const {
  State state;
  state.epoch = epoch_;
  for (const auto& [name, service] : services_) state.services += service.instances.empty() ? 0 : 1;
  state.instances = static_cast<std::uint32_t>(instances_);
  for (const auto& [id, client] : clients_) state.clients += now - client.seen < patience_ ? 1 : 0;
  state.subscriptions = static_cast<std::uint32_t>(subscriptions_);
  state.documents = static_cast<std::uint32_t>(texts_.size());
  state.whole = whole_;
  state.preserving = preservation_.active();
  state.revision = revision_;
  return state;
}

Result<Planned> Table::plan(const ServiceName& service, const std::string& id, std::optional<std::uint32_t> weight,
                            std::optional<bool> serving) const {
  if (auto checked = check_service(service); !checked.ok()) return std::move(checked).error().prefix("center");
  if (auto checked = check_id(id); !checked.ok()) return std::move(checked).error().prefix("center");
  const Listed* const listed = known(service);
  const auto held = listed ? listed->instances.find(id) : std::map<std::string, Held>::const_iterator();
  if (!listed || held == listed->instances.end())
    return Error(Errc::not_found, "center: " + service.text() + " has no instance " + quoted(id), Delivery::not_run,
                 Advice::never);
  if (operator_state_.size() >= options_.max_instances && !held->second.laid)
    return Error(Errc::overloaded,
                 "center: operators have set weight or state of " + std::to_string(operator_state_.size()) +
                     " instances already (max_instances)",
                 Delivery::not_run, Advice::never);
  return Planned{operator_state_.planned({service, id}, held->second.facts, weight, serving), held->second.updates};
}

bool Table::apply(const Planned& planned) {
  Listed* const listed = known(planned.value.of.service);
  if (!listed) return false;
  const auto held = listed->instances.find(planned.value.of.id);
  if (held == listed->instances.end() || held->second.updates != planned.updates) return false;
  const Instance before = shown(held->second);
  held->second.laid = operator_state_.set(planned.value);
  if (shown(held->second) != before) changed(*listed);
  return true;
}

}  // namespace tenon::center
