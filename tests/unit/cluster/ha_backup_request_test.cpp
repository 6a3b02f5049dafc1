#include "ha/backup_request.hpp"

#include <map>

#include "ha/latency_histogram.hpp"
#include "ha_fixture.hpp"

namespace tenon::cluster {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using fake::failure;

class BackupRequestTest : public HaFixture {
 protected:
  std::unique_ptr<BackupRequest> make(BackupRequestOptions options) {
    auto made = BackupRequest::create(options, environment());
    EXPECT_TRUE(made.ok());
    return std::move(*made);
  }
  /// A backup after 10 ms, as many as wanted.
  std::unique_ptr<BackupRequest> eager() { return make({.after = milliseconds(10), .ratio = 100}); }
};

TEST_F(BackupRequestTest, WhatAnswersInTimeIsAskedOnce) {
  const auto strategy = eager();
  all({.takes = milliseconds(9)});
  EXPECT_EQ(who(*strategy), "a");
  EXPECT_EQ(sent(), 1);
  EXPECT_EQ(at(0).replies, std::vector<void*>{&reply}) << "the reply goes where the caller wants it";
  EXPECT_EQ(executor.clock().next(), never) << "the timer is gone";
}

TEST_F(BackupRequestTest, TheBackupsAnswerIsTakenAndTheFirstAttemptEnds) {
  const auto strategy = eager();
  at(0).always.takes = forever;
  at(1).always.takes = milliseconds(5);
  const TimePoint began = now();
  EXPECT_EQ(who(*strategy), "b");
  EXPECT_EQ(now() - began, milliseconds(15));
  EXPECT_EQ(sent(), 2);
  EXPECT_EQ(at(0).attempts, std::vector<std::uint32_t>{0});
  EXPECT_EQ(at(1).attempts, std::vector<std::uint32_t>{1});
  EXPECT_EQ(at(1).replies, std::vector<void*>{nullptr}) << "two attempts do not share an object";
  EXPECT_EQ(executor.clock().next(), never) << "nothing is under way";
  EXPECT_EQ(count(*strategy, "backups"), 1u);
  EXPECT_EQ(count(*strategy, "backups that won"), 1u);
}

TEST_F(BackupRequestTest, TheFirstAttemptMayStillWin) {
  const auto strategy = eager();
  at(0).always.takes = milliseconds(20);
  at(1).always.takes = forever;
  EXPECT_EQ(who(*strategy), "a");
  EXPECT_EQ(sent(), 2);
  EXPECT_EQ(count(*strategy, "backups that won"), 0u);
}

TEST_F(BackupRequestTest, AtMostOneBackup) {
  const auto strategy = eager();
  all({.takes = seconds(5)});
  EXPECT_EQ(who(*strategy), "a");
  EXPECT_EQ(sent(), 2);
}

TEST_F(BackupRequestTest, NeverTheSameInstance) {
  const auto strategy = eager();
  all({.takes = seconds(1)});
  candidates->endpoints.resize(1);
  EXPECT_EQ(who(*strategy), "a");
  EXPECT_EQ(sent(), 1);
  EXPECT_EQ(count(*strategy, "backups refused"), 1u);
}

// LB-10. Whoever comes second is not the first one's neighbour.
TEST_F(BackupRequestTest, BackupsAreSpreadLikeCalls) {
  const auto strategy = eager();
  for (const char* id : {"d", "e"}) candidates->endpoints.push_back(std::make_shared<Scripted>(fake::instance(id)));
  std::map<std::string, int> backups;
  for (int i = 0; i < 2000; ++i) {
    for (auto& endpoint : candidates->endpoints) endpoint->script.clear();
    // Whoever is asked first is slow.
    at(candidates->turn % 5).script.push_back({.takes = milliseconds(100)});
    ++backups[who(*strategy)];
  }
  ASSERT_EQ(backups.size(), 5u);
  for (const auto& [id, times] : backups) EXPECT_NEAR(times, 400, 20) << id;
  EXPECT_GE(count(*strategy, "backups"), 1990u) << "a second's budget may end between a call and its backup";
}

TEST_F(BackupRequestTest, WithoutBudgetThereIsNone) {
  const auto strategy = eager();
  all({.takes = seconds(1)});
  candidates->budget = 0;
  EXPECT_EQ(who(*strategy), "a");
  EXPECT_EQ(sent(), 1);
}

TEST_F(BackupRequestTest, NoMoreThanTheRatio) {
  const auto strategy = make({.after = milliseconds(1)});
  all({.takes = milliseconds(2)});
  for (int i = 0; i < 1000; ++i) (void)who(*strategy);
  EXPECT_LE(count(*strategy, "backups"), 100u);
  EXPECT_GE(count(*strategy, "backups"), 99u);
  EXPECT_EQ(sent(), 1000 + static_cast<int>(count(*strategy, "backups")));
}

TEST_F(BackupRequestTest, WhatIsNotIdempotentHasNone) {
  const auto strategy = eager();
  target.idempotent = false;
  all({.takes = seconds(1)});
  EXPECT_EQ(who(*strategy), "a");
  EXPECT_EQ(sent(), 1);
}

TEST_F(BackupRequestTest, FailuresAreSentAgainLikeFailover) {
  const auto strategy = eager();
  at(0).always.error = failure(Errc::unavailable, Delivery::maybe_run, Advice::none, "a is away");
  EXPECT_EQ(who(*strategy), "b");
  EXPECT_EQ(at(1).replies, std::vector<void*>{&reply}) << "the object is free again";
  for (auto& endpoint : candidates->endpoints)
    endpoint->always.error = failure(Errc::unavailable, Delivery::not_run, Advice::none, endpoint->instance().id);
  candidates->turn = 0;
  EXPECT_EQ(who(*strategy), "error: 3 attempts failed, the first: a");
}

TEST_F(BackupRequestTest, AFailureWhileAnotherIsUnderWayIsWaitedOut) {
  const auto strategy = eager();
  at(0).always.takes = milliseconds(50);
  at(1).always = Step{failure(Errc::internal, Delivery::ran, Advice::none, "b is broken"), milliseconds(1)};
  EXPECT_EQ(who(*strategy), "a");
  EXPECT_EQ(sent(), 2);
}

TEST_F(BackupRequestTest, AHandlersAnswerIsTheAnswer) {
  const auto strategy = eager();
  at(0).always.takes = forever;
  at(1).always.error = failure(Errc::application, Delivery::ran, Advice::none, "no such user");
  EXPECT_EQ(who(*strategy), "error: no such user");
  EXPECT_EQ(executor.clock().next(), never);
}

TEST_F(BackupRequestTest, WhenBothFailTheWorstDeliveryIsTold) {
  const auto strategy = make({.after = milliseconds(10), .ratio = 100, .retries = 0});
  at(0).always = Step{failure(Errc::unavailable, Delivery::not_run, Advice::none, "a left"), milliseconds(30)};
  at(1).always = Step{failure(Errc::unavailable, Delivery::maybe_run, Advice::none, "b broke"), milliseconds(40)};
  const auto answer = call(*strategy);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().text(), "2 attempts failed, the first: a left");
  EXPECT_EQ(answer.error().delivery(), Delivery::maybe_run);
}

