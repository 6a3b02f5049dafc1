#include <atomic>
#include <future>

#include "support/raw_socket.hpp"
#include "support/test_apps.hpp"
#include "tenon/scope.hpp"

namespace tenon {
namespace {

using std::chrono::milliseconds;

/// A service whose handler sleeps on its own loop until its time or its cancellation.
class Sleeper final : public Service {
 public:
  Sleeper() {
    methods_[0] = Method{"sleep", Shape::unary, &message_type<Arguments<std::int64_t>>(),
                         &message_type<Bare<std::int64_t>>(), false};
    methods_[1] = Method{"remaining", Shape::unary, &message_type<Arguments<std::int64_t>>(),
                         &message_type<Bare<std::int64_t>>(), false};
  }
  std::string_view interface() const noexcept override { return "test.Sleeper"; }
  std::span<const Method> methods() const noexcept override { return methods_; }
  Task<Result<Response>> call(Request& request) override {
    const CallInfo& info = *request.info;
    const bool sleeping = request.target->index == 0;
    auto handler = [this, &info, sleeping](const Arguments<std::int64_t>& in, Bare<std::int64_t>& out) {
      return sleeping ? sleep(std::get<0>(in.values), out, info) : remaining(std::get<0>(in.values), out, info);
    };
    return serve<Arguments<std::int64_t>, Bare<std::int64_t>>(request, handler);
  }

  std::atomic<int> started = 0;
  std::atomic<int> cancelled = 0;
  std::atomic<int> finished = 0;
  /// Set: "remaining" asks the next hop first.
  std::shared_ptr<Reference> next;
  std::vector<std::atomic<std::int64_t>> seen = std::vector<std::atomic<std::int64_t>>(4);

