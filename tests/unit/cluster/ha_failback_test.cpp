// Strategies whose callers get an empty answer in place of an error.
#include "ha/failback.hpp"

#include "ha/failover.hpp"
#include "ha/failsafe.hpp"
#include "ha_fixture.hpp"

namespace tenon::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using fake::failure;

const Error away = failure(Errc::unavailable, Delivery::not_run, Advice::other_instance, "is away");

class FailsafeTest : public HaFixture {};

TEST_F(FailsafeTest, AFailureIsAnEmptyAnswer) {
  const auto strategy = std::move(*Failsafe::create({}, environment()));
  all({.error = failure(Errc::internal, Delivery::ran, Advice::never, "broken")});
  const auto answer = call(*strategy);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->payload.value(), &reply);
  EXPECT_EQ(reply.value, "") << "not what stood there before";
  EXPECT_EQ(sent(), 1);
  ASSERT_EQ(log.lines.size(), 1u);
  EXPECT_EQ(log.lines[0].cause, "failsafe");
  EXPECT_EQ(log.lines[0].text, "demo.Greeter.SayHello is answered empty: broken");
  EXPECT_EQ(count(*strategy, "failures hidden"), 1u);
}

TEST_F(FailsafeTest, WithoutAPlaceForTheReplyItIsAPayload) {
  const auto strategy = std::move(*Failsafe::create({}, environment()));
  all({.error = away});
  Request request(target);
  Result<Response> answer = executor.finish(strategy->call(request, *candidates));
  ASSERT_TRUE(answer.ok());
  Bare<std::string> out{"x"};
  ASSERT_TRUE(answer->payload.take_into(*method.output, &out).ok());
  EXPECT_EQ(out.value, "");
}

TEST_F(FailsafeTest, AStreamEndsAtOnce) {
  const auto strategy = std::move(*Failsafe::create({}, environment()));
  method.shape = Shape::server_stream;
  all({.error = away});
  Request request(target);
  Result<Response> answer = executor.finish(strategy->call(request, *candidates));
  ASSERT_TRUE(answer.ok());
  ASSERT_TRUE(answer->messages);
  const auto message = executor.finish(answer->messages->next());
  ASSERT_TRUE(message.ok());
  EXPECT_FALSE(message->has_value());
}

TEST_F(FailsafeTest, AnotherStrategyMayTryFirst) {
  FailsafeOptions options;
  options.inner.component = std::move(*Failover::create({}, environment()));
  const auto strategy = std::move(*Failsafe::create(options, environment()));
  at(0).always.error = away;
  EXPECT_EQ(who(*strategy), "b");
  EXPECT_TRUE(log.lines.empty());
  all({.error = away});
  EXPECT_EQ(who(*strategy), "");
  EXPECT_EQ(sent(), 2 + 3);
  EXPECT_NE(log.lines.at(0).text.find("3 attempts failed"), std::string::npos);
}

class FailbackTest : public HaFixture {
 protected:
  std::unique_ptr<Failback> make(FailbackOptions options = {}) {
    auto made = Failback::create(std::move(options), environment());
    EXPECT_TRUE(made.ok());
    return std::move(*made);
  }
  void TearDown() override {
    EXPECT_EQ(executor.clock().next(), never);
  }
  void release(Failback& strategy) {
    strategy.release(*candidates);
    EXPECT_EQ(count(strategy, "queued"), 0u);
  }
};

TEST_F(FailbackTest, WhatHasNotRunIsSentAgainLater) {
  const auto strategy = make();
  target.idempotent = false;
  all({.error = away});
  EXPECT_EQ(who(*strategy), "");
  EXPECT_EQ(reply.value, "");
  EXPECT_EQ(count(*strategy, "queued"), 1u);
  EXPECT_EQ(sent(), 1);
  executor.go(milliseconds(4999));
  EXPECT_EQ(sent(), 1);
  all({});
  executor.go(milliseconds(1));
  EXPECT_EQ(sent(), 2);
  EXPECT_EQ(count(*strategy, "queued"), 0u);
  EXPECT_EQ(count(*strategy, "sent later"), 1u);
  EXPECT_EQ(count(*strategy, "dropped"), 0u);
}

