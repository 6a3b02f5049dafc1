#include "ha/failover.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ha/failfast.hpp"
#include "support/manual_executor.hpp"
#include "support/cluster_fakes.hpp"

namespace tenon::cluster {
namespace {

using std::chrono::milliseconds;
using fake::failure;
using fake::ScriptedEndpoint;
using Step = ScriptedEndpoint::Step;

/// Every endpoint once, then from the start.
class InTurn final : public Candidates {
 public:
  Endpoint* next(Request&) noexcept override {
    return endpoints.empty() ? nullptr : endpoints[taken++ % endpoints.size()].get();
  }
  std::vector<Endpoint*> all(Request&) override {
    std::vector<Endpoint*> everybody;
    for (const auto& endpoint : endpoints) everybody.push_back(endpoint.get());
    return everybody;
  }
  std::size_t size(const Request&) const noexcept override { return endpoints.size(); }
  bool spend_retry() noexcept override { return ++asked <= budget; }
  Error none_left(const Request&) const override {
    return Error(Errc::unavailable, "nobody there", Delivery::not_run, Advice::other_instance);
  }
  std::vector<std::shared_ptr<ScriptedEndpoint>> endpoints;
  std::size_t taken = 0;
  int asked = 0;
  int budget = 1000;
};

class HaTest : public testing::Test {
 protected:
  HaTest() {
    info.target = &target;
    request.info = &info;
    for (const char* id : {"a", "b", "c"})
      candidates.endpoints.push_back(std::make_shared<ScriptedEndpoint>(fake::instance(id)));
  }
  ScriptedEndpoint& at(std::size_t index) { return *candidates.endpoints[index]; }
  void all_fail(const Error& error) {
    for (auto& endpoint : candidates.endpoints) endpoint->always.error = error;
  }
  int sent() const {
    int calls = 0;
    for (const auto& endpoint : candidates.endpoints) calls += endpoint->calls;
    return calls;
  }
  Result<Response> call(std::uint32_t retries = 2) {
    FailoverOptions options;
    options.retries = retries;
    auto strategy = Failover::create(options, Environment{executor, log, executor.clock()});
    EXPECT_TRUE(strategy.ok());
    return executor.finish((*strategy)->call(request, candidates));
  }
  TimePoint in(Duration time) { return executor.clock().now() + time; }

  test::ManualExecutor executor;
  fake::ListLog log;
  ServiceName service{"demo.Greeter", "", ""};
  Method method{"SayHello"};
  Target target{&service, &method};
  CallInfo info;
  Request request{target};
  InTurn candidates;
};

TEST_F(HaTest, ASuccessIsOneAttemptAndTakesNoBudget) {
  const auto result = call();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*result->headers.find("from"), "a");
  EXPECT_EQ(sent(), 1);
  EXPECT_EQ(candidates.asked, 0);
  EXPECT_EQ(request.info, &info);
}

TEST_F(HaTest, OnlyWhatIsSafeIsSentAgain) {
  struct Case {
    Delivery delivery;
    bool idempotent;
    int attempts;
  };
  for (const Case& one : {Case{Delivery::not_run, false, 3}, Case{Delivery::not_run, true, 3},
                          Case{Delivery::maybe_run, false, 1}, Case{Delivery::maybe_run, true, 3},
                          Case{Delivery::ran, false, 1}, Case{Delivery::ran, true, 1}}) {
    SCOPED_TRACE(std::string(to_string(one.delivery)) + (one.idempotent ? " idempotent" : ""));
    for (auto& endpoint : candidates.endpoints) endpoint->calls = 0;
    target.idempotent = one.idempotent;
    all_fail(failure(Errc::unavailable, one.delivery));
    const auto result = call();
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(sent(), one.attempts);
    EXPECT_EQ(result.error().code(), Errc::unavailable);
    EXPECT_EQ(result.error().delivery(), one.delivery);
  }
}

TEST_F(HaTest, AnotherInstanceAnswersAndTheAttemptIsNumbered) {
  at(0).always.error = failure(Errc::unavailable, Delivery::not_run, Advice::other_instance);
  const auto result = call();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*result->headers.find("from"), "b");
  EXPECT_EQ(at(0).attempts, std::vector<std::uint32_t>{0});
  EXPECT_EQ(at(1).attempts, std::vector<std::uint32_t>{1});
  EXPECT_EQ(request.info, &info) << "the caller's facts are put back";
}

TEST_F(HaTest, TheMethodsOwnNumberOfRetriesWins) {
  all_fail(failure(Errc::unavailable, Delivery::not_run));
  target.retries = 0;
  EXPECT_EQ(call().error().text(), "scripted");
  EXPECT_EQ(sent(), 1);
  target.retries = 5;
  EXPECT_FALSE(call().ok());
  EXPECT_EQ(sent(), 1 + 6);
}

