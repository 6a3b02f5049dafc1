#include "balancer/consistent_hash.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "balancer/modulo.hpp"
#include "balancer_members.hpp"
#include "support/recording_log.hpp"

namespace tenon::test {
namespace {

using cluster::ConsistentHashPicker;
using cluster::HashKey;
using cluster::ModuloPicker;
using cluster::RandomSource;

class Keyed : public testing::Test {
 protected:
  ConsistentHashPicker ring(const Crew& crew, double bound = 1.25) const {
    return ConsistentHashPicker(crew.members, *key, bound, RandomSource(1));
  }
  ModuloPicker modulo(const Crew& crew) const { return ModuloPicker(crew.members, *key, RandomSource(1)); }
  /// The addresses that the keys 1 … count go to.
  std::vector<std::string> owners(Crew& crew, Picker& picker, std::uint64_t count) const {
    std::vector<std::string> owners;
    for (std::uint64_t k = 1; k <= count; ++k) owners.push_back(crew.name(crew.pick_key(picker, k)));
    return owners;
  }
  std::vector<std::string> owners(Crew& crew, std::uint64_t count = 100000) const {
    ConsistentHashPicker picker = ring(crew);
    return owners(crew, picker, count);
  }
  static Crew ten() {
    Crew crew;
    for (int i = 0; i < 10; ++i) crew.add("10.0.0." + std::to_string(i) + ":4080");
    return crew;
  }

  RecordingLog log;
  std::unique_ptr<const HashKey> key = std::move(*HashKey::make("consistent-hash", "", "", log));
};

using ConsistentHashTest = Keyed;
using ModuloTest = Keyed;

// What other processes, and other versions, compute: this must not change.
TEST_F(ConsistentHashTest, MapsKeysAsItAlwaysDid) {
  Crew crew = ten();
  ConsistentHashPicker picker = ring(crew);
  std::string text;
  for (const std::uint64_t k : {1ull, 2ull, 3ull, 0x7ffffffeull, 0xfffffffeull, 0x7ffffffffffffffeull,
                                0xffffffff80000000ull /* INT_MIN */, 0x8000000000000000ull, 0xffffffffffffffffull})
    text += std::to_string(crew.pick_key(picker, k));
  EXPECT_EQ(text, "760762079");
  Crew weighted;
  for (int i = 0; i < 6; ++i) weighted.add("host-" + std::to_string(i) + ":1", 10u << i);
  ConsistentHashPicker other = ring(weighted);
  text.clear();
  for (std::uint64_t k = 1; k <= 20; ++k) text += std::to_string(weighted.pick_key(other, k));
  EXPECT_EQ(text, "55544555554435515345");
}

TEST_F(ConsistentHashTest, SameMappingForEveryOrderAndAfterARestart) {
  Crew crew = ten();
  for (std::size_t i = 0; i < 10; ++i) crew[i].is.weight = 50 + static_cast<std::uint32_t>(i) * 10;
  const std::vector<std::string> before = owners(crew, 5000);
  std::mt19937 shuffling(7);
  for (int round = 0; round < 5; ++round) {
    std::vector<std::shared_ptr<FiguredEndpoint>> order = crew.endpoints;
    std::shuffle(order.begin(), order.end(), shuffling);
    Crew other;
    for (const auto& member : order)
      other.add(member->is.address, member->is.weight, "restarted-" + std::to_string(round));
    EXPECT_EQ(owners(other, 5000), before);
  }
}

TEST_F(ConsistentHashTest, MovesOnlyTheKeysOfWhoLeaves) {
  for (const std::size_t count : {2u, 3u, 10u, 30u}) {
    for (const bool weighted : {false, true}) {
      Crew crew;
      double total = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const auto weight = static_cast<std::uint32_t>(weighted ? 20 + i * 7 % 80 : 100);
        crew.add("10.1.0." + std::to_string(i) + ":80", weight);
        total += weight;
      }
      const std::vector<std::string> before = owners(crew, 20000);
      for (std::size_t leaver = 0; leaver < count; leaver += count / 2) {
        Crew rest;
        for (std::size_t i = 0; i < count; ++i)
          if (i != leaver) rest.add(crew[i].is.address, crew[i].is.weight);
        const std::vector<std::string> after = owners(rest, 20000);
        std::size_t moved = 0;
        for (std::size_t k = 0; k < before.size(); ++k) {
          if (before[k] == after[k]) continue;
          ++moved;
          ASSERT_EQ(before[k], crew[leaver].is.address) << "a key of another member has moved";
        }
        const double share = crew[leaver].is.weight / total;
        EXPECT_LE(static_cast<double>(moved), 1.3 * share * 20000) << count << " members";
        EXPECT_GE(static_cast<double>(moved), 0.7 * share * 20000) << count << " members";
      }
    }
  }
}

TEST_F(ConsistentHashTest, SharesAreProportionalToWeightsAndWarmUpDoesNotMoveKeys) {
  Crew crew;
  const std::vector<std::uint32_t> weights{1, 2, 3, 4, 0, 10};
  for (std::size_t i = 0; i < weights.size(); ++i) crew.add("h" + std::to_string(i) + ":1", weights[i]);
  const std::vector<std::string> full = owners(crew);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto got = std::count(full.begin(), full.end(), crew[i].is.address);
    EXPECT_NEAR(static_cast<double>(got), 5000.0 * weights[i], 1000 * (weights[i] > 0)) << i;
  }
  crew[5].part = 10;
  EXPECT_EQ(owners(crew), full);
}

