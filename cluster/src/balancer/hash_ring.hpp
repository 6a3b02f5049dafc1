#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "balancer/random_source.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster {

/// Which member is responsible for a key: a ring of 65 536 arcs, and for each arc an order of the members, the best of
/// which owns it. Orders are those of weighted rendezvous hashing (Thaler and Ravishankar 1998; weights as in
/// Schindelhauer and Schomaker 2005: least -ln(hash)/weight), so that
///   - shares are proportional to the weights (Instance::weight: what warms up has its keys at once, and they stay),
///   - a member that comes takes its keys from all others in proportion, and one that goes gives its keys to all; no
///     other key moves. (A ring of points per weight moves others when the mean weight changes, and gives everything a
///     member had to its few neighbours.)
///   - only transport and address of members count, not their number, order, id or process.
/// An owner is computed at the first pick for its arc and kept: later picks cost a load.
/// Threads: one.
class HashRing {
 public:
  /// `members` outlive it.
  explicit HashRing(const Members& members);

  std::uint32_t arc(std::uint64_t key) const noexcept { return static_cast<std::uint32_t>(mix(key) >> 48); }
  /// -1: nobody has a weight.
  int owner(std::uint32_t arc) noexcept;
  /// The best of those positions `accepts(position)` holds for; -1: for none that has a weight.
  template <class Accepts>
  int best(std::uint32_t arc, const Accepts& accepts) const noexcept {
    const std::uint64_t place = mix(arc + std::uint64_t{0x9e3779b97f4a7c15});
    int best = -1;
    std::uint64_t highest = 0;  // hash, when all weights are equal
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].weight == 0 || !accepts(i)) continue;
      const std::uint64_t hash = mix(place ^ nodes_[i].hash);
      if (equal_) {
        if (best >= 0 && hash <= highest) continue;
        highest = hash;
      } else {
        const double distance = -std::log((static_cast<double>(hash >> 11) + 0.5) * 0x1p-53) / nodes_[i].weight;
        if (distance >= nearest) continue;
        nearest = distance;
      }
      best = static_cast<int>(i);
    }
    return best;
  }
  /// 0: it takes no keys.
  std::uint32_t weight(std::size_t position) const noexcept { return nodes_[position].weight; }
  std::size_t size() const noexcept { return nodes_.size(); }
  /// How many owners have been computed so far.
  std::uint64_t computed() const noexcept { return computed_; }

 private:
  struct Node {
    std::uint64_t hash;
    std::uint32_t weight;
  };
  std::vector<Node> nodes_;
  bool equal_ = true;                  // those that have a weight have the same
  std::vector<std::uint16_t> owners_;  // by arc, position + 1; 0: not known yet. Empty: too many members to be kept
  std::uint64_t computed_ = 0;
};

}  // namespace tenon::cluster
