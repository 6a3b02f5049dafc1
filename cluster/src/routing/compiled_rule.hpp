#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "routing/predicate.hpp"
#include "routing/rule.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster::routing {

/// What is the same for all calls of a reference.
struct Here {
  ServiceName service;
  std::string application;             ///< empty: not known
  std::vector<traffic::Place> client;  ///< this host; the texts live elsewhere
};

/// A rule that was found good, its conditions sorted by when they can be asked.
/// Threads: const and concurrent.
struct CompiledRule {
  std::string name;                  ///< "rule 2 (reads)", "rule 1 of the document"
  std::vector<Predicate> here;       ///< of `when`: of the reference
  std::vector<Predicate> each_call;  ///< of `when`: the others; percent comes last
  std::vector<Predicate> to;
  std::optional<Predicate> same;  ///< the one of `to` with same_as
  Otherwise otherwise = Otherwise::next;

  /// All of `here` holds.
  bool concerns(const Here& at) const noexcept;
  /// All of `to` holds, `same` left aside.
  bool means(const Instance& instance) const noexcept;
};

/// Of an instance: the value of an attribute (metadata: with that name); nothing: it has none. Not for weight.
std::optional<std::string_view> value_of(Attribute attribute, const std::string& name,
                                         const Instance& instance) noexcept;
/// Of a call: method, or the header with that name.
std::optional<std::string_view> value_of(Attribute attribute, const std::string& name, const Request& request) noexcept;

struct RuleLimits {
  std::size_t bytes = std::size_t{64} << 10;  ///< of a document
  std::size_t nesting = 16;
  std::size_t rules = 256;
  std::size_t conditions = 32;  ///< of a rule's `when`, and of its `to`
  std::size_t groups = 64;
};

/// What stands in a document or in the options, found good.
struct CompiledRules {
  std::vector<CompiledRule> rules;
  std::vector<std::string> groups;
};

/// `whose`: put behind "rule 3" in names.
/// Fails with: invalid_argument, too_large: "rule 3 (reads): when[0]: below: …".
Result<CompiledRules> compile_rules(const RuleList& list, std::string_view whose, const RuleLimits& limits = {});

/// Reads a document, JSON of the shape of RuleList; no text: no rules.
/// Fails with: malformed (no JSON, or of another shape, with the place), too_large, or what compile_rules() does.
Result<CompiledRules> parse_rules(std::string_view text, const RuleLimits& limits = {});

}  // namespace tenon::cluster::routing
