// Reads the input as a command document, as a pattern, as a merge group and as a route rule. Checked here: everything
// stays within its bounds, and what was understood answers questions about odd services and addresses.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "traffic/command.hpp"

namespace {

using namespace tenon::cluster::traffic;  // NOLINT

void require(bool holds) {
  if (!holds) std::abort();
}

constexpr std::string_view services[] = {"", "a", "com.x.Foo", "com.x.FooBar", "*"};
constexpr std::string_view addresses[] = {"",         "10.1.1.1:80", "[fd00::1]:80", "tokyo-1:4080", "memory:x",
                                          "[fd00::1", "::1",         "10.1.1.1",     "[]:",          "a:b:c"};

void check_command(const Command& command) {
  require(command.merge_groups.size() <= 256 && command.route_rules.size() <= 1000);
  for (const MergeGroup& merged : command.merge_groups)
    require(!merged.group.empty() && merged.group.size() <= MergeGroup::max_name && Command::weight(merged) <= 100);
  require(!command.name().empty());
  (void)command.mixes();
}

void check_rule(const RouteRule& rule) {
  for (const std::string_view address : addresses) {
    const Place place = Place::of(address);
    require(rule.to.contains(place) == (rule.to.matches(place) != rule.to.negated()));
    require(rule.concerns({place}) == (rule.from.matches(place) != rule.from.negated()));
  }
  require(rule.concerns({}) == rule.from.negated());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto list = parse_commands(text); list.ok()) {
    require(list->commands.size() <= 1000 && list->complaints.size() <= 21);
    for (std::size_t i = 0; i < list->commands.size(); ++i) {
      check_command(list->commands[i]);
      for (const RouteRule& rule : list->commands[i].route_rules) check_rule(rule);
      require(i == 0 || list->commands[i - 1].index <= list->commands[i].index);
    }
    for (const std::string_view service : services) {
      const Command* found = list->find(service);
      require(!found || found->pattern.matches(service));
    }
  }
  if (const auto pattern = Pattern::parse(text); pattern.ok()) {
    const auto negated = Pattern::parse("!(" + std::string(text) + ")");
    for (const std::string_view service : services)
      if (negated.ok()) require(negated->matches(service) != pattern->matches(service));
  }
  if (const auto merged = MergeGroup::parse(text); merged.ok()) {
    std::string again = merged->group;
    if (merged->weight) again += ":" + std::to_string(*merged->weight);
    const auto second = MergeGroup::parse(again);
    require(second.ok() && *second == *merged);
  }
  if (const auto rule = RouteRule::parse(text); rule.ok()) check_rule(*rule);
  return 0;
}
