#include "provider_node.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "layout.hpp"

namespace tenon::zk {

namespace {

namespace key {
constexpr std::string_view group = "group";
constexpr std::string_view version = "version";
constexpr std::string_view node_type = "nodeType";
constexpr std::string_view protocols = "protocols";
constexpr std::string_view transport = "transport";
constexpr std::string_view weight = "weight";
constexpr std::string_view instance_id = "instanceId";
constexpr std::string_view withdrawn = "withdrawn";
constexpr std::string_view serving = "serving";
constexpr std::string_view application = "application";
constexpr std::string_view framework = "framework";
}  // namespace key

constexpr std::array taken = {key::group,  key::version,     key::node_type, key::protocols, key::transport,
                              key::weight, key::instance_id, key::withdrawn, key::serving};
constexpr std::string_view meta = "meta.";
constexpr std::string_view motan2 = "motan2";
constexpr std::string_view ours = "tenon";
constexpr std::uint32_t default_weight = 100;

bool is_taken(std::string_view name) { return std::find(taken.begin(), taken.end(), name) != taken.end(); }

bool is_scheme(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

std::string join_protocols(const std::vector<std::string>& protocols) {
  std::string text;
  for (const std::string& protocol : protocols) {
    std::string part = percent_encode(protocol);
    for (std::size_t comma; (comma = part.find(',')) != std::string::npos;) part.replace(comma, 1, "%2C");
    text += (text.empty() ? "" : ",") + part;
  }
  return text;
}

std::vector<std::string> split_protocols(std::string_view text) {
  std::vector<std::string> protocols;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    if (!part.empty()) protocols.push_back(percent_decode(part));
  }
  return protocols;
}

void take_parameter(ProviderNode& node, const std::string& name, const std::string& value) {
  Instance& instance = node.instance;
  if (name == key::version) {
    node.version = value;
  } else if (name == key::protocols) {
    instance.protocols = split_protocols(value);
  } else if (name == key::transport) {
    instance.transport = value;
  } else if (name == key::weight) {
    std::uint32_t weight = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), weight);
    if (error == std::errc() && end == value.data() + value.size()) instance.weight = weight;
  } else if (name == key::instance_id) {
    if (!value.empty()) instance.id = value;
  } else if (name == key::withdrawn) {
    node.withdrawn = value == "true";
  } else if (name == key::serving) {
    if (value == "true" || value == "false") node.serving = value == "true";
  } else if (!is_taken(name)) {
    instance.metadata.emplace(name.starts_with(meta) ? name.substr(meta.size()) : name, value);
  }
}

// Sorted by name behind the group, as Motan in Go writes them.
void sort_parameters(ServiceUrl& url) { std::sort(url.parameters.begin() + 1, url.parameters.end()); }

// The data with one parameter changed, or taken out when there is no value.
Result<std::string> with_parameter(std::string_view data, std::string_view node_name, std::string_view name,
                                   std::optional<std::string> value) {
  auto text = read_node_text(data);
  if (!text.ok()) return std::move(text).error();
  if (text->text.empty()) {
    if (!value) return std::string(data);
    text->text = std::string(motan2) + "://" + std::string(node_name) + "/?";
  }
  auto url = parse_service_url(text->text);
  if (!url.ok()) return std::move(url).error();
  if (value) {
    url->set(name, std::move(*value));
  } else if (std::erase_if(url->parameters, [name](const auto& each) { return each.first == name; }) == 0) {
    return std::string(data);
  }
  return write_node_text(to_string(*url), text->encoding);
}

// "10.0.0.9" of "10.0.0.9:0", "10.0.0.9:0-1a-2" and "10.0.0.9"; "::1" of "[::1]:0".
std::string host_of(std::string_view name) {
  if (name.starts_with('[')) return std::string(name.substr(1, std::min(name.find(']'), name.size()) - 1));
  const std::size_t colon = name.find(':');
  return std::string(name.find(':', colon + 1) == std::string_view::npos ? name.substr(0, colon) : name);
}

}  // namespace