TEST_F(HaTest, TheFirstErrorIsReportedWithTheNumberOfAttempts) {
  at(0).always.error = failure(Errc::overloaded, Delivery::not_run, Advice::other_instance, "a is full");
  at(1).always.error = failure(Errc::unavailable, Delivery::not_run, Advice::none, "b is away");
  at(2).always.error = failure(Errc::unavailable, Delivery::not_run, Advice::none, "c is away");
  const auto result = call();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), Errc::overloaded);
  EXPECT_EQ(result.error().text(), "3 attempts failed, the first: a is full");
}

TEST_F(HaTest, TheReportedDeliveryIsTheWorstOfAllAttempts) {
  at(0).always.error = failure(Errc::unavailable, Delivery::not_run, Advice::none, "a is away");
  at(1).always.error = failure(Errc::unavailable, Delivery::maybe_run, Advice::none, "b was lost");
  const auto result = call();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(sent(), 2);
  EXPECT_EQ(result.error().text(), "2 attempts failed, the first: a is away");
  EXPECT_EQ(result.error().delivery(), Delivery::maybe_run);
}

TEST_F(HaTest, AHandlersAnswerIsTheCallsErrorWhateverWentBefore) {
  at(0).always.error = failure(Errc::unavailable, Delivery::not_run);
  at(1).always.error = failure(Errc::application, Delivery::ran, Advice::none, "no such user");
  const auto result = call();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), Errc::application);
  EXPECT_EQ(result.error().text(), "no such user");
}

TEST_F(HaTest, MoreRetriesThanInstancesStillReportTheFirstError) {
  candidates.endpoints.resize(1);
  all_fail(failure(Errc::unavailable, Delivery::not_run, Advice::other_instance, "a is away"));
  EXPECT_EQ(call(5).error().text(), "a is away");
  EXPECT_EQ(sent(), 1) << "only another instance would do, and there is none";
  all_fail(failure(Errc::unavailable, Delivery::not_run, Advice::none, "a is away"));
  EXPECT_EQ(call(5).error().text(), "6 attempts failed, the first: a is away");
}

TEST_F(HaTest, AdviceAgainstItEndsTheCall) {
  for (const Advice advice : {Advice::never, Advice::after}) {
    all_fail(failure(Errc::overloaded, Delivery::not_run, advice));
    for (auto& endpoint : candidates.endpoints) endpoint->calls = 0;
    EXPECT_EQ(call().error().text(), "scripted");
    EXPECT_EQ(sent(), 1);
  }
}

TEST_F(HaTest, WithoutBudgetNothingIsSentAgain) {
  all_fail(failure(Errc::unavailable, Delivery::not_run));
  candidates.budget = 1;
  const auto result = call(5);
  EXPECT_EQ(sent(), 2);
  EXPECT_EQ(result.error().text(), "2 attempts failed, the first: the retry budget is spent: scripted");
}

TEST_F(HaTest, OneDeadlineCoversAllAttempts) {
  target.idempotent = true;
  const TimePoint began = executor.clock().now();
  for (auto& endpoint : candidates.endpoints)
    endpoint->always = Step{failure(Errc::unavailable, Delivery::maybe_run), milliseconds(200)};
  request.deadline = in(milliseconds(500));
  const auto result = call(10);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(executor.clock().now() - began, milliseconds(500));
  EXPECT_EQ(result.error().code(), Errc::deadline_exceeded);
  EXPECT_EQ(sent(), 3);
}

TEST_F(HaTest, ABlackHoleTakesTheDeadlineOnce) {
  target.idempotent = true;
  const TimePoint began = executor.clock().now();
  for (auto& endpoint : candidates.endpoints) endpoint->always.takes = ScriptedEndpoint::forever;
  request.deadline = in(milliseconds(500));
  EXPECT_EQ(call(3).error().code(), Errc::deadline_exceeded);
  EXPECT_EQ(executor.clock().now() - began, milliseconds(500));
  EXPECT_EQ(sent(), 1);
}

TEST_F(HaTest, ACancelledCallIsNotSentAgain) {
  Cancellation cancel;
  request.cancel = &cancel;
  all_fail(failure(Errc::unavailable, Delivery::not_run));
  cancel.cancel();
  EXPECT_FALSE(call().ok());
  EXPECT_EQ(sent(), 1);
}

TEST_F(HaTest, NobodyThereSaysSo) {
  candidates.endpoints.clear();
  EXPECT_EQ(call().error().text(), "nobody there");
  Failfast failfast;
  EXPECT_EQ(executor.finish(failfast.call(request, candidates)).error().text(), "nobody there");
}

TEST_F(HaTest, FailfastMakesOneAttempt) {
  Failfast failfast;
  EXPECT_TRUE(executor.finish(failfast.call(request, candidates)).ok());
  all_fail(failure(Errc::unavailable, Delivery::not_run, Advice::other_instance));
  EXPECT_EQ(executor.finish(failfast.call(request, candidates)).error().text(), "scripted");
  EXPECT_EQ(sent(), 2);
  EXPECT_EQ(candidates.asked, 0);
}

}  // namespace
}  // namespace tenon::cluster
