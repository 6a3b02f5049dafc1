#include "traffic/merge_group.hpp"

#include <charconv>

#include "traffic/words.hpp"

namespace tenon::cluster::traffic {

namespace {

Error malformed(std::string_view text, const std::string& why) {
  return Error(Errc::malformed, "the merge group " + quoted(text) + " is left out: " + why, Delivery::not_run);
}

}  // namespace

Result<MergeGroup> MergeGroup::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = trimmed(text.substr(0, colon));
  MergeGroup merged;
  if (name.empty()) return malformed(text, "it names no group");
  if (name.size() > max_name) return malformed(text, "a name has at most " + std::to_string(max_name) + " bytes");
  for (const char c : name)
    if (is_space(c) || static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '/')
      return malformed(text, "a group's name has no white space, no control characters and no '/'");
  merged.group = name;
  if (colon == text.npos) return merged;
  const std::string_view digits = trimmed(text.substr(colon + 1));
  std::uint32_t weight = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), weight);
  if (error != std::errc() || end != digits.data() + digits.size() || weight > max_weight)
    return malformed(text, "a weight is a number from 0 to " + std::to_string(max_weight));
  merged.weight = weight;
  return merged;
}

}  // namespace tenon::cluster::traffic
