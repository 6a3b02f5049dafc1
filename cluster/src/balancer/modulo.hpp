#pragma once
#include <memory>
#include <string>
#include <vector>

#include "balancer/hash_key.hpp"
#include "balancer/weighted_draw.hpp"
#include "tenon/catalog.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster {

struct ModuloOptions {
  std::string header;
  std::string field;
};
BOOST_DESCRIBE_STRUCT(ModuloOptions, (), (header, field))

/// Balancer "modulo": a call with key k goes to number k % n of the n members that have a weight, in the order of their
/// addresses (as text); when that one cannot be used, to number k / n % m of the m that can. How large a weight is does
/// not count. Nearly every key moves when a member comes or goes: consistent-hash does not do that. Calls without a key
/// are spread in proportion to the weights.
class Modulo final : public Balancer {
 public:
  using Options = ModuloOptions;
  /// Fails with: config (header and field, a bad path).
  static Result<std::unique_ptr<Modulo>> create(Options options, Environment environment);
  std::unique_ptr<Picker> over(const Members& members) const override;

 private:
  explicit Modulo(std::unique_ptr<const HashKey> key) : key_(std::move(key)) {}
  const std::unique_ptr<const HashKey> key_;
  const RandomSources randoms_;
};

class ModuloPicker final : public Picker {
 public:
  /// `key` outlives it.
  ModuloPicker(const Members& members, const HashKey& key, RandomSource random);
  int pick(const Request& request, const Eligible& eligible) noexcept override;

 private:
  const HashKey& key_;
  std::vector<std::uint32_t> order_;  // positions of those that have a weight, by address
  const WeightedDraw draw_;
  RandomSource random_;
};

}  // namespace tenon::cluster

template <>
struct tenon::Describe<tenon::cluster::ModuloOptions> {
  static constexpr auto members = tenon::members(
      tenon::member("header", "name of the header that is the key; default: what the caller says (hash_key)"),
      tenon::member("field", "path of the key in the request message, as in user.id"));
};
