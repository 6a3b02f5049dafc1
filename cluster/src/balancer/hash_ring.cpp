#include "balancer/hash_ring.hpp"

#include <algorithm>

#include "balancer/hash_key.hpp"

namespace tenon::cluster {

namespace {
constexpr std::size_t arcs = 65536;
}

HashRing::HashRing(const Members& members) {
  std::uint32_t common = 0;
  nodes_.reserve(members.size());
  for (const auto& member : members) {
    const Instance& instance = member->instance();
    std::uint32_t weight = 0;
    if (member->effective_weight() > 0)
      weight = std::clamp<std::uint32_t>(instance.weight, 1, Endpoint::weight_limit / 100);
    nodes_.push_back({mix(hash_text(instance.transport) + hash_text(instance.address)), weight});
    if (weight == 0) continue;
    equal_ = equal_ && (common == 0 || common == weight);
    common = weight;
  }
  if (nodes_.size() < std::numeric_limits<std::uint16_t>::max()) owners_.resize(arcs);
}

int HashRing::owner(std::uint32_t arc) noexcept {
  if (!owners_.empty() && owners_[arc] != 0) return owners_[arc] - 1;
  const int found = best(arc, [](std::size_t) { return true; });
  if (!owners_.empty()) owners_[arc] = static_cast<std::uint16_t>(found + 1);
  ++computed_;
  return found;
}

}  // namespace tenon::cluster