// The caller's objects are long gone then.
TEST_F(FailbackTest, WhatIsSentIsACopy) {
  class Keeping final : public Endpoint {
   public:
    Task<Result<Response>> call(Request& request) override {
      auto value = request.payload.get(message_type<Bare<std::string>>());
      if (value.ok()) texts.push_back(static_cast<const Bare<std::string>*>(*value)->value);
      headers.push_back(request.headers.find("who") ? *request.headers.find("who") : "");
      attachments.emplace_back(request.attachment.bytes());
      keys.push_back(request.hash_key);
      timeouts.push_back(request.deadline - Executor::current()->clock().now());
      if (!failing) return ready<Result<Response>>(Response());
      return ready<Result<Response>>(Error(Errc::unavailable, "away", Delivery::not_run));
    }
    Health health() const noexcept override { return Health::open; }
    const Instance& instance() const noexcept override { return instance_; }
    const Stats& stats() const noexcept override { return stats_; }
    bool failing = true;
    std::vector<std::string> texts, headers, attachments;
    std::vector<std::uint64_t> keys;
    std::vector<Duration> timeouts;
    Instance instance_;
    Stats stats_;
  };
  class Only final : public Candidates {
   public:
    Endpoint* next(Request&) noexcept override { return &endpoint; }
    std::vector<Endpoint*> all(Request&) override { return {&endpoint}; }
    std::size_t size(const Request&) const noexcept override { return 1; }
    bool spend_retry() noexcept override { return true; }
    Error none_left(const Request&) const override { return Error(Errc::unavailable, ""); }
    Keeping endpoint;
  } only;
  const auto strategy = make();
  target.timeout = milliseconds(700);
  {
    auto text = std::make_unique<Bare<std::string>>(Bare<std::string>{std::string(1000, 'x')});
    auto request = std::make_unique<Request>(target);
    request->payload = Payload::borrow(*method.input, text.get());
    request->headers.set("who", "me");
    request->attachment = Attachment(std::string("beside"));
    request->hash_key = 42;
    request->deadline = now() + milliseconds(100);
    EXPECT_TRUE(executor.finish(strategy->call(*request, only)).ok());
  }
  only.endpoint.failing = false;
  executor.go(seconds(5));
  ASSERT_EQ(only.endpoint.texts.size(), 2u);
  EXPECT_EQ(only.endpoint.texts[1], std::string(1000, 'x'));
  EXPECT_EQ(only.endpoint.headers[1], "me");
  EXPECT_EQ(only.endpoint.attachments[1], "beside");
  EXPECT_EQ(only.endpoint.keys[1], 42u);
  EXPECT_EQ(only.endpoint.timeouts[1], milliseconds(700)) << "a deadline of its own";
}

TEST_F(FailbackTest, AfterSoManyAttemptsItIsDropped) {
  const auto strategy = make();
  all({.error = away});
  (void)who(*strategy);
  executor.go(std::chrono::hours(1));
  EXPECT_EQ(sent(), 1 + 3);
  EXPECT_EQ(count(*strategy, "dropped"), 1u);
  EXPECT_EQ(count(*strategy, "queued"), 0u);
  EXPECT_EQ(log.lines.back().text, "demo.Greeter.SayHello is given up after 3 more attempts: is away");
  EXPECT_EQ(at(0).attempts.back(), 3u);
}

TEST_F(FailbackTest, WhatMayHaveRunIsQueuedOnlyIfThatIsHarmless) {
  const auto strategy = make();
  all({.error = failure(Errc::unavailable, Delivery::maybe_run)});
  target.idempotent = false;
  EXPECT_EQ(who(*strategy), "error: scripted");
  target.idempotent = true;
  EXPECT_EQ(who(*strategy), "");
  all({.error = failure(Errc::internal, Delivery::ran)});
  EXPECT_EQ(who(*strategy), "error: scripted");
  EXPECT_EQ(count(*strategy, "queued"), 1u);
  executor.go(seconds(5));
  EXPECT_EQ(count(*strategy, "dropped"), 1u) << "the handler has answered";
}

TEST_F(FailbackTest, TheQueueIsBoundedByNumber) {
  FailbackOptions options;
  options.max_calls = 10;
  const auto strategy = make(options);
  all({.error = away});
  for (int i = 0; i < 10; ++i) EXPECT_EQ(who(*strategy), "");
  EXPECT_EQ(who(*strategy), "error: the queue of calls to be sent again is full: is away");
  EXPECT_EQ(count(*strategy, "queued"), 10u);
  all({});
  executor.go(seconds(5));
  EXPECT_EQ(count(*strategy, "sent later"), 10u);
  all({.error = away});
  EXPECT_EQ(who(*strategy), "") << "there is room again";
  release(*strategy);
}

