#pragma once
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "routing/compiled_rule.hpp"
#include "routing/serving.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster::routing {

/// Rules over one set of members. What each rule means is worked out here, once; a call is asked the conditions that
/// are about it, rule by rule, and nothing is allocated.
/// Percentages: a call with a hash key always has the same place between 0 and 100; the others are spread as evenly as
/// traffic is.
/// Threads: its reference's executor.
class RulesTable final : public ExplainedTable {
 public:
  using Rules = std::shared_ptr<const std::vector<CompiledRule>>;
  static constexpr std::size_t max_subsets = 4096;
  /// `others`: groups that serve only what a rule sends there. `complaints`: what is wrong already. `start`: where the
  /// spreading begins, any number. Fails with: too_large (a rule with same_as makes too many subsets).
  static Result<std::unique_ptr<RulesTable>> make(Rules rules, const Here& here, const std::set<std::string>& others,
                                                  const Members& members, std::vector<std::string> complaints,
                                                  std::uint64_t start);

  std::span<const Members> subsets() const noexcept override { return subsets_; }
  std::span<const std::string> complaints() const noexcept override { return complaints_; }
  int choose(const Request& request) const noexcept override;
  int next(const Request& request, int subset) const noexcept override;
  std::string explain(const Request& request, const Endpoint& member) const override;
  Serving serving(const Request& request, const Endpoint& member) const override;

 private:
  /// A rule that concerns this client, and whom it means.
  struct Entry {
    const CompiledRule* rule;
    int subset = -1;                                      // -1: nobody
    std::vector<std::pair<std::string, int>> of_value{};  // instead, with same_as: sorted
  };
  /// Where between 0 and 1000 a call is, found out when it is asked first.
  class Draw;
  /// What is to be said of a member.
  struct Finding {
    Serving serving = Serving::no;
    std::string text;
  };

  RulesTable(Rules rules, std::vector<std::string> complaints, std::uint64_t start)
      : rules_(std::move(rules)), complaints_(std::move(complaints)), at_(start) {}
  Result<void> add(const CompiledRule& rule, const Members& able);
  int add_subset(Members members, std::size_t entry);
  int from(const Request& request, Draw& draw, std::size_t entry) const noexcept;
  int subset_of(const Entry& entry, const Request& request) const noexcept;
  bool usable(int subset) const noexcept;
  bool has(int subset, const Endpoint& member) const noexcept;
  Finding find(const Request& request, const Endpoint& member) const;
  /// What the rules leave over.
  enum class Left : std::uint8_t { all, part, passed_on, fallback };
  Finding at_end(Finding found, const Endpoint& member, Left left) const;

  const Rules rules_;
  std::vector<std::string> complaints_;
  std::vector<Entry> entries_;
  std::vector<Members> subsets_;
  std::vector<std::size_t> entry_of_;  // whose subset it is; entries_.size(): that of calls no rule decides
  int rest_ = -1;                      // the subset of calls no rule decides
  mutable std::uint64_t at_;           // the last call's place, as a fraction of 2^64
};

}  // namespace tenon::cluster::routing
