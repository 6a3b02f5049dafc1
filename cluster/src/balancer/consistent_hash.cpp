#include "balancer/consistent_hash.hpp"

#include <cmath>

namespace tenon::cluster {

Result<std::unique_ptr<ConsistentHash>> ConsistentHash::create(Options options, Environment environment) {
  if (!(options.bound == 0 || (options.bound >= 1 && options.bound <= 1e6)))
    return Error(Errc::config, "consistent-hash: bound is 0 (none) or from 1 to 1000000, as in 1.25",
                 Delivery::not_run);
  auto key = HashKey::make("consistent-hash", std::move(options.header), options.field, environment.log);
  if (!key.ok()) return std::move(key).error();
  return std::unique_ptr<ConsistentHash>(new ConsistentHash(options.bound, std::move(*key)));
}

std::unique_ptr<Picker> ConsistentHash::over(const Members& members) const {
  return std::make_unique<ConsistentHashPicker>(members, *key_, bound_, randoms_.another());
}

ConsistentHashPicker::ConsistentHashPicker(const Members& members, const HashKey& key, double bound,
                                           RandomSource random)
    : members_(members), key_(key), bound_(bound), ring_(members), draw_(effective_weights(members)), random_(random) {}

int ConsistentHashPicker::pick(const Request& request, const Eligible& eligible) noexcept {
  const std::optional<std::uint64_t> key = key_.of(request);
  if (!key) return draw_.pick(random_, eligible);
  const std::uint32_t arc = ring_.arc(*key);
  const int owner = ring_.owner(arc);
  if (owner < 0) return owner;
  const auto position = static_cast<std::size_t>(owner);
  // Any bound lets everybody have one.
  if (eligible(position) && (bound_ == 0 || in_flight(position) == 0)) return owner;
  return pick_among(arc, position, eligible);
}

// Bounds are rounded up, so together they hold more calls than there are: somebody always has room.
int ConsistentHashPicker::pick_among(std::uint32_t arc, std::size_t owner, const Eligible& eligible) noexcept {
  if (bound_ == 0) return ring_.best(arc, eligible);
  std::uint64_t calls = 1;
  std::uint64_t weights = 0;
  for (std::size_t i = 0; i < ring_.size(); ++i) {
    if (ring_.weight(i) == 0 || !eligible(i)) continue;
    calls += in_flight(i);
    weights += ring_.weight(i);
  }
  if (weights == 0) return -1;
  const double each = bound_ * static_cast<double>(calls) / static_cast<double>(weights);
  const auto has_room = [&](std::size_t i) {
    return ring_.weight(i) > 0 && eligible(i) && static_cast<double>(in_flight(i)) < std::ceil(each * ring_.weight(i));
  };
  return has_room(owner) ? static_cast<int>(owner) : ring_.best(arc, has_room);
}

}  // namespace tenon::cluster
