// What stands in ZooKeeper, written by us and by Motan.

#include <algorithm>
#include <filesystem>

#include "nodes_fixture.hpp"

namespace tenon::test {
namespace {

TEST_F(ZookeeperNodes, OursStandWhereMotansDo) {
  options.host = "10.0.0.9";
  const auto here = member();
  Ears<Snapshot> ears;
  auto watching = watch(*here, service, ears);
  Instance one = provider("10.0.0.1:4080", 50);
  auto lease = here->announce(service, one);
  ASSERT_TRUE(lease.ok());
  const std::string serving = base + "/server/10.0.0.1:4080";
  const std::string unavailable = base + "/unavailableServer/10.0.0.1:4080";
  EXPECT_EQ(hand.get(serving),
            "motan2://10.0.0.1:4080/demo.Greeter?group=blue&instanceId=10.0.0.1:4080/1&nodeType=service&"
            "protocols=tenon,motan2&transport=tcp&version=1.0&weight=50");
  EXPECT_EQ(hand.get(unavailable), "(none)");
  EXPECT_NE(hand.owner(serving), 0);
  EXPECT_EQ(hand.owner(base + "/server"), 0) << "folders stay";

  ASSERT_TRUE(eventually([&] { return hand.names(base + "/client").size() == 1; }));
  const std::string client = hand.names(base + "/client").front();
  EXPECT_EQ(client.substr(0, 11), "10.0.0.9:0-") << client;
  EXPECT_EQ(hand.get(base + "/client/" + client),
            "motan2://10.0.0.9:0/demo.Greeter?group=blue&application=shop&framework=tenon&nodeType=referer&"
            "version=1.0");
  const auto ours = here->run([&] { return here->registry->admin()->subscribers(service); });
  ASSERT_TRUE(ours.ok());
  EXPECT_EQ(*ours, (std::vector<Subscriber>{{"shop", "10.0.0.9", false}}));

  one.serving = false;
  here->update(**lease, one);
  EXPECT_TRUE(eventually([&] { return hand.get(serving) == "(none)" && hand.get(unavailable) != "(none)"; }));
  one.serving = true;
  here->update(**lease, one);
  EXPECT_TRUE(eventually([&] { return hand.get(serving) != "(none)" && hand.get(unavailable) == "(none)"; }));
  // A change of weight is no coming and going.
  const Stat before = hand.stat(serving);
  one.weight = 60;
  here->update(**lease, one);
  EXPECT_TRUE(eventually([&] { return hand.get(serving).ends_with("weight=60"); }));
  EXPECT_EQ(hand.stat(serving).czxid, before.czxid);

  EXPECT_TRUE(here->withdraw(**lease).ok());
  EXPECT_EQ(hand.get(serving), "(none)");
  EXPECT_NE(hand.get(unavailable).find("withdrawn=true"), std::string::npos) << "a tombstone";
  end(*here, watching);
  EXPECT_TRUE(eventually([&] { return hand.names(base + "/client").empty(); }));
}

TEST_F(ZookeeperNodes, WhoLeavesIsSeenToLeaveThoughItEndsAtOnce) {
  const auto consumer = member();
  Ears<Snapshot> ears;
  auto watching = watch(*consumer, service, ears);
  for (int round = 0; round < 3; ++round) {
    auto leaver = member();
    const Instance one = provider("10.0.0.1:" + std::to_string(4080 + round));
    auto lease = leaver->announce(service, one);
    ASSERT_TRUE(lease.ok());
    ASSERT_TRUE(eventually([&] { return lists(ears, {one}); }));
    EXPECT_TRUE(leaver->withdraw(**lease).ok());
    leaver->drop(*lease);
    leaver.reset();
    ASSERT_TRUE(eventually([&] { return lists(ears, {}); }));
    EXPECT_TRUE(contains(ears.latest().withdrawn, one.id));
    EXPECT_TRUE(eventually([&] { return hand.names(base + "/unavailableServer").empty(); })) << "within a moment";
  }
  end(*consumer, watching);
}

TEST_F(ZookeeperNodes, MotansAreRead) {
  const std::string path = options.root + "/motan-demo-rpc/com.weibo.motan.demo.service.MotanDemoService";
  ASSERT_EQ(hand.create(path + "/server/127.0.0.1:18110", zk::sample::go_server), ZOK);
  ASSERT_EQ(hand.create(path + "/server/127.0.0.1:18210", zk::sample::java_node), ZOK);
  ASSERT_EQ(hand.create(path + "/server/127.0.0.1:18212", ""), ZOK);
  ASSERT_EQ(hand.create(path + "/server/127.0.0.1:18213", "garbage"), ZOK);
  ASSERT_EQ(hand.create(path + "/server/nonsense", "garbage"), ZOK);
  ASSERT_EQ(hand.create(path + "/unavailableServer/127.0.0.1:18214", ""), ZOK);
  hand.create(path + "/client/127.0.0.1:0", zk::sample::go_client);
  hand.create(path + "/client/192.0.2.2", write_node_text(zk::sample::java_client, TextEncoding::java));
  const auto here = member();
  const ServiceName name{"com.weibo.motan.demo.service.MotanDemoService", "motan-demo-rpc", ""};
  Ears<Snapshot> ears;
  auto watching = watch(*here, name, ears);
  ASSERT_TRUE(eventually([&] { return ears.count() > 0; }));
  std::vector<Instance> found = ears.latest().instances;
  std::sort(found.begin(), found.end(), [](const Instance& a, const Instance& b) { return a.id < b.id; });
  ASSERT_EQ(found.size(), 5u);
  const int ports[] = {18110, 18210, 18212, 18213, 18214};
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].id, "127.0.0.1:" + std::to_string(ports[i]));
    EXPECT_EQ(found[i].address, found[i].id);
    EXPECT_EQ(found[i].protocols, std::vector<std::string>{"motan2"});
    EXPECT_EQ(found[i].serving, ports[i] != 18214);
  }
  EXPECT_EQ(found[0].metadata.at("serialization"), "simple");
  EXPECT_EQ(found[1].metadata.at("export"), "demoMotan:18210");
  EXPECT_EQ(here->log.count("nonsense"), 1u) << "what cannot be read is reported";

  // Motan changes folders by deleting and creating.
  hand.remove(path + "/server/127.0.0.1:18210");
  hand.create(path + "/unavailableServer/127.0.0.1:18210", zk::sample::java_node);
  EXPECT_TRUE(eventually([&] {
    for (const Instance& each : ears.latest().instances)
      if (each.id == "127.0.0.1:18210") return !each.serving;
    return false;
  }));
  const auto subscribers = here->run([&] { return here->registry->admin()->subscribers(name); });
  ASSERT_TRUE(subscribers.ok());
  for (const Subscriber& motans : {Subscriber{"client-test", "127.0.0.1", true}, {"client-test", "192.0.2.2", true}})
    EXPECT_EQ(std::count(subscribers->begin(), subscribers->end(), motans), 1) << motans.address;
  const auto ours = [](const Subscriber& each) { return !each.foreign; };
  EXPECT_EQ(std::count_if(subscribers->begin(), subscribers->end(), ours), 1) << "this one";
  const auto services = here->run([&] { return here->registry->admin()->services(); });
  ASSERT_TRUE(services.ok());
  EXPECT_EQ(services->size(), 1u) << "version 1.0 of the Go server; the others say none, which is the same";
  end(*here, watching);
}

