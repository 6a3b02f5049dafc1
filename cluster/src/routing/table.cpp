#include "routing/table.hpp"

#include <algorithm>
#include <map>

namespace tenon::cluster::routing {

namespace {

/// 2^64 divided by the golden ratio: its multiples are spread evenly.
constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;

std::uint64_t mixed(std::uint64_t key) noexcept {  // splitmix64
  key = (key ^ (key >> 30)) * 0xBF58476D1CE4E5B9;
  key = (key ^ (key >> 27)) * 0x94D049BB133111EB;
  return key ^ (key >> 31);
}

bool takes_calls(const Endpoint& member) { return member.instance().serving && member.instance().weight > 0; }

bool holds(const Predicate& predicate, const Request& request) noexcept {
  if (predicate.attribute() != Attribute::hash_key)
    return predicate.holds(value_of(predicate.attribute(), predicate.name(), request));
  if (request.hash_key == 0) return predicate.holds(std::nullopt);
  return predicate.holds(request.hash_key);
}

}  // namespace

class RulesTable::Draw {
 public:
  enum class Counts : bool { no, yes };
  Draw(const RulesTable& table, const Request& request, Counts counts)
      : table_(table), request_(request), counts_(counts) {}
  int tenths() noexcept {
    if (tenths_ >= 0) return tenths_;
    std::uint64_t at = mixed(request_.hash_key);
    if (request_.hash_key == 0) {
      if (counts_ == Counts::yes) table_.at_ += golden;
      at = table_.at_;
    }
    tenths_ = static_cast<int>((at >> 32) * 1000 >> 32);
    return tenths_;
  }
  bool fits(const CompiledRule& rule) noexcept {
    return std::all_of(rule.each_call.begin(), rule.each_call.end(), [this](const Predicate& predicate) {
      return predicate.attribute() == Attribute::percent ? predicate.holds_at(tenths()) : holds(predicate, request_);
    });
  }

