#pragma once
// What every HaStrategy must do, however many attempts it makes. Used with
//   INSTANTIATE_TEST_SUITE_P(Failover, HaContract, testing::Values(HaCase{"failover", make}), …);
// For one source file of each test program.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/manual_executor.hpp"
#include "support/recording_log.hpp"
#include "support/scripted_endpoint.hpp"
#include "tenon/describe.hpp"
#include "tenon/environment.hpp"
#include "tenon/scope.hpp"

namespace tenon::test {

struct HaCase {
  std::string name;
  std::function<std::unique_ptr<HaStrategy>(Environment)> make;
  std::size_t at_once = 1;      ///< attempts for an idempotent call that may be under way together
  bool everybody = false;       ///< asks every instance, whatever the method
  bool hides_failures = false;  ///< the caller may get an empty answer in place of an error
};

/// Gives endpoints in turn, each once, and then any.
class ListedCandidates final : public Candidates {
 public:
  Endpoint* next(Request& request) noexcept override {
    ++asked;
    for (std::size_t i = 0; i < endpoints.size(); ++i) {
      const std::uint64_t bit = std::uint64_t{1} << i;
      if (request.tried & bit) continue;
      request.tried |= bit;
      given.push_back(i);
      return endpoints[i].get();
    }
    if (endpoints.empty()) return nullptr;
    given.push_back(0);
    return endpoints.front().get();
  }
  std::vector<Endpoint*> all(Request&) override {
    ++asked;
    std::vector<Endpoint*> everybody;
    for (const auto& endpoint : endpoints) everybody.push_back(endpoint.get());
    return everybody;
  }
  std::size_t size(const Request&) const noexcept override { return endpoints.size(); }
  bool spend_retry() noexcept override {
    ++asked;
    return budget-- > 0;
  }
  Error none_left(const Request&) const override {
    return Error(Errc::unavailable, "nobody is left", Delivery::not_run, Advice::never);
  }
  std::vector<std::shared_ptr<ScriptedEndpoint>> endpoints;
  std::vector<std::size_t> given;
  int budget = 1000;
  int asked = 0;  ///< anything, of the three that change something
};

/// How many attempts have begun and not ended.
struct UnderWay {
  int now = 0;
  int most = 0;
};

/// Answers after `takes`; deadline and cancellation end it before that, as they end a real attempt.
inline ScriptedEndpoint::Answer slowly(Duration takes, UnderWay& count, std::optional<Error> error = std::nullopt) {
  struct Play {
    static Task<Result<Response>> run(Request& request, Duration takes, UnderWay& count, std::optional<Error> error) {
      count.most = std::max(count.most, ++count.now);
      Clock& clock = Executor::current()->clock();
      const TimePoint ends = takes == Duration::max() ? never : clock.now() + takes;
      sleep_until sleep(clock, std::min(ends, request.deadline), request.cancel);
      const bool slept = co_await sleep;
      --count.now;
      if (!slept) co_return Error(Errc::cancelled, "given up", Delivery::maybe_run, Advice::never);
      if (clock.now() < ends) co_return Error(Errc::deadline_exceeded, "too late", Delivery::maybe_run);
      if (error) co_return std::move(*error);
      co_return Response();
    }
  };
  return [takes, &count, error](Request& request) { return Play::run(request, takes, count, error); };
}
inline constexpr Duration for_ever = Duration::max();

class HaContract : public testing::TestWithParam<HaCase> {
 protected:
  void SetUp() override {
    strategy_ = GetParam().make(Environment{executor_, log_, executor_.clock()});
    service_.interface = "test.Ha";
    method_ = Method{"call", Shape::unary, &message_type<Void>(), &message_type<Void>(), false};
    target_.service = &service_;
    target_.method = &method_;
    target_.idempotent = false;
    info_.target = &target_;
    info_.cancel = &cancellation_;
    for (int i = 0; i < 3; ++i)
      candidates_->endpoints.push_back(std::make_shared<ScriptedEndpoint>("i" + std::to_string(i)));
  }
  void TearDown() override {
    if (candidates_) strategy_->release(*candidates_);
    strategy_.reset();
    EXPECT_EQ(executor_.clock().next(), never) << "nothing is left to be done";
    EXPECT_EQ(under_way_.now, 0);
  }
  void all(const ScriptedEndpoint::Answer& answer) {
    for (const auto& endpoint : candidates_->endpoints) endpoint->always = answer;
  }
  void all_take(Duration takes) { all(slowly(takes, under_way_)); }