TEST_F(BackupRequestTest, ThePercentileIsLearntAndFollowed) {
  const auto strategy = make({.ratio = 100});
  // 1 call in 10 is slow: the 95th percentile is a slow one's, so nothing is gained by a backup before that.
  for (int i = 0; i < 200; ++i) {
    all({.takes = i % 10 == 9 ? milliseconds(100) : milliseconds(10)});
    (void)who(*strategy);
  }
  const auto first = count(*strategy, "backups");
  // 1 in 50: now it is a fast one's.
  for (int i = 0; i < 20000; ++i) {
    all({.takes = milliseconds(10)});
    if (i % 50 == 49) at(candidates->turn % 3).always.takes = milliseconds(100);
    (void)who(*strategy);
  }
  EXPECT_LE(first, 20u);
  EXPECT_NEAR(static_cast<double>(count(*strategy, "backups that won")), 400, 40);
}

TEST_F(BackupRequestTest, UntilThereAreSamplesThereIsNoBackup) {
  const auto strategy = make({.ratio = 100});
  all({.takes = milliseconds(1)});
  for (int i = 0; i < 18; ++i) (void)who(*strategy);
  all({.takes = seconds(1)});
  (void)who(*strategy);
  EXPECT_EQ(count(*strategy, "backups") + count(*strategy, "backups refused"), 0u);
  (void)who(*strategy);
  all({.takes = seconds(5)});
  (void)who(*strategy);
  EXPECT_EQ(count(*strategy, "backups"), 1u);
}

