#include "traffic/reasons.hpp"

#include <algorithm>

namespace tenon::cluster::traffic {

namespace {

std::string group_text(const std::string& group) {
  return group.empty() ? "the group without a name" : "group " + group;
}

}  // namespace

std::string Reasons::of(const Instance& instance, bool serves) const {
  if (!command_)
    return serves ? "no command is in force, so its group serves"
                  : "no command sends calls to " + group_text(instance.group);
  std::string text = listed(instance, serves);
  if (serves || !text.empty()) return text;
  const Place place = Place::of(instance.address);
  for (const std::size_t rule : concerned_)
    if (!command_->route_rules[rule].to.contains(place))
      return "route rule " + std::to_string(rule + 1) + " of " + name_ + " keeps this client from it";
  if (!instance.serving || instance.weight == 0)
    return name_ + " would send calls here, but it takes none (" + (instance.serving ? "weight 0" : "not serving") +
           ")";
  return name_ + " has it in another of its groups, too, and it is called there";
}

// Empty: listed, and it does not serve all the same.
std::string Reasons::listed(const Instance& instance, bool serves) const {
  if (groups_.empty()) {
    if (instance.group != own_group_) return name_ + " is about the own group only";
    return serves ? name_ + " lets its group serve" : "";
  }
  const auto found = std::find(groups_.begin(), groups_.end(), instance.group);
  if (found == groups_.end()) return name_ + " does not list " + group_text(instance.group);
  const MergeGroup& merged = command_->merge_groups[static_cast<std::size_t>(found - groups_.begin())];
  if (Command::weight(merged) == 0) return name_ + " gives " + group_text(instance.group) + " no calls";
  if (!serves) return "";
  if (!command_->mixes()) return name_ + " lists " + group_text(instance.group);
  return name_ + " makes one pool of " + std::to_string(groups_.size()) + " groups, this one among them";
}

}  // namespace tenon::cluster::traffic
