// What registries are told, and when.
#include <cstdlib>
#include <fstream>

#include "fixture.hpp"
#include "support/raw_socket.hpp"

namespace tenon::test {
namespace {

AppOptions serving(const Registries& registries, const std::string& listen = "127.0.0.1:0") {
  AppOptions options = with(server_options("tcp", listen), registries);
  ServiceOptions offered;
  offered.name = who_service;
  offered.registry = names_of(registries);
  options.server.services = {offered};
  return options;
}

/// An App that is not started yet.
std::unique_ptr<App> made(AppOptions options, std::shared_ptr<Service> service) {
  auto app = App::create(std::move(options));
  EXPECT_TRUE(app.ok()) << app.error().text();
  if (!app.ok()) return nullptr;
  (*app)->provide(std::move(service));
  return std::move(*app);
}

class Announcing : public Discovery {};
INSTANTIATE_TEST_SUITE_P(, Announcing, testing::ValuesIn(quick_places()), place_name);
INSTANTIATE_TEST_SUITE_P(SlowPlaces, Announcing, testing::ValuesIn(slow_places()), place_name);

TEST_P(Announcing, ComesAfterWarmingUpAndBothAfterListening) {
  std::atomic<bool> seen = false;
  std::atomic<bool> warm_when_seen = false;
  std::atomic<bool> warm = false;
  const Watcher watcher(registry("order"), [&](const Snapshot& snapshot) {
    if (snapshot.instances.empty() || seen) return;
    warm_when_seen = warm.load();
    seen = true;
  });
  const auto service = std::make_shared<Who>("a");
  const std::string address = "127.0.0.1:" + std::to_string(free_port());
  bool listening = false;
  service->warming = [&] {
    EXPECT_NE(Executor::current(), nullptr) << "on an io thread";
    listening = RawSocket(address).connected();
    std::this_thread::sleep_for(100ms);  // time for an announcement that comes too early to be seen
    EXPECT_FALSE(seen);
    warm = true;
    return Result<void>();
  };
  const auto app = made(serving({{"here", registry("order")}}, address), service);
  ASSERT_TRUE(app);
  const auto started = app->start();
  ASSERT_TRUE(started.ok()) << started.error().text();
  EXPECT_TRUE(listening);
  EXPECT_TRUE(eventually([&] { return seen.load(); }));
  EXPECT_TRUE(warm_when_seen);
  EXPECT_EQ(service->warmed, 1);
}

TEST_P(Announcing, DoesNotHappenWhenAServiceCannotBeWarmedUp) {
  const Watcher watcher(registry("cold"));
  ASSERT_TRUE(watcher.sees(0));
  const auto refused = [&](std::function<Result<void>()> warming) {
    const auto service = std::make_shared<Who>("a");
    service->warming = std::move(warming);
    const auto app = made(serving({{"here", registry("cold")}}), service);
    const auto started = app->start();
    EXPECT_TRUE(app->announcements().empty());
    return started.ok() ? "it started" : started.error().text();
  };
  EXPECT_EQ(refused([] { return Error(Errc::unavailable, "the data base is not there", Delivery::not_run); }),
            "service test.Who could not be warmed up: the data base is not there");
  EXPECT_EQ(refused([]() -> Result<void> { throw std::runtime_error("no luck"); }),
            "service test.Who could not be warmed up: its warm_up() threw: no luck");
  EXPECT_EQ(refused([]() -> Result<void> { throw 7; }),
            "service test.Who could not be warmed up: its warm_up() threw: something that is no std::exception");
  EXPECT_EQ(watcher.heard().size(), 1u) << "nobody was told";
}

// CON-18.
TEST_P(Announcing, DoesNotHappenWhenThePortIsTaken) {
  const Watcher watcher(registry("taken"));
  ASSERT_TRUE(watcher.sees(0));
  const auto first = start(server_options(), {std::make_shared<Who>("first")});
  ASSERT_TRUE(first);
  const auto service = std::make_shared<Who>("second");
  const auto app = made(serving({{"here", registry("taken")}}, first->addresses()[0]), service);
  const auto started = app->start();
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code(), Errc::unavailable);
  EXPECT_EQ(service->warmed, 0);
  EXPECT_EQ(watcher.heard().size(), 1u) << "nobody was told";
}

TEST_P(Announcing, HappensInEveryRegistryAlsoWhenOneIsAway) {
  const Watcher one(registry("several-1"));
  const Watcher two(registry("several-2"));
  std::atomic<bool> done = false;
  std::unique_ptr<App> app;
  std::thread starter([&] {
    app = start(serving({{"a", dead(2s)}, {"b", registry("several-1")}, {"c", registry("several-2")}}),
                {std::make_shared<Who>("a")});
    done = true;
  });
  EXPECT_TRUE(one.sees(1));
  EXPECT_TRUE(two.sees(1));
  EXPECT_FALSE(done) << "the one that is away keeps the others not waiting";
  starter.join();
  ASSERT_TRUE(app);
  const auto announced = app->announcements();
  ASSERT_EQ(announced.size(), 3u) << "it will be told when it is back";
  EXPECT_EQ(announced[0].registry + announced[1].registry + announced[2].registry, "abc");
  for (const Announcement& each : announced) EXPECT_EQ(each.instance, announced[0].instance) << "one instance";
  EXPECT_EQ(one.latest()[0], announced[0].instance);
  app->stop(5s);
  EXPECT_TRUE(one.sees(0));
  EXPECT_TRUE(two.sees(0));
  EXPECT_EQ(one.heard().back().withdrawn.size(), 1u) << "on purpose";
  EXPECT_TRUE(app->announcements().empty());
}

TEST_P(Announcing, TellsTheAddressThatOthersCanUse) {
  const Watcher watcher(registry("addresses"));
  AppOptions options = serving({{"here", registry("addresses")}});
  const auto listen = [&](const std::string& address, const std::string& announce) {
    ListenOptions port = options.server.listen[0];
    port.address = address;
    port.announce = announce;
    options.server.listen.push_back(port);
  };
  listen("127.0.0.1:0", "none");
  listen("127.0.0.1:0", "greeter.example.com:4080");
  listen("127.0.0.1:0", "greeter.example.com:0");
  listen("0.0.0.0:0", "");
  const auto app = start(std::move(options), {std::make_shared<Who>("a")});
  ASSERT_TRUE(app);
  ASSERT_TRUE(watcher.sees(4));
  std::set<std::string> told;
  for (const Instance& instance : watcher.latest()) told.insert(instance.address);
  const auto bound = app->addresses();
  const auto port = [&](std::size_t index) { return bound[index].substr(bound[index].rfind(':')); };
  EXPECT_TRUE(told.contains(bound[0]));
  EXPECT_FALSE(told.contains(bound[1])) << "none";
  EXPECT_TRUE(told.contains("greeter.example.com:4080"));
  EXPECT_TRUE(told.contains("greeter.example.com" + port(3))) << "port 0 is the one that is bound";
  EXPECT_FALSE(told.contains("0.0.0.0" + port(4)));
  for (const std::string& address : told) EXPECT_FALSE(address.ends_with(":0")) << address;
}

/// A log that can be read again.
class Logged {
 public:
  explicit Logged(AppOptions& options) : path_(folder_.path() + "/log") {
    options.log.file = path_;
    options.log.level = LogLevel::info;
  }
  /// How many lines have `part`.
  int lines(const std::string& part) const {
    std::ifstream in(path_);
    int count = 0;
    for (std::string line; std::getline(in, line);) count += line.find(part) != std::string::npos ? 1 : 0;
    return count;
  }

