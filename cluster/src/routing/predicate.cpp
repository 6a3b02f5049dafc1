#include "routing/predicate.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <span>

#include "routing/glob.hpp"
#include "traffic/words.hpp"

namespace tenon::cluster::routing {

namespace {

using traffic::Hosts;
using traffic::Place;
using traffic::quoted;

struct Known {
  std::string_view text;  // one that ends with '.' has a name behind it
  Attribute attribute;
};
constexpr Known of_calls[] = {
    {"method", Attribute::method},     {"header.", Attribute::header},      {"percent", Attribute::percent},
    {"hash_key", Attribute::hash_key}, {"interface", Attribute::interface}, {"group", Attribute::group},
    {"version", Attribute::version},   {"client", Attribute::client},       {"application", Attribute::application}};
constexpr Known of_instances[] = {
    {"metadata.", Attribute::metadata}, {"group", Attribute::group}, {"host", Attribute::host},
    {"address", Attribute::address},    {"id", Attribute::id},       {"weight", Attribute::weight}};

Error wrong(std::string why) { return Error(Errc::invalid_argument, std::move(why), Delivery::not_run); }

std::optional<double> number(std::string_view text) noexcept {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool matches_one(const std::vector<Hosts>& hosts, const Place& place) noexcept {
  return std::any_of(hosts.begin(), hosts.end(), [&](const Hosts& each) { return each.matches(place); });
}

Result<std::vector<Hosts>> hosts_of(const std::vector<std::string>& texts, const char* field) {
  std::vector<Hosts> all;
  for (const std::string& text : texts) {
    auto hosts = Hosts::parse(text, Hosts::Ports::refused);
    if (!hosts.ok()) return wrong(std::string(field) + ": " + hosts.error().text());
    if (hosts->negated()) return wrong(std::string(field) + ": " + quoted(text) + ": say not_in instead of '!'");
    all.push_back(std::move(*hosts));
  }
  return all;
}

}  // namespace

Result<AttributeName> AttributeName::parse(std::string_view text, Subject subject) {
  const std::span<const Known> known =
      subject == Subject::call ? std::span<const Known>(of_calls) : std::span<const Known>(of_instances);
  std::string all;
  for (const Known& each : known) {
    const bool named = each.text.ends_with('.');
    if (named ? text.starts_with(each.text) && text.size() > each.text.size() : text == each.text)
      return AttributeName{each.attribute, named ? std::string(text.substr(each.text.size())) : std::string()};
    all += (all.empty() ? "" : ", ") + std::string(each.text) + (named ? "NAME" : "");
  }
  const std::string whose = subject == Subject::call ? "a call" : "an instance";
  if (text.empty()) return wrong("attribute: is missing; " + whose + " has " + all);
  return wrong("attribute: " + whose + " has no " + quoted(text) + "; there are " + all);
}

Result<Predicate> Predicate::parse(const Condition& condition, Subject subject) {
  auto what = AttributeName::parse(condition.attribute, subject);
  if (!what.ok()) return std::move(what).error();
  Predicate made;
  made.what_ = std::move(*what);
  made.wanted_ = condition;
  Condition& wanted = made.wanted_;
  if (wanted.equals && !wanted.in.empty()) return wrong("in: stands beside equals; put all values into in");
  if (wanted.equals) wanted.in.push_back(*std::exchange(wanted.equals, std::nullopt));
  const bool ranged = wanted.from || wanted.below;
  const bool textual = !wanted.in.empty() || !wanted.not_in.empty() || wanted.prefix || wanted.suffix || wanted.matches;
  if (wanted.same_as) {
    if (subject == Subject::call) return wrong("same_as: is for conditions in `to`");
    if (textual || ranged || wanted.exists) return wrong("same_as: takes no other operator beside it");
    auto other = AttributeName::parse(*wanted.same_as, Subject::call);
    if (!other.ok() || (other->attribute != Attribute::method && other->attribute != Attribute::header))
      return wrong("same_as: " + quoted(*wanted.same_as) + " is neither method nor header.NAME");
    made.same_as_ = std::move(*other);
    return made;
  }
  if (!textual && !ranged && !wanted.exists)
    return wrong("has no operator; there are equals, in, not_in, prefix, suffix, matches, exists, from, below" +
                 std::string(subject == Subject::call ? "" : ", same_as"));
  if (wanted.matches && wanted.matches->size() > max_pattern)
    return wrong("matches: a pattern has at most " + std::to_string(max_pattern) + " bytes");
  for (const auto& [field, bound] : {std::pair("from", wanted.from), std::pair("below", wanted.below)})
    if (bound && !std::isfinite(*bound)) return wrong(std::string(field) + ": is no number");
  if (wanted.from && wanted.below && *wanted.from >= *wanted.below)
    return wrong("below: nothing is at least `from` and below that");
  if (made.what_.attribute == Attribute::percent) {
    if (textual || wanted.exists) return wrong("percent takes `from` and `below` only");
    if (auto read = made.read_percent(); !read.ok()) return std::move(read).error();
  }
  if (made.what_.attribute == Attribute::client || made.what_.attribute == Attribute::host)
    if (auto read = made.read_hosts(); !read.ok()) return std::move(read).error();
  std::sort(wanted.in.begin(), wanted.in.end());
  std::sort(wanted.not_in.begin(), wanted.not_in.end());
  return made;
}

Result<void> Predicate::read_percent() {
  const auto read = [](std::optional<double> percent, int& into) {
    if (!percent) return true;
    const double tenths = *percent * 10;
    if (!(tenths >= 0 && tenths <= 1000) || std::abs(tenths - std::round(tenths)) > 1e-6) return false;
    into = static_cast<int>(std::round(tenths));
    return true;
  };
  constexpr const char* range = ": a percentage is a number from 0 to 100 with at most one decimal";
  if (!read(wanted_.from, tenths_.first)) return wrong(std::string("from") + range);
  if (!read(wanted_.below, tenths_.second)) return wrong(std::string("below") + range);
  return {};
}

Result<void> Predicate::read_hosts() {
  auto in = hosts_of(wanted_.in, "in");
  if (!in.ok()) return std::move(in).error();
  auto not_in = hosts_of(wanted_.not_in, "not_in");
  if (!not_in.ok()) return std::move(not_in).error();
  hosts_in_ = std::move(*in);
  hosts_not_in_ = std::move(*not_in);
  return {};
}

bool Predicate::listed(const std::vector<std::string>& texts, std::string_view value) const noexcept {
  return std::binary_search(texts.begin(), texts.end(), value, std::less<>());
}

bool Predicate::needs_value() const noexcept {
  return !wanted_.in.empty() || wanted_.prefix || wanted_.suffix || wanted_.matches || wanted_.from || wanted_.below;
}

// Everything but `in`, `not_in` and `exists`.
bool Predicate::positive(std::string_view value) const noexcept {
  if (wanted_.prefix && !value.starts_with(*wanted_.prefix)) return false;
  if (wanted_.suffix && !value.ends_with(*wanted_.suffix)) return false;
  if (wanted_.matches && !glob_matches(*wanted_.matches, value)) return false;
  if (!wanted_.from && !wanted_.below) return true;
  const std::optional<double> found = number(value);
  return found && (!wanted_.from || *found >= *wanted_.from) && (!wanted_.below || *found < *wanted_.below);
}

bool Predicate::holds(std::optional<std::string_view> value) const noexcept {
  if (wanted_.exists && *wanted_.exists != value.has_value()) return false;
  if (value && listed(wanted_.not_in, *value)) return false;
  if (!needs_value()) return true;
  return value && (wanted_.in.empty() || listed(wanted_.in, *value)) && positive(*value);
}

bool Predicate::holds(std::uint64_t value) const noexcept {
  std::array<char, 20> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return holds(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
}

bool Predicate::holds(const Place& place) const noexcept {
  const bool known = !place.host.empty();
  if (wanted_.exists && *wanted_.exists != known) return false;
  if (known && matches_one(hosts_not_in_, place)) return false;
  if (!needs_value()) return true;
  return known && (hosts_in_.empty() || matches_one(hosts_in_, place)) && positive(place.host);
}

bool Predicate::holds(const std::vector<Place>& places) const noexcept {
  const auto refused = [&](const Place& place) { return matches_one(hosts_not_in_, place); };
  if (std::any_of(places.begin(), places.end(), refused)) return false;
  if (places.empty()) return holds(Place());
  return std::any_of(places.begin(), places.end(), [&](const Place& place) { return holds(place); });
}

}  // namespace tenon::cluster::routing
