#pragma once
// How one snapshot of a service differs from the one before, a line for each difference.

#include <string>
#include <vector>

#include "tenon/registry.hpp"

namespace tenon::cli {

/// A difference.
struct RegistryChange {
  enum class What { joined, left, withdrawn, changed };
  What what;
  Instance instance;  ///< as it is now; of one that has gone, as it was
  std::string text;   ///< "+ 10.0.0.1:4080 (id a), weight 100, serving", "~ 10.0.0.1:4080 weight 100 -> 50"
};

/// Those from `before` to `now`, by what they are and address. The same instance is one with the same id.
std::vector<RegistryChange> changes(const std::vector<Instance>& before, const Snapshot& now);

/// "joined", "left", …
std::string to_string(RegistryChange::What what);

}  // namespace tenon::cli
