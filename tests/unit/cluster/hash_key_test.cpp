#include "balancer/hash_key.hpp"

#include <gtest/gtest.h>

#include "balancer/consistent_hash.hpp"
#include "balancer_members.hpp"
#include "support/manual_executor.hpp"
#include "support/recording_log.hpp"
#include "tenon/describe.hpp"
#include "tenon/value.hpp"

namespace hash_key_test {

enum class Tier { basic, gold };
BOOST_DESCRIBE_ENUM(Tier, basic, gold)
struct User {
  std::string name;
  std::int32_t id = 0;
  std::optional<std::string> token;
  std::vector<std::string> mails;
  Tier tier = Tier::basic;
  double score = 0;
};
BOOST_DESCRIBE_STRUCT(User, (), (name, id, token, mails, tier, score))
struct Lookup {
  std::vector<User> others;  // before what is looked for, with the same names
  std::map<std::string, std::string> tags;
  std::map<std::int32_t, std::int32_t> numbers;
  User user;
  std::string id;
  std::vector<std::int32_t> tail;
};
BOOST_DESCRIBE_STRUCT(Lookup, (), (others, tags, numbers, user, id, tail))

}  // namespace hash_key_test

namespace tenon::test {
namespace {

using cluster::hash_text;
using cluster::HashKey;
using hash_key_test::Lookup;
using hash_key_test::Tier;

class HashKeyTest : public testing::Test {
 protected:
  template <class M>
  std::optional<std::uint64_t> key(const HashKey& of, const M& message) {
    request.payload = Payload::borrow(message_type<M>(), &message);
    return of.of(request);
  }
  template <class M>
  std::optional<std::uint64_t> field(const std::string& path, const M& message) {
    const auto made = HashKey::make("consistent-hash", "", path, log);
    return key(**made, message);
  }

  RecordingLog log;
  Target target;
  Request request{target};
};

TEST_F(HashKeyTest, IsWhatTheCallerSays) {
  const auto key = HashKey::make("modulo", "", "", log);
  EXPECT_EQ((*key)->of(request), std::nullopt);
  request.hash_key = 0x8000000000000000;
  EXPECT_EQ((*key)->of(request), 0x8000000000000000);
}

TEST_F(HashKeyTest, IsAHeader) {
  const auto key = HashKey::make("modulo", "x-user", "", log);
  request.hash_key = 7;
  EXPECT_EQ((*key)->of(request), std::nullopt);
  request.headers.set("x-user", "");
  EXPECT_EQ((*key)->of(request), hash_text(""));
  request.headers.set("x-user", "ann");
  EXPECT_EQ((*key)->of(request), hash_text("ann"));
  EXPECT_NE(hash_text("ann"), hash_text("anm"));
}

TEST_F(HashKeyTest, IsAFieldOfTheRequest) {
  Lookup lookup;
  lookup.others.resize(3);
  for (auto& other : lookup.others) {
    other.id = 1000;
    other.mails = {"id", "user"};
  }
  lookup.tags = {{"id", "tagged"}, {"user", "also"}};
  lookup.numbers = {{1, 2}, {3, 4}};
  lookup.user.name = "ann";
  lookup.user.id = -2147483647 - 1;
  lookup.user.tier = Tier::gold;
  lookup.id = "outer";
  EXPECT_EQ(field("user.id", lookup), 0xffffffff80000000);
  EXPECT_EQ(field("user.name", lookup), hash_text("ann"));
  EXPECT_EQ(field("user.tier", lookup), 1u);
  EXPECT_EQ(field("id", lookup), hash_text("outer"));
  EXPECT_EQ(field("tags.id", lookup), hash_text("tagged"));
  EXPECT_EQ(field("user.token", lookup), std::nullopt) << "optional, absent";
  EXPECT_EQ(field("tags.other", lookup), std::nullopt);
  lookup.user.token = "t";
  lookup.user.id = 0;
  EXPECT_EQ(field("user.token", lookup), hash_text("t"));
  EXPECT_EQ(field("user.id", lookup), 0u) << "zero is a key, too";
  EXPECT_EQ(log.lines(), std::vector<std::string>());
}

TEST_F(HashKeyTest, IsAnArgument) {
  Arguments<std::string, hash_key_test::User> call;
  std::get<0>(call.values) = "first";
  std::get<1>(call.values).id = 5;
  EXPECT_EQ(field("arg1", call), hash_text("first"));
  EXPECT_EQ(field("arg2.id", call), 5u);
}

TEST_F(HashKeyTest, IsFoundInDynamicValues) {
  Value value;
  value["other"]["id"] = 1;
  value["list"].push_back("id");
  value["user"]["id"] = 9;
  EXPECT_EQ(field("user.id", value), 9u);
  EXPECT_EQ(field("user.name", value), std::nullopt);
  EXPECT_EQ(log.lines(), std::vector<std::string>());
}

TEST_F(HashKeyTest, WhatCannotBeAKeyIsSaidOnceForEachType) {
  Lookup lookup;
  lookup.numbers = {{1, 2}};
  lookup.user.mails = {"a"};
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"user.uid", "hash_key_test.User has no field uid"},
      {"user", "it is a message"},
      {"user.mails", "it is a list"},
      {"user.score", "it is a f64"},
      {"id.x", "x would be inside a string"},
      {"numbers.1", "1 would be inside a map"}};
  std::size_t lines = 0;
  for (const auto& [path, why] : wrong) {
    const auto made = HashKey::make("consistent-hash", "", path, log);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(key(**made, lookup), std::nullopt) << path;
    ASSERT_EQ(log.lines().size(), ++lines) << path;
    EXPECT_NE(log.lines().back().find("field " + path), std::string::npos) << log.lines().back();
    EXPECT_NE(log.lines().back().find(why), std::string::npos) << log.lines().back();
  }
}

