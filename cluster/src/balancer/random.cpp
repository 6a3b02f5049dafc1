#include "balancer/random.hpp"

namespace tenon::cluster {

Result<std::unique_ptr<Random>> Random::create(Options, Environment) { return std::make_unique<Random>(); }

std::unique_ptr<Picker> Random::over(const Members& members) const {
  return std::make_unique<RandomPicker>(equal_weights(members), randoms_.another());
}

Result<std::unique_ptr<WeightedRandom>> WeightedRandom::create(Options, Environment) {
  return std::make_unique<WeightedRandom>();
}

std::unique_ptr<Picker> WeightedRandom::over(const Members& members) const {
  return std::make_unique<RandomPicker>(effective_weights(members), randoms_.another());
}

}  // namespace tenon::cluster
