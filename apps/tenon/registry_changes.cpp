#include "registry_changes.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "registry_text.hpp"

namespace tenon::cli {

namespace {

std::string name_of(const Instance& instance) {
  return instance.id == instance.address ? instance.address : instance.address + " (id " + instance.id + ")";
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ",") + text;
  return all.empty() ? "none" : all;
}

// What of an instance is another now, "weight 100 -> 50, serving -> offline".
std::string difference(const Instance& before, const Instance& now) {
  std::string text;
  const auto tell = [&](const std::string& what, const std::string& was, const std::string& is) {
    if (was != is) text += (text.empty() ? "" : ", ") + what + was + " -> " + is;
  };
  tell("", state_text(before), state_text(now));
  tell("weight ", std::to_string(before.weight), std::to_string(now.weight));
  tell("address ", before.address, now.address);
  tell("transport ", before.transport, now.transport);
  tell("protocols ", joined(before.protocols), joined(now.protocols));
  std::map<std::string, std::pair<std::string, std::string>> metadata;
  for (const auto& [name, value] : before.metadata) metadata[name].first = value;
  for (const auto& [name, value] : now.metadata) metadata[name].second = value;
  for (const auto& [name, values] : metadata) tell(name + " ", values.first, values.second);
  return text;
}

}  // namespace

std::vector<RegistryChange> changes(const std::vector<Instance>& before, const Snapshot& now) {
  using What = RegistryChange::What;
  const auto find = [](const std::vector<Instance>& all, const std::string& id) {
    return std::find_if(all.begin(), all.end(), [&](const Instance& each) { return each.id == id; });
  };
  std::vector<RegistryChange> found;
  for (const Instance& each : before) {
    const auto still = find(now.instances, each.id);
    if (still == now.instances.end()) {
      const bool on_purpose = std::find(now.withdrawn.begin(), now.withdrawn.end(), each.id) != now.withdrawn.end();
      found.push_back({on_purpose ? What::withdrawn : What::left, each,
                       "- " + name_of(each) + (on_purpose ? " withdrawn" : " left")});
    } else if (const std::string text = difference(each, *still); !text.empty()) {
      found.push_back({What::changed, *still, "~ " + name_of(*still) + " " + text});
    }
  }
  for (const Instance& each : now.instances)
    if (find(before, each.id) == before.end())
      found.push_back({What::joined, each,
                       "+ " + name_of(each) + " weight " + std::to_string(each.weight) + ", " + state_text(each)});
  std::sort(found.begin(), found.end(), [](const RegistryChange& a, const RegistryChange& b) {
    return std::tie(a.what, a.instance.address, a.instance.id) < std::tie(b.what, b.instance.address, b.instance.id);
  });
  return found;
}

std::string to_string(RegistryChange::What what) {
  switch (what) {
    case RegistryChange::What::joined: return "joined";
    case RegistryChange::What::left: return "left";
    case RegistryChange::What::withdrawn: return "withdrawn";
    case RegistryChange::What::changed: return "changed";
  }
  return "changed";
}

}  // namespace tenon::cli
