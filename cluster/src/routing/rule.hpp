#pragma once
// Routing rules as people write them, in a manifest or in a document.

#include <optional>
#include <string>
#include <vector>

#include "tenon/describe.hpp"

namespace tenon::cluster::routing {

/// Asks one thing about a call (in `when`) or an instance (in `to`). All operators that are given must hold.
struct Condition {
  std::string attribute{};
  std::optional<std::string> equals{};
  std::vector<std::string> in{};
  std::vector<std::string> not_in{};
  std::optional<std::string> prefix{};
  std::optional<std::string> suffix{};
  std::optional<std::string> matches{};
  std::optional<bool> exists{};
  std::optional<double> from{};
  std::optional<double> below{};
  std::optional<std::string> same_as{};
};
BOOST_DESCRIBE_STRUCT(Condition, (),
                      (attribute, equals, in, not_in, prefix, suffix, matches, exists, from, below, same_as))

enum class Otherwise { next, fail };
BOOST_DESCRIBE_ENUM(Otherwise, next, fail)

/// Calls of which all of `when` holds go to the instances of which all of `to` holds.
struct Rule {
  std::string name{};
  std::vector<Condition> when{};
  std::vector<Condition> to{};
  Otherwise otherwise = Otherwise::next;
};
BOOST_DESCRIBE_STRUCT(Rule, (), (name, when, to, otherwise))

/// What a document holds.
struct RuleList {
  std::vector<std::string> groups;
  std::vector<Rule> rules;
};
BOOST_DESCRIBE_STRUCT(RuleList, (), (groups, rules))

/// Of router "rules".
struct RulesOptions {
  std::vector<Rule> rules{};
  std::vector<std::string> groups{};
  std::string application{};
  std::vector<std::string> addresses{};
};
BOOST_DESCRIBE_STRUCT(RulesOptions, (), (rules, groups, application, addresses))

}  // namespace tenon::cluster::routing

template <>
struct tenon::Describe<tenon::cluster::routing::Condition> {
  static constexpr auto members = tenon::members(
      tenon::member("attribute", "of the call: method, header.NAME, percent …; of an instance: metadata.NAME, group …"),
      tenon::member("equals", "its value is this"), tenon::member("in", "its value is one of these"),
      tenon::member("not_in", "its value is none of these, or it has none"),
      tenon::member("prefix", "its value begins so"), tenon::member("suffix", "its value ends so"),
      tenon::member("matches", "a pattern: * is any text, ? any character"),
      tenon::member("exists", "whether it has a value"), tenon::member("from", "a number, at least this"),
      tenon::member("below", "a number, less than this"),
      tenon::member("same_as", "in `to`: its value is that of the call's method or header.NAME"));
};

template <>
struct tenon::Describe<tenon::cluster::routing::Rule> {
  static constexpr auto members = tenon::members(
      tenon::member("name", "for people"), tenon::member("when", "which calls: all conditions hold; none: every call"),
      tenon::member("to", "which instances: all conditions hold; none: all"),
      tenon::member("otherwise", "if none of them can take calls: try the next rule, or fail the call"));
};

template <>
struct tenon::Describe<tenon::cluster::routing::RuleList> {
  static constexpr auto members =
      tenon::members(tenon::member("groups", "other groups of the service; they serve only what a rule sends there"),
                     tenon::member("rules", "the first that is about a call and has somebody for it decides"));
};

template <>
struct tenon::Describe<tenon::cluster::routing::RulesOptions> {
  static constexpr auto members =
      tenon::members(tenon::member("rules", "behind those of the document; the first that is about a call decides"),
                     tenon::member("groups", "other groups of the service; they serve only what a rule sends there"),
                     tenon::member("application", "what conditions on `application` compare with"),
                     tenon::member("addresses", "this host's, for `client`; default: those of its network interfaces"));
};
