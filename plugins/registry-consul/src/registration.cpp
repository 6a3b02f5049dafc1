#include "registration.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "layout.hpp"
#include "names.hpp"
#include "provider_node.hpp"
#include "service_url.hpp"

namespace tenon::consul {

namespace {

constexpr const char* stamp_key = "tenon-stamp";  // of the registration's Meta
constexpr std::string_view motan2 = "motan2";

std::string milliseconds_text(std::chrono::milliseconds value) { return std::to_string(value.count()) + "ms"; }

// The URL of its tags, decoded; empty: it has none.
std::string url_of(const Registered& registered) {
  for (const std::string& tag : registered.tags)
    if (tag.starts_with(url_tag)) return java_url_decode(std::string_view(tag).substr(url_tag.size()));
  return {};
}

// Of a registration without a URL, as Motan does it.
Result<Provider> provider_without_url(const Registered& registered) {
  Provider provider;
  const std::size_t colon = registered.id.find(':');
  const std::size_t dash = registered.id.find('-', colon == std::string::npos ? 0 : colon);
  std::string host = registered.address.empty() ? registered.node_address : registered.address;
  if (dash == std::string::npos || dash + 1 == registered.id.size() || host.empty() || registered.port == 0)
    return Error(Errc::malformed,
                 "registration '" + registered.id + "' has no URL in its tags, and its id and address do not tell");
  provider.interface = registered.id.substr(dash + 1);
  if (host.find(':') != std::string::npos && !host.starts_with('[')) host = "[" + host + "]";
  provider.instance.address = host + ":" + std::to_string(registered.port);
  provider.instance.id = provider.instance.address;
  for (const std::string& tag : registered.tags)
    if (tag.starts_with(protocol_tag) && tag.size() > protocol_tag.size())
      provider.instance.protocols.push_back(tag.substr(protocol_tag.size()));
  if (provider.instance.protocols.empty()) provider.instance.protocols.emplace_back(motan2);
  return provider;
}

}  // namespace

std::string check_id(std::string_view registration_id) { return "service:" + std::string(registration_id); }

std::string_view owner_of(std::string_view stamp) noexcept {
  const std::size_t dot = stamp.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : stamp.substr(0, dot);
}

std::string stamp_of(const Registered& registered) {
  const auto found = registered.meta.find(stamp_key);
  return found == registered.meta.end() ? std::string() : found->second;
}

Registration provider_registration(const ServiceName& service, const Instance& instance, std::string id) {
  const std::string url = zk::write_provider(service, instance);
  Registration made;
  made.service = provider_service(service.group);
  made.id = std::move(id);
  made.tags = {std::string(protocol_tag) + url.substr(0, url.find("://")), std::string(url_tag) + java_url_encode(url)};
  (void)zk::split_host_port(instance.address, made.host, made.port);
  if (made.host.starts_with('[')) made.host = made.host.substr(1, made.host.size() - 2);
  made.serving = instance.serving;
  return made;
}

Registration consumer_registration(const Subscription& subscription, const std::string& host, std::string id) {
  Registration made;
  made.service = consumer_service(subscription.service.group);
  made.id = std::move(id);
  made.tags = {std::string(url_tag) + java_url_encode(zk::write_consumer(subscription, host))};
  made.host = host;
  return made;
}

std::string write_registration(const Registration& registration) {
  namespace json = boost::json;
  json::array tags;
  for (const std::string& tag : registration.tags) tags.emplace_back(tag);
  json::object check;
  check["TTL"] = milliseconds_text(registration.ttl);
  check["Status"] = registration.serving ? "passing" : "warning";
  check["DeregisterCriticalServiceAfter"] = milliseconds_text(registration.deregister_after);
  json::object body;
  body["ID"] = registration.id;
  body["Name"] = registration.service;
  body["Tags"] = std::move(tags);
  if (!registration.host.empty()) body["Address"] = registration.host;
  if (registration.port != 0) body["Port"] = registration.port;
  body["Meta"] = json::object{{stamp_key, registration.stamp}};
  body["Check"] = std::move(check);
  return json::serialize(body);
}

Result<Provider> read_provider(const Registered& registered) {
  const std::string text = url_of(registered);
  Provider provider;
  if (text.empty()) {
    auto made = provider_without_url(registered);
    if (!made.ok()) return made;
    provider = std::move(*made);
  } else {
    const auto url = zk::parse_service_url(text);
    if (!url.ok()) return Error(url.error()).prefix("registration '" + registered.id + "'");
    if (url->path.empty() || url->host.empty() || url->port == 0)
      return Error(Errc::malformed, "registration '" + registered.id + "': its URL names no host, port and service");
    if (const std::string* type = url->find("nodeType"); type && *type != "service")
      return Error(Errc::malformed, "registration '" + registered.id + "' is of a " + *type + ", not of a service");
    auto node = zk::read_provider(text, url->host + ":" + std::to_string(url->port));
    if (!node.ok()) return std::move(node).error();
    provider.interface = url->path;
    provider.version = std::move(node->version);
    provider.instance = std::move(node->instance);
  }
  provider.registration = registered.id;
  provider.stamp = stamp_of(registered);
  provider.instance.serving = registered.health == Health::passing;
  provider.dead = registered.health == Health::critical;
  return provider;
}

Result<Consumer> read_consumer(const Registered& registered) {
  const std::string text = url_of(registered);
  const auto url = zk::parse_service_url(text);
  if (!url.ok()) return Error(url.error()).prefix("registration '" + registered.id + "'");
  Consumer consumer;
  consumer.interface = url->path;
  if (const std::string* version = url->find("version")) consumer.version = *version;
  consumer.subscriber = zk::read_consumer(text, registered.id);
  if (url->host.empty()) consumer.subscriber.address = registered.node_address;
  return consumer;
}

bool apply(const Word& word, Provider& provider) {
  if (word.id != provider.instance.id || word.stamp != provider.stamp) return false;
  if (word.has_weight) provider.instance.weight = word.weight;
  if (word.has_serving) provider.instance.serving = word.serving;
  return true;
}

}  // namespace tenon::consul
