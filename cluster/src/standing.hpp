#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cache.hpp"
#include "group_targets.hpp"
#include "ha/retry_budget.hpp"
#include "health/outliers.hpp"
#include "routing/router_chain.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster {

/// What a reference's cluster shares with its waiting calls and observers, which may end after it.
/// Threads: the reference's executor.
struct Standing {
  Standing(ClusterParts p, std::uint32_t retry_percent, std::uint32_t retries_per_second)
      : parts(std::move(p)), budget(retry_percent, retries_per_second, parts.executor->clock().now()) {
    if (!parts.cache.empty()) cache = std::make_unique<Cache>(parts.cache, parts.subscriber, *parts.log);
  }

  /// Why there are no members, for people.
  std::string why_empty() const;
  TimePoint now() const noexcept { return parts.executor->clock().now(); }
  std::string who() const { return parts.service.text() + ": "; }

  const ClusterParts parts;
  const std::shared_ptr<Router> router = RouterChain::of(parts.routers);  ///< all of them; null: there are none
  RetryBudget budget;
  std::uint64_t retries = 0;  ///< attempts the budget paid for
  std::uint64_t refused = 0;  ///< and did not
  std::shared_ptr<Outliers> outliers;  ///< null only until the cluster is made
  std::unique_ptr<Cache> cache;  ///< null: nothing is kept, or the cluster has gone
  std::uint64_t generations = 0;  ///< number of the newest set of members, 32 bits, never 0
  /// Of the groups whose instances were ever members, besides the own one.
  std::map<std::string, std::shared_ptr<GroupTargets>> targets;
  std::size_t known = 0;  ///< instances the registries name
  /// What each registry has said of the own group.
  struct Word {
    bool spoken = false;
    Error error;  ///< the last one, none after a good snapshot
  };
  std::vector<Word> words = std::vector<Word>(parts.registries.size());
  Error dial_error;  ///< why one of the known instances cannot be dialled
};

}  // namespace tenon::cluster