TEST_F(HashKeyTest, EncodedRequestsHaveNone) {
  const auto made = HashKey::make("modulo", "", "id", log);
  EXPECT_EQ((*made)->of(request), std::nullopt) << "no message at all";
  EXPECT_EQ(log.lines().size(), 0u);
  const Encoding encoding;
  request.payload = Payload::borrow_encoded(encoding, "bytes");
  for (int i = 0; i < 3; ++i) EXPECT_EQ((*made)->of(request), std::nullopt);
  EXPECT_EQ(log.lines().size(), 1u);
  EXPECT_EQ(log.count("only encoded"), 1u);
}

TEST_F(HashKeyTest, CallsWithoutTheFieldAreSpread) {
  ManualExecutor executor;
  cluster::ConsistentHashOptions options;
  options.field = "user.uid";
  const auto balancer = cluster::ConsistentHash::create(options, Environment{executor, log, executor.clock()});
  ASSERT_TRUE(balancer.ok());
  Crew crew;
  crew.add("a", 1);
  crew.add("b", 3);
  const Lookup lookup;
  crew.request.payload = Payload::borrow(message_type<Lookup>(), &lookup);
  std::vector<int> got(2, 0);
  for (int round = 0; round < 100; ++round) {
    const auto picker = (*balancer)->over(crew.members);
    const std::vector<int> some = crew.counts(*picker, 100);
    got[0] += some[0];
    got[1] += some[1];
  }
  EXPECT_NEAR(got[1], 7500, 250);
  EXPECT_EQ(log.lines().size(), 1u) << "not once more for each set of members";
  options.header = "both";
  EXPECT_FALSE(cluster::ConsistentHash::create(options, Environment{executor, log, executor.clock()}).ok());
  cluster::ConsistentHashOptions low;
  low.bound = 0.5;
  EXPECT_FALSE(cluster::ConsistentHash::create(low, Environment{executor, log, executor.clock()}).ok());
}

}  // namespace
}  // namespace tenon::test
