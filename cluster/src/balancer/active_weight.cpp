#include "balancer/active_weight.hpp"

namespace tenon::cluster {

Result<std::unique_ptr<ActiveWeight>> ActiveWeight::create(Options, Environment) {
  return std::make_unique<ActiveWeight>();
}

std::unique_ptr<Picker> ActiveWeight::over(const Members& members) const {
  return std::make_unique<ActiveWeightPicker>(members, randoms_.another());
}

int ActiveWeightPicker::pick(const Request&, const Eligible& eligible) noexcept {
  const int start = draw_.pick(random_, eligible);
  if (start < 0) return start;
  auto best = static_cast<std::size_t>(start);
  std::uint64_t fewest = in_flight(best);
  if (fewest == 0) return start;
  std::uint64_t weight = draw_.weight(best);
  std::uint64_t equals = 0;  // sum of their weights; 0: the drawn one is among the best, and is the draw among equals
  std::size_t at = best;
  int looked = 1;
  for (std::size_t steps = 1; steps < draw_.size() && looked < looked_at; ++steps) {
    if (++at == draw_.size()) at = 0;
    const std::uint64_t other = draw_.weight(at);
    if (other == 0 || !eligible(at)) continue;
    ++looked;
    const std::uint64_t busy = in_flight(at);
    if (busy * weight < fewest * other) {  // 32 bits each, and weights have 27
      best = at;
      fewest = busy;
      weight = equals = other;
    } else if (equals > 0 && busy * weight == fewest * other) {
      equals += other;
      if (random_.below(equals) < other) {
        best = at;
        fewest = busy;
        weight = other;
      }
    }
  }
  return static_cast<int>(best);
}

}  // namespace tenon::cluster