 private:
  Task<Result<void>> sleep(std::int64_t ms, Bare<std::int64_t>& out, const CallInfo& info) {
    ++started;
    Clock& clock = info.executor->clock();
    sleep_until nap(clock, clock.now() + milliseconds(ms), info.cancel);
    const bool whole = co_await nap;
    if (!whole) {
      ++cancelled;
      co_return Error(Errc::cancelled, "woken early");
    }
    ++finished;
    out.value = ms;
    co_return Result<void>();
  }
  Task<Result<void>> remaining(std::int64_t hop, Bare<std::int64_t>& out, const CallInfo& info) {
    const auto left = std::chrono::duration_cast<milliseconds>(info.deadline - info.executor->clock().now());
    seen[static_cast<std::size_t>(hop)] = left.count();
    out.value = hop;
    if (!next) co_return Result<void>();
    // Some time passes here, so less is left for the next hop.
    sleep_until nap(info.executor->clock(), info.executor->clock().now() + milliseconds(50), info.cancel);
    co_await nap;
    const ClientMethod<Arguments<std::int64_t>, Bare<std::int64_t>> call(next, methods_[1]);
    CallOptions options;
    options.parent = &info;
    options.timeout = std::chrono::seconds(60);
    const Arguments<std::int64_t> in{{hop + 1}};
    Result<Bare<std::int64_t>> answer = co_await call(in, options, use_task);
    if (!answer.ok()) co_return std::move(answer).error();
    out.value = answer->value;
    co_return Result<void>();
  }
  Method methods_[2];
};

class CancelAndDeadline : public testing::Test {
 protected:
  void SetUp() override {
    sleeper = std::make_shared<Sleeper>();
    server = test::start(test::server_options(), {sleeper});
    ASSERT_TRUE(server);
    client = test::start(test::client_options("test.Sleeper", server->addresses()[0]));
    ASSERT_TRUE(client);
  }
  bool all_idle() { return test::eventually([&] { return test::idle(*client) && test::idle(*server); }); }
  std::shared_ptr<Sleeper> sleeper;
  std::unique_ptr<App> server;
  std::unique_ptr<App> client;
};

TEST_F(CancelAndDeadline, CancelReachesTheHandlerAndBothTablesReturnToZero) {
  const ClientFunction<std::int64_t(std::int64_t)> sleep(client->reference("r"), "sleep");
  CancelSource source;
  CallOptions options;
  options.cancel = &source;
  std::promise<Errc> outcome;
  const ClientMethod<Arguments<std::int64_t>, Bare<std::int64_t>> method(
      client->reference("r"), Method{"sleep", Shape::unary, &message_type<Arguments<std::int64_t>>(),
                                     &message_type<Bare<std::int64_t>>(), false});
  const Arguments<std::int64_t> in{{5000}};
  method(in, options,
         [&](Result<Bare<std::int64_t>> answer) { outcome.set_value(answer.ok() ? Errc::ok : answer.error().code()); });
  ASSERT_TRUE(test::eventually([&] { return sleeper->started == 1; }));
  const auto begun = std::chrono::steady_clock::now();
  source.cancel();
  EXPECT_EQ(outcome.get_future().get(), Errc::cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(1));
  EXPECT_TRUE(test::eventually([&] { return sleeper->cancelled == 1; }));
  EXPECT_TRUE(all_idle());
  // A source that fired cancels later calls before they are sent.
  std::promise<Errc> again;
  method(in, options,
         [&](Result<Bare<std::int64_t>> answer) { again.set_value(answer.ok() ? Errc::ok : answer.error().code()); });
  EXPECT_EQ(again.get_future().get(), Errc::cancelled);
  EXPECT_EQ(sleeper->started, 1);
}

TEST_F(CancelAndDeadline, ATimedOutCallHarmsNobodyAndItsLateReplyIsDropped) {
  const ClientFunction<std::int64_t(std::int64_t)> sleep(client->reference("r"), "sleep");
  std::promise<std::int64_t> slow;
  sleep(400, [&](Result<std::int64_t> answer) { slow.set_value(answer.ok() ? *answer : -1); });
  CallOptions options;
  options.timeout = milliseconds(100);
  const auto begun = std::chrono::steady_clock::now();
  Result<std::int64_t> late = sleep.call(options, 5000);
  const auto took = std::chrono::steady_clock::now() - begun;
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code(), Errc::deadline_exceeded);
  EXPECT_EQ(late.error().delivery(), Delivery::maybe_run);
  EXPECT_NE(late.error().text().find("test.Sleeper at 127.0.0.1:"), std::string::npos) << late.error().text();
  EXPECT_GE(took, milliseconds(100));
  EXPECT_LT(took, milliseconds(350));  // I1: deadline + 50 ms, + 250 ms on a loaded machine
  EXPECT_EQ(*sleep(1), 1);             // the connection goes on
  EXPECT_EQ(slow.get_future().get(), 400);
  EXPECT_EQ(server->counts().server_connections, 1u);
  EXPECT_TRUE(all_idle());
}

TEST_F(CancelAndDeadline, TheDeadlineCoversConnecting) {
  const test::BlackHole hole;  // connection attempts to it get no answer
  AppOptions options = test::client_options("test.Sleeper", hole.address());
  options.client.references["r"].connect = ConnectWhen::lazy;
  options.client.references["r"].connect_timeout = std::chrono::seconds(1);
  auto lost = test::start(std::move(options));
  ASSERT_TRUE(lost);
  const ClientFunction<std::int64_t(std::int64_t)> sleep(lost->reference("r"), "sleep");
  CallOptions call;
  call.timeout = milliseconds(200);
  const auto begun = std::chrono::steady_clock::now();
  Result<std::int64_t> answer = sleep.call(call, 1);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().delivery(), Delivery::not_run);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, milliseconds(450));
}

TEST_F(CancelAndDeadline, TheDeadlineShrinksOverThreeHops) {
  auto third = std::make_shared<Sleeper>();
  auto c = test::start(test::server_options(), {third});
  ASSERT_TRUE(c);
  auto second = std::make_shared<Sleeper>();
  AppOptions middle = test::server_options();
  middle.client.references["next"] = test::reference_options("test.Sleeper", c->addresses()[0]);
  auto b = test::start(std::move(middle), {second});
  ASSERT_TRUE(b);
  second->next = b->reference("next");
  auto first = std::make_shared<Sleeper>();
  AppOptions front = test::server_options();
  front.client.references["next"] = test::reference_options("test.Sleeper", b->addresses()[0]);
  auto a = test::start(std::move(front), {first});
  ASSERT_TRUE(a);
  first->next = a->reference("next");
  auto caller = test::start(test::client_options("test.Sleeper", a->addresses()[0]));
  ASSERT_TRUE(caller);
  const ClientFunction<std::int64_t(std::int64_t)> remaining(caller->reference("r"), "remaining");
  CallOptions options;
  options.timeout = std::chrono::seconds(4);
  Result<std::int64_t> hops = remaining.call(options, 1);
  ASSERT_TRUE(hops.ok()) << hops.error().text();
  EXPECT_EQ(*hops, 3);
  const std::int64_t at1 = first->seen[1], at2 = second->seen[2], at3 = third->seen[3];
  EXPECT_LE(at1, 4001);
  EXPECT_GT(at1, 2000);
  EXPECT_LE(at2, at1 - 45);
  EXPECT_LE(at3, at2 - 45);
  EXPECT_GT(at3, 1000);
  first->next.reset();
  second->next.reset();
}

