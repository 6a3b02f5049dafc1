#include "admin.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "document_view.hpp"
#include "group_words.hpp"
#include "names.hpp"
#include "provider_node.hpp"

namespace tenon::consul {

namespace {

constexpr std::size_t largest_text = 512u << 10;  // Consul's limit of a value
constexpr int most_attempts = 5;

Error conflict(const std::string& key) {
  return Error(Errc::already_exists,
               "key " + key + " has been written since it was read; read it again and decide anew", Delivery::not_run);
}

std::string key_target(const Agent& agent, const std::string& key, std::string_view query = {}) {
  return agent.global("/v1/kv/" + escape_key(key), query);
}

void sort_unique(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

}  // namespace

Task<Result<void>> ConsulAdmin::connect(std::shared_ptr<Agent> agent) {
  const TimePoint now = agent->clock().now();
  const TimePoint until =
      agent->generation() == 0 ? now + agent->options().connect_timeout : std::max(agent->hopeless_at(), now);
  Task<bool> waiting = Agent::wait_open(agent, until);
  if (!co_await waiting) co_return agent->trouble();
  co_return Result<void>();
}

Task<Result<std::vector<Registered>>> ConsulAdmin::listed(std::shared_ptr<Agent> agent, std::string service) {
  const std::string target = agent->global("/v1/health/service/" + escape(service));
  Task<Result<Answer>> asking = Agent::demand(agent, "cannot list " + service, Verb::get, target);
  const Result<Answer> answer = co_await asking;
  if (!answer.ok()) co_return answer.error();
  auto found = read_health(answer->body);
  if (!found.ok()) co_return std::move(found);
  // Consul looks names up without regard to case.
  std::erase_if(*found, [&](const Registered& each) { return each.service != service; });
  co_return std::move(found);
}

Task<Result<std::vector<std::string>>> ConsulAdmin::names(std::shared_ptr<Agent> agent) {
  const std::string target = agent->global("/v1/catalog/services");
  Task<Result<Answer>> asking = Agent::demand(agent, "cannot list the services", Verb::get, target);
  const Result<Answer> answer = co_await asking;
  if (!answer.ok()) co_return answer.error();
  auto found = read_service_names(answer->body);
  if (found.ok()) std::sort(found->begin(), found->end());
  co_return std::move(found);
}

// As watchers see them, with what operators said.
Task<Result<std::vector<Provider>>> ConsulAdmin::providers(std::shared_ptr<Agent> agent, ServiceName service) {
  Task<Result<void>> connecting = connect(agent);
  const Result<void> connected = co_await connecting;
  if (!connected.ok()) co_return connected.error();
  Task<Result<std::vector<Registered>>> listing = listed(agent, provider_service(service.group));
  const auto found = co_await listing;
  if (!found.ok()) co_return found.error();
  const std::string folder = word_key(service.group);
  Task<Result<Answer>> asking = Agent::ask(agent, Verb::get, key_target(*agent, folder, "recurse"));
  const Result<Answer> answer = co_await asking;
  if (!answer.ok()) co_return answer.error();
  if (answer->status != 200 && answer->status != 404)
    co_return agent->refusal("cannot read what operators said about the group", *answer);
  const auto words = read_words(*answer, folder, agent->log());
  if (!words.ok()) co_return words.error();
  std::vector<Provider> providers;
  for (const Registered& each : *found) {
    auto provider = read_provider(each);
    if (!provider.ok() || provider->dead || provider->interface != service.interface ||
        !zk::same_version(provider->version, service.version))
      continue;
    const auto word = words->find(escape(provider->registration));
    if (word != words->end()) (void)apply(word->second, *provider);
    providers.push_back(std::move(*provider));
  }
  co_return std::move(providers);
}

Task<Result<std::vector<ServiceName>>> ConsulAdmin::services() { return list_services(agent_); }

Task<Result<std::vector<ServiceName>>> ConsulAdmin::list_services(std::shared_ptr<Agent> agent) {
  Task<Result<void>> connecting = connect(agent);
  const Result<void> connected = co_await connecting;
  if (!connected.ok()) co_return connected.error();
  Task<Result<std::vector<std::string>>> naming = names(agent);
  const auto all = co_await naming;
  if (!all.ok()) co_return all.error();
  std::set<std::tuple<std::string, std::string, std::string>> found;  // group, interface, version
  const auto add = [&found](const std::string& group, const std::string& interface, const std::string& version) {
    for (const auto& [has_group, has_interface, has_version] : found)
      if (has_group == group && has_interface == interface && zk::same_version(has_version, version)) return;
    found.emplace(group, interface, version);
  };
  for (const bool consumers : {false, true}) {
    for (const std::string& name : *all) {
      const std::string_view prefix = consumers ? consumer_prefix : provider_prefix;
      if (!name.starts_with(prefix)) continue;
      const std::string group = name.substr(prefix.size());
      Task<Result<std::vector<Registered>>> listing = listed(agent, name);
      const auto registered = co_await listing;
      if (!registered.ok()) co_return registered.error();
      for (const Registered& each : *registered) {
        if (each.health == Health::critical) continue;
        if (consumers) {
          const auto consumer = read_consumer(each);
          if (consumer.ok()) add(group, consumer->interface, consumer->version);
        } else {
          const auto provider = read_provider(each);
          if (provider.ok()) add(group, provider->interface, provider->version);
        }
      }
    }
  }
  std::vector<ServiceName> services;
  for (const auto& [group, interface, version] : found) services.push_back({interface, group, version});
  co_return std::move(services);
}

Task<Result<std::vector<Instance>>> ConsulAdmin::instances(const ServiceName& service) {
  if (auto checked = check_service(service); !checked.ok())
    return ready(Result<std::vector<Instance>>(std::move(checked).error()));
  return list_instances(agent_, service);
}

Task<Result<std::vector<Instance>>> ConsulAdmin::list_instances(std::shared_ptr<Agent> agent, ServiceName service) {
  Task<Result<std::vector<Provider>>> listing = providers(agent, std::move(service));
  auto found = co_await listing;
  if (!found.ok()) co_return std::move(found).error();
  std::vector<Instance> instances;
  for (Provider& each : *found) instances.push_back(std::move(each.instance));
  co_return std::move(instances);
}

Task<Result<std::vector<Subscriber>>> ConsulAdmin::subscribers(const ServiceName& service) {
  if (auto checked = check_service(service); !checked.ok())
    return ready(Result<std::vector<Subscriber>>(std::move(checked).error()));
  return list_subscribers(agent_, service);
}

Task<Result<std::vector<Subscriber>>> ConsulAdmin::list_subscribers(std::shared_ptr<Agent> agent, ServiceName service) {
  Task<Result<void>> connecting = connect(agent);
  const Result<void> connected = co_await connecting;
  if (!connected.ok()) co_return connected.error();
  Task<Result<std::vector<Registered>>> listing = listed(agent, consumer_service(service.group));
  const auto found = co_await listing;
  if (!found.ok()) co_return found.error();
  std::vector<Subscriber> subscribers;
  for (const Registered& each : *found) {
    auto consumer = read_consumer(each);
    if (consumer.ok() && each.health != Health::critical && consumer->interface == service.interface &&
        zk::same_version(consumer->version, service.version))
      subscribers.push_back(std::move(consumer->subscriber));
  }
  co_return std::move(subscribers);
}

Task<Result<std::vector<std::string>>> ConsulAdmin::groups() { return list_groups(agent_); }

Task<Result<std::vector<std::string>>> ConsulAdmin::list_groups(std::shared_ptr<Agent> agent) {
  Task<Result<void>> connecting = connect(agent);
  const Result<void> connected = co_await connecting;
  if (!connected.ok()) co_return connected.error();
  Task<Result<std::vector<std::string>>> naming = names(agent);
  const auto all = co_await naming;
  if (!all.ok()) co_return all.error();
  std::vector<std::string> groups;
  for (const std::string& name : *all)
    for (const std::string_view prefix : {provider_prefix, consumer_prefix})
      if (name.starts_with(prefix) && name.size() > prefix.size()) groups.push_back(name.substr(prefix.size()));
  Task<Result<Answer>> asking = Agent::ask(agent, Verb::get, key_target(*agent, std::string(documents_root), "keys"));
  const Result<Answer> answer = co_await asking;
  if (!answer.ok()) co_return answer.error();
  if (answer->status != 200 && answer->status != 404) co_return agent->refusal("cannot list the documents", *answer);
  if (answer->status == 200) {
    const auto keys = read_keys(answer->body);
    if (!keys.ok()) co_return keys.error();
    for (const std::string& key : *keys) {
      const std::size_t slash = key.rfind('/');
      const bool document = key.starts_with(documents_root) && slash > documents_root.size() &&
                            key.find('/', documents_root.size()) == slash;
      if (document && slash + 1 < key.size()) groups.push_back(key.substr(slash + 1));
    }
  }
  sort_unique(groups);
  co_return std::move(groups);
}

Task<Result<Document>> ConsulAdmin::read(const std::string& kind, const std::string& group) {
  return fetch(agent_, kind, group);
}

Task<Result<Document>> ConsulAdmin::fetch(std::shared_ptr<Agent> agent, std::string kind, std::string group) {
  const Result<void> checked = check_document(kind, group);
  if (!checked.ok()) co_return checked.error();
  Task<Result<void>> connecting = connect(agent);
  const Result<void> connected = co_await connecting;
  if (!connected.ok()) co_return connected.error();
  const std::string key = document_key(kind, group);
  Task<Result<Answer>> asking = Agent::ask(agent, Verb::get, key_target(*agent, key));
  const Result<Answer> answer = co_await asking;
  if (!answer.ok()) co_return answer.error();
  if (answer->status != 200 && answer->status != 404) co_return agent->refusal("cannot read key " + key, *answer);
  co_return read_document(*answer, kind, group);
}

Task<Result<void>> ConsulAdmin::write(const Document& document) { return store(agent_, document); }

Task<Result<void>> ConsulAdmin::store(std::shared_ptr<Agent> agent, Document document) {
  if (document.text.size() > largest_text)
    co_return Error(Errc::too_large,
                    "a document of " + std::to_string(document.text.size()) + " bytes; Consul takes at most 524288",
                    Delivery::not_run, Advice::never);
  Task<Result<Document>> reading = fetch(agent, document.kind, document.group);
  const Result<Document> stored = co_await reading;
  if (!stored.ok()) co_return stored.error();
  const std::string key = document_key(document.kind, document.group);
  if (stored->version != document.version) co_return conflict(key);
  const std::string target = key_target(*agent, key, "cas=" + std::to_string(document.version));
  Task<Result<Answer>> asking = Agent::demand(agent, "cannot write key " + key, Verb::put, target, document.text);
  const Result<Answer> answer = co_await asking;
  if (!answer.ok()) co_return answer.error();
  const Result<bool> done = read_done(answer->body);
  if (!done.ok()) co_return done.error();
  if (!*done) co_return conflict(key);
  co_return Result<void>();
}

Task<Result<void>> ConsulAdmin::remove(const Document& document) { return erase(agent_, document); }

Task<Result<void>> ConsulAdmin::erase(std::shared_ptr<Agent> agent, Document document) {
  Task<Result<Document>> reading = fetch(agent, document.kind, document.group);
  const Result<Document> stored = co_await reading;
  if (!stored.ok()) co_return stored.error();
  const std::string key = document_key(document.kind, document.group);
  if (stored->version == 0) co_return Error(Errc::not_found, "key " + key + " is not there", Delivery::not_run);
  if (stored->version != document.version) co_return conflict(key);
  const std::string target = key_target(*agent, key, "cas=" + std::to_string(document.version));
  Task<Result<Answer>> asking = Agent::demand(agent, "cannot remove key " + key, Verb::del, target);
  const Result<Answer> answer = co_await asking;
  if (!answer.ok()) co_return answer.error();
  const Result<bool> done = read_done(answer->body);
  if (!done.ok()) co_return done.error();
  if (!*done) co_return conflict(key);
  co_return Result<void>();
}

Task<Result<void>> ConsulAdmin::set_weight(const ServiceName& service, const std::string& id, std::uint32_t weight) {
  return say(agent_, service, id, [weight](Word& word) {
    word.weight = weight;
    word.has_weight = true;
  });
}

Task<Result<void>> ConsulAdmin::set_serving(const ServiceName& service, const std::string& id, bool serving) {
  return say(agent_, service, id, [serving](Word& word) {
    word.serving = serving;
    word.has_serving = true;
  });
}

// What is said goes into a key of its own: the registration stays its provider's, and dies with him.
Task<Result<void>> ConsulAdmin::say(std::shared_ptr<Agent> agent, ServiceName service, std::string id, Change change) {
  const Result<void> checked = check_service(service);
  if (!checked.ok()) co_return checked.error();
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    Task<Result<std::vector<Provider>>> listing = providers(agent, service);
    const auto found = co_await listing;
    if (!found.ok()) co_return found.error();
    const auto provider =
        std::find_if(found->begin(), found->end(), [&](const Provider& each) { return each.instance.id == id; });
    if (provider == found->end())
      co_return Error(Errc::not_found, service.text() + " has no instance '" + id + "'", Delivery::not_run);
    const std::string key = word_key(service.group, provider->registration);
    Task<Result<Answer>> reading = Agent::ask(agent, Verb::get, key_target(*agent, key));
    const Result<Answer> answer = co_await reading;
    if (!answer.ok()) co_return answer.error();
    if (answer->status != 200 && answer->status != 404) co_return agent->refusal("cannot read key " + key, *answer);
    Word word;
    std::uint64_t version = 0;
    if (answer->status == 200) {
      const auto entries = read_key_values(answer->body);
      if (!entries.ok()) co_return entries.error();
      if (!entries->empty()) {
        version = entries->front().version;
        const auto said = read_word(entries->front().value);
        if (said.ok() && said->id == id && said->stamp == provider->stamp) word = *said;
      }
    }
    word.id = id;
    word.stamp = provider->stamp;
    change(word);
    const std::string target = key_target(*agent, key, "cas=" + std::to_string(version));
    Task<Result<Answer>> writing = Agent::demand(agent, "cannot write key " + key, Verb::put, target, write_word(word));
    const Result<Answer> written = co_await writing;
    if (!written.ok()) co_return written.error();
    const Result<bool> done = read_done(written->body);
    if (!done.ok()) co_return done.error();
    if (*done) co_return Result<void>();
  }
  co_return Error(Errc::already_exists, service.text() + ": somebody else changes instance '" + id + "' all the time");
}

}  // namespace tenon::consul
