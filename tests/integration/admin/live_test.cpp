// What tenon.Admin says while calls run, wait, end, and when an io thread is stuck.

#include <algorithm>
#include <thread>

#include "asking.hpp"
#include "integration/rpc/pool_service.hpp"
#include "support/raw_socket.hpp"

namespace tenon {
namespace {

using admin::Phase;
using std::chrono::milliseconds;
using test::Asking;
using test::eventually;
using test::Labour;
using test::pool_options;

class LiveTest : public test::PoolTest {
 protected:
  AppOptions watched(AppOptions options) const {
    options.admin = AdminOptions{sockets_.address("a.sock"), {}};
    return options;
  }
  Asking asking(const std::string& serializer = "protobuf") const {
    return Asking(sockets_.address("a.sock"), serializer);
  }

  test::SocketFolder sockets_;
};

TEST_F(LiveTest, CallsAreSeenAndGoAgain) {
  begin(watched(pool_options({{"work", {1, 1}}, {"idle", {3, 7}}}, "work", {{"quick", "inline"}})));
  ASSERT_TRUE(run(Labour::quick, 1).ok());
  const Asking admin = asking();
  admin::Stats stats = admin.stats();
  EXPECT_EQ(stats.app.application, "server");
  EXPECT_EQ(stats.app.phase, Phase::ready);
  EXPECT_EQ(stats.app.pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(stats.app.io_threads, 1u);
  EXPECT_TRUE(stats.app.silent.empty());
  EXPECT_EQ(stats.app.server_connections, 1u) << "not its own";
  EXPECT_EQ(stats.app.server_calls, 0u) << "not itself";
  ASSERT_EQ(stats.listeners.size(), 1u);
  EXPECT_EQ(stats.listeners[0].address, server->addresses()[0]);
  EXPECT_EQ(stats.listeners[0].transport, "tcp");
  EXPECT_EQ(stats.listeners[0].protocols, std::vector<std::string>{"tenon"});

  send(Labour::block, 1, outcomes);
  ASSERT_TRUE(eventually([&] { return labour->blocked == 1; }));
  send(Labour::block, 2, outcomes);
  ASSERT_TRUE(eventually([&] { return pool(1).queued == 1; }));
  send(Labour::block, 3, outcomes);
  ASSERT_TRUE(eventually([&] { return outcomes.lost == 1; })) << "the queue is full";
  stats = admin.stats();
  EXPECT_EQ(stats.app.server_calls, 2u);
  ASSERT_EQ(stats.pools.size(), 2u);
  const admin::PoolState& idle = stats.pools[0];
  EXPECT_EQ(idle.name, "idle");
  EXPECT_EQ(idle.threads, 3u);
  EXPECT_EQ(idle.queue, 7u);
  const admin::PoolState& work = stats.pools[1];
  EXPECT_EQ(work.name, "work");
  EXPECT_EQ(work.threads, 1u);
  EXPECT_EQ(work.busy, 1u);
  EXPECT_EQ(work.running, 1u);
  EXPECT_EQ(work.queued, 1u);
  EXPECT_EQ(work.queue, 1u);
  EXPECT_EQ(work.rejected, 1u);
  ASSERT_EQ(stats.connections.shown.size(), 1u);
  const admin::ConnectionState& connection = stats.connections.shown[0];
  EXPECT_EQ(stats.connections.total, 1u);
  EXPECT_EQ(connection.in_flight, 2u);
  EXPECT_EQ(connection.protocol, "tenon");
  EXPECT_EQ(connection.local, server->addresses()[0]);
  EXPECT_EQ(connection.peer.rfind("127.0.0.1:", 0), 0u) << connection.peer;
  EXPECT_EQ(connection.reference, "");
  EXPECT_FALSE(connection.secure);
  EXPECT_GE(connection.age, milliseconds(0));
  EXPECT_LT(connection.age, std::chrono::minutes(1));

  labour->door.open();
  ASSERT_TRUE(eventually([&] { return outcomes.ok == 2; }));
  ASSERT_TRUE(all_idle());
  stats = admin.stats();
  EXPECT_EQ(stats.app.server_calls, 0u);
  EXPECT_EQ(stats.pools[1].running, 0u);
  EXPECT_EQ(stats.pools[1].queued, 0u);
  EXPECT_EQ(stats.pools[1].rejected, 1u) << "since the start";
  EXPECT_EQ(stats.connections.shown.at(0).in_flight, 0u);
  EXPECT_EQ(stats.connections.shown.at(0).unwritten, 0u);
  client.reset();
  EXPECT_TRUE(eventually([&] { return admin.stats().connections.total == 0; }));
  EXPECT_EQ(admin.stats().app.server_connections, 0u);
}

TEST_F(LiveTest, TheMethodsAreThePartsOfStats) {
  begin(watched(pool_options({{"work", {1, 1}}}, "work")));
  const Asking admin = asking();
  EXPECT_EQ(admin.value<admin::AppState>("state").application, "server");
  EXPECT_EQ(admin.value<std::vector<admin::ListenerState>>("listeners").at(0).address, server->addresses()[0]);
  EXPECT_EQ(admin.value<std::vector<admin::PoolState>>("pools").at(0).name, "work");
  EXPECT_EQ(admin.value<admin::ConnectionList>("connections", std::uint32_t{5}).shown.size(), 1u);
  EXPECT_TRUE(admin.value<std::vector<admin::ReferenceState>>("references").empty());
  const auto plugins = admin.value<std::vector<admin::LoadedPlugin>>("plugins");
  const auto tcp =
      std::find_if(plugins.begin(), plugins.end(), [](const auto& p) { return p.name == "transport-tcp"; });
  ASSERT_NE(tcp, plugins.end());
  EXPECT_EQ(tcp->entries, std::vector<std::string>{"transport tcp"});
  EXPECT_FALSE(tcp->version.empty());
  EXPECT_FALSE(tcp->origin.empty());
  const auto config = admin.value<std::vector<admin::ConfigValue>>("config");
  const auto listen =
      std::find_if(config.begin(), config.end(), [](const auto& v) { return v.path == "admin.listen"; });
  ASSERT_NE(listen, config.end());
  EXPECT_EQ(listen->value, sockets_.address("a.sock"));
  EXPECT_EQ(listen->origin, "program");
}

TEST_F(LiveTest, InEverySerializerThatIsLoaded) {
  AppOptions options = watched(pool_options({{"work", {1, 1}}}, "work"));
  options.plugins.load.insert(options.plugins.load.end(), {"serialize-msgpack", "serialize-simple"});
  begin(std::move(options));
  for (const char* serializer : {"protobuf", "json", "msgpack", "simple"}) {
    const Asking admin = asking(serializer);
    const admin::Stats stats = admin.stats();
    EXPECT_EQ(stats.app.application, "server") << serializer;
    EXPECT_EQ(stats.app.phase, Phase::ready) << serializer;
    EXPECT_GE(stats.app.up, milliseconds(0)) << serializer;
    EXPECT_EQ(stats.connections.shown.size(), 1u) << serializer;
    EXPECT_EQ(stats.pools.at(0).queue, 1u) << serializer;
    EXPECT_GT(admin.value<std::vector<admin::ConfigValue>>("config").size(), 50u) << serializer;
  }
}

// A peer that asks for much and reads nothing.
TEST_F(LiveTest, BytesThatWaitAreSeen) {
  AppOptions options = watched(test::server_options());
  options.plugins.load.push_back("protocol-http");
  options.server.listen[0].protocols = {Component("http")};
  auto large = std::make_shared<Functions>("test.Large");
  large->add("text", [] { return std::string(3u << 20, 'x'); });
  server = test::start(std::move(options), {large});
  ASSERT_TRUE(server);
  const Asking admin = asking();
  {
    test::RawSocket peer(server->addresses()[0]);
    for (int i = 0; i < 8; ++i) peer.send("POST /test.Large/text HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
    EXPECT_TRUE(eventually([&] {
      const auto list = admin.value<admin::ConnectionList>("connections", std::uint32_t{1});
      return list.shown.size() == 1 && list.shown[0].unwritten > (1u << 20) && list.shown[0].protocol == "http";
    }));
  }
  EXPECT_TRUE(eventually([&] { return admin.stats().connections.total == 0; }));
}

TEST_F(LiveTest, StartingIsSeen) {
  AppOptions options = watched(test::client_options("test.Labour", "127.0.0.1:1"));  // where nobody listens
  options.client.references["r"].connect_timeout = std::chrono::seconds(1);
  auto app = App::create(std::move(options));
  ASSERT_TRUE(app.ok());
  std::thread starting([&] { EXPECT_TRUE((*app)->start().ok()); });
  EXPECT_TRUE(eventually([&] { return test::mode_of(sockets_.file("a.sock")) != 0; }));
  const Asking admin = asking();
  EXPECT_EQ(admin.value<admin::AppState>("state").phase, Phase::starting);
  starting.join();
  EXPECT_EQ(admin.value<admin::AppState>("state").phase, Phase::ready);
}

TEST_F(LiveTest, TheBusiestConnectionsComeFirst) {
  begin(watched(pool_options({{"work", {1, 10}}}, "work", {{"quick", "inline"}})));
  std::vector<std::unique_ptr<App>> others;
  for (int i = 0; i < 3; ++i) {
    others.push_back(test::start(test::client_options("test.Labour", server->addresses()[0])));
    ASSERT_TRUE(others.back());
  }
  send(Labour::block, 1, outcomes);
  send(Labour::block, 2, outcomes);
  ASSERT_TRUE(eventually([&] { return server->counts().server_calls == 2; }));
  const Asking admin = asking();
  const auto two = admin.value<admin::ConnectionList>("connections", std::uint32_t{2});
  EXPECT_EQ(two.total, 4u);
  ASSERT_EQ(two.shown.size(), 2u);
  EXPECT_EQ(two.shown[0].in_flight, 2u);
  EXPECT_EQ(two.shown[1].in_flight, 0u);
  const auto none = admin.value<admin::ConnectionList>("connections", std::uint32_t{0});
  EXPECT_EQ(none.total, 4u);
  EXPECT_TRUE(none.shown.empty());
  labour->door.open();
}

TEST_F(LiveTest, ReferencesAndTheirInstances) {
  begin(pool_options({{"work", {4, 10}}}, "work", {{"quick", "inline"}}));
  const std::string dead = "127.0.0.1:1";
  AppOptions options = watched(test::client_options("test.Labour", server->addresses()[0] + "," + dead));
  options.client.references["r"].ha = Component("failfast");
  options.server.listen.clear();
  options.application = "caller";
  client = test::start(std::move(options));  // an application without a server can be asked as well
  ASSERT_TRUE(client);
  const Asking admin = asking();
  ASSERT_TRUE(eventually([&] {
    const auto stats = admin.stats();
    return stats.references.size() == 1 && stats.references[0].endpoints.size() == 2 && stats.connections.total == 1;
  }));
  admin::Stats stats = admin.stats();
  EXPECT_EQ(stats.app.application, "caller");
  EXPECT_TRUE(stats.listeners.empty());
  EXPECT_TRUE(stats.pools.empty());
  const admin::ReferenceState& reference = stats.references[0];
  EXPECT_EQ(reference.name, "r");
  EXPECT_NE(reference.service.find("test.Labour"), std::string::npos);
  EXPECT_EQ(reference.in_flight, 0u);
  const auto endpoint = [](const admin::Stats& all, const std::string& address) {
    for (const admin::EndpointState& state : all.references.at(0).endpoints)
      if (state.address == address) return state;
    ADD_FAILURE() << "no instance " << address;
    return admin::EndpointState();
  };
  const admin::EndpointState gone = endpoint(stats, dead);
  EXPECT_EQ(gone.connections, 0u);
  EXPECT_NE(gone.health, admin::EndpointHealth::open);
  EXPECT_NE(gone.failure.find("connection refused"), std::string::npos) << gone.failure;
  admin::EndpointState good = endpoint(stats, server->addresses()[0]);
  EXPECT_EQ(good.connections, 1u);
  EXPECT_EQ(good.health, admin::EndpointHealth::open);
  EXPECT_EQ(good.failure, "");
  EXPECT_EQ(good.weight, 100u);
  EXPECT_EQ(good.transport, "tcp");
  ASSERT_EQ(stats.connections.shown.size(), 1u);
  EXPECT_EQ(stats.connections.shown[0].reference, "r");
  EXPECT_EQ(stats.connections.shown[0].peer, server->addresses()[0]);

  // In flight while it runs, counted when it has ended.
  CallOptions to_good;
  to_good.instance = server->addresses()[0];
  send(Labour::block, 1, outcomes, to_good);
  ASSERT_TRUE(eventually([&] { return labour->blocked == 1; }));
  stats = admin.stats();
  EXPECT_EQ(stats.app.client_calls >= 1, true) << stats.app.client_calls;
  EXPECT_EQ(stats.references[0].in_flight, 1u);
  EXPECT_EQ(endpoint(stats, server->addresses()[0]).in_flight, 1u);
  EXPECT_EQ(stats.connections.shown.at(0).in_flight, 1u);
  labour->door.open();
  ASSERT_TRUE(eventually([&] { return outcomes.ok == 1; }));
  send(Labour::boom, 1, outcomes, to_good);
  ASSERT_TRUE(eventually([&] { return outcomes.lost == 1; }));
  stats = admin.stats();
  EXPECT_EQ(stats.references[0].in_flight, 0u);
  good = endpoint(stats, server->addresses()[0]);
  EXPECT_EQ(good.in_flight, 0u);
  EXPECT_EQ(good.calls, 2u);
  EXPECT_EQ(good.errors, 1u);
  EXPECT_EQ(good.faults, 1u) << "a handler that throws is a defect of the instance";
  EXPECT_EQ(good.consecutive_faults, 1u);
  EXPECT_GT(good.latency_us, 0);
}

// A handler that blocks its io thread stops its connections, but not the admin service.
TEST_F(LiveTest, AStuckIoThreadIsNamed) {
  AppOptions options = watched(pool_options({}, ""));
  options.runtime.io_threads = 2;
  begin(std::move(options));
  const Asking admin = asking();
  EXPECT_TRUE(admin.stats().app.silent.empty());
  send(Labour::block, 1, outcomes);
  ASSERT_TRUE(eventually([&] { return labour->blocked == 1; }));
  for (int i = 0; i < 2; ++i) {
    const admin::Stats stats = admin.stats();
    ASSERT_EQ(stats.app.silent.size(), 1u);
    EXPECT_LT(stats.app.silent[0], 2u);
    EXPECT_EQ(stats.app.server_calls, 1u);
    EXPECT_EQ(stats.connections.total, 0u) << "what it knows is missing";
  }
  labour->door.open();
  ASSERT_TRUE(eventually([&] { return outcomes.ok == 1; }));
  EXPECT_TRUE(eventually([&] { return admin.stats().app.silent.empty(); }));
  EXPECT_EQ(admin.stats().connections.total, 1u);
}

TEST_F(LiveTest, DrainingIsSeen) {
  begin(watched(pool_options({{"work", {1, 1}}}, "work")));
  send(Labour::block, 1, outcomes);
  ASSERT_TRUE(eventually([&] { return labour->blocked == 1; }));
  const Asking admin = asking();
  std::thread stopping([&] { EXPECT_TRUE(server->stop(std::chrono::seconds(10))); });
  EXPECT_TRUE(eventually([&] { return admin.value<admin::AppState>("state").phase == Phase::draining; }));
  EXPECT_EQ(admin.value<admin::AppState>("state").server_calls, 1u);
  labour->door.open();
  stopping.join();
  EXPECT_EQ(admin.value<admin::AppState>("state").phase, Phase::stopped);
  EXPECT_EQ(admin.value<admin::AppState>("state").server_calls, 0u);
  server.reset();
  const auto answer = admin.ask<admin::AppState>("state");
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code(), Errc::unavailable);
  EXPECT_EQ(test::mode_of(sockets_.file("a.sock")), 0u) << "the socket is removed";
}

// An io thread may still be at the end of its answer when everything else is over.
TEST_F(LiveTest, ApplicationsThatEndWithTheAnswer) {
  for (int round = 0; round < 60; ++round) {
    AppOptions options = watched(test::options("brief"));
    options.runtime.io_threads = 4;
    auto app = test::start(std::move(options));
    ASSERT_TRUE(app);
    EXPECT_EQ(asking().value<admin::AppState>("state").io_threads, 4u);
    app.reset();
  }
}

// Many askers while the application works and then goes.
TEST_F(LiveTest, AskedWhileEverythingChanges) {
  AppOptions options = watched(pool_options({{"work", {2, 100}}}, "work", {{"quick", "inline"}}));
  options.runtime.io_threads = 3;
  begin(std::move(options));
  std::atomic<bool> over = false;
  std::atomic<int> answers = 0;
  std::vector<std::thread> askers;
  for (int i = 0; i < 3; ++i)
    askers.emplace_back([&] {
      const Asking admin = asking();
      while (!over)
        if (admin.ask<admin::Stats>("stats", std::uint32_t{100}).ok()) ++answers;
    });
  for (int round = 0; round < 10; ++round) {
    const auto other = test::start(test::client_options("test.Labour", server->addresses()[0]));
    ASSERT_TRUE(other);
    for (int call = 0; call < 20; ++call) EXPECT_TRUE(run(call % 2 ? Labour::quick : Labour::other, call).ok());
  }
  EXPECT_TRUE(eventually([&] { return answers > 50; }));
  client.reset();
  server.reset();
  over = true;
  for (std::thread& asker : askers) asker.join();
}

}  // namespace
}  // namespace tenon