TEST_F(ConsistentHashTest, WhoCannotBeUsedPassesItsKeysToAllOthersAndGetsThemBack) {
  Crew crew = ten();
  ConsistentHashPicker picker = ring(crew);
  const std::vector<std::string> before = owners(crew, picker, 50000);
  crew[3].state = Health::closed;
  const std::vector<std::string> meanwhile = owners(crew, picker, 50000);
  std::map<std::string, int> heirs;
  for (std::size_t k = 0; k < before.size(); ++k) {
    if (before[k] == crew[3].is.address)
      ++heirs[meanwhile[k]];
    else
      ASSERT_EQ(before[k], meanwhile[k]);
  }
  EXPECT_EQ(heirs.size(), 9u);
  for (const auto& [heir, keys] : heirs) EXPECT_NEAR(keys, 5000.0 / 9, 150) << heir;
  EXPECT_EQ(owners(crew, picker, 50000), meanwhile) << "the next one is always the same";
  crew[3].state = Health::open;
  EXPECT_EQ(owners(crew, picker, 50000), before);
  // Also when it left the set, and when it was tried.
  Crew rest;
  for (std::size_t i = 0; i < 10; ++i)
    if (i != 3) rest.add(crew[i].is.address);
  EXPECT_EQ(owners(rest, 50000), meanwhile);
  for (std::uint64_t k = 1; k < 100; ++k) EXPECT_EQ(crew.name(crew.pick_key(picker, k, 1u << 3)), meanwhile[k - 1]);
}

TEST_F(ConsistentHashTest, ComputesNothingAnewInAMillionPicks) {
  Crew crew = ten();
  ConsistentHashPicker picker = ring(crew);
  for (std::uint64_t k = 1; k <= 1000000; ++k) ASSERT_GE(crew.pick_key(picker, k), 0);
  EXPECT_EQ(picker.ring().computed(), 65536u) << "each arc once";
  for (std::uint64_t k = 1; k <= 1000000; ++k) crew.pick_key(picker, k);
  EXPECT_EQ(picker.ring().computed(), 65536u);
}

// Everybody calls with one key and no call ever ends: loads stay within the bound, and every pick finds somebody.
TEST_F(ConsistentHashTest, BoundsLoads) {
  for (const double bound : {1.0, 1.25, 2.0}) {
    Crew crew;
    const std::vector<std::uint32_t> weights{100, 50, 100, 200};
    for (std::size_t i = 0; i < weights.size(); ++i) crew.add("h" + std::to_string(i) + ":1", weights[i]);
    crew.add("closed:1").state = Health::closed;
    ConsistentHashPicker picker = ring(crew, bound);
    for (int calls = 1; calls <= 2000; ++calls) {
      const int chosen = crew.pick_key(picker, 42);
      ASSERT_GE(chosen, 0);
      const auto i = static_cast<std::size_t>(chosen);
      ++crew[i].figures.in_flight;
      ASSERT_LE(crew[i].figures.in_flight, std::ceil(bound * calls * weights.at(i) / 450 + 1e-9)) << bound;
    }
  }
  Crew crew = ten();
  ConsistentHashPicker unbounded = ring(crew, 0);
  const int owner = crew.pick_key(unbounded, 42);
  crew[static_cast<std::size_t>(owner)].figures.in_flight = 1000000;
  EXPECT_EQ(crew.pick_key(unbounded, 42), owner);
}

TEST_F(ConsistentHashTest, CallsWithoutAKeyAreSpreadByWeight) {
  Crew crew;
  crew.add("a", 30);
  crew.add("b", 10);
  ConsistentHashPicker picker = ring(crew);
  const std::vector<int> got = crew.counts(picker, 40000);
  EXPECT_NEAR(got[0], 30000, 450);
}

TEST_F(ModuloTest, CountsInTheOrderOfAddresses) {
  Crew crew;
  crew.add("c:1", 5);
  crew.add("a:1", 500);
  crew.add("none:1", 0);
  crew.add("b:1", 1);
  ModuloPicker picker = modulo(crew);
  const std::vector<std::string> got = owners(crew, picker, 6);
  EXPECT_EQ(got, (std::vector<std::string>{"b:1", "c:1", "a:1", "b:1", "c:1", "a:1"}));
  for (const std::uint64_t k :
       {0x7ffffffeull, 0x7fffffffull, 0x80000000ull, 0xfffffffeull, 0xffffffffull, 0x7ffffffffffffffeull,
        0x8000000000000000ull, 0xffffffff80000000ull /* INT_MIN */, 0xffffffffffffffffull})
    EXPECT_EQ(crew.name(crew.pick_key(picker, k)), std::string(1, static_cast<char>('a' + k % 3)) + ":1") << k;
}

TEST_F(ModuloTest, SpreadsTheKeysOfWhoCannotBeUsed) {
  Crew crew = ten();
  ModuloPicker picker = modulo(crew);
  crew[4].state = Health::closed;
  std::map<std::string, int> heirs;
  for (std::uint64_t k = 4; k < 90000; k += 10) ++heirs[crew.name(crew.pick_key(picker, k))];
  EXPECT_EQ(heirs.size(), 9u);
  for (const auto& [heir, keys] : heirs) EXPECT_EQ(keys, 1000) << heir;
  EXPECT_EQ(crew.pick_key(picker, 13), 3);
}

TEST_F(Keyed, OptionsAreChecked) {
  ASSERT_FALSE(HashKey::make("modulo", "a", "b", log).ok());
  const auto bad = HashKey::make("modulo", "", "user..id", log);
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code(), Errc::config);
  EXPECT_NE(bad.error().text().find("user..id"), std::string::npos);
  EXPECT_FALSE(HashKey::make("modulo", "", ".", log).ok());
}

}  // namespace
}  // namespace tenon::test
