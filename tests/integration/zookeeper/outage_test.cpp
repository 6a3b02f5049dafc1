// Slow ones: outages that last, many clients, an ensemble.

#include <algorithm>
#include <cstdio>
#include <random>

#include "fixture.hpp"
#include "provider_node.hpp"
#include "support/fault_proxy.hpp"

namespace tenon::test {
namespace {

const ServiceName service{"demo.Greeter", "blue", "1.0"};
const std::string base = "/motan/blue/demo.Greeter";

std::unique_ptr<Watch> watch(RegistryMember& at, Ears<Snapshot>& ears) {
  return at.on([&] {
    auto made = at.registry->watch({service, "test"}, ears.observer());
    EXPECT_TRUE(made.ok()) << made.error().text();
    return std::move(*made);
  });
}

/// A consumer and a provider of their own processes' kind.
struct Pair {
  explicit Pair(const zk::ZkOptions& options, int number) : member(connect_to(options)) {
    watching = watch(member, ears);
    instance = provider("10.0.1." + std::to_string(number % 250) + ":" + std::to_string(1000 + number));
    auto made = member.announce(service, instance);
    EXPECT_TRUE(made.ok()) << made.error().text();
    if (made.ok()) lease = std::move(*made);
  }
  ~Pair() {
    member.on([&] {
      watching.reset();
      lease.reset();
    });
  }
  RegistryMember member;
  Ears<Snapshot> ears;
  Instance instance;
  std::unique_ptr<Watch> watching;
  std::unique_ptr<Lease> lease;
};

std::string mode_of(const ZookeeperServer& server) {
  const std::string answer = server.ask("srvr");
  const std::size_t at = answer.find("Mode: ");
  return at == std::string::npos ? "" : answer.substr(at + 6, answer.find('\n', at) - at - 6);
}

TEST(ZookeeperOutage, TheLeaderOfAnEnsembleIsKilled) {
  auto servers = ZookeeperServer::ensemble();
  std::string addresses;
  for (const auto& server : servers) addresses += (addresses.empty() ? "" : ",") + server->address();
  zk::ZkOptions options = zk_options(addresses);
  options.session_timeout = seconds(4);
  std::vector<std::unique_ptr<Pair>> pairs;
  std::vector<Instance> all;
  for (int i = 0; i < 4; ++i) {
    pairs.push_back(std::make_unique<Pair>(options, i));
    all.push_back(pairs.back()->instance);
  }
  const auto converge = [&] {
    for (const auto& pair : pairs)
      EXPECT_TRUE(eventually([&] { return lists(pair->ears, all); }, seconds(9))) << "session timeout + 5 s";
  };
  converge();
  for (int round = 0; round < 2; ++round) {
    const auto leader =
        std::find_if(servers.begin(), servers.end(), [](const auto& s) { return mode_of(*s) == "leader"; });
    ASSERT_NE(leader, servers.end());
    (*leader)->kill();
    // A change that must get through without it.
    pairs.push_back(std::make_unique<Pair>(options, 100 + round));
    all.push_back(pairs.back()->instance);
    converge();
    (*leader)->start();
  }
  // Nobody who stayed was ever missing once he was there.
  for (const auto& pair : pairs) {
    std::size_t most = 0;
    for (const Snapshot& snapshot : pair->ears.all()) {
      EXPECT_GE(snapshot.instances.size(), most);
      most = std::max(most, snapshot.instances.size());
      EXPECT_TRUE(snapshot.withdrawn.empty());
    }
  }
}

// The server lets 60 clients of a host in. The others are not lost, only late.
TEST(ZookeeperOutage, MoreClientsThanAreAdmittedComeInTurn) {
  constexpr int admitted = 60;
  constexpr int clients = 80;
  ZookeeperServer server("maxClientCnxns=" + std::to_string(admitted) + "\n");
  server.start();
  zk::ZkOptions options = zk_options(server.address());
  options.session_timeout = seconds(4);
  options.connect_timeout = milliseconds(200);
  std::vector<std::unique_ptr<Pair>> pairs;
  for (int i = 0; i < clients; ++i) pairs.push_back(std::make_unique<Pair>(options, i));
  const auto listed = [&] {
    std::size_t most = 0;
    for (const auto& pair : pairs) most = std::max(most, pair->ears.latest().instances.size());
    return most;
  };
  EXPECT_TRUE(eventually([&] { return listed() >= admitted - 1; }));
  std::this_thread::sleep_for(seconds(3));
  EXPECT_LE(listed(), static_cast<std::size_t>(admitted));
  std::size_t lines = 0;
  int late = 0;
  for (const auto& pair : pairs) {
    if (pair->ears.count() > 0) continue;
    ++late;
    lines += pair->member.log.lines().size();
    EXPECT_GT(pair->member.log.count("not connected") + pair->member.log.count("no connection"), 0u);
    EXPECT_TRUE(pair->ears.stale());
  }
  EXPECT_GE(late, clients - admitted);
  EXPECT_LE(lines, 8u * static_cast<std::size_t>(late));
  // Some go; the others take their places.
  int gone = 0;
  std::erase_if(pairs, [&](const auto& pair) { return pair->ears.count() > 0 && gone++ < clients - admitted + 2; });
  std::vector<Instance> all;
  for (const auto& pair : pairs) all.push_back(pair->instance);
  for (const auto& pair : pairs) EXPECT_TRUE(eventually([&] { return lists(pair->ears, all); }, seconds(20)));
}

TEST(ZookeeperOutage, ALongOutageIsQuietAndHarmless) {
  ZookeeperServer server;
  server.start();
  Pair pair(zk_options(server.address()), 1);
  ASSERT_TRUE(eventually([&] { return lists(pair.ears, {pair.instance}); }));
  const std::size_t told = pair.ears.count();
  const std::size_t before = pair.member.log.lines().size();
  server.kill();
  std::this_thread::sleep_for(seconds(25));
  EXPECT_EQ(pair.ears.count(), told) << "no list is no news";
  EXPECT_EQ(pair.ears.errors(), 1) << "said once";
  // At most a line in ten seconds for each of the causes: ours, and three places in the library.
  EXPECT_LE(pair.member.log.lines().size() - before, 4u * 3u);
  server.start();
  Hand hand(server.address());
  EXPECT_TRUE(eventually([&] { return !pair.ears.stale() && lists(pair.ears, {pair.instance}); }, seconds(6)))
      << "session timeout + 5 s";
  EXPECT_NE(hand.owner(base + "/server/" + pair.instance.address), 0);
  // The first session lived on in the server's data, and is over by now: its end took nothing along.
  std::this_thread::sleep_for(seconds(3));
  EXPECT_NE(hand.owner(base + "/server/" + pair.instance.address), 0);
  EXPECT_TRUE(lists(pair.ears, {pair.instance}));
}

TEST(ZookeeperOutage, AnExpiredSessionIsReplaced) {
  ZookeeperServer server;
  server.start();
  FaultProxy proxy(server.address());
  zk::ZkOptions options = zk_options(proxy.address());
  options.session_timeout = seconds(4);
  Pair pair(options, 1);
  Hand hand(server.address());
  const std::string node = base + "/server/" + pair.instance.address;
  Ears<Document> commands;
  auto watching =
      pair.member.on([&] { return pair.member.registry->watch_document("command", "blue", commands.observer()); });
  ASSERT_TRUE(watching.ok());
  ASSERT_TRUE(eventually([&] { return lists(pair.ears, {pair.instance}) && commands.count() > 0; }));
  const std::int64_t before = hand.owner(node);
  for (int round = 1; round <= 2; ++round) {
    proxy.refuse(true);
    proxy.cut(Cut::reset);
    ASSERT_TRUE(eventually([&] { return hand.owner(node) == 0; }));
    proxy.refuse(false);
    EXPECT_TRUE(eventually([&] { return hand.owner(node) != 0; }, seconds(5)));
    EXPECT_NE(hand.owner(node), before);
    EXPECT_TRUE(eventually(
        [&] { return pair.member.log.count("with a new session") == 1u + static_cast<std::size_t>(round); }));
    EXPECT_TRUE(eventually([&] { return lists(pair.ears, {pair.instance}); }));
    const std::string text = "round " + std::to_string(round);
    if (hand.set("/motan/blue/command", text) == ZNONODE) hand.create("/motan/blue/command", text);
    EXPECT_TRUE(eventually([&] { return commands.latest().text == text; }));
  }
  EXPECT_GE(pair.member.log.count("the session has expired"), 1u) << "the library said so";
  pair.member.on([&] { watching->reset(); });
}

// A provider that dies is missing from the list after its session, at the latest 1.5 of it later; one that is only slow
// never is.
TEST(ZookeeperOutage, WhoDiesIsMissedAndWhoIsSlowIsNot) {
  ZookeeperServer server;
  server.start();
  Pair pair(zk_options(server.address()), 1);
  const std::string mortal = base + "/server/10.9.9.9:1";
  auto process = std::make_unique<ChildProcess>(TENON_TEST_MORTAL,
                                                std::vector<std::string>{server.address(), "10.9.9.9:1", "2000"});
  const auto listed = [&] {
    const auto now = pair.ears.latest().instances;
    return std::any_of(now.begin(), now.end(), [](const Instance& each) { return each.address == "10.9.9.9:1"; });
  };
  ASSERT_EQ(process->line(), "announced");
  ASSERT_TRUE(eventually(listed));
  process->signal(SIGSTOP);
  std::this_thread::sleep_for(milliseconds(1000));
  EXPECT_TRUE(listed());
  process->signal(SIGCONT);
  std::this_thread::sleep_for(milliseconds(1500));
  EXPECT_TRUE(listed());
  process->signal(SIGKILL);
  const auto died = std::chrono::steady_clock::now();
  EXPECT_TRUE(eventually([&] { return !listed(); }));
  EXPECT_LE(std::chrono::steady_clock::now() - died, milliseconds(3000 + 500)) << "1.5 times the session and a tick";
  EXPECT_TRUE(pair.ears.latest().withdrawn.empty()) << "it did not leave on purpose";
  // One that sleeps too long finds its session expired when it wakes, and comes back.
  process = std::make_unique<ChildProcess>(TENON_TEST_MORTAL,
                                           std::vector<std::string>{server.address(), "10.9.9.9:1", "1000"});
  ASSERT_EQ(process->line(), "announced");
  ASSERT_TRUE(eventually(listed));
  process->signal(SIGSTOP);
  EXPECT_TRUE(eventually([&] { return !listed(); }));
  process->signal(SIGCONT);
  EXPECT_TRUE(eventually(listed, seconds(5)));
  // One that ends as it should is seen to leave.
  process->signal(SIGTERM);
  EXPECT_EQ(process->end(seconds(5)).code, 0);
  EXPECT_TRUE(eventually([&] { return !listed(); }, seconds(1)));
}

// Whatever comes and goes, over connections that come and go: nobody who stays is ever missing, and in the end the list
// is what is there.
TEST(ZookeeperOutage, ChurnOverBadConnections) {
  ZookeeperServer server;
  server.start();
  FaultProxy proxy(server.address());
  zk::ZkOptions options = zk_options(proxy.address());
  options.session_timeout = seconds(10);
  Pair consumer(options, 1);
  RegistryMember maker(connect_to(options));
  ASSERT_TRUE(eventually([&] { return lists(consumer.ears, {consumer.instance}); }));
  // Changes its folder all the time, and stays in the list all the same.
  Instance mover = provider("10.0.3.1:1");
  auto mover_lease = maker.announce(service, mover);
  ASSERT_TRUE(mover_lease.ok());
  ASSERT_TRUE(eventually([&] { return lists(consumer.ears, {consumer.instance, mover}); }));
  const std::size_t begin = consumer.ears.count();

  std::mt19937 random(7);
  std::vector<Instance> instances(8);
  std::vector<std::unique_ptr<Lease>> leases(instances.size());
  const auto until = std::chrono::steady_clock::now() + seconds(8);
  auto next_cut = std::chrono::steady_clock::now();
  int serial = 0;
  while (std::chrono::steady_clock::now() < until) {
    const std::size_t slot = random() % instances.size();
    Instance& instance = instances[slot];
    if (!leases[slot]) {
      instance = provider("10.0.2.1:" + std::to_string(1000 + slot));
      instance.id += "." + std::to_string(++serial);
      auto made = maker.announce(service, instance);
      ASSERT_TRUE(made.ok()) << made.error().text();
      leases[slot] = std::move(*made);
    } else if (random() % 3 == 0) {
      maker.drop(leases[slot]);
    } else {
      instance.weight = random() % 200;
      instance.serving = random() % 4 != 0;
      maker.update(*leases[slot], instance);
    }
    mover.serving = !mover.serving;
    maker.update(**mover_lease, mover);
    if (std::chrono::steady_clock::now() > next_cut) {
      proxy.cut(Cut::reset);
      next_cut += milliseconds(700);
    }
    std::this_thread::sleep_for(milliseconds(random() % 20));
  }
  std::vector<Instance> there{consumer.instance, mover};
  for (std::size_t slot = 0; slot < instances.size(); ++slot)
    if (leases[slot]) there.push_back(instances[slot]);
  EXPECT_TRUE(eventually([&] { return lists(consumer.ears, there); }));
  const auto all = consumer.ears.all();
  for (std::size_t at = begin; at < all.size(); ++at)
    for (const std::string& id : {consumer.instance.id, mover.id}) {
      const auto has = [&](const Instance& each) { return each.id == id; };
      ASSERT_TRUE(std::any_of(all[at].instances.begin(), all[at].instances.end(), has)) << id << " is missing";
      ASSERT_FALSE(contains(all[at].withdrawn, id));
    }
  EXPECT_GT(all.size(), begin + 50);
  for (auto& lease : leases) maker.drop(lease);
  maker.drop(*mover_lease);
}

// Lease::update(): weight, metadata and offline are seen by consumers within a second, in one step, and in the end the
// last of many that come at once.
TEST(ZookeeperOutage, UpdatesAreSeenWithinASecond) {
  ZookeeperServer server;
  server.start();
  zk::ZkOptions options = zk_options(server.address());
  Pair consumer(options, 1);
  RegistryMember maker(connect_to(options));
  Instance one = provider("10.0.3.1:1");
  auto lease = maker.announce(service, one);
  ASSERT_TRUE(lease.ok());
  ASSERT_TRUE(eventually([&] { return lists(consumer.ears, {consumer.instance, one}); }));
  const std::size_t begin = consumer.ears.count();
  const std::function<void(Instance&, int)> changes[] = {
      [](Instance& changed, int round) { changed.weight = 200 + static_cast<std::uint32_t>(round); },
      [](Instance& changed, int round) { changed.metadata["zone"] = "z" + std::to_string(round); },
      [](Instance& changed, int) { changed.serving = false; },
      [](Instance& changed, int) { changed.serving = true; },
  };
  double slowest = 0;
  int count = 0;
  for (int round = 0; round < 15; ++round)
    for (const auto& change : changes) {
      change(one, round);
      const auto begun = std::chrono::steady_clock::now();
      maker.update(**lease, one);
      ASSERT_TRUE(eventually([&] { return lists(consumer.ears, {consumer.instance, one}); }));
      slowest = std::max(slowest, std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
      ++count;
    }
  for (int burst = 0; burst < 200; ++burst) {
    changes[burst % 4](one, burst);
    maker.update(**lease, one);
  }
  const auto begun = std::chrono::steady_clock::now();
  ASSERT_TRUE(eventually([&] { return lists(consumer.ears, {consumer.instance, one}); }));
  slowest = std::max(slowest, std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
  std::printf("%d updates and a burst, the slowest seen after %.0f ms\n", count, slowest * 1000);
  EXPECT_LE(slowest, 1.0);
  const auto all = consumer.ears.all();
  for (std::size_t at = begin; at < all.size(); ++at) EXPECT_EQ(all[at].instances.size(), 2u) << "never missing";
  maker.drop(*lease);
}

class ZookeeperOrder : public testing::TestWithParam<std::string> {};

// c: consumer, p: provider, z: server. Whoever comes last, all meet.
TEST_P(ZookeeperOrder, AllOrdersOfStartingMeet) {
  ZookeeperServer server;
  zk::ZkOptions options = zk_options(server.address());
  options.connect_timeout = milliseconds(100);
  std::unique_ptr<RegistryMember> consumer;
  std::unique_ptr<RegistryMember> maker;
  Ears<Snapshot> ears;
  std::unique_ptr<Watch> watching;
  std::unique_ptr<Lease> lease;
  const Instance one = provider("10.0.0.1:4080");
  for (const char who : GetParam()) {
    if (who == 'z') server.start();
    if (who == 'c') {
      consumer = std::make_unique<RegistryMember>(connect_to(options));
      watching = watch(*consumer, ears);
    }
    if (who == 'p') {
      maker = std::make_unique<RegistryMember>(connect_to(options));
      auto made = maker->announce(service, one);
      ASSERT_TRUE(made.ok()) << made.error().text();
      lease = std::move(*made);
    }
    std::this_thread::sleep_for(seconds(2));
  }
  EXPECT_TRUE(eventually([&] { return lists(ears, {one}); }, seconds(6))) << "session timeout + 5 s";
  maker->drop(lease);
  consumer->on([&] { watching.reset(); });
}
INSTANTIATE_TEST_SUITE_P(All, ZookeeperOrder, testing::Values("zcp", "zpc", "czp", "pzc", "cpz", "pcz"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tenon::test