 private:
  TemporaryFolder folder_;
  std::string path_;
};

TEST(AnnouncedOnce, WarnsOfAnAddressThatOthersCannotUse) {
  const std::string warning = "which only this machine can reach; set server.listen[0].announce";
  AppOptions remote = serving({{"away", nobody(100ms)}, {"here", memory("loopback")}});
  const Logged remote_log(remote);
  const auto app = start(std::move(remote), {std::make_shared<Who>("a")});
  EXPECT_EQ(remote_log.lines(warning), 1);
  EXPECT_EQ(remote_log.lines("registry away is told 127.0.0.1:"), 1);
  AppOptions local = serving({{"here", memory("loopback")}});
  const Logged local_log(local);
  const auto other = start(std::move(local), {std::make_shared<Who>("a")});
  EXPECT_EQ(local_log.lines(warning), 0) << "everybody who reads it is in this process";
  AppOptions named = serving({{"away", nobody(100ms)}});
  named.server.listen[0].announce = "greeter.example.com:0";
  const Logged named_log(named);
  const auto third = start(std::move(named), {std::make_shared<Who>("a")});
  EXPECT_EQ(named_log.lines(warning), 0);
}

TEST(SlowAnnouncing, SaysThatWarmingUpTookLong) {
  const auto service = std::make_shared<Who>("a");
  service->warming = [] {
    std::this_thread::sleep_for(1100ms);
    return Result<void>();
  };
  AppOptions options = server_options();
  const Logged log(options);
  const auto app = start(std::move(options), {service});
  ASSERT_TRUE(app);
  EXPECT_EQ(log.lines("service test.Who needed "), 1);
}

TEST(AnnouncedOnce, AnAddressThatIsNoneIsAnErrorOfTheOptions) {
  AppOptions options = serving({{"here", memory("none")}});
  options.server.listen[0].announce = "greeter.example.com";
  const auto app = made(std::move(options), std::make_shared<Who>("a"));
  const auto started = app->start();
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code(), Errc::config);
  EXPECT_TRUE(started.error().text().starts_with("server.listen[0].announce: ")) << started.error().text();
}

