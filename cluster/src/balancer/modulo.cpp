#include "balancer/modulo.hpp"

#include <algorithm>
#include <tuple>

namespace tenon::cluster {

Result<std::unique_ptr<Modulo>> Modulo::create(Options options, Environment environment) {
  auto key = HashKey::make("modulo", std::move(options.header), options.field, environment.log);
  if (!key.ok()) return std::move(key).error();
  return std::unique_ptr<Modulo>(new Modulo(std::move(*key)));
}

std::unique_ptr<Picker> Modulo::over(const Members& members) const {
  return std::make_unique<ModuloPicker>(members, *key_, randoms_.another());
}

ModuloPicker::ModuloPicker(const Members& members, const HashKey& key, RandomSource random)
    : key_(key), draw_(effective_weights(members)), random_(random) {
  for (std::size_t i = 0; i < members.size(); ++i)
    if (draw_.weight(i) > 0) order_.push_back(static_cast<std::uint32_t>(i));
  std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Instance& one = members[a]->instance();
    const Instance& other = members[b]->instance();
    return std::tie(one.address, one.transport, one.id) < std::tie(other.address, other.transport, other.id);
  });
}

int ModuloPicker::pick(const Request& request, const Eligible& eligible) noexcept {
  const std::optional<std::uint64_t> key = key_.of(request);
  if (!key) return draw_.pick(random_, eligible);
  if (order_.empty()) return -1;
  const std::uint32_t owner = order_[*key % order_.size()];
  if (eligible(owner)) return static_cast<int>(owner);
  std::uint64_t usable = 0;
  for (const std::uint32_t position : order_) usable += eligible(position) ? 1 : 0;
  if (usable == 0) return -1;
  std::uint64_t skip = *key / order_.size() % usable;
  for (const std::uint32_t position : order_)
    if (eligible(position) && skip-- == 0) return static_cast<int>(position);
  return -1;  // not reached: health does not change meanwhile
}

}  // namespace tenon::cluster
