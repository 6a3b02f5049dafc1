#pragma once
// What every HaStrategy must do, however many attempts it makes. Used with
//   INSTANTIATE_TEST_SUITE_P(Failover, HaContract, testing::Values(HaCase{"failover", make}), …);
// For one source file of each test program.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "support/scripted_endpoint.hpp"
#include "tenon/describe.hpp"

namespace tenon::test {

struct HaCase {
  std::string name;
  std::function<std::unique_ptr<HaStrategy>()> make;
};

/// Gives endpoints in turn, each once, and then any.
class ListedCandidates final : public Candidates {
 public:
  Endpoint* next(Request& request) noexcept override {
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
  std::size_t size(const Request&) const noexcept override { return endpoints.size(); }
  bool spend_retry() noexcept override { return budget-- > 0; }
  Error none_left(const Request&) const override {
    return Error(Errc::unavailable, "nobody is left", Delivery::not_run, Advice::never);
  }
  std::vector<std::shared_ptr<ScriptedEndpoint>> endpoints;
  std::vector<std::size_t> given;
  int budget = 1000;
};

class HaContract : public testing::TestWithParam<HaCase> {
 protected:
  void SetUp() override {
    strategy_ = GetParam().make();
    method_ = Method{"call", Shape::unary, &message_type<Void>(), &message_type<Void>(), false};
    service_.interface = "test.Ha";
    target_.service = &service_;
    target_.method = &method_;
    target_.idempotent = false;
    for (int i = 0; i < 3; ++i)
      candidates_.endpoints.push_back(std::make_shared<ScriptedEndpoint>("i" + std::to_string(i)));
  }
  void all(const ScriptedEndpoint::Answer& answer) {
    for (const auto& endpoint : candidates_.endpoints) endpoint->always = answer;
  }
  Result<Response> call() {
    Request request(target_);
    CallInfo info;
    info.target = &target_;
    request.info = &info;
    request.payload = Payload::borrow(message_type<Void>(), &nothing_);
    Task<Result<Response>> task = strategy_->call(request, candidates_);
    EXPECT_TRUE(task.start([](void*) {}, nullptr));
    return task.take();
  }
  std::size_t attempts() const {
    std::size_t sum = 0;
    for (const auto& endpoint : candidates_.endpoints) sum += endpoint->calls;
    return sum;
  }
  Void nothing_;
  Method method_;
  ServiceName service_;
  Target target_;
  ListedCandidates candidates_;
  std::unique_ptr<HaStrategy> strategy_;
};

TEST_P(HaContract, OneGoodAnswerIsEnough) {
  EXPECT_TRUE(call().ok());
  EXPECT_GE(attempts(), 1u);
}

TEST_P(HaContract, SaysThatNobodyIsThere) {
  candidates_.endpoints.clear();
  Result<Response> answer = call();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code(), Errc::unavailable);
  EXPECT_EQ(answer.error().delivery(), Delivery::not_run);
  EXPECT_NE(answer.error().text().find("nobody is left"), std::string::npos) << answer.error().text();
}

// What may have run is not run again unless that is harmless.
TEST_P(HaContract, DoesNotRepeatWhatMayHaveRun) {
  for (const Delivery delivery : {Delivery::maybe_run, Delivery::ran}) {
    for (const auto& endpoint : candidates_.endpoints) endpoint->calls = 0;
    all(fails(Errc::unavailable, delivery));
    EXPECT_FALSE(call().ok());
    for (const auto& endpoint : candidates_.endpoints) EXPECT_LE(endpoint->calls, 1u);
    EXPECT_EQ(attempts(), 1u) << static_cast<int>(delivery);
  }
}

TEST_P(HaContract, NeverIsTakenAtItsWord) {
  target_.idempotent = true;
  all(fails(Errc::overloaded, Delivery::not_run, Advice::never));
  EXPECT_FALSE(call().ok());
  EXPECT_EQ(attempts(), 1u);
}

TEST_P(HaContract, FurtherAttemptsStayWithinTheBudget) {
  candidates_.budget = 0;
  target_.idempotent = true;
  target_.retries = 10;
  all(fails(Errc::unavailable, Delivery::not_run));
  EXPECT_FALSE(call().ok());
  EXPECT_EQ(attempts(), 1u);
}

TEST_P(HaContract, NoInstanceTwiceWhileAnotherIsUntried) {
  target_.idempotent = true;
  target_.retries = 2;
  all(fails(Errc::unavailable, Delivery::not_run, Advice::other_instance));
  EXPECT_FALSE(call().ok());
  for (const auto& endpoint : candidates_.endpoints) EXPECT_LE(endpoint->calls, 1u);
}

TEST_P(HaContract, TheCallersErrorNamesWhatHappened) {
  all(fails(Errc::overloaded, Delivery::not_run, Advice::other_instance, "queue full at noon"));
  Result<Response> answer = call();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code(), Errc::overloaded);
  EXPECT_NE(answer.error().text().find("queue full at noon"), std::string::npos) << answer.error().text();
}

}  // namespace tenon::test