  /// A call that can be looked at while it is under way.
  struct Calling {
    explicit Calling(HaContract& contract) : test(contract), request(contract.target_) {
      request.info = &test.info_;
      request.cancel = &test.cancellation_;
      request.reply = &reply;
      request.payload = Payload::borrow(message_type<Void>(), &test.nothing_);
    }
    void start() {
      task = test.strategy_->call(request, *test.candidates_);
      auto done = [](void* self) { ++static_cast<Calling*>(self)->ends; };
      if (task.start(done, this)) ++ends;
    }
    /// It has ended, once, and the request is as it was.
    void expect_ended() {
      EXPECT_EQ(ends, 1);
      EXPECT_EQ(test.under_way_.now, 0) << "no attempt outlives its call";
      EXPECT_EQ(request.info, &test.info_);
      EXPECT_EQ(request.cancel, &test.cancellation_);
      EXPECT_EQ(request.target, &test.target_);
      EXPECT_EQ(request.reply, &reply);
    }
    HaContract& test;
    Void reply;
    Request request;
    Task<Result<Response>> task;
    int ends = 0;
  };
  Result<Response> call(Duration limit = Duration{0}) {
    Calling calling(*this);
    if (limit > Duration{0}) calling.request.deadline = executor_.clock().now() + limit;
    calling.start();
    // Nothing that goes on after the call: time stands still when it has ended.
    while (calling.ends == 0 && executor_.clock().next() != never) executor_.clock().go_to(executor_.clock().next());
    calling.expect_ended();
    if (calling.ends == 0) return Error(Errc::internal, "it does not end");
    return calling.task.take();
  }
  std::size_t attempts() const {
    std::size_t sum = 0;
    for (const auto& endpoint : candidates_->endpoints) sum += endpoint->calls;
    return sum;
  }
  /// The attempts that such a strategy makes when none may follow another.
  std::size_t one_round(std::size_t at_once) const { return GetParam().everybody ? 3 : at_once; }
  bool hides() const { return GetParam().hides_failures; }

  ManualExecutor executor_;
  RecordingLog log_;
  UnderWay under_way_;
  Void nothing_;
  Method method_;
  ServiceName service_;
  Target target_;
  Cancellation cancellation_;
  CallInfo info_;
  std::unique_ptr<ListedCandidates> candidates_ = std::make_unique<ListedCandidates>();
  std::unique_ptr<HaStrategy> strategy_;
};

TEST_P(HaContract, OneGoodAnswerIsEnough) {
  EXPECT_TRUE(call().ok());
  EXPECT_GE(attempts(), 1u);
}

TEST_P(HaContract, ALateAnswerCompletesTheCallOnce) {
  target_.idempotent = true;
  all_take(std::chrono::milliseconds(300));
  EXPECT_TRUE(call(std::chrono::seconds(1)).ok());
  EXPECT_LE(attempts(), one_round(GetParam().at_once));
  EXPECT_LE(under_way_.most, static_cast<int>(one_round(GetParam().at_once)));
}

TEST_P(HaContract, SaysThatNobodyIsThere) {
  candidates_->endpoints.clear();
  Result<Response> answer = call();
  if (hides() && answer.ok()) {
    EXPECT_EQ(log_.count("nobody is left"), 1u);
    return;
  }
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code(), Errc::unavailable);
  EXPECT_EQ(answer.error().delivery(), Delivery::not_run);
  EXPECT_NE(answer.error().text().find("nobody is left"), std::string::npos) << answer.error().text();
}

// What may have run is not run again unless that is harmless.
TEST_P(HaContract, DoesNotRepeatWhatMayHaveRun) {
  for (const Delivery delivery : {Delivery::maybe_run, Delivery::ran}) {
    for (const auto& endpoint : candidates_->endpoints) endpoint->calls = 0;
    all(fails(Errc::unavailable, delivery));
    const bool ok = call().ok();
    EXPECT_EQ(ok, hides() && log_.count("scripted failure") > 0);
    executor_.go(std::chrono::hours(1));
    for (const auto& endpoint : candidates_->endpoints) EXPECT_LE(endpoint->calls, 1u);
    EXPECT_EQ(attempts(), one_round(1)) << static_cast<int>(delivery);
  }
}

TEST_P(HaContract, NeverIsTakenAtItsWord) {
  target_.idempotent = true;
  all(fails(Errc::overloaded, Delivery::not_run, Advice::never));
  EXPECT_TRUE(!call().ok() || hides());
  executor_.go(std::chrono::hours(1));
  EXPECT_LE(attempts(), one_round(GetParam().at_once));
}

TEST_P(HaContract, FurtherAttemptsStayWithinTheBudget) {
  candidates_->budget = 0;
  target_.idempotent = true;
  target_.retries = 10;
  all(fails(Errc::unavailable, Delivery::not_run));
  EXPECT_TRUE(!call().ok() || hides());
  EXPECT_EQ(attempts(), one_round(1));
  all_take(std::chrono::seconds(1));
  EXPECT_TRUE(call().ok());
  executor_.go(std::chrono::hours(1));
  EXPECT_EQ(attempts(), 2 * one_round(1));
}