 private:
  const RulesTable& table_;
  const Request& request_;
  const Counts counts_;
  int tenths_ = -1;
};

Result<std::unique_ptr<RulesTable>> RulesTable::make(Rules rules, const Here& here, const std::set<std::string>& others,
                                                     const Members& members, std::vector<std::string> complaints,
                                                     std::uint64_t start) {
  std::unique_ptr<RulesTable> made(new RulesTable(std::move(rules), std::move(complaints), start));
  Members able;
  for (const auto& member : members)
    if (takes_calls(*member)) able.push_back(member);
  for (const CompiledRule& rule : *made->rules_) {
    if (!rule.concerns(here)) continue;
    if (auto added = made->add(rule, able); !added.ok()) return std::move(added).error().prefix(rule.name);
  }
  Members rest;
  for (const auto& member : members)
    if (!others.contains(member->instance().group)) rest.push_back(member);
  if (!rest.empty()) made->rest_ = made->add_subset(std::move(rest), made->entries_.size());
  return made;
}

Result<void> RulesTable::add(const CompiledRule& rule, const Members& able) {
  Members meant;
  for (const auto& member : able)
    if (rule.means(member->instance())) meant.push_back(member);
  const std::size_t place = entries_.size();
  Entry entry{&rule};
  if (!rule.same) {
    if (!meant.empty()) entry.subset = add_subset(std::move(meant), place);
  } else {
    std::map<std::string, Members> by_value;
    for (const auto& member : meant) {
      const auto value = value_of(rule.same->attribute(), rule.same->name(), member->instance());
      if (value) by_value[std::string(*value)].push_back(member);
    }
    if (by_value.size() + subsets_.size() > max_subsets)
      return Error(Errc::too_large, "same_as makes more than " + std::to_string(max_subsets) + " sets of instances",
                   Delivery::not_run);
    for (auto& [value, members] : by_value) entry.of_value.emplace_back(value, add_subset(std::move(members), place));
  }
  if (entry.subset < 0 && entry.of_value.empty() && !able.empty())
    complaints_.push_back(rule.name + " means none of the known instances that take calls");
  entries_.push_back(std::move(entry));
  return {};
}

int RulesTable::add_subset(Members members, std::size_t entry) {
  subsets_.push_back(std::move(members));
  entry_of_.push_back(entry);
  return static_cast<int>(subsets_.size()) - 1;
}

int RulesTable::choose(const Request& request) const noexcept {
  Draw draw(*this, request, Draw::Counts::yes);
  return from(request, draw, 0);
}

// Forwards only, so that no subset comes twice.
int RulesTable::next(const Request& request, int subset) const noexcept {
  const std::size_t entry = entry_of_[static_cast<std::size_t>(subset)];
  if (entry == entries_.size() || entries_[entry].rule->otherwise == Otherwise::fail) return -1;
  Draw draw(*this, request, Draw::Counts::no);
  return from(request, draw, entry + 1);
}

int RulesTable::from(const Request& request, Draw& draw, std::size_t entry) const noexcept {
  for (; entry < entries_.size(); ++entry) {
    if (!draw.fits(*entries_[entry].rule)) continue;
    const int subset = subset_of(entries_[entry], request);
    if (entries_[entry].rule->otherwise == Otherwise::fail || usable(subset)) return subset;
  }
  return rest_;
}

int RulesTable::subset_of(const Entry& entry, const Request& request) const noexcept {
  if (!entry.rule->same) return entry.subset;
  const AttributeName& asked = *entry.rule->same->same_as();
  const auto value = value_of(asked.attribute, asked.name, request);
  if (!value) return -1;
  const auto found = std::lower_bound(entry.of_value.begin(), entry.of_value.end(), *value,
                                      [](const auto& each, std::string_view wanted) { return each.first < wanted; });
  return found != entry.of_value.end() && found->first == *value ? found->second : -1;
}

bool RulesTable::usable(int subset) const noexcept {
  if (subset < 0) return false;
  const Members& members = subsets_[static_cast<std::size_t>(subset)];
  return std::any_of(members.begin(), members.end(),
                     [](const auto& member) { return member->health() != Health::closed; });
}

bool RulesTable::has(int subset, const Endpoint& member) const noexcept {
  if (subset < 0) return false;
  const Members& members = subsets_[static_cast<std::size_t>(subset)];
  return std::any_of(members.begin(), members.end(), [&](const auto& each) { return each.get() == &member; });
}

std::string RulesTable::explain(const Request& request, const Endpoint& member) const {
  return find(request, member).text;
}

Serving RulesTable::serving(const Request& request, const Endpoint& member) const {
  return find(request, member).serving;
}

namespace {

std::string percent(int tenths) {
  std::string text = std::to_string(tenths / 10);
  if (tenths % 10 != 0) text += "." + std::to_string(tenths % 10);
  return text + " %";
}

// Of the calls whose other conditions hold: how many tenths of a percent a rule is about.
int share_of(const CompiledRule& rule, const Request& request, int place) noexcept {
  int from = 0;
  int below = 1000;
  for (const Predicate& predicate : rule.each_call) {
    if (predicate.attribute() == Attribute::percent) {
      from = std::max(from, predicate.tenths().first);
      below = std::min(below, predicate.tenths().second);
    } else if (!holds(predicate, request)) {
      return 0;
    }
  }
  if (request.hash_key == 0) return std::max(0, below - from);
  return from <= place && place < below ? 1000 : 0;
}

void append(std::string& text, const std::string& more) { text += (text.empty() ? "" : "; ") + more; }

// "rule 1 (reads) sends such calls to 2 other instances and nowhere else"
std::string elsewhere(const CompiledRule& rule, const std::string& calls, std::size_t size, bool usable) {
  std::string text = rule.name + " sends " + calls + " to " +
                     (size == 1 ? std::string("another instance") : std::to_string(size) + " other instances");
  if (rule.otherwise == Otherwise::fail) return text + " and nowhere else";
  if (!usable) text += size == 1 ? ", which cannot take calls" : ", none of which can take calls";
  return text;
}

}  // namespace

RulesTable::Finding RulesTable::find(const Request& request, const Endpoint& member) const {
  Finding found;
  const int place = Draw(*this, request, Draw::Counts::no).tenths();
  Left left = Left::all;
  for (const Entry& entry : entries_) {
    const CompiledRule& rule = *entry.rule;
    const int share = share_of(rule, request, place);
    if (share == 0) continue;
    const int subset = subset_of(entry, request);
    const bool fails = rule.otherwise == Otherwise::fail;
    const std::string calls = share == 1000 ? "such calls" : percent(share) + " of such calls";
    if (left == Left::fallback) {
      if (has(subset, member)) {
        append(found.text, "if those cannot take them, " + rule.name + " sends them here");
        found.serving = std::max(found.serving, Serving::fallback);
      }
    } else if (has(subset, member)) {
      append(found.text, rule.name + " sends " + calls + " here");
      found.serving = Serving::yes;
    } else if (subset < 0) {
      append(found.text, rule.name + " is about " + calls + ", but means none of the known instances" +
                             (fails ? ", so they fail" : ""));
    } else {
      append(found.text, elsewhere(rule, calls, subsets_[static_cast<std::size_t>(subset)].size(), usable(subset)));
    }
    if (share == 1000 && (fails || found.serving != Serving::no)) return found;
    if (left != Left::fallback && share == 1000)
      left = usable(subset) ? Left::fallback : Left::passed_on;
    else if (left == Left::all)
      left = Left::part;
  }
  return at_end(std::move(found), member, left);
}

RulesTable::Finding RulesTable::at_end(Finding found, const Endpoint& member, Left left) const {
  if (!has(rest_, member)) {
    if (found.serving == Serving::no)
      append(found.text, "no rule sends such calls to group " + member.instance().group);
    return found;
  }
  switch (left) {
    case Left::all: append(found.text, entries_.empty() ? "there are no rules" : "no rule is about such calls"); break;
    case Left::part: append(found.text, "the others go to any instance"); break;
    case Left::passed_on: append(found.text, "so they go to any instance"); break;
    case Left::fallback: append(found.text, "it is called if those cannot take them"); break;
  }
  found.serving = std::max(found.serving, left == Left::fallback ? Serving::fallback : Serving::yes);
  return found;
}

}  // namespace tenon::cluster::routing