TEST_F(ZookeeperNodes, AnOperatorsWeightLeavesTheNodeToItsOwner) {
  const std::string path = base + "/server/127.0.0.1:18210";
  ASSERT_EQ(hand.create(path, zk::sample::java_node, ZOO_EPHEMERAL), ZOK);
  const Stat before = hand.stat(path);
  const auto here = member();
  const auto set = [&](const std::string& id, std::uint32_t weight) {
    return here->run([&] { return here->registry->admin()->set_weight(service, id, weight); });
  };
  EXPECT_TRUE(set("127.0.0.1:18210", 7).ok());
  EXPECT_EQ(hand.stat(path).ephemeralOwner, before.ephemeralOwner);
  EXPECT_EQ(hand.stat(path).czxid, before.czxid);
  const auto text = zk::read_node_text(hand.get(path));
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text->encoding, TextEncoding::java) << "else its kind could not read it";
  EXPECT_EQ(text->text, zk::sample::java_server.substr(0, zk::sample::java_server.find("export")) +
                            "export=demoMotan:18210&maxServerConnection=80000&group=motan-demo-rpc&weight=7");

  // On one of ours: it holds until its provider says something else, also when the node must be put up again.
  auto lease = here->announce(service, provider("10.0.0.1:4080"));
  ASSERT_TRUE(lease.ok());
  const std::string ours = base + "/server/10.0.0.1:4080";
  EXPECT_TRUE(set("10.0.0.1:4080/1", 0).ok());
  EXPECT_TRUE(hand.get(ours).ends_with("weight=0"));
  for (int i = 0; i < 3; ++i) (void)read(*here, "command");  // by then its provider has read it: one connection
  hand.remove(ours);
  EXPECT_TRUE(eventually([&] { return hand.get(ours).ends_with("weight=0"); }));
  here->update(**lease, provider("10.0.0.1:4080", 30));
  EXPECT_TRUE(eventually([&] { return hand.get(ours).ends_with("weight=30"); }));
  EXPECT_EQ(set("nobody", 1).error().code(), Errc::not_found);
  here->drop(*lease);
}