TEST_P(HaContract, NoInstanceTwiceWhileAnotherIsUntried) {
  target_.idempotent = true;
  target_.retries = 2;
  all(fails(Errc::unavailable, Delivery::not_run, Advice::other_instance));
  EXPECT_TRUE(!call().ok() || hides());
  for (const auto& endpoint : candidates_->endpoints) EXPECT_LE(endpoint->calls, 1u);
}

TEST_P(HaContract, TheCallersErrorNamesWhatHappened) {
  all(fails(Errc::overloaded, Delivery::ran, Advice::other_instance, "queue full at noon"));
  Result<Response> answer = call();
  if (hides() && answer.ok()) {
    EXPECT_EQ(log_.count("queue full at noon"), 1u);
    return;
  }
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code(), Errc::overloaded);
  EXPECT_NE(answer.error().text().find("queue full at noon"), std::string::npos) << answer.error().text();
}

TEST_P(HaContract, TheCallersOwnErrorsAreToldHim) {
  for (const Errc code : {Errc::invalid_argument, Errc::cancelled, Errc::would_deadlock, Errc::config}) {
    all(fails(code, Delivery::ran));
    Result<Response> answer = call();
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code(), code);
  }
}

// Whatever is under way, however many attempts: at the deadline the call has ended.
TEST_P(HaContract, OneDeadlineForEverything) {
  target_.idempotent = true;
  all_take(for_ever);
  const TimePoint began = executor_.clock().now();
  Result<Response> answer = call(std::chrono::milliseconds(500));
  EXPECT_EQ(executor_.clock().now() - began, std::chrono::milliseconds(500));
  ASSERT_TRUE(!answer.ok() || hides());
  if (!answer.ok()) {
    EXPECT_EQ(answer.error().code(), Errc::deadline_exceeded);
  }
}

TEST_P(HaContract, FailuresDoNotOutliveTheDeadline) {
  target_.idempotent = true;
  target_.retries = 100;
  all(slowly(std::chrono::milliseconds(200), under_way_, Error(Errc::unavailable, "away", Delivery::not_run)));
  const TimePoint began = executor_.clock().now();
  EXPECT_TRUE(!call(std::chrono::milliseconds(500)).ok() || hides());
  EXPECT_LE(executor_.clock().now() - began, std::chrono::milliseconds(500));
}

TEST_P(HaContract, ACancellationEndsEveryAttemptAtOnce) {
  target_.idempotent = true;
  all_take(for_ever);
  Calling calling(*this);
  calling.request.deadline = executor_.clock().now() + std::chrono::hours(1);
  calling.start();
  executor_.go(std::chrono::seconds(1));
  EXPECT_EQ(calling.ends, 0);
  EXPECT_GE(under_way_.now, 1);
  cancellation_.cancel();
  calling.expect_ended();
  Result<Response> answer = calling.task.take();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code(), Errc::cancelled);
}

TEST_P(HaContract, WhatIsCancelledBeforehandEnds) {
  target_.idempotent = true;
  all_take(for_ever);
  cancellation_.cancel();
  EXPECT_FALSE(call(std::chrono::hours(1)).ok());
  EXPECT_LE(attempts(), one_round(1));
}

// Nobody could read two of them.
TEST_P(HaContract, StreamsAreNotForked) {
  method_.shape = Shape::server_stream;
  target_.idempotent = true;
  all_take(std::chrono::seconds(1));
  Result<Response> answer = call();
  EXPECT_LE(attempts(), 1u);
  if (!answer.ok()) {
    EXPECT_EQ(answer.error().code(), Errc::unimplemented) << answer.error().text();
    EXPECT_EQ(attempts(), 0u);
  }
}

TEST_P(HaContract, OneWayCompletes) {
  method_.shape = Shape::one_way;
  EXPECT_TRUE(call().ok());
  EXPECT_EQ(attempts(), one_round(1));
}

// Once it is told so, a strategy does nothing any more, and does not ask candidates that may have gone.
TEST_P(HaContract, ReleaseEndsEverything) {
  target_.idempotent = true;
  all(fails(Errc::unavailable, Delivery::not_run));
  for (int i = 0; i < 5; ++i) (void)call();
  const std::vector<std::shared_ptr<ScriptedEndpoint>> endpoints = candidates_->endpoints;
  const std::size_t before = attempts();
  strategy_->release(*candidates_);
  candidates_.reset();
  executor_.go(std::chrono::hours(1));
  std::size_t after = 0;
  for (const auto& endpoint : endpoints) after += endpoint->calls;
  EXPECT_EQ(after, before);
}

TEST_P(HaContract, CountsHaveNames) {
  std::set<std::string> names;
  for (const Count& count : strategy_->counts()) {
    EXPECT_FALSE(count.name.empty());
    EXPECT_TRUE(names.insert(count.name).second) << count.name;
  }
}

}  // namespace tenon::test
