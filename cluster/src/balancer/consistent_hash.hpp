#pragma once
#include <memory>
#include <string>

#include "balancer/hash_key.hpp"
#include "balancer/hash_ring.hpp"
#include "balancer/weighted_draw.hpp"
#include "tenon/catalog.hpp"
#include "tenon/cluster.hpp"

namespace tenon::cluster {

struct ConsistentHashOptions {
  std::string header;
  std::string field;
  double bound = 1.25;
};
BOOST_DESCRIBE_STRUCT(ConsistentHashOptions, (), (header, field, bound))

/// Balancer "consistent-hash": calls with the same key go to the same member, of whatever process they come from and in
/// whatever order the members are known (HashRing), with bounded loads (Mirrokni, Thorup and Zadimoghaddam, "Consistent
/// hashing with bounded loads", 2016): a member with more than `bound` times its share of the calls in flight (of this
/// picker's executor) passes a key on to the next in that key's order, and so does one that cannot be used. It gets its
/// keys back afterwards. Calls without a key are spread in proportion to the weights.
class ConsistentHash final : public Balancer {
 public:
  using Options = ConsistentHashOptions;
  /// Fails with: config (header and field, a bad path, a bound that is neither 0 nor at least 1).
  static Result<std::unique_ptr<ConsistentHash>> create(Options options, Environment environment);
  std::unique_ptr<Picker> over(const Members& members) const override;

 private:
  ConsistentHash(double bound, std::unique_ptr<const HashKey> key) : bound_(bound), key_(std::move(key)) {}
  const double bound_;
  const std::unique_ptr<const HashKey> key_;
  const RandomSources randoms_;
};

class ConsistentHashPicker final : public Picker {
 public:
  /// `key` and `members` outlive it. `bound` 0: there is none.
  ConsistentHashPicker(const Members& members, const HashKey& key, double bound, RandomSource random);
  int pick(const Request& request, const Eligible& eligible) noexcept override;
  const HashRing& ring() const noexcept { return ring_; }

 private:
  int pick_among(std::uint32_t arc, std::size_t owner, const Eligible& eligible) noexcept;
  std::uint64_t in_flight(std::size_t position) const noexcept { return members_[position]->stats().in_flight; }

  const Members& members_;
  const HashKey& key_;
  const double bound_;
  HashRing ring_;
  const WeightedDraw draw_;
  RandomSource random_;
};

}  // namespace tenon::cluster

template <>
struct tenon::Describe<tenon::cluster::ConsistentHashOptions> {
  static constexpr auto members = tenon::members(
      tenon::member("header", "name of the header that is the key; default: what the caller says (hash_key)"),
      tenon::member("field", "path of the key in the request message, as in user.id"),
      tenon::member("bound", "times its share of the calls in flight a member may have; 0: any number"));
};