TEST_F(CancelAndDeadline, ACancelledParentCancelsItsChild) {
  auto leaf = std::make_shared<Sleeper>();
  auto b = test::start(test::server_options(), {leaf});
  ASSERT_TRUE(b);
  // The middle forwards "sleep" to the leaf with the call as parent.
  auto middle_service = std::make_shared<Sleeper>();
  class Forward final : public Service {
   public:
    std::string_view interface() const noexcept override { return "test.Forward"; }
    std::span<const Method> methods() const noexcept override { return {&method_, 1}; }
    Task<Result<Response>> call(Request& request) override {
      const CallInfo& info = *request.info;
      auto handler = [this, &info](const Arguments<std::int64_t>& in, Bare<std::int64_t>& out) {
        return forward(in, out, info);
      };
      return serve<Arguments<std::int64_t>, Bare<std::int64_t>>(request, handler);
    }
    std::shared_ptr<Reference> next;

   private:
    Task<Result<void>> forward(const Arguments<std::int64_t>& in, Bare<std::int64_t>& out, const CallInfo& info) {
      const ClientMethod<Arguments<std::int64_t>, Bare<std::int64_t>> sleep(next, method_);
      CallOptions options;
      options.parent = &info;
      co_return co_await sleep(in, out, options, use_task);
    }
    Method method_{"sleep", Shape::unary, &message_type<Arguments<std::int64_t>>(),
                   &message_type<Bare<std::int64_t>>(), false};
  };
  auto forward = std::make_shared<Forward>();
  AppOptions options = test::server_options();
  options.client.references["next"] = test::reference_options("test.Sleeper", b->addresses()[0]);
  auto a = test::start(std::move(options), {forward});
  ASSERT_TRUE(a);
  forward->next = a->reference("next");
  auto caller = test::start(test::client_options("test.Forward", a->addresses()[0]));
  ASSERT_TRUE(caller);
  const ClientFunction<std::int64_t(std::int64_t)> sleep(caller->reference("r"), "sleep");
  CallOptions short_call;
  short_call.timeout = milliseconds(150);
  EXPECT_EQ(sleep.call(short_call, 8000).error().code(), Errc::deadline_exceeded);
  EXPECT_TRUE(test::eventually([&] { return leaf->cancelled == 1; }, std::chrono::seconds(2)));
  EXPECT_TRUE(test::eventually([&] { return test::idle(*a) && test::idle(*b) && test::idle(*caller); }));
  forward->next.reset();
}

TEST_F(CancelAndDeadline, DrainAnswersWhatRuns) {
  const ClientFunction<std::int64_t(std::int64_t)> sleep(client->reference("r"), "sleep");
  std::atomic<int> good = 0;
  for (int i = 0; i < 100; ++i)
    sleep(200, [&](Result<std::int64_t> answer) {
      if (answer.ok()) ++good;
    });
  ASSERT_TRUE(test::eventually([&] { return sleeper->started == 100; }));
  EXPECT_TRUE(server->stop(std::chrono::seconds(5)));
  EXPECT_TRUE(test::eventually([&] { return good == 100; })) << good;
}

TEST_F(CancelAndDeadline, AGraceThatIsTooShortEndsAnyway) {
  const ClientFunction<std::int64_t(std::int64_t)> sleep(client->reference("r"), "sleep");
  std::promise<Errc> outcome;
  sleep(20'000, [&](Result<std::int64_t> answer) {
    outcome.set_value(answer.ok() ? Errc::ok : answer.error().code());
  });
  ASSERT_TRUE(test::eventually([&] { return sleeper->started == 1; }));
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_FALSE(server->stop(milliseconds(200)));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, milliseconds(1200));
  EXPECT_EQ(outcome.get_future().get(), Errc::unavailable);
  EXPECT_EQ(sleeper->cancelled, 1);
}

}  // namespace
}  // namespace tenon