TEST_F(FailbackTest, TheQueueIsBoundedByBytes) {
  FailbackOptions options;
  options.max_bytes = 1 << 20;
  const auto strategy = make(options);
  all({.error = away});
  said.value = std::string(100000, 'x');
  int queued = 0;
  while (who(*strategy).empty()) ++queued;
  EXPECT_EQ(queued, 10);
  said.value = std::string(2 << 20, 'x');
  all({});
  executor.go(seconds(5));
  all({.error = away});
  EXPECT_EQ(who(*strategy), "error: the queue of calls to be sent again is full: is away");
  said.value = "small";
  EXPECT_EQ(who(*strategy), "");
  release(*strategy);
}

TEST_F(FailbackTest, TheOldestIsSentFirst) {
  const auto strategy = make();
  all({.error = away});
  const TimePoint began = now();
  for (int i = 0; i < 100; ++i) {
    (void)who(*strategy);
    executor.go(milliseconds(10));
  }
  const int before = sent();
  all({});
  for (int i = 0; i < 100; ++i) {
    executor.clock().go_to(began + seconds(5) + milliseconds(10 * i));
    EXPECT_EQ(sent(), before + i + 1) << "each when its time has come";
  }
}

TEST_F(FailbackTest, ItWaitsForTheBudget) {
  const auto strategy = make();
  all({.error = away});
  for (int i = 0; i < 5; ++i) (void)who(*strategy);
  candidates->budget = 2;
  all({});
  executor.go(seconds(5));
  EXPECT_EQ(count(*strategy, "sent later"), 2u);
  executor.go(seconds(100));
  EXPECT_EQ(count(*strategy, "sent later"), 2u);
  EXPECT_EQ(count(*strategy, "queued"), 3u) << "not dropped";
  candidates->budget = 100;
  executor.go(seconds(1));
  EXPECT_EQ(count(*strategy, "sent later"), 5u);
}

TEST_F(FailbackTest, AStormDoesNotMeetTheServerAllAtOnce) {
  const auto strategy = make();
  all({.error = away});
  for (int i = 0; i < 1000; ++i) (void)who(*strategy);
  for (auto& endpoint : candidates->endpoints) endpoint->calls = 0;
  all({.takes = milliseconds(100)});
  executor.go(seconds(5));
  EXPECT_EQ(sent(), 16);
  executor.go(seconds(10));
  EXPECT_EQ(count(*strategy, "sent later"), 1000u);
}

TEST_F(FailbackTest, EachAttemptHasItsOwnDeadline) {
  const auto strategy = make();
  target.timeout = milliseconds(300);
  all({.error = away});
  (void)who(*strategy);
  all({.takes = forever});
  executor.go(seconds(5));
  EXPECT_EQ(count(*strategy, "queued"), 1u);
  all({});
  executor.go(milliseconds(300) + seconds(5));
  EXPECT_EQ(count(*strategy, "sent later"), 1u);
}

TEST_F(FailbackTest, ReleaseEndsWhatWaitsAndWhatIsUnderWay) {
  const auto strategy = make();
  all({.error = away});
  for (int i = 0; i < 20; ++i) (void)who(*strategy);
  all({.takes = forever});
  executor.go(seconds(5));
  const auto endpoints = candidates->endpoints;
  strategy->release(*candidates);
  candidates.reset();
  EXPECT_EQ(executor.clock().next(), never) << "their timers are gone";
  EXPECT_EQ(count(*strategy, "queued"), 0u);
  EXPECT_EQ(count(*strategy, "dropped"), 20u);
}

TEST_F(FailbackTest, BadOptionsAreRefused) {
  FailbackOptions bad[4];
  bad[0].interval = Duration{0};
  bad[1].retries = 0;
  bad[2].max_calls = 0;
  bad[3].max_bytes = 0;
  for (const FailbackOptions& options : bad) {
    const auto made = Failback::create(options, environment());
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code(), Errc::config);
  }
}

}  // namespace
}  // namespace tenon::cluster
