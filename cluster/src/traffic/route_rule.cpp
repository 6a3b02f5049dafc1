#include "traffic/route_rule.hpp"

#include <algorithm>

#include "traffic/words.hpp"

namespace tenon::cluster::traffic {

namespace {

Error malformed(std::string_view text, const std::string& why) {
  return Error(Errc::malformed, "the route rule " + quoted(text) + " is left out: " + why, Delivery::not_run);
}

// The words, a lone "!" with the one behind it.
std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> found;
  bool open = false;  // the last one is a "!"
  for (std::size_t at = 0; at < text.size();) {
    if (is_space(text[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && !is_space(text[at])) ++at;
    const std::string_view word = text.substr(begin, at - begin);
    if (open)
      found.back() += word;
    else
      found.emplace_back(word);
    open = word == "!";
  }
  return found;
}

}  // namespace

Result<RouteRule> RouteRule::parse(std::string_view text) {
  if (text.size() > 2 * Hosts::max_length + 16) return malformed(text, "it is too long");
  const std::vector<std::string> parts = words(text);
  if (parts.size() != 3 || parts[1] != "to") return malformed(text, "a rule is written \"FROM to TO\"");
  auto from = Hosts::parse(parts[0], Hosts::Ports::refused);
  if (!from.ok()) return malformed(text, from.error().text());
  auto to = Hosts::parse(parts[2], Hosts::Ports::allowed);
  if (!to.ok()) return malformed(text, to.error().text());
  return RouteRule{std::move(*from), std::move(*to)};
}

bool RouteRule::concerns(const std::vector<Place>& client) const noexcept {
  const bool one = std::any_of(client.begin(), client.end(), [&](const Place& place) { return from.matches(place); });
  return one != from.negated();
}

}  // namespace tenon::cluster::traffic
