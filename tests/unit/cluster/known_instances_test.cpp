#include "known_instances.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/cluster_fakes.hpp"

namespace tenon::cluster {
namespace {

using std::chrono::seconds;

constexpr TimePoint start{std::chrono::hours(7)};

class KnownInstancesTest : public testing::Test {
 protected:
  bool say(std::uint64_t revision, const std::string& ids, std::vector<std::string> withdrawn = {},
           TimePoint now = start) {
    Snapshot snapshot;
    snapshot.revision = revision;
    for (const char id : ids) snapshot.instances.push_back(fake::instance(std::string(1, id)));
    snapshot.withdrawn = std::move(withdrawn);
    return known.apply(snapshot, now);
  }
  std::string ids() const {
    std::string all;
    known.each([&](const Instance& instance) { all += instance.id; });
    return all;
  }
  KnownInstances known{{seconds(60), 50}};
};

TEST_F(KnownInstancesTest, TheNewestSnapshotCounts) {
  EXPECT_FALSE(known.heard());
  EXPECT_TRUE(say(2, "abc"));
  EXPECT_TRUE(known.heard());
  EXPECT_FALSE(say(1, "xyz")) << "older: ignored";
  EXPECT_EQ(ids(), "abc");
  EXPECT_TRUE(say(3, "bcd"));
  EXPECT_EQ(ids(), "bcd");
  EXPECT_EQ(known.next_expiry(), never);
}

TEST_F(KnownInstancesTest, AnUnexplainedEmptySnapshotIsNotBelievedForAMinute) {
  say(1, "ab");
  say(2, "", {}, start + seconds(5));
  EXPECT_EQ(ids(), "ab");
  EXPECT_EQ(known.kept(), 2u);
  EXPECT_EQ(known.next_expiry(), start + seconds(65));
  say(3, "", {}, start + seconds(30));
  EXPECT_EQ(known.next_expiry(), start + seconds(65)) << "saying it again does not prolong it";
  known.expire(start + seconds(64));
  EXPECT_EQ(ids(), "ab");
  known.expire(start + seconds(65));
  EXPECT_EQ(ids(), "");
  EXPECT_EQ(known.next_expiry(), never);
}

TEST_F(KnownInstancesTest, WhoWithdrewIsGoneAtOnce) {
  say(1, "ab");
  say(2, "", {"a"});
  EXPECT_EQ(ids(), "b");
  say(3, "", {"b"});
  EXPECT_EQ(ids(), "");
}

TEST_F(KnownInstancesTest, AFirstEmptySnapshotIsEmpty) {
  EXPECT_TRUE(say(1, ""));
  EXPECT_TRUE(known.heard());
  EXPECT_EQ(ids(), "");
  EXPECT_EQ(known.next_expiry(), never);
}

TEST_F(KnownInstancesTest, ComingBackEndsTheDoubt) {
  say(1, "ab");
  say(2, "");
  say(3, "ab");
  EXPECT_EQ(ids(), "ab");
  EXPECT_EQ(known.next_expiry(), never);
}

TEST_F(KnownInstancesTest, LosingMoreThanHalfAtOnceIsSuspectLosingHalfIsNot) {
  say(1, "abcd");
  say(2, "ab");
  EXPECT_EQ(ids(), "ab");
  say(3, "abcd");
  say(4, "a");
  EXPECT_EQ(ids(), "abcd");
  EXPECT_EQ(known.kept(), 3u);
}

TEST_F(KnownInstancesTest, ARestartUnderANewIdAtTheSameAddressIsNoLoss) {
  say(1, "a");
  Instance restarted = fake::instance("z");
  restarted.address = fake::instance("a").address;
  Snapshot snapshot;
  snapshot.revision = 2;
  snapshot.instances = {restarted};
  EXPECT_TRUE(known.apply(snapshot, start));
  EXPECT_EQ(ids(), "z");
}

TEST_F(KnownInstancesTest, WithoutALimitEveryEmptySnapshotIsBelieved) {
  KnownInstances trusting({Duration{0}, 50});
  Snapshot snapshot;
  snapshot.instances = {fake::instance("a")};
  trusting.apply(snapshot, start);
  snapshot.instances.clear();
  trusting.apply(snapshot, start);
  EXPECT_EQ(trusting.size(), 0u);
}

TEST_F(KnownInstancesTest, WhatIsRecalledIsLikeWhatWasNamed) {
  const auto recall = [this] { known.recall({fake::instance("a"), fake::instance("b"), fake::instance("c")}); };
  recall();
  EXPECT_FALSE(known.heard());
  EXPECT_EQ(ids(), "abc");
  EXPECT_EQ(known.list().size(), 3u);
  EXPECT_EQ(known.kept(), 0u);
  EXPECT_EQ(known.next_expiry(), never) << "as long as the registry says nothing";
  EXPECT_TRUE(say(1, "d", {"b"})) << "whatever its revision";
  EXPECT_EQ(ids(), "dac") << "who withdrew is gone, the others went in a suspect way";
  EXPECT_EQ(known.next_expiry(), start + seconds(60));
  recall();
  EXPECT_EQ(ids(), "dac") << "it has spoken";
  known.expire(start + seconds(60));
  recall();
  EXPECT_EQ(ids(), "d");
}

}  // namespace
}  // namespace tenon::cluster
