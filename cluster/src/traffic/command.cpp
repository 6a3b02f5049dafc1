#include "traffic/command.hpp"

#include <algorithm>
#include <boost/json/parser.hpp>
#include <boost/json/value.hpp>
#include <functional>
#include <numeric>

#include "traffic/words.hpp"

namespace tenon::cluster::traffic {

namespace {

namespace bj = boost::json;

std::string_view view(const bj::string& text) noexcept { return {text.data(), text.size()}; }

Error refuse(Errc code, const std::string& why) {
  return Error(code, "the command document cannot be used: " + why, Delivery::not_run);
}

/// Reads one entry; what is wrong with it ends in `complaint`, what is wrong with its parts in `complaints`.
class EntryReader {
 public:
  EntryReader(const bj::object& entry, const DocumentLimits& limits, const std::function<void(std::string)>& complain)
      : entry_(entry), limits_(limits), complain_(complain) {}

  /// Nothing: left out, which has been said.
  std::optional<Command> read() {
    Command command;
    if (!read_index(command) || !is_traffic()) return std::nullopt;
    if (!text("version", command.version) || !text("dc", command.dc) || !text("remark", command.remark) ||
        !text("pattern", command.pattern_text))
      return std::nullopt;
    auto pattern = Pattern::parse(command.pattern_text);
    if (!pattern.ok()) return leave_out(pattern.error().text());
    command.pattern = std::move(*pattern);
    if (!read_groups(command) || !read_rules(command)) return std::nullopt;
    return command;
  }

 private:
  std::nullopt_t leave_out(const std::string& why) {
    complain_("a command is left out: " + why);
    return std::nullopt;
  }
  bool bad(const std::string& why) {
    leave_out(why);
    return false;
  }
  const bj::value* find(std::string_view field) const {
    const bj::value* found = entry_.if_contains(bj::string_view(field.data(), field.size()));
    return found && !found->is_null() ? found : nullptr;
  }

  bool read_index(Command& command) {
    const bj::value* value = find("index");
    if (!value) return true;
    if (!value->is_int64()) return bad("its index is no integer");
    command.index = value->get_int64();
    return true;
  }
  bool is_traffic() {
    const bj::value* value = find("commandType");
    if (!value) return true;
    if (!value->is_int64()) return bad("its commandType is no integer");
    if (value->get_int64() == 0) return true;
    return bad("its commandType is " + std::to_string(value->get_int64()) + "; only 0, traffic, is carried out");
  }
  bool text(std::string_view field, std::string& into) {
    const bj::value* value = find(field);
    if (!value) return true;
    if (!value->is_string()) return bad("its " + std::string(field) + " is no text");
    into = view(value->get_string());
    return true;
  }
  /// Null, and `good` set, when the field is not there.
  const bj::array* list(std::string_view field, std::size_t limit, bool& good) {
    good = true;
    const bj::value* value = find(field);
    if (!value) return nullptr;
    good = value->is_array() && value->get_array().size() <= limit;
    if (good) return &value->get_array();
    bad(value->is_array() ? "its " + std::string(field) + " are more than " + std::to_string(limit)
                          : "its " + std::string(field) + " is no list");
    return nullptr;
  }

  bool read_groups(Command& command) {
    bool good = false;
    const bj::array* entries = list("mergeGroups", limits_.merge_groups, good);
    if (!entries) return good;
    for (const bj::value& entry : *entries) {
      if (!entry.is_string()) {
        complain_("a merge group is left out: it is no text");
        continue;
      }
      auto merged = MergeGroup::parse(view(entry.get_string()));
      if (!merged.ok()) {
        complain_(merged.error().text());
        continue;
      }
      const auto same = [&](const MergeGroup& other) { return other.group == merged->group; };
      if (std::any_of(command.merge_groups.begin(), command.merge_groups.end(), same))
        complain_("the merge group " + quoted(view(entry.get_string())) + " is left out: its group is listed already");
      else
        command.merge_groups.push_back(std::move(*merged));
    }
    if (command.merge_groups.empty() && !entries->empty()) return bad("none of its merge groups is good");
    return true;
  }
  bool read_rules(Command& command) {
    bool good = false;
    const bj::array* entries = list("routeRules", limits_.route_rules, good);
    if (!entries) return good;
    for (const bj::value& entry : *entries) {
      if (!entry.is_string()) {
        complain_("a route rule is left out: it is no text");
        continue;
      }
      auto rule = RouteRule::parse(view(entry.get_string()));
      if (rule.ok())
        command.route_rules.push_back(std::move(*rule));
      else
        complain_(rule.error().text());
    }
    return true;
  }

  const bj::object& entry_;
  const DocumentLimits& limits_;
  const std::function<void(std::string)>& complain_;
};

}  // namespace

bool Command::mixes() const noexcept {
  return std::none_of(merge_groups.begin(), merge_groups.end(),
                      [](const MergeGroup& m) { return m.weight.has_value(); });
}

std::string Command::name() const {
  std::string name = "command " + (index ? std::to_string(*index) : "without index");
  if (!remark.empty()) name += " (" + remark.substr(0, 60) + ")";
  return name;
}

// std::stable_sort asks for memory in a way that clang calls deprecated.
void CommandList::sort() {
  std::vector<std::size_t> places(commands.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::sort(places.begin(), places.end(), [this](std::size_t a, std::size_t b) {
    const auto& left = commands[a].index;  // nothing comes before every number
    const auto& right = commands[b].index;
    return left == right ? a < b : left < right;
  });
  std::vector<Command> sorted;
  sorted.reserve(commands.size());
  for (const std::size_t place : places) sorted.push_back(std::move(commands[place]));
  commands = std::move(sorted);
}

const Command* CommandList::find(std::string_view service) const noexcept {
  for (const Command& command : commands)
    if (command.pattern.matches(service)) return &command;
  return nullptr;
}

Result<CommandList> parse_commands(std::string_view text, const DocumentLimits& limits) {
  CommandList list;
  if (trimmed(text).empty()) return list;
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
  if (!document.is_object()) return refuse(Errc::malformed, "it is no JSON object");
  const bj::value* entries = document.get_object().if_contains("clientCommandList");
  if (!entries || entries->is_null()) return list;
  if (!entries->is_array()) return refuse(Errc::malformed, "its clientCommandList is no list");
  if (entries->get_array().size() > limits.commands)
    return refuse(Errc::too_large, "it has more than " + std::to_string(limits.commands) + " commands");

  std::size_t untold = 0;
  std::size_t position = 0;
  const std::function<void(std::string)> complain = [&](std::string complaint) {
    if (list.complaints.size() < limits.complaints)
      list.complaints.push_back("entry " + std::to_string(position) + ": " + std::move(complaint));
    else
      ++untold;
  };
  for (const bj::value& entry : entries->get_array()) {
    ++position;
    if (!entry.is_object())
      complain("a command is left out: it is no JSON object");
    else if (auto command = EntryReader(entry.get_object(), limits, complain).read())
      list.commands.push_back(std::move(*command));
  }
  if (untold > 0) list.complaints.push_back("and " + std::to_string(untold) + " more");
  list.sort();
  return list;
}

}  // namespace tenon::cluster::traffic
