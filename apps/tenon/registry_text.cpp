#include "registry_text.hpp"

#include <algorithm>

#include "command_document.hpp"
#include "table.hpp"

namespace tenon::cli {

namespace {

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ",") + text;
  return all;
}

std::string metadata_text(const Instance& instance) {
  std::string all;
  for (const auto& [name, value] : instance.metadata) all += (all.empty() ? "" : " ") + name + "=" + value;
  return all;
}

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string indented(const std::string& lines) {
  std::string text;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at);
    text += "  " + lines.substr(at, end - at + 1);
    at = end + 1;
  }
  return text;
}

std::string subscribers_text(const std::vector<Subscriber>& subscribers) {
  Table table({"SUBSCRIBER", "ADDRESS", "SPEAKS"});
  for (const Subscriber& each : subscribers)
    table.row({each.name, each.address.empty() ? "-" : each.address, each.foreign ? "foreign" : "tenon"});
  return table.text();
}

std::string subscriber_json(const Subscriber& subscriber) {
  return "{\"name\":" + json_text(subscriber.name) + ",\"address\":" + json_text(subscriber.address) +
         ",\"foreign\":" + (subscriber.foreign ? "true" : "false") + "}";
}

template <class T, class F>
std::string list_json(const std::vector<T>& all, F one) {
  std::string json = "[";
  for (const T& each : all) json += (json.size() == 1 ? "" : ",") + one(each);
  return json + "]";
}

std::string service_json(const ListedService& listed) {
  const ServiceName& service = listed.service;
  return "{\"name\":" + json_text(service.text()) + ",\"interface\":" + json_text(service.interface) +
         ",\"group\":" + json_text(service.group) + ",\"version\":" + json_text(service.version) +
         ",\"instances\":" + list_json(listed.instances, instance_json) +
         ",\"subscribers\":" + list_json(listed.subscribers, subscriber_json) + "}";
}

}  // namespace

std::string state_text(const Instance& instance) { return instance.serving ? "serving" : "offline"; }

bool is_foreign(const Instance& instance) noexcept { return instance.transport.empty(); }

std::string instances_text(const std::vector<Instance>& instances) {
  Table table({"INSTANCE", "STATE", ">WEIGHT", "PROTOCOLS", "ID", "METADATA"});
  for (const Instance& each : instances)
    table.row({each.address, state_text(each), std::to_string(each.weight), joined(each.protocols),
               each.id == each.address ? "-" : each.id, metadata_text(each)});
  return table.text();
}

std::string groups_text(const std::vector<ListedGroup>& groups) {
  std::string text;
  for (const ListedGroup& group : groups) {
    text += (text.empty() ? "group " : "\ngroup ") + (group.name.empty() ? "(none)" : group.name);
    text += ": " + counted(group.services.size(), "service");
    if (group.command_version != 0) text += ", command of version " + std::to_string(group.command_version);
    text += '\n';
    for (const ListedService& listed : group.services) {
      const auto serving = std::count_if(listed.instances.begin(), listed.instances.end(),
                                         [](const Instance& each) { return each.serving && each.weight > 0; });
      text += "  " + listed.service.text() + ": " + counted(listed.instances.size(), "instance") + " (" +
              std::to_string(serving) + " taking calls), " + counted(listed.subscribers.size(), "subscriber") + '\n';
      if (!listed.instances.empty()) text += indented(instances_text(listed.instances));
      if (!listed.subscribers.empty()) text += indented(subscribers_text(listed.subscribers));
    }
  }
  return text;
}

std::string instance_json(const Instance& instance) {
  std::string metadata;
  for (const auto& [name, value] : instance.metadata)
    metadata += (metadata.empty() ? "" : ",") + json_text(name) + ":" + json_text(value);
  return "{\"id\":" + json_text(instance.id) + ",\"address\":" + json_text(instance.address) +
         ",\"transport\":" + json_text(instance.transport) +
         ",\"protocols\":" + list_json(instance.protocols, [](const std::string& each) { return json_text(each); }) +
         ",\"weight\":" + std::to_string(instance.weight) + ",\"serving\":" + (instance.serving ? "true" : "false") +
         ",\"metadata\":{" + metadata + "}}";
}

std::string groups_json(const std::vector<ListedGroup>& groups) {
  return "{\"groups\":" +
         list_json(groups,
                   [](const ListedGroup& group) {
                     return "{\"group\":" + json_text(group.name) +
                            ",\"command_version\":" + std::to_string(group.command_version) +
                            ",\"services\":" + list_json(group.services, service_json) + "}";
                   }) +
         "}\n";
}

}  // namespace tenon::cli