TEST_P(Announcing, IsChangedWhileCallsGoOn) {
  const Registries registries{{"a", registry("change-1")}, {"b", registry("change-2")}};
  const Watcher one(registry("change-1"));
  const Watcher two(registry("change-2"));
  Provider a("a", registries);
  Provider b("b", registries);
  ASSERT_TRUE(a.started() && b.started());
  const Consumer consumer(registries);
  ASSERT_TRUE(consumer.hears({"a", "b"}));
  Load load(consumer);
  a.change({.weight = 0});
  EXPECT_TRUE(consumer.hears({"b"}));
  a.change({.weight = 300});
  EXPECT_TRUE(consumer.hears({"a", "b"}));
  EXPECT_TRUE(eventually([&] { return std::abs(consumer.calls(400)["a"] - 300) <= 40; }))
      << "with others calling at the same time";
  b.change({.serving = false});
  EXPECT_TRUE(consumer.hears({"a"}));
  b.change({.serving = true, .metadata = std::map<std::string, std::string>{{"zone", "x"}}});
  EXPECT_TRUE(consumer.hears({"a", "b"}));
  const auto zones = [](const Watcher& watcher) {
    std::string all;
    for (const Instance& instance : watcher.latest())
      for (const auto& [name, value] : instance.metadata) all += name + "=" + value;
    return all;
  };
  EXPECT_TRUE(eventually([&] { return zones(one) == "zone=x" && zones(two) == "zone=x"; }));
  EXPECT_EQ(load.failures(), "");
  EXPECT_EQ(a.connects(), 1) << "nothing of it needs a new connection";
  EXPECT_EQ(b.connects(), 1);
  for (const Announcement& each : a.app().announcements()) EXPECT_EQ(each.instance.weight, 300u);
}

TEST_P(Announcing, WhatIsNotAnnouncedCannotBeChanged) {
  const Registries registries{{"here", registry("unknown")}};
  const auto service = std::make_shared<Who>("a");
  const auto app = made(serving(registries), service);
  const auto code = [&](const std::string& name) {
    return app->update_announcement({name, "", ""}, {.weight = 1}).error().code();
  };
  EXPECT_EQ(code(who_service), Errc::not_found) << "not yet";
  ASSERT_TRUE(app->start().ok());
  EXPECT_EQ(code("test.Nobody"), Errc::not_found);
  EXPECT_TRUE(app->update_announcement({who_service, "", ""}, {}).ok());
  app->stop(1s);
  EXPECT_EQ(code(who_service), Errc::unavailable) << "not any more";
}

TEST_P(Announcing, ChangesComeFromAnyThread) {
  const Watcher watcher(registry("threads"));
  const auto app = start(serving({{"here", registry("threads")}}), {std::make_shared<Who>("a")});
  ASSERT_TRUE(app);
  std::vector<std::thread> threads;
  for (std::uint32_t i = 1; i <= 4; ++i)
    threads.emplace_back([&, i] {
      for (std::uint32_t times = 0; times < 100; ++times)
        EXPECT_TRUE(app->update_announcement({who_service, "", ""}, {.weight = i * 1000 + times}).ok());
    });
  for (std::thread& thread : threads) thread.join();
  const std::uint32_t last = app->announcements()[0].instance.weight;
  EXPECT_EQ(last % 1000, 99u);
  EXPECT_TRUE(eventually([&] { return watcher.latest().size() == 1 && watcher.latest()[0].weight == last; }));
}

class Stopping : public Discovery {};
INSTANTIATE_TEST_SUITE_P(, Stopping, testing::ValuesIn(quick_places()), place_name);
INSTANTIATE_TEST_SUITE_P(SlowPlaces, Stopping, testing::ValuesIn(slow_places()), place_name);

// SHD-1, SHD-2: withdrawn first; what runs is finished; then closed.
TEST_P(Stopping, WithdrawsThenFinishesWhatRunsThenCloses) {
  const Registries registries{{"here", registry("leaving")}};
  const Watcher watcher(registry("leaving"));
  Provider stays("stays", registries);
  Provider leaves("leaves", registries);
  ASSERT_TRUE(stays.started() && leaves.started());
  const Consumer consumer(registries);
  ASSERT_TRUE(consumer.hears({"leaves", "stays"}));
  ASSERT_TRUE(watcher.sees(2));
  leaves.service().held = true;
  Load load(consumer, 3);
  ASSERT_TRUE(eventually([&, before = leaves.service().calls.load()] { return leaves.service().calls > before; }));
  std::thread stopper([&] { leaves.stop(); });
  EXPECT_TRUE(watcher.sees(1)) << "before the call has ended";
  EXPECT_EQ(watcher.heard().back().withdrawn.size(), 1u);
  EXPECT_EQ(leaves.open(), 1u);
  leaves.service().held = false;
  stopper.join();
  EXPECT_TRUE(eventually([&] { return leaves.open() == 0; }));
  EXPECT_TRUE(consumer.hears({"stays"}));
  EXPECT_EQ(load.failures(), "");
  EXPECT_EQ(leaves.connects(), 1) << "nobody tries to come back";
}

TEST_P(Stopping, IsNotKeptByARegistryThatIsAway) {
  const auto app = start(serving({{"a", dead(100ms)}}), {std::make_shared<Who>("a")});
  ASSERT_TRUE(app);
  EXPECT_TRUE(app->stop(4s)) << "half of it at most is spent on the registry, and no call is cut off";
}

}  // namespace
}  // namespace tenon::test