TEST_F(ZookeeperNodes, AnOperatorTakesInstancesOutOfTraffic) {
  const auto here = member();
  Ears<Snapshot> ears;
  auto watching = watch(*here, service, ears);
  const auto set = [&](const std::string& id, bool serving) {
    return here->run([&] { return here->registry->admin()->set_serving(service, id, serving); });
  };
  const auto serves = [&](const std::string& id, bool serving) {
    return eventually([&] {
      for (const Instance& each : ears.latest().instances)
        if (each.id == id) return each.serving == serving;
      return false;
    });
  };
  // A foreign one is marked where it is: it stays its owner's.
  const std::string path = base + "/server/127.0.0.1:18210";
  ASSERT_EQ(hand.create(path, zk::sample::java_node, ZOO_EPHEMERAL), ZOK);
  const Stat before = hand.stat(path);
  EXPECT_TRUE(set("127.0.0.1:18210", false).ok());
  EXPECT_TRUE(serves("127.0.0.1:18210", false));
  EXPECT_EQ(hand.stat(path).ephemeralOwner, before.ephemeralOwner);
  EXPECT_EQ(hand.stat(path).czxid, before.czxid);
  const auto text = zk::read_node_text(hand.get(path));
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text->encoding, TextEncoding::java);
  EXPECT_TRUE(text->text.ends_with("&serving=false")) << text->text;
  EXPECT_TRUE(set("127.0.0.1:18210", true).ok());
  EXPECT_TRUE(serves("127.0.0.1:18210", true));
  EXPECT_EQ(hand.get(path).find("serving"), std::string::npos);

  // One of ours moves to where Motan's clients do not look, in one step, and stays there.
  auto lease = here->announce(service, provider("10.0.0.1:4080"));
  ASSERT_TRUE(lease.ok());
  const std::string id = "10.0.0.1:4080/1";
  const std::string serving = base + "/server/10.0.0.1:4080";
  const std::string unavailable = base + "/unavailableServer/10.0.0.1:4080";
  const auto stands = [&](const std::string& there, const std::string& not_there) {
    return eventually([&] { return hand.get(there) != "(none)" && hand.get(not_there) == "(none)"; });
  };
  EXPECT_TRUE(set(id, false).ok());
  EXPECT_TRUE(stands(unavailable, serving));
  EXPECT_TRUE(serves(id, false));
  EXPECT_EQ(hand.get(unavailable).find("serving="), std::string::npos) << "the folder says it";
  const auto weighed = here->run([&] { return here->registry->admin()->set_weight(service, id, 7); });
  EXPECT_TRUE(weighed.ok());
  for (int i = 0; i < 3; ++i) (void)read(*here, "command");  // by then its provider has read it: one connection
  hand.remove(unavailable);
  EXPECT_TRUE(stands(unavailable, serving)) << "it is put up again as the operator wants it";
  EXPECT_TRUE(hand.get(unavailable).ends_with("weight=7")) << hand.get(unavailable);
  EXPECT_TRUE(set(id, true).ok());
  EXPECT_TRUE(stands(serving, unavailable));
  EXPECT_TRUE(hand.get(serving).ends_with("weight=7")) << hand.get(serving);
  EXPECT_TRUE(serves(id, true));
  // Its provider's own update is the last word, whichever way.
  EXPECT_TRUE(set(id, false).ok());
  EXPECT_TRUE(stands(unavailable, serving));
  here->update(**lease, provider("10.0.0.1:4080", 30));
  EXPECT_TRUE(stands(serving, unavailable));
  Instance closed = provider("10.0.0.1:4080", 30);
  closed.serving = false;
  here->update(**lease, closed);
  EXPECT_TRUE(stands(unavailable, serving));
  EXPECT_TRUE(set(id, true).ok());
  EXPECT_TRUE(stands(serving, unavailable));
  for (const Snapshot& snapshot : ears.all()) {
    EXPECT_FALSE(contains(snapshot.withdrawn, id));
  }
  EXPECT_EQ(set("nobody", true).error().code(), Errc::not_found);
  here->drop(*lease);
  end(*here, watching);
}

