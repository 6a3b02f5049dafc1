// Strategies that ask several instances at once.
#include "ha/broadcast.hpp"
#include "ha/forking.hpp"
#include "ha_fixture.hpp"

namespace tenon::cluster {
namespace {

using std::chrono::milliseconds;
using fake::failure;

class ForkingTest : public HaFixture {
 protected:
  std::unique_ptr<Forking> make(std::uint32_t forks = 2) {
    auto made = Forking::create({.forks = forks}, environment());
    EXPECT_TRUE(made.ok());
    return std::move(*made);
  }
};

TEST_F(ForkingTest, TheFastestAnswersAndTheOthersEnd) {
  const auto strategy = make(3);
  at(0).always.takes = milliseconds(50);
  at(1).always.takes = milliseconds(10);
  at(2).always.takes = forever;
  const TimePoint began = now();
  EXPECT_EQ(who(*strategy), "b");
  EXPECT_EQ(now() - began, milliseconds(10));
  EXPECT_EQ(sent(), 3);
  EXPECT_EQ(executor.clock().next(), never) << "the losers have ended";
  EXPECT_EQ(at(0).replies, std::vector<void*>{&reply});
  EXPECT_EQ(at(1).replies, std::vector<void*>{nullptr});
  EXPECT_EQ(at(2).attempts, std::vector<std::uint32_t>{2});
}

TEST_F(ForkingTest, AFailureDoesNotDecide) {
  const auto strategy = make();
  at(0).always = Step{failure(Errc::application, Delivery::ran, Advice::none, "no"), milliseconds(1)};
  at(1).always.takes = milliseconds(10);
  EXPECT_EQ(who(*strategy), "b");
}

TEST_F(ForkingTest, WhenAllFailTheFirstErrorHasTheWorstDelivery) {
  const auto strategy = make();
  at(0).always = Step{failure(Errc::unavailable, Delivery::not_run, Advice::none, "a left"), milliseconds(1)};
  at(1).always = Step{failure(Errc::unavailable, Delivery::maybe_run, Advice::none, "b broke"), milliseconds(2)};
  const auto answer = call(*strategy);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().text(), "2 attempts failed, the first: a left");
  EXPECT_EQ(answer.error().delivery(), Delivery::maybe_run);
  at(1).always.error = failure(Errc::application, Delivery::ran, Advice::none, "no such user");
  candidates->turn = 0;
  EXPECT_EQ(who(*strategy), "error: no such user") << "a handler's answer is told as it is";
}

TEST_F(ForkingTest, OnlyWhatIsIdempotentForks) {
  const auto strategy = make();
  target.idempotent = false;
  EXPECT_EQ(who(*strategy), "a");
  EXPECT_EQ(sent(), 1);
}

TEST_F(ForkingTest, ForksArePaidFor) {
  const auto strategy = make(3);
  all({.takes = milliseconds(1)});
  candidates->budget = 1;
  EXPECT_EQ(who(*strategy), "a");
  EXPECT_EQ(sent(), 2);
  EXPECT_EQ(count(*strategy, "forks"), 1u);
}

TEST_F(ForkingTest, NoInstanceIsAskedTwice) {
  const auto strategy = make(10);
  all({.takes = milliseconds(1)});
  EXPECT_EQ(who(*strategy), "a");
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(at(i).calls, 1);
}

class BroadcastTest : public HaFixture {
 protected:
  std::unique_ptr<Broadcast> make(std::uint32_t fail_percent = 0) {
    auto made = Broadcast::create({.fail_percent = fail_percent}, environment());
    EXPECT_TRUE(made.ok());
    return std::move(*made);
  }
};

TEST_F(BroadcastTest, EverybodyIsAskedAtOnceAndWaitedFor) {
  const auto strategy = make();
  target.idempotent = false;
  for (std::size_t i = 0; i < 3; ++i) at(i).always.takes = milliseconds(10 * (3 - i));
  const TimePoint began = now();
  EXPECT_EQ(who(*strategy), "a");
  EXPECT_EQ(now() - began, milliseconds(30));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(at(i).calls, 1);
}

TEST_F(BroadcastTest, OneFailureFailsTheCallAndNamesItsPlace) {
  const auto strategy = make();
  at(1).always.error = failure(Errc::unavailable, Delivery::not_run, Advice::none, "gone");
  const auto answer = call(*strategy);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().text(), "1 of 3 instances failed (b:4080), the first: gone");
  EXPECT_EQ(answer.error().code(), Errc::unavailable);
  EXPECT_EQ(answer.error().delivery(), Delivery::ran) << "two have done it";
  EXPECT_EQ(count(*strategy, "instances asked"), 3u);
  EXPECT_EQ(count(*strategy, "instances failed"), 1u);
}

TEST_F(BroadcastTest, SomeMayFail) {
  at(0).always.error = failure(Errc::unavailable, Delivery::not_run);
  EXPECT_EQ(who(*make(34)), "b");
  EXPECT_EQ(who(*make(33)).substr(0, 6), "error:");
  at(2).always.error = failure(Errc::unavailable, Delivery::not_run);
  EXPECT_EQ(who(*make(34)).substr(0, 6), "error:");
  EXPECT_EQ(who(*make(67)), "b");
  at(1).always.error = failure(Errc::unavailable, Delivery::not_run);
  const auto answer = call(*make(100));
  ASSERT_FALSE(answer.ok()) << "there is no answer to give";
  EXPECT_EQ(answer.error().delivery(), Delivery::not_run);
}

TEST_F(BroadcastTest, ManyAddressesAreCutShort) {
  for (int i = 0; i < 20; ++i)
    candidates->endpoints.push_back(std::make_shared<Scripted>(fake::instance("x" + std::to_string(i))));
  all({.error = failure(Errc::unavailable, Delivery::not_run)});
  EXPECT_EQ(who(*make()),
            "error: 23 of 23 instances failed (a:4080, b:4080, c:4080, x0:4080, x1:4080, …), the first: scripted");
}

}  // namespace
}  // namespace tenon::cluster
