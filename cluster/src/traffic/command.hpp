#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/result.hpp"
#include "traffic/merge_group.hpp"
#include "traffic/pattern.hpp"
#include "traffic/route_rule.hpp"

namespace tenon::cluster::traffic {

/// One entry of a command document that shifts traffic.
struct Command {
  std::optional<std::int64_t> index;  ///< order of precedence: lower first, none before all
  std::string version, dc, remark;    ///< carried, never looked at
  std::string pattern_text;
  Pattern pattern;
  std::vector<MergeGroup> merge_groups;  ///< empty: the client's own group
  std::vector<RouteRule> route_rules;    ///< one after the other: an instance must be allowed by each

  /// No entry carries a weight: all instances are one pool.
  bool mixes() const noexcept;
  /// A merge group's weight; 1 when it has none.
  static std::uint32_t weight(const MergeGroup& merged) noexcept { return merged.weight.value_or(1); }
  /// For messages: the index, the remark.
  std::string name() const;
};

/// What a document says.
struct CommandList {
  std::vector<Command> commands;        ///< in the order of their precedence; equal indexes as they were written
  std::vector<std::string> complaints;  ///< what was left out, and why; for people

  /// Puts `commands` into that order.
  void sort();
  /// The one command for a service: the first whose pattern matches. Null: none.
  const Command* find(std::string_view service) const noexcept;
};

struct DocumentLimits {
  std::size_t bytes = std::size_t{1} << 20;
  std::size_t nesting = 16;
  std::size_t commands = 1000;
  std::size_t merge_groups = 256;  ///< of one command
  std::size_t route_rules = 1000;  ///< of one command
  std::size_t complaints = 20;     ///< the others are counted
};

/// Reads a command document, JSON as Motan's manager writes it:
///   {"clientCommandList":[{"index":1,"version":"1.0","dc":"all","commandType":0,"pattern":"com.Foo*",
///                          "mergeGroups":["g1:4","g2:1"],"routeRules":["10.75.* to !10.75.0.1"],"remark":"x"}]}
/// Unknown fields are ignored, of a field that stands twice the last one counts. A command, merge group or rule that
/// is malformed is left out with a complaint; so is a command none of whose merge groups is good. No text, an object
/// without a list, a list of null or nothing: no commands.
/// Fails with: malformed (no JSON, or of another shape), too_large: nothing of the document is known then.
Result<CommandList> parse_commands(std::string_view text, const DocumentLimits& limits = {});

}  // namespace tenon::cluster::traffic