bool same_version(std::string_view a, std::string_view b) noexcept {
  return (a.empty() ? default_version : a) == (b.empty() ? default_version : b);
}

std::string write_provider(const ServiceName& service, const Instance& instance, bool withdrawn) {
  ServiceUrl url;
  const auto& protocols = instance.protocols;
  if (std::find(protocols.begin(), protocols.end(), motan2) != protocols.end())
    url.scheme = motan2;
  else
    url.scheme = protocols.empty() || !is_scheme(protocols.front()) ? "tenon" : protocols.front();
  (void)split_host_port(instance.address, url.host, url.port);
  url.path = service.interface;
  const auto add = [&url](std::string_view name, std::string value) {
    url.parameters.emplace_back(name, std::move(value));
  };
  add(key::group, group_or_default(service.group));
  add(key::node_type, "service");
  add(key::protocols, join_protocols(protocols));
  if (!service.version.empty()) add(key::version, service.version);
  if (!instance.transport.empty()) add(key::transport, instance.transport);
  if (instance.weight != default_weight) add(key::weight, std::to_string(instance.weight));
  if (instance.id != instance.address) add(key::instance_id, instance.id);
  if (withdrawn) add(key::withdrawn, "true");
  for (const auto& [name, value] : instance.metadata) {
    const bool prefix = name.empty() || is_taken(name) || name.starts_with(meta);
    add(prefix ? std::string(meta) + name : name, value);
  }
  sort_parameters(url);
  return to_string(url);
}

Result<ProviderNode> read_provider(std::string_view data, std::string_view node_name) {
  auto text = read_node_text(data);
  if (!text.ok()) return std::move(text).error();
  ProviderNode node;
  node.instance.address = node_name;
  node.instance.protocols = {std::string(motan2)};
  if (!text->text.empty()) {
    auto url = parse_service_url(text->text);
    if (!url.ok()) return std::move(url).error();
    if (!url->host.empty() && url->port != 0) node.instance.address = url->host + ":" + std::to_string(url->port);
    node.instance.protocols = {url->scheme};
    for (const auto& [name, value] : url->parameters) take_parameter(node, name, value);
  }
  if (node.instance.id.empty()) node.instance.id = node.instance.address;
  return node;
}

Result<std::string> with_weight(std::string_view data, std::string_view node_name, std::uint32_t weight) {
  return with_parameter(data, node_name, key::weight, std::to_string(weight));
}

Result<std::string> with_serving(std::string_view data, std::string_view node_name, std::optional<bool> serving) {
  std::optional<std::string> value;
  if (serving) value = *serving ? "true" : "false";
  return with_parameter(data, node_name, key::serving, std::move(value));
}

std::string write_consumer(const Subscription& subscription, const std::string& host) {
  ServiceUrl url{std::string(motan2), host, 0, subscription.service.interface, {}};
  url.parameters.emplace_back(key::group, group_or_default(subscription.service.group));
  url.parameters.emplace_back(key::application, subscription.subscriber);
  url.parameters.emplace_back(key::framework, ours);
  url.parameters.emplace_back(key::node_type, "referer");
  if (!subscription.service.version.empty()) url.parameters.emplace_back(key::version, subscription.service.version);
  sort_parameters(url);
  return to_string(url);
}

Subscriber read_consumer(std::string_view data, std::string_view node_name) {
  Subscriber subscriber{std::string(node_name), host_of(node_name), true};
  const auto text = read_node_text(data);
  if (!text.ok()) return subscriber;
  const auto url = parse_service_url(text->text);
  if (!url.ok()) return subscriber;
  if (!url->host.empty()) subscriber.address = host_of(url->host);
  if (const std::string* application = url->find(key::application); application && !application->empty())
    subscriber.name = *application;
  if (const std::string* framework = url->find(key::framework)) subscriber.foreign = *framework != ours;
  return subscriber;
}

}  // namespace tenon::zk
