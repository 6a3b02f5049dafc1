// What tenon.Admin can tell an application to do, and what it says to probes.
#include <thread>

#include "asking.hpp"
#include "integration/rpc/pool_service.hpp"

namespace tenon {
namespace {

using admin::AppState;
using admin::HealthState;
using admin::Phase;
using test::Asking;
using test::eventually;
using test::Labour;
using test::pool_options;

std::string missing(const HealthState& state) {
  std::string all;
  for (const std::string& one : state.missing) all += one + "\n";
  return all;
}

class OrdersTest : public test::PoolTest {
 protected:
  AppOptions watched(AppOptions options) const {
    options.admin = AdminOptions{sockets_.address("a.sock"), {}};
    options.plugins.load.push_back("registry-memory");
    return options;
  }
  Asking asking() const { return Asking(sockets_.address("a.sock")); }

  test::SocketFolder sockets_;
};

TEST_F(OrdersTest, HealthOfOneThatServes) {
  begin(watched(pool_options({}, "")));
  const Asking admin = asking();
  const HealthState state = admin.value<HealthState>("health");
  EXPECT_TRUE(state.live && state.ready) << missing(state);
  EXPECT_EQ(state.phase, Phase::ready);
  EXPECT_EQ(admin.value<std::string>("ready"), "ready");
  EXPECT_EQ(admin.value<std::string>("live"), "live");
}

TEST_F(OrdersTest, HealthWhileItStarts) {
  AppOptions options = watched(test::client_options("test.Labour", "127.0.0.1:1"));  // where nobody listens
  options.client.references["r"].connect_timeout = std::chrono::seconds(1);
  auto app = App::create(std::move(options));
  ASSERT_TRUE(app.ok());
  std::thread starting([&] { EXPECT_TRUE((*app)->start().ok()); });
  EXPECT_TRUE(eventually([&] { return test::mode_of(sockets_.file("a.sock")) != 0; }));
  const Asking admin = asking();
  const HealthState state = admin.value<HealthState>("health");
  EXPECT_TRUE(state.live);
  EXPECT_FALSE(state.ready);
  EXPECT_EQ(missing(state), "it is starting\n");
  starting.join();
  EXPECT_TRUE(admin.value<HealthState>("health").ready) << "nobody insists on that reference";
}

TEST_F(OrdersTest, AReferenceWithCheckThatHasNobody) {
  begin(pool_options({}, ""));
  AppOptions options = watched(test::client_options("test.Labour", server->addresses()[0]));
  options.client.references["r"].check = true;
  client = test::start(std::move(options));
  ASSERT_TRUE(client);
  const Asking admin = asking();
  EXPECT_TRUE(admin.value<HealthState>("health").ready);
  server.reset();
  ASSERT_TRUE(eventually([&] { return !admin.value<HealthState>("health").ready; }));
  const HealthState state = admin.value<HealthState>("health");
  EXPECT_TRUE(state.live);
  EXPECT_EQ(missing(state), "reference r has nobody to call\n");
  const auto word = admin.ask<std::string>("ready");
  ASSERT_FALSE(word.ok());
  EXPECT_EQ(word.error().code(), Errc::unavailable);
  EXPECT_EQ(word.error().text(), "not ready: reference r has nobody to call");
}

TEST_F(OrdersTest, AStuckIoThreadIsNotLive) {
  begin(watched(pool_options({}, "")));
  const Asking admin = asking();
  send(Labour::block, 1, outcomes);
  ASSERT_TRUE(eventually([&] { return labour->blocked == 1; }));
  const HealthState state = admin.value<HealthState>("health");
  EXPECT_FALSE(state.live);
  EXPECT_FALSE(state.ready);
  EXPECT_EQ(missing(state), "io thread 0 does not answer\n");
  labour->door.open();
  EXPECT_TRUE(eventually([&] { return admin.value<HealthState>("health").ready; }));
}

TEST_F(OrdersTest, DrainIsForThoseWhoWait) {
  begin(watched(pool_options({}, "")));
  const auto refused = asking().ask<AppState>("drain", std::int64_t{-1});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Errc::unimplemented);
  EXPECT_NE(refused.error().text().find("does not wait for requests to stop"), std::string::npos)
      << refused.error().text();
  EXPECT_TRUE(run(Labour::quick, 1).ok());
}

TEST_F(OrdersTest, DrainFinishesWhatRuns) {
  begin(watched(pool_options({{"work", {1, 1}}}, "work")));
  server->catch_signals();
  int code = -1;
  std::thread waiting([&] { code = server->wait(); });
  send(Labour::block, 1, outcomes);
  ASSERT_TRUE(eventually([&] { return labour->blocked == 1; }));
  const Asking admin = asking();
  EXPECT_EQ(admin.value<AppState>("drain", std::int64_t{60000}).server_calls, 1u);
  EXPECT_TRUE(eventually([&] { return admin.value<AppState>("state").phase == Phase::draining; }));
  EXPECT_EQ(missing(admin.value<HealthState>("health")), "it is draining\n");
  labour->door.open();
  waiting.join();
  EXPECT_EQ(code, 0);
  EXPECT_EQ(outcomes.ok, 1);
}

TEST_F(OrdersTest, AGraceOfItsOwn) {
  begin(watched(pool_options({{"work", {1, 1}}}, "work")));
  server->catch_signals();
  int code = -1;
  std::thread waiting([&] { code = server->wait(); });
  send(Labour::block, 1, outcomes);
  ASSERT_TRUE(eventually([&] { return labour->blocked == 1; }));
  EXPECT_TRUE(asking().ask<AppState>("drain", std::int64_t{50}).ok());
  EXPECT_TRUE(eventually([&] { return outcomes.lost == 1; })) << "it is cut off, long before server.grace";
  labour->door.open();
  waiting.join();
  EXPECT_EQ(code, 1);
}

TEST_F(OrdersTest, PausedItStaysAndTakesNothing) {
  AppOptions options = watched(pool_options({{"work", {1, 1}}}, "work"));
  options.registries["here"] = Component("memory");
  options.server.services[0].registry = {"here"};
  begin(std::move(options));
  AppOptions seeing = test::client_options("test.Labour", "");
  seeing.plugins.load.push_back("registry-memory");
  seeing.registries["here"] = Component("memory");
  seeing.client.references["r"].address.clear();
  seeing.client.references["r"].registry = {"here"};
  const auto consumer = test::start(std::move(seeing));
  ASSERT_TRUE(consumer);
  const ClientFunction<std::int64_t(std::int64_t)> quick(consumer->reference("r"), "quick");
  ASSERT_TRUE(quick(1).ok());

  send(Labour::block, 1, outcomes);
  ASSERT_TRUE(eventually([&] { return labour->blocked == 1; }));
  const Asking admin = asking();
  const AppState paused = admin.value<AppState>("pause");
  EXPECT_EQ(paused.phase, Phase::paused);
  EXPECT_EQ(paused.server_calls, 1u) << "which goes on";
  EXPECT_EQ(missing(admin.value<HealthState>("health")), "it is paused\n");
  const auto refused = run(Labour::quick, 2);  // by an address, past the registry
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text().find("the server is paused"), std::string::npos) << refused.error().text();
  EXPECT_EQ(refused.error().delivery(), Delivery::not_run);
  EXPECT_TRUE(eventually([&] {
    const auto answer = quick(3);
    return !answer.ok() && answer.error().text().find("paused") == std::string::npos;
  })) << "it is not even asked";
  EXPECT_EQ(admin.ask<AppState>("pause").error().code(), Errc::unavailable) << "it is not ready";
  labour->door.open();
  EXPECT_TRUE(eventually([&] { return outcomes.ok == 1; }));

  EXPECT_EQ(admin.value<AppState>("resume").phase, Phase::ready);
  EXPECT_TRUE(eventually([&] { return quick(4).ok(); }));
  EXPECT_TRUE(run(Labour::quick, 5).ok());
  EXPECT_EQ(admin.ask<AppState>("resume").error().text(), "it is not paused");
  EXPECT_TRUE(admin.value<HealthState>("health").ready);
}

// The same again and again, while others ask: nothing is left over.
TEST_F(OrdersTest, PausedAndResumedUnderCalls) {
  begin(watched(pool_options({}, "")));
  const Asking admin = asking();
  std::atomic<bool> over = false;
  std::thread calling([&] {
    for (int number = 0; !over; ++number) (void)run(Labour::quick, number);
  });
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(admin.ask<AppState>("pause").ok());
    EXPECT_TRUE(admin.ask<AppState>("resume").ok());
  }
  over = true;
  calling.join();
  EXPECT_TRUE(run(Labour::quick, 1).ok());
}

}  // namespace
}  // namespace tenon
