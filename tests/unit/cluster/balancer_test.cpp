#include "contract/balancer_contract.hpp"
#include "round_robin.hpp"
#include "support/manual_executor.hpp"
#include "support/recording_log.hpp"

namespace tenon::test {
namespace {

using cluster::RoundRobinPicker;

std::string order(Picker& picker, int picks) {
  const Target target;
  const Request request(target);
  std::string text;
  for (int i = 0; i < picks; ++i) text += static_cast<char>('a' + picker.pick(request, 0));
  return text;
}

Members members(const std::vector<std::uint32_t>& weights) {
  Members made;
  for (const std::uint32_t weight : weights) made.push_back(std::make_shared<ScriptedEndpoint>("x", weight));
  return made;
}

TEST(RoundRobinTest, IsSmooth) {
  const Members three = members({5, 1, 1});
  RoundRobinPicker picker(three, 0);
  EXPECT_EQ(order(picker, 14), "aabacaaaabacaa");
}

TEST(RoundRobinTest, IsSmoothWithACommonDivisorAndWithoutAKeptRound) {
  const Members divided = members({500, 100, 100});
  RoundRobinPicker short_round(divided, 0);
  EXPECT_EQ(order(short_round, 7), "aabacaa");
  const Members coprime = members({50000, 10001, 10000});
  RoundRobinPicker no_round(coprime, 0);
  EXPECT_EQ(order(no_round, 7), "aabacaa");
}

TEST(RoundRobinTest, GoesRoundFromAnyStart) {
  const Members three = members({7, 7, 7});
  for (const std::uint64_t start : {0ull, 1ull, 2147483646ull, 2147483647ull, 4294967294ull, 4294967295ull,
                                    0x7fffffffffffffffull, 0xffffffffffffffffull}) {
    RoundRobinPicker picker(three, start);
    std::string expected;
    for (std::uint64_t i = 0; i < 9; ++i) expected += static_cast<char>('a' + (start % 3 + i) % 3);
    EXPECT_EQ(order(picker, 9), expected) << start;
  }
}

std::unique_ptr<Balancer> make_round_robin() {
  ManualExecutor executor;
  RecordingLog log;
  auto made = cluster::RoundRobin::create({}, Environment{executor, log, executor.clock()});
  return made.ok() ? std::move(*made) : nullptr;
}

INSTANTIATE_TEST_SUITE_P(RoundRobin, BalancerContract, testing::Values(BalancerCase{"plain", make_round_robin}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon::test
