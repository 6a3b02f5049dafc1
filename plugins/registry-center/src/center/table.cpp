#include "table.hpp"

#include <algorithm>

#include "limits.hpp"
#include "secret.hpp"

namespace tenon::center {

namespace {

// Epochs are milliseconds, and 2^20 changes fit between two of them: revisions never catch up with the next epoch.
constexpr int epoch_shift = 20;

Error refuse(Errc code, std::string text) {
  return Error(code, "center: " + std::move(text), Delivery::not_run, Advice::never);
}

std::string shown(const Client& client) { return "client " + (client.name.empty() ? client.id : quoted(client.name)); }

std::string foreign(const Held& held, const ServiceName& service, const std::string& id, const Client& client) {
  return "instance " + quoted(id) + " of " + service.text() + " is that of " + shown(*held.owner) + "; " +
         shown(client) + " cannot";
}

Error whose(Error error, const Client& client) { return std::move(error.prefix("center: " + shown(client))); }

}  // namespace

Duration tick_period(Duration lease) noexcept {
  return std::clamp<Duration>(lease / 16, std::chrono::milliseconds(10), std::chrono::seconds(1));
}

Table::Table(const CenterOptions& options, std::uint64_t epoch)
    : options_(options),
      lease_(options.lease),
      beat_(options.lease / 3),
      patience_(lease_ + tick_period(lease_)),
      doubt_(std::max<Duration>(patience_, options.settle)),
      epoch_(epoch),
      texts_(options.max_documents, options.max_document_bytes),
      preservation_(options.preserve_percent, options.preserve_limit * lease_, lease_),
      revision_(epoch << epoch_shift) {}

Result<Client*> Table::find(const ClientKey& key, TimePoint now) {
  if (auto checked = check_key(key); !checked.ok()) return std::move(checked).error().prefix("center");
  const auto found = clients_.find(key.id);
  if (found == clients_.end())
    return refuse(Errc::not_found, "client " + key.id + " is not known (any more); open it again");
  Client& client = found->second;
  if (!same_secret(key.secret, client.secret))
    return refuse(Errc::permission_denied,
                  "client " + key.id + " has another secret; it is that of " + quoted(client.name));
  client.seen = now;
  return &client;
}

Result<Opened> Table::open(const Opening& opening, TimePoint now) {
  if (auto checked = check_opening(opening); !checked.ok()) return std::move(checked).error().prefix("center");
  Opened opened;
  opened.epoch = epoch_;
  opened.lease = options_.lease;
  opened.beat_every = std::chrono::duration_cast<std::chrono::milliseconds>(beat_);
  if (clients_.contains(opening.key.id)) {
    Result<Client*> client = find(opening.key, now);
    if (!client.ok()) return std::move(client).error();
    (*client)->name = opening.name;
    opened.known = true;
    return opened;
  }
  if (clients_.size() >= options_.max_clients)
    return refuse(Errc::overloaded, "client " + quoted(opening.name) + ": there are " +
                                        std::to_string(clients_.size()) + " clients already (max_clients)");
  clients_.emplace(opening.key.id, Client{opening.key.id, opening.key.secret, opening.name, now, {}, {}});
  return opened;
}

Result<Beaten> Table::beat(const ClientKey& key, TimePoint now) {
  Result<Client*> client = find(key, now);
  if (!client.ok()) return std::move(client).error();
  return Beaten{epoch_, static_cast<std::uint32_t>((*client)->instances.size())};
}

Listed* Table::known(const ServiceName& service) {
  const auto found = services_.find(service);
  return found == services_.end() ? nullptr : &found->second;
}

const Listed* Table::known(const ServiceName& service) const {
  const auto found = services_.find(service);
  return found == services_.end() ? nullptr : &found->second;
}

Listed& Table::open_service(const ServiceName& service) {
  const auto [entry, is_new] = services_.try_emplace(service, service);
  if (is_new) entry->second.revision = revision_;
  return entry->second;
}

Result<void> Table::has_room(const Client& client, const Listed* listed, const Held* before, const Instance& instance,
                             std::size_t bytes) const {
  const auto full = [&](const std::string& what) {
    return whose(
        Error(Errc::overloaded, "instance " + quoted(instance.id) + ": " + what, Delivery::not_run, Advice::never),
        client);
  };
  const std::size_t others = listed ? listed->bytes - (before ? before->bytes : 0) : 0;
  if (others + bytes > options_.max_list)
    return full("the list of its service would have more than " + std::to_string(options_.max_list.bytes) +
                " bytes (max_list)");
  if (before) return {};
  if (client.instances.size() >= max_instances_of_client)
    return full("it has " + std::to_string(client.instances.size()) + " instances already; one client has at most " +
                std::to_string(max_instances_of_client));
  if (instances_ >= options_.max_instances)
    return full("there are " + std::to_string(instances_) + " instances already (max_instances)");
  return {};
}

Result<void> Table::announce(const ClientKey& key, const ServiceName& service, const Instance& instance, bool update,
                             TimePoint now) {
  Result<Client*> found = find(key, now);
  if (!found.ok()) return std::move(found).error();
  Client& client = **found;
  if (auto checked = check_service(service); !checked.ok()) return whose(std::move(checked).error(), client);
  if (auto checked = check_instance(instance); !checked.ok())
    return whose(std::move(checked).error().prefix(service.text()), client);
  return put(client, service, instance, update);
}

Result<void> Table::put(Client& client, const ServiceName& service, const Instance& instance, bool update) {
  Listed* listed = known(service);
  Held* held = nullptr;
  if (listed)
    if (const auto there = listed->instances.find(instance.id); there != listed->instances.end()) held = &there->second;
  if (held && held->owner != &client)
    return refuse(Errc::permission_denied, foreign(*held, service, instance.id, client) + " announce it");
  const bool overrules = update && operator_state_.has({service, instance.id});
  if (held && held->facts == instance && !overrules) return {};
  const std::size_t bytes = bytes_in_list(instance);
  if (auto room = has_room(client, listed, held, instance, bytes); !room.ok()) return room;

  if (!listed) listed = &open_service(service);
  if (!held) {
    held = &listed->instances[instance.id];
    held->owner = &client;
    client.instances.emplace(listed, instance.id);
    ++instances_;
    listed->withdrawn.erase(instance.id);
  }
  listed->bytes += bytes - held->bytes;
  held->bytes = bytes;
  held->facts = instance;
  held->facts.group.clear();
  held->updates += update ? 1 : 0;
  if (overrules) operator_state_.overruled({service, instance.id});
  held->laid = operator_state_.announced({service, instance.id});
  changed(*listed);
  return {};
}

Result<void> Table::withdraw(const ClientKey& key, const ServiceName& service, const std::string& id, TimePoint now) {
  Result<Client*> found = find(key, now);
  if (!found.ok()) return std::move(found).error();
  Client& client = **found;
  if (auto checked = check_service(service); !checked.ok()) return whose(std::move(checked).error(), client);
  if (auto checked = check_id(id); !checked.ok()) return whose(std::move(checked).error(), client);
  Listed* const listed = known(service);
  if (!listed) return {};
  const auto there = listed->instances.find(id);
  if (there == listed->instances.end()) return {};
  if (there->second.owner != &client)
    return refuse(Errc::permission_denied, foreign(there->second, service, id, client) + " withdraw it");
  client.instances.erase({listed, id});
  take_off(*listed, id, now);
  bury({service, id}, now);
  changed(*listed);
  return {};
}

Result<void> Table::close(const ClientKey& key, TimePoint now) {
  Result<Client*> client = find(key, now);
  if (!client.ok()) return std::move(client).error();
  drop(**client, true, Error(), now);
  return {};
}

// From the list only: its client and its watchers are the caller's.
void Table::take_off(Listed& service, const std::string& id, TimePoint now) {
  const auto there = service.instances.find(id);
  service.bytes -= there->second.bytes;
  service.instances.erase(there);
  --instances_;
  operator_state_.lost({service.name, id}, now);
}

void Table::bury(const InstanceName& of, TimePoint now) {
  const TimePoint until = now + lease_;
  auto& withdrawn = open_service(of.service).withdrawn;
  if (withdrawn.size() >= max_withdrawn)
    withdrawn.erase(std::ranges::min_element(withdrawn, {}, [](const auto& each) { return each.second; }));
  withdrawn[of.id] = until;
  tombs_.push_back({of, until});
}

void Table::drop(Client& client, bool on_purpose, const Error& why, TimePoint now) {
  end_watchers(client, why);
  std::set<Listed*> touched;
  for (const auto& [service, id] : client.instances) {
    take_off(*service, id, now);
    if (on_purpose) bury({service->name, id}, now);
    touched.insert(service);
  }
  for (Listed* service : touched) {
    changed(*service);
    forget_if_unused(*service);
  }
  const std::string id = client.id;
  clients_.erase(id);
}

void Table::changed(Listed& service) {
  service.revision = ++revision_;
  service.list.reset();
  pushes_.changed(service);
}

void Table::forget_if_unused(Listed& service) {
  if (!service.instances.empty() || !service.watchers.empty() || !service.withdrawn.empty()) return;
  if (service.pace != Listed::Pace::idle) return;
  const ServiceName name = service.name;
  services_.erase(name);
}

}  // namespace tenon::center