TEST_F(ZookeeperNodes, GroupsAreThoseWithServicesOrCommands) {
  hand.create(options.root + "/blue/demo.Greeter/server/10.0.0.1:1", "");
  hand.create(options.root + "/commands/command", "{}");
  hand.create(options.root + "/followed/demo.Other/client/192.0.2.2", zk::sample::java_client);
  hand.create(options.root + "/agent/shop/node/10.0.0.1:9981", "");  // Motan's agents
  hand.create(options.root + "/empty", "");
  const auto here = member();
  const auto groups = here->run([&] { return here->registry->admin()->groups(); });
  ASSERT_TRUE(groups.ok()) << groups.error().text();
  EXPECT_EQ(*groups, (std::vector<std::string>{"blue", "commands", "followed"}));
}

TEST_F(ZookeeperNodes, OneConnectionAndNoWatchIsLeft) {
  const auto mine = [&](const std::string& word) {
    const std::string all = shared->server().ask(word);
    std::size_t count = 0;
    for (std::size_t at = 0; (at = all.find(options.root + "/", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  const auto connections = [&] {
    const std::string all = shared->server().ask("cons");
    return std::count(all.begin(), all.end(), '(');
  };
  const auto before = connections();
  const auto here = member();
  std::vector<std::unique_ptr<Watch>> watches;
  std::vector<std::unique_ptr<Ears<Snapshot>>> ears;
  auto lease = here->announce({"demo.S1", "blue", ""}, provider("10.0.0.1:4080"));
  ASSERT_TRUE(lease.ok());
  for (int i = 0; i < 20; ++i) {
    ears.push_back(std::make_unique<Ears<Snapshot>>());
    watches.push_back(watch(*here, {"demo.S" + std::to_string(i), "blue", ""}, *ears.back()));
  }
  Ears<Document> command;
  watches.push_back(watch_document(*here, "command", command));
  for (const auto& each : ears) EXPECT_TRUE(eventually([&] { return each->count() > 0; }));
  EXPECT_TRUE(eventually([&] { return command.count() > 0; }));
  EXPECT_EQ(connections(), before + 1);
  EXPECT_GE(mine("wchp"), 41u);
  here->on([&] { watches.clear(); });
  here->drop(*lease);
  // The tombstone's two are the last.
  EXPECT_TRUE(eventually([&] { return mine("wchp") <= 2; })) << shared->server().ask("wchp");
}

TEST_F(ZookeeperNodes, ManyLivesLeaveNothing) {
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
  };
  const auto fds_before = descriptors();
  const auto threads_before = threads();
  for (int life = 0; life < 30; ++life) {
    const auto here = member();
    Ears<Snapshot> ears;
    auto watching = watch(*here, service, ears);
    auto lease = here->announce(service, provider("10.0.0.1:4080"));
    ASSERT_TRUE(lease.ok());
    if (life % 2 == 0) {
      EXPECT_TRUE(eventually([&] { return ears.count() > 0; }));
    }
    here->drop(*lease);
    end(*here, watching);
  }
  EXPECT_TRUE(eventually([&] { return descriptors() <= fds_before && threads() <= threads_before; }))
      << descriptors() << " descriptors, " << fds_before << " before; " << threads() << " threads, " << threads_before
      << " before";
  EXPECT_TRUE(eventually([&] { return hand.names(base + "/server").empty() && hand.names(base + "/client").empty(); }));
}

TEST_F(ZookeeperNodes, OwnersAreKnownByTheirDigest) {
  options.digest_auth = "tenon:secret";
  options.access = zk::Access::owner;
  options.check = true;
  const auto owner = member();
  auto lease = owner->announce(service, provider("10.0.0.1:4080"));
  ASSERT_TRUE(lease.ok()) << lease.error().text();
  const std::string path = base + "/server/10.0.0.1:4080";
  EXPECT_NE(hand.get(path), "(none)") << "others read";
  EXPECT_EQ(hand.set(path, "x"), ZNOAUTH);
  EXPECT_EQ(hand.remove(path), ZNOAUTH);
  EXPECT_EQ(hand.create(base + "/server/10.0.0.2:1", "x"), ZNOAUTH);
  Hand known(shared->server().address(), options.digest_auth);
  EXPECT_EQ(known.set(path, known.get(path)), ZOK);

  options.digest_auth.clear();
  options.access = zk::Access::open;
  options.connect_timeout = milliseconds(500);
  const auto stranger = member();
  const auto refused = stranger->announce(service, provider("10.0.0.3:4080"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Errc::permission_denied);
  EXPECT_NE(refused.error().text().find("digest"), std::string::npos) << refused.error().text();
  const auto weighed =
      stranger->run([&] { return stranger->registry->admin()->set_weight(service, "10.0.0.1:4080/1", 1); });
  EXPECT_EQ(weighed.error().code(), Errc::permission_denied);
  owner->drop(*lease);
}

TEST_F(ZookeeperNodes, ServersThatCannotBeFoundAreTriedAgain) {
  options.servers = "no-such-host.invalid:2181";
  options.connect_timeout = milliseconds(300);
  const auto lost = member();
  auto lease = lost->announce(service, provider("10.0.0.1:4080"));
  EXPECT_TRUE(lease.ok()) << "it goes on in the background";
  EXPECT_TRUE(eventually([&] { return lost->log.count("no-such-host.invalid") > 0; }));
  EXPECT_EQ(lost->run([&] { return lost->registry->admin()->services(); }).error().code(), Errc::unavailable);
  // One of them is enough.
  options.servers = "no-such-host.invalid:2181," + shared->server().address();
  options.connect_timeout = seconds(10);
  options.check = true;
  const auto found = member();
  auto second = found->announce(service, provider("10.0.0.2:4080"));
  EXPECT_TRUE(second.ok()) << second.error().text();
  lost->drop(*lease);
  found->drop(*second);
}

TEST_F(ZookeeperNodes, OneVersionBesideAnother) {
  const auto here = member();
  const ServiceName second{"demo.Greeter", "blue", "2.0"};
  Instance one = provider("10.0.0.1:4080");
  Instance two = one;
  two.id = "two";
  Ears<Snapshot> first_ears;
  Ears<Snapshot> second_ears;
  auto first_watch = watch(*here, service, first_ears);
  auto second_watch = watch(*here, second, second_ears);
  auto first_lease = here->announce(service, one);
  auto second_lease = here->announce(second, two);
  ASSERT_TRUE(first_lease.ok() && second_lease.ok());
  EXPECT_TRUE(eventually([&] { return lists(first_ears, {one}) && lists(second_ears, {two}); }));
  auto names = hand.names(base + "/server");
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"10.0.0.1:4080", "10.0.0.1:4080-2"}));
  EXPECT_EQ(here->announce(service, one).error().code(), Errc::config) << "an id is announced once";
  EXPECT_EQ(here->announce(service, provider("nowhere")).error().code(), Errc::config);
  auto local = here->announce(service, provider("unix:/run/demo.sock"));
  ASSERT_TRUE(local.ok()) << "it is of this host only";
  EXPECT_EQ(hand.names(base + "/server").size(), 2u);
  here->drop(*local);
  here->drop(*first_lease);
  here->drop(*second_lease);
  end(*here, first_watch);
  end(*here, second_watch);
}

}  // namespace
}  // namespace tenon::test
