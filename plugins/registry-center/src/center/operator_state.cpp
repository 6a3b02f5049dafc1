#include "operator_state.hpp"

namespace tenon::center {

void OperatorState::load(std::vector<Override> overrides, TimePoint now) {
  for (Override& each : overrides) {
    const InstanceName of = each.of;
    overrides_[of] = {std::move(each), now};
  }
}

Override OperatorState::planned(const InstanceName& of, const Instance& facts, std::optional<std::uint32_t> weight,
                                std::optional<bool> serving) const {
  Override result{of, {}, {}};
  if (const auto found = overrides_.find(of); found != overrides_.end()) result = found->second.value;
  if (weight) result.weight = weight;
  if (serving) result.serving = serving;
  if (result.weight == facts.weight) result.weight.reset();
  if (result.serving == facts.serving) result.serving.reset();
  return result;
}

const Override* OperatorState::set(Override chosen) {
  const InstanceName of = chosen.of;
  if (!chosen.weight && !chosen.serving) {
    overrides_.erase(of);
    return nullptr;
  }
  Kept& kept = overrides_[of];
  kept = {std::move(chosen), never};
  return &kept.value;
}

const Override* OperatorState::announced(const InstanceName& of) {
  const auto found = overrides_.find(of);
  if (found == overrides_.end()) return nullptr;
  found->second.gone = never;
  return &found->second.value;
}

void OperatorState::overruled(const InstanceName& of) {
  if (overrides_.erase(of) != 0) dropped_.push_back(of);
}

void OperatorState::lost(const InstanceName& of, TimePoint now) {
  if (const auto found = overrides_.find(of); found != overrides_.end()) found->second.gone = now;
}

void OperatorState::expire(TimePoint now) {
  for (auto each = overrides_.begin(); each != overrides_.end();) {
    if (each->second.gone == never || now - each->second.gone < keeps) {
      ++each;
      continue;
    }
    dropped_.push_back(each->first);
    each = overrides_.erase(each);
  }
}

}  // namespace tenon::center
