#include "routing/compiled_rule.hpp"

#include <algorithm>
#include <boost/json/parser.hpp>

#include "routing/json_reader.hpp"
#include "traffic/merge_group.hpp"
#include "traffic/words.hpp"

namespace tenon::cluster::routing {

namespace {

namespace bj = boost::json;
using traffic::quoted;

Error too_many(const std::string& what, std::size_t limit) {
  return Error(Errc::too_large, what + " are more than " + std::to_string(limit), Delivery::not_run);
}

std::string name_of(const Rule& rule, std::size_t index, std::string_view whose) {
  std::string name = "rule " + std::to_string(index + 1);
  if (!whose.empty()) name += ' ' + std::string(whose);
  if (!rule.name.empty()) name += " (" + rule.name.substr(0, 60) + ')';
  return name;
}

Result<CompiledRule> compile_rule(const Rule& rule, std::string name, const RuleLimits& limits) {
  CompiledRule made;
  made.name = std::move(name);
  made.otherwise = rule.otherwise;
  if (rule.when.size() > limits.conditions) return too_many("when: its conditions", limits.conditions);
  if (rule.to.size() > limits.conditions) return too_many("to: its conditions", limits.conditions);
  for (std::size_t i = 0; i < rule.when.size(); ++i) {
    auto read = Predicate::parse(rule.when[i], Subject::call);
    if (!read.ok()) return std::move(read).error().prefix("when[" + std::to_string(i) + "]");
    (is_of_each_call(read->attribute()) ? made.each_call : made.here).push_back(std::move(*read));
  }
  // The cheap ones first, and a draw for those calls only that need one.
  std::sort(made.each_call.begin(), made.each_call.end(),
            [](const Predicate& a, const Predicate& b) { return a.attribute() < b.attribute(); });
  for (std::size_t i = 0; i < rule.to.size(); ++i) {
    const std::string place = "to[" + std::to_string(i) + "]";
    auto read = Predicate::parse(rule.to[i], Subject::instance);
    if (!read.ok()) return std::move(read).error().prefix(place);
    if (!read->same_as()) {
      made.to.push_back(std::move(*read));
      continue;
    }
    if (read->attribute() == Attribute::weight)
      return Error(Errc::invalid_argument, place + ": same_as: is not for weights", Delivery::not_run);
    if (made.same)
      return Error(Errc::invalid_argument, place + ": same_as: one condition of a rule may have it", Delivery::not_run);
    made.same = std::move(*read);
  }
  return made;
}

Error refuse(Errc code, const std::string& why) {
  return Error(code, "the rule document cannot be used: " + why, Delivery::not_run);
}

}  // namespace

bool CompiledRule::concerns(const Here& at) const noexcept {
  const auto some = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
  };
  return std::all_of(here.begin(), here.end(), [&](const Predicate& predicate) {
    switch (predicate.attribute()) {
      case Attribute::interface: return predicate.holds(std::string_view(at.service.interface));
      case Attribute::group: return predicate.holds(std::string_view(at.service.group));
      case Attribute::version: return predicate.holds(std::string_view(at.service.version));
      case Attribute::application: return predicate.holds(some(at.application));
      default: return predicate.holds(at.client);
    }
  });
}

bool CompiledRule::means(const Instance& instance) const noexcept {
  return std::all_of(to.begin(), to.end(), [&](const Predicate& predicate) {
    if (predicate.attribute() == Attribute::weight) return predicate.holds(std::uint64_t{instance.weight});
    if (predicate.attribute() == Attribute::host) return predicate.holds(traffic::Place::of(instance.address));
    return predicate.holds(value_of(predicate.attribute(), predicate.name(), instance));
  });
}

std::optional<std::string_view> value_of(Attribute attribute, const std::string& name,
                                         const Instance& instance) noexcept {
  switch (attribute) {
    case Attribute::group: return instance.group;
    case Attribute::address: return instance.address;
    case Attribute::host: return traffic::Place::of(instance.address).host;
    case Attribute::id: return instance.id;
    case Attribute::metadata: {
      const auto found = instance.metadata.find(name);
      if (found == instance.metadata.end()) return std::nullopt;
      return std::string_view(found->second);
    }
    default: return std::nullopt;
  }
}

std::optional<std::string_view> value_of(Attribute attribute, const std::string& name,
                                         const Request& request) noexcept {
  if (attribute == Attribute::method)
    return request.target->method ? std::optional<std::string_view>(request.target->method->name) : std::nullopt;
  const std::string* header = request.headers.find(name);
  return header ? std::optional<std::string_view>(*header) : std::nullopt;
}

Result<CompiledRules> compile_rules(const RuleList& list, std::string_view whose, const RuleLimits& limits) {
  CompiledRules made;
  if (list.rules.size() > limits.rules) return too_many("rules: they", limits.rules);
  if (list.groups.size() > limits.groups) return too_many("groups: they", limits.groups);
  for (const std::string& group : list.groups)
    if (auto parsed = traffic::MergeGroup::parse(group); !parsed.ok() || parsed->weight)
      return Error(Errc::invalid_argument, "groups: " + quoted(group) + " is no group's name", Delivery::not_run);
  made.groups = list.groups;
  for (std::size_t i = 0; i < list.rules.size(); ++i) {
    std::string name = name_of(list.rules[i], i, whose);
    auto rule = compile_rule(list.rules[i], name, limits);
    if (!rule.ok()) return std::move(rule).error().prefix(name);
    made.rules.push_back(std::move(*rule));
  }
  return made;
}

Result<CompiledRules> parse_rules(std::string_view text, const RuleLimits& limits) {
  if (traffic::trimmed(text).empty()) return CompiledRules();
  if (text.size() > limits.bytes)
    return refuse(Errc::too_large,
                  "it has " + std::to_string(text.size()) + " bytes; at most " + std::to_string(limits.bytes));
  bj::parse_options options;
  options.max_depth = limits.nesting;
  bj::parser parser({}, options);
  bj::error_code error;
  const std::size_t read = parser.write(text.data(), text.size(), error);
  if (error) return refuse(Errc::malformed, "byte " + std::to_string(read) + " is no JSON (" + error.message() + ")");
  const bj::value document = parser.release();
  RuleList list;
  JsonReader reader(document);
  message_type<RuleList>().read(&list, reader);
  if (reader.failed()) return refuse(reader.error().code(), reader.error().text());
  auto made = compile_rules(list, "of the document", limits);
  if (!made.ok()) return refuse(made.error().code(), made.error().text());
  return made;
}

}  // namespace tenon::cluster::routing
