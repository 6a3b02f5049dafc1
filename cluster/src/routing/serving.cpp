#include "routing/serving.hpp"

#include <algorithm>

namespace tenon::cluster {

bool has_member(const Router::Table& table, const Endpoint& member) noexcept {
  const auto subsets = table.subsets();
  return std::any_of(subsets.begin(), subsets.end(), [&](const Members& subset) {
    return std::any_of(subset.begin(), subset.end(), [&](const auto& each) { return each.get() == &member; });
  });
}

Serving serving(const Router::Table& table, const Request& request, const Endpoint& member) {
  if (const auto* explained = dynamic_cast<const ExplainedTable*>(&table)) return explained->serving(request, member);
  return has_member(table, member) ? Serving::yes : Serving::no;
}

}  // namespace tenon::cluster
