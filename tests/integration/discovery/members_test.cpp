// Providers that come, go and die under load.
#include <fstream>

#include "fixture.hpp"
#include "joined_cluster.hpp"

namespace tenon::test {
namespace {

class Newcomer : public Discovery {};
INSTANTIATE_TEST_SUITE_P(, Newcomer, testing::ValuesIn(quick_places()), place_name);
INSTANTIATE_TEST_SUITE_P(SlowPlaces, Newcomer, testing::ValuesIn(slow_places()), place_name);

// A newcomer is connected before its first call: none waits for its handshake.
TEST_P(Newcomer, IsConnectedBeforeItIsCalled) {
  const Registries registries{{"here", registry("newcomer")}};
  Provider old("old", registries);
  ASSERT_TRUE(old.started());
  const Consumer consumer(registries);
  ASSERT_EQ(consumer.call(), "old");
  // Its door opens late: connections are accepted, and no byte comes back, not even the transport's.
  Provider fresh("fresh", registries, [](AppOptions& options) { options.server.services[0].registry.clear(); });
  ASSERT_TRUE(fresh.started());
  fresh.die();
  Provider announced("never", registries,
                     [&](AppOptions& options) { options.server.listen[0].announce = fresh.address(); });
  ASSERT_TRUE(announced.started());
  EXPECT_EQ(consumer.calls(50), (std::map<std::string, int>{{"old", 50}})) << "nobody is sent to whom is not connected";
  fresh.revive();
  EXPECT_TRUE(consumer.hears({"old", "fresh"})) << "it is dialled until it answers";
  EXPECT_EQ(fresh.connects(), 1);
}

class Leaver : public Discovery {};
INSTANTIATE_TEST_SUITE_P(, Leaver, testing::ValuesIn(quick_places()), place_name);
INSTANTIATE_TEST_SUITE_P(SlowPlaces, Leaver, testing::ValuesIn(slow_places()), place_name);

TEST_P(Leaver, IsLeftAloneOnceItsConnectionHasClosed) {
  const Registries registries{{"here", registry("leaver")}};
  Provider stays("stays", registries);
  Provider leaves("leaves", registries);
  ASSERT_TRUE(stays.started() && leaves.started());
  const Consumer consumer(registries);
  ASSERT_TRUE(consumer.hears({"stays", "leaves"}));
  leaves.stop();
  EXPECT_TRUE(eventually([&] { return leaves.open() == 0; }));
  const auto until = std::chrono::steady_clock::now() + 500ms;
  while (std::chrono::steady_clock::now() < until) ASSERT_EQ(consumer.call(), "stays");
  EXPECT_EQ(leaves.connects(), 1) << "0 after it left";
}

TEST_P(Leaver, IsBelievedAlsoWhenItIsTheLast) {
  const Registries registries{{"here", registry("last")}};
  Provider only("only", registries);
  ASSERT_TRUE(only.started());
  const Consumer consumer(registries);
  ASSERT_EQ(consumer.call(), "only");
  only.stop();
  EXPECT_TRUE(eventually([&] { return consumer.call().find("no instance is known") != std::string::npos; }));
}

class SlowMembers : public Discovery {};
INSTANTIATE_TEST_SUITE_P(, SlowMembers, testing::ValuesIn(places()), place_name);

TEST_P(SlowMembers, ComeAndGoUnderLoadWithoutAFailure) {
  const Registries registries{{"a", registry("flow-1")}, {"b", registry("flow-2")}};
  std::vector<std::unique_ptr<Provider>> providers;
  for (int i = 0; i < 3; ++i) providers.push_back(std::make_unique<Provider>("p" + std::to_string(i), registries));
  const Consumer consumer(registries);
  ASSERT_TRUE(consumer.hears({"p0", "p1", "p2"}));
  Load load(consumer, 3);
  std::vector<std::unique_ptr<Provider>> gone;
  std::set<std::string> names{"p0", "p1", "p2"};
  for (int next = 3; next < 23; ++next) {
    const std::string name = "p" + std::to_string(next);
    providers.push_back(std::make_unique<Provider>(name, registries));
    names.insert(name);
    ASSERT_TRUE(consumer.hears(names));
    providers.front()->stop();
    names.erase("p" + std::to_string(next - 3));
    gone.push_back(std::move(providers.front()));
    providers.erase(providers.begin());
  }
  ASSERT_TRUE(consumer.hears(names));
  EXPECT_EQ(load.failures(), "") << "of " << load.total() << " calls";
  for (const auto& each : gone) {
    EXPECT_EQ(each->connects(), 1);
    EXPECT_EQ(each->open(), 0u);
  }
  std::printf("%d calls, the slowest took %lld ms\n", load.total(),
              static_cast<long long>(std::chrono::duration_cast<std::chrono::milliseconds>(load.slowest()).count()));
}

/// Providers and a consumer that meet at a server of their own.
class SlowOutage : public Discovery {
 protected:
  Place& server = place("main");
  const Registries registries{{"main", registry("main")}};
};
INSTANTIATE_TEST_SUITE_P(, SlowOutage, testing::ValuesIn(places()), place_name);

// I4, I5. The registry cannot tell; the connection does, at once.
TEST_P(SlowOutage, WhoDiesWhileTheRegistryIsAwayIsOutOfRotationByItsConnection) {
  Provider a("a", registries);
  Provider b("b", registries);
  ASSERT_TRUE(a.started() && b.started());
  const Consumer consumer(registries);
  ASSERT_TRUE(consumer.hears({"a", "b"}));
  server.kill();
  std::this_thread::sleep_for(2s);  // longer than the sessions
  EXPECT_TRUE(consumer.hears({"a", "b"})) << "nobody needs a registry for whom he knows";
  Load load(consumer);
  b.die();
  EXPECT_TRUE(consumer.hears({"a"}, 2s));
  EXPECT_EQ(consumer.calls(200), (std::map<std::string, int>{{"a", 200}}));
  b.revive();
  EXPECT_TRUE(consumer.hears({"a", "b"})) << "and it comes back without the registry";
  server.start();
  EXPECT_TRUE(consumer.hears({"a", "b"}));
  EXPECT_EQ(load.failures(), "");
  EXPECT_EQ(a.connects(), 1) << "stable providers lose no connection";
}

// Weight, metadata and serving are seen within a second.
TEST_P(SlowOutage, UpdatesAreSeenWithinASecond) {
  Provider a("a", registries);
  Provider b("b", registries);
  ASSERT_TRUE(a.started() && b.started());
  const Consumer consumer(registries);
  ASSERT_TRUE(consumer.hears({"a", "b"}));
  Load load(consumer);
  const auto seen = [&](const AnnouncementChange& change, const std::set<std::string>& wanted) {
    const auto begun = std::chrono::steady_clock::now();
    a.change(change);
    EXPECT_TRUE(consumer.hears(wanted));
    const auto took = std::chrono::steady_clock::now() - begun;
    std::printf("seen after %lld ms\n",
                static_cast<long long>(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
    return took <= 1s;
  };
  EXPECT_TRUE(seen({.weight = 0}, {"b"}));
  EXPECT_TRUE(seen({.weight = 100}, {"a", "b"}));
  EXPECT_TRUE(seen({.serving = false}, {"b"}));
  EXPECT_TRUE(seen({.serving = true}, {"a", "b"}));
  EXPECT_EQ(load.failures(), "");
  EXPECT_EQ(a.connects(), 1);
}

// A change made while the registry is away is told when it is back.
TEST_P(SlowOutage, UpdatesWaitForTheRegistry) {
  Provider a("a", registries);
  Provider b("b", registries);
  ASSERT_TRUE(a.started() && b.started());
  const Consumer consumer(registries);
  ASSERT_TRUE(consumer.hears({"a", "b"}));
  server.kill();
  a.change({.serving = false});
  EXPECT_EQ(consumer.calls(20).size(), 2u);
  server.start();
  EXPECT_TRUE(consumer.hears({"b"}, 30s));
}

// I5. A registry that comes back without its memory names one of three; the others are kept, as long as their
// connections live, until the doubt has lasted.
TEST_P(SlowOutage, ACollapsedListIsNotBelievedUntilTheStaleLimitEnds) {
  const TemporaryFolder folder;
  const std::string log = folder.path() + "/log";
  // Named by another hand than theirs, so that nobody puts them up again.
  const auto unannounced = [](AppOptions& options) { options.server.services[0].registry.clear(); };
  Provider a("a", registries);
  Provider b("b", registries, unannounced);
  Provider c("c", registries, unannounced);
  ASSERT_TRUE(a.started() && b.started() && c.started());
  auto hand = std::make_unique<RegistryHand>(registry("main"));
  for (const Provider* each : {&b, &c}) {
    Instance instance;
    instance.id = instance.address = each->address();
    instance.transport = "tcp";
    instance.protocols = {"tenon"};
    ASSERT_TRUE(hand->announce({who_service, "", ""}, instance).ok());
  }
  const Consumer consumer(registries, [&log](AppOptions& options) {
    cluster::ClusterOptions settings;
    settings.stale_limit = 5s;
    options.client.references["who"].cluster = Component::of("default", settings);
    options.log.file = log;
    options.log.level = LogLevel::warn;
  });
  ASSERT_TRUE(consumer.hears({"a", "b", "c"}));
  Load load(consumer);
  server.kill();
  server.wipe();
  hand.reset();
  server.start();
  const auto logged = [&log](const std::string& part) {
    std::ifstream in(log);
    return std::string(std::istreambuf_iterator<char>(in), {}).find(part) != std::string::npos;
  };
  ASSERT_TRUE(eventually([&] { return logged("vanished at once"); }, 30s));
  EXPECT_TRUE(consumer.hears({"a", "b", "c"}, 2s));
  b.die();
  EXPECT_TRUE(consumer.hears({"a", "c"}, 2s)) << "its connection tells";
  EXPECT_TRUE(consumer.hears({"a"}, 20s)) << "and the end of the stale limit";
  EXPECT_EQ(load.failures(), "");
  const int before = b.connects();
  b.revive();
  std::this_thread::sleep_for(1s);
  EXPECT_EQ(b.connects(), before) << "who is not kept is not dialled";
}

}  // namespace
}  // namespace tenon::test
