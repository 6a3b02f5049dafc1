#include "support/test_apps.hpp"

namespace tenon {
namespace {

std::shared_ptr<Functions> echo(const std::string& who) {
  auto service = std::make_shared<Functions>("test.Echo");
  service->add("echo", [who](const std::string& text) { return who + ":" + text; });
  return service;
}

TEST(TwoApps, DifferentOptionsOfOnePluginInOneProcess) {
  // Both serve, both call the other, with different options of the same HA strategy and different serializers.
  auto first = test::start(test::server_options(), {echo("first")});
  ASSERT_TRUE(first);
  AppOptions options = test::server_options();
  options.client.references["other"] = test::reference_options("test.Echo", first->addresses()[0]);
  options.client.references["other"].serializer = Component("json");
  options.client.references["other"].ha = Component("failfast");
  auto second = test::start(std::move(options), {echo("second")});
  ASSERT_TRUE(second);
  AppOptions calling = test::client_options("test.Echo", second->addresses()[0]);
  auto third = test::start(std::move(calling));
  ASSERT_TRUE(third);

  const ClientFunction<std::string(std::string)> to_first(second->reference("other"), "echo");
  const ClientFunction<std::string(std::string)> to_second(third->reference("r"), "echo");
  EXPECT_EQ(*to_first("x"), "first:x");
  EXPECT_EQ(*to_second("y"), "second:y");

  // One stops, the other goes on.
  EXPECT_TRUE(first->stop(std::chrono::seconds(1)));
  first.reset();
  Result<std::string> gone = to_first("x");
  ASSERT_FALSE(gone.ok());
  EXPECT_EQ(gone.error().code(), Errc::unavailable);
  EXPECT_EQ(*to_second("z"), "second:z");
}

TEST(TwoApps, PortInUseIsSaidBeforeAnythingIsAnnounced) {
  auto first = test::start(test::server_options(), {echo("first")});
  ASSERT_TRUE(first);
  auto second = App::create(test::server_options("tcp", first->addresses()[0]));
  ASSERT_TRUE(second.ok()) << second.error().text();
  (*second)->provide(echo("second"));
  Result<void> started = (*second)->start();
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code(), Errc::unavailable);
  EXPECT_NE(started.error().text().find(first->addresses()[0]), std::string::npos) << started.error().text();
  EXPECT_NE(started.error().text().find("in use"), std::string::npos) << started.error().text();
}

TEST(TwoApps, StartStopCycles) {
  for (int i = 0; i < 20; ++i) {
    auto server = test::start(test::server_options(), {echo("s")});
    ASSERT_TRUE(server);
    auto client = test::start(test::client_options("test.Echo", server->addresses()[0]));
    ASSERT_TRUE(client);
    const ClientFunction<std::string(std::string)> call(client->reference("r"), "echo");
    ASSERT_EQ(*call("x"), "s:x");
    if (i % 2) {
      server.reset();
      client.reset();
    }
  }
}

TEST(TwoApps, SeveralIoThreads) {
  AppOptions serving = test::server_options();
  serving.runtime.io_threads = 3;
  auto server = test::start(std::move(serving), {echo("s")});
  ASSERT_TRUE(server);
  AppOptions calling = test::client_options("test.Echo", server->addresses()[0]);
  calling.runtime.io_threads = 2;
  calling.client.references["r"].connections = 5;
  for (const char* name : {"a", "b"}) calling.client.references[name] = calling.client.references["r"];
  auto client = test::start(std::move(calling));
  ASSERT_TRUE(client);
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (const char* name : {"a", "b", "r"})
    threads.emplace_back([&, name] {
      const ClientFunction<std::string(std::string)> call(client->reference(name), "echo");
      for (int i = 0; i < 500; ++i)
        if (auto answer = call("x"); answer.ok() && *answer == "s:x") ++good;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 1500);
}

}  // namespace
}  // namespace tenon
