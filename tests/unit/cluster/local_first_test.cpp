#include "balancer/local_first.hpp"

#include <gtest/gtest.h>

#include "balancer/consistent_hash.hpp"
#include "balancer_members.hpp"
#include "support/manual_executor.hpp"
#include "support/recording_log.hpp"

namespace tenon::test {
namespace {

using cluster::LocalFirst;
using cluster::LocalFirstOptions;

class LocalFirstTest : public testing::Test {
 protected:
  std::unique_ptr<LocalFirst> make(LocalFirstOptions options) {
    auto made = LocalFirst::create(std::move(options), Environment{executor, log, executor.clock()});
    EXPECT_TRUE(made.ok()) << made.error().text();
    return std::move(*made);
  }
  ManualExecutor executor;
  RecordingLog log;
  Crew crew;
};

TEST_F(LocalFirstTest, KnowsWhatIsOnThisMachine) {
  LocalFirstOptions options;
  options.addresses = {"10.1.2.3", "fd00::7"};
  const auto balancer = make(options);
  const auto local = [&](const std::string& address, const std::string& transport = "tcp") {
    Instance instance;
    instance.address = address;
    instance.transport = transport;
    return balancer->is_local(instance);
  };
  for (const char* address : {"127.0.0.1:80", "127.9.9.9:80", "[::1]:80", "[::ffff:127.0.0.1]:80", "localhost:80",
                              "unix:/run/x.sock", "10.1.2.3:1", "[::ffff:10.1.2.3]:1", "[fd00::7]:80", "10.1.2.3"})
    EXPECT_TRUE(local(address)) << address;
  for (const char* address : {"10.1.2.4:80", "128.0.0.1:80", "[::2]:80", "host:80", "", "10.1.2.30:1", "[::]:1"})
    EXPECT_FALSE(local(address)) << address;
  EXPECT_TRUE(local("greeter", "memory"));
  options.addresses = {"nonsense"};
  const auto bad = LocalFirst::create(options, Environment{executor, log, executor.clock()});
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code(), Errc::config);
}

TEST_F(LocalFirstTest, TakesOthersOnlyWhenNoLocalOneCanBeUsed) {
  crew.add("10.0.0.1:1", 100);
  crew.add("127.0.0.1:1", 30);
  crew.add("10.0.0.2:1", 300);
  crew.add("127.0.0.1:2", 10);
  const auto balancer = make({});
  const auto picker = balancer->over(crew.members);
  EXPECT_EQ(crew.counts(*picker, 400), (std::vector<int>{0, 300, 0, 100}));
  crew[1].state = Health::closed;
  EXPECT_EQ(crew.counts(*picker, 400), (std::vector<int>{0, 0, 0, 400}));
  EXPECT_EQ(crew.pick(*picker, 0b1011), 2) << "the local ones were tried";
  crew[3].state = Health::busy;
  EXPECT_EQ(crew.pick(*picker), 3) << "busy is not closed";
  crew[3].state = Health::closed;
  const std::vector<int> far = crew.counts(*picker, 400);
  EXPECT_EQ(far[0] + far[2], 400);
  EXPECT_NEAR(far[0], 100, 2);
  crew[0].state = crew[2].state = Health::closed;
  EXPECT_EQ(crew.pick(*picker), -1);
  const int somebody = crew.pick(*picker, 0, Eligible::Closed::too);
  EXPECT_TRUE(somebody == 1 || somebody == 3) << "local ones first, again";
  crew[3].state = Health::open;
  EXPECT_EQ(crew.pick(*picker), 3);
}

TEST_F(LocalFirstTest, LocalOnesWithoutAWeightDoNotCount) {
  crew.add("127.0.0.1:1", 0);
  crew.add("10.0.0.1:1");
  crew.add("127.0.0.1:2").is.serving = false;
  const auto balancer = make({});
  EXPECT_EQ(crew.counts(*balancer->over(crew.members), 100), (std::vector<int>{0, 100, 0}));
}

TEST_F(LocalFirstTest, AsksAnotherBalancerAmongThem) {
  cluster::ConsistentHashOptions inner;
  auto hash = cluster::ConsistentHash::create(inner, Environment{executor, log, executor.clock()});
  LocalFirstOptions options;
  options.among.component = std::move(*hash);
  for (int i = 0; i < 4; ++i) crew.add((i % 2 ? "127.0.0.1:" : "10.0.0.1:") + std::to_string(i));
  const auto balancer = make(options);
  const auto picker = balancer->over(crew.members);
  std::vector<int> seen(4, 0);
  for (std::uint64_t k = 1; k < 1000; ++k) {
    const int first = crew.pick_key(*picker, k);
    ASSERT_GE(first, 0);
    EXPECT_EQ(crew.pick_key(*picker, k), first);
    ++seen[static_cast<std::size_t>(first)];
  }
  EXPECT_EQ(seen[0] + seen[2], 0);
  EXPECT_NEAR(seen[1], 500, 80);
}

}  // namespace
}  // namespace tenon::test
