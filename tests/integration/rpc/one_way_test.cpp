#include <atomic>

#include "support/test_apps.hpp"
#include "tenon/scope.hpp"

namespace tenon {
namespace {

/// Counts notifications, some of which take their time, and answers how many have ended.
class Notices final : public Service {
 public:
  std::string_view interface() const noexcept override { return "test.Notices"; }
  std::span<const Method> methods() const noexcept override { return methods_; }
  Task<Result<Response>> call(Request& request) override {
    const CallInfo& info = *request.info;
    if (request.target->index == 0) {
      auto note = [this, &info](const Arguments<std::int64_t>& in, Void&) {
        return take(std::get<0>(in.values), info);
      };
      return serve<Arguments<std::int64_t>, Void>(request, note);
    }
    auto ended = [this](const Arguments<std::int64_t>& in, Bare<std::int64_t>& out) -> Task<Result<void>> {
      out.value = std::get<0>(in.values) + done;
      co_return Result<void>();
    };
    return serve<Arguments<std::int64_t>, Bare<std::int64_t>>(request, ended);
  }
  std::atomic<int> begun = 0;
  std::atomic<int> done = 0;

 private:
  Task<Result<void>> take(std::int64_t ms, const CallInfo& info) {
    ++begun;
    Clock& clock = info.executor->clock();
    sleep_until nap(clock, clock.now() + std::chrono::milliseconds(ms));
    co_await nap;
    ++done;
    co_return Result<void>();
  }
  const Method methods_[2] = {
      {"note", Shape::one_way, &message_type<Arguments<std::int64_t>>(), &message_type<Void>(), false},
      {"ended", Shape::unary, &message_type<Arguments<std::int64_t>>(), &message_type<Bare<std::int64_t>>(), false}};
};

TEST(OneWay, IsDoneWhenItIsSentAndHarmsNoOtherCall) {
  auto notices = std::make_shared<Notices>();
  auto server = test::start(test::server_options(), {notices});
  ASSERT_TRUE(server);
  auto client = test::start(test::client_options("test.Notices", server->addresses()[0]));
  ASSERT_TRUE(client);
  const ClientMethod<Arguments<std::int64_t>, Void> note(client->reference("r"), notices->methods()[0]);
  const ClientMethod<Arguments<std::int64_t>, Bare<std::int64_t>> ended(client->reference("r"), notices->methods()[1]);
  const Arguments<std::int64_t> slow{{200}};
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < 50; ++i) {
    Result<Void> sent = note(slow);
    ASSERT_TRUE(sent.ok()) << sent.error().text();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
  // Ordinary calls use the same numbers on the same connection meanwhile.
  const Arguments<std::int64_t> thousand{{1000}};
  for (int i = 0; i < 50; ++i) {
    Result<Bare<std::int64_t>> answer = ended(thousand);
    ASSERT_TRUE(answer.ok()) << answer.error().text();
    EXPECT_GE(answer->value, 1000);
  }
  EXPECT_TRUE(test::eventually([&] { return notices->done == 50; }));
  EXPECT_EQ(server->counts().server_connections, 1u);
  EXPECT_TRUE(test::eventually([&] { return test::idle(*client) && test::idle(*server); }));
}

TEST(OneWay, OutlivesItsConnection) {
  auto notices = std::make_shared<Notices>();
  auto server = test::start(test::server_options(), {notices});
  ASSERT_TRUE(server);
  {
    auto client = test::start(test::client_options("test.Notices", server->addresses()[0]));
    ASSERT_TRUE(client);
    const ClientMethod<Arguments<std::int64_t>, Void> note(client->reference("r"), notices->methods()[0]);
    const Arguments<std::int64_t> slow{{150}};
    ASSERT_TRUE(note(slow).ok());
    ASSERT_TRUE(test::eventually([&] { return notices->begun == 1; }));
  }
  EXPECT_TRUE(test::eventually([&] { return notices->done == 1; }));
  EXPECT_TRUE(test::eventually([&] { return test::idle(*server); }));
}

}  // namespace
}  // namespace tenon