TEST_F(BackupRequestTest, ReferencesDoNotMixTheirLatencies) {
  const auto strategy = make({.ratio = 100});
  all({.takes = milliseconds(1)});
  for (int i = 0; i < 100; ++i) (void)who(*strategy);
  const std::unique_ptr<Turns> own = std::exchange(candidates, std::make_unique<Turns>());
  candidates->endpoints = own->endpoints;
  all({.takes = seconds(1)});
  (void)who(*strategy);
  EXPECT_EQ(count(*strategy, "backups"), 0u);
}

TEST_F(BackupRequestTest, BadOptionsAreRefused) {
  for (const BackupRequestOptions& bad :
       {BackupRequestOptions{.percentile = 0}, BackupRequestOptions{.percentile = 100},
        BackupRequestOptions{.ratio = 101}, BackupRequestOptions{.after = milliseconds(-1)}}) {
    const auto made = BackupRequest::create(bad, environment());
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code(), Errc::config);
  }
}

TEST(LatencyHistogram, TellsPercentilesWithinAnEighth) {
  constexpr TimePoint start{std::chrono::hours(1)};
  for (const std::uint32_t percent : {50u, 90u, 95u, 99u}) {
    for (const std::int64_t unit : {1, 10, 1000, 100000}) {
      LatencyHistogram histogram(percent, start);
      EXPECT_FALSE(histogram.percentile());
      for (std::int64_t i = 0; i < 3000; ++i) histogram.record(microseconds((i * 7919 % 1000 + 1) * unit), start);
      ASSERT_TRUE(histogram.percentile());
      const auto wanted = static_cast<double>(percent) * 10 * static_cast<double>(unit);
      const double got = std::chrono::duration<double, std::micro>(*histogram.percentile()).count();
      EXPECT_GE(got, wanted * 0.97) << percent << " of " << unit;
      EXPECT_LE(got, wanted * 1.16 + 1) << percent << " of " << unit;
    }
  }
}

TEST(LatencyHistogram, ForgetsWhatIsOldOrOvertaken) {
  TimePoint now{std::chrono::hours(1)};
  LatencyHistogram histogram(95, now);
  for (int i = 0; i < 4000; ++i) histogram.record(seconds(1), now);
  for (int i = 0; i < 100000; ++i) histogram.record(milliseconds(1), now);
  EXPECT_LE(*histogram.percentile(), microseconds(1200)) << "by many newer ones";
  now += std::chrono::hours(1);
  histogram.record(milliseconds(1), now);
  EXPECT_FALSE(histogram.percentile()) << "by time";
}

TEST(LatencyHistogram, TakesAnyTime) {
  const TimePoint now{std::chrono::hours(1)};
  LatencyHistogram histogram(95, now);
  for (const Duration odd : {Duration::min(), Duration(-1), Duration(0), Duration(1), Duration::max()})
    for (int i = 0; i < 100; ++i) histogram.record(odd, now);
  EXPECT_TRUE(histogram.percentile());
}

}  // namespace
}  // namespace tenon::cluster
