// Calls between Apps while their registry sleeps, dies or loses its data: no call fails, nobody who stays is connected
// to anew, and afterwards the consumer knows who is there, without a restart.
#include "live_fixture.hpp"
#include "support/fault_proxy.hpp"

namespace tenon::test {
namespace {

class SlowLiveOutage : public LiveAt {
 protected:
  using LiveAt::LiveAt;
  /// Three providers and the consumer, who knows them.
  void settle() {
    for (const char* name : {"a", "b", "c"}) provide(name);
    consume();
    ASSERT_TRUE(agrees(seconds(20)));
    ASSERT_TRUE(answer({"a", "b", "c"}));
  }
  /// A command of the consumer's group arrives: only d of group "green" answers.
  void expect_commands_arrive() {
    Desk desk(store_);
    const Provider green("d", "green", store_);
    ASSERT_TRUE(eventually(
        [&] { return desk.try_write(group, R"({"clientCommandList":[{"pattern":"*","mergeGroups":["green"]}]})"); },
        seconds(5)));
    EXPECT_TRUE(answer({"d"}));
    EXPECT_TRUE(desk.try_write(group, ""));
    EXPECT_TRUE(eventually([&] { return consumer().call() != "d"; }));
  }
};
INSTANTIATE_TEST_SUITE_P(Slow, SlowLiveOutage, testing::ValuesIn(places()), place_name);

TEST_P(SlowLiveOutage, TheServerSleepsLongerThanSessionsLast) {
  server_.start();
  meet_at(server_.address());
  settle();
  Load load(consumer(), 2, milliseconds(1));
  server_.pause();
  std::this_thread::sleep_for(session * 3);
  EXPECT_TRUE(answer({"a", "b", "c"}));
  stop("c");
  provide("e");  // it cannot be announced yet
  server_.resume();
  EXPECT_TRUE(agrees(convergence, "SIGSTOP of three sessions' length"));
  EXPECT_TRUE(answer({"a", "b", "e"}));
  expect_commands_arrive();
  expect_undisturbed(load, {});  // whose session has expired is not listed for a moment, and may be connected anew
}

// REG-5. Who dies while the server is away may still be in its data when it comes back.
TEST_P(SlowLiveOutage, TheServerIsKilledAndRestartedOnItsData) {
  server_.start();
  meet_at(server_.address());
  settle();
  auto mortal = std::make_unique<MortalProvider>(store_, "m");
  ASSERT_TRUE(agrees(seconds(10), "", {mortal->address()}));
  ASSERT_TRUE(answer({"a", "b", "c", "m"}));
  Load load(consumer(), 2, milliseconds(1));
  server_.kill();
  std::this_thread::sleep_for(session);
  mortal->signal(SIGKILL);
  (void)mortal->end();
  const int at_death = load.so_far()["m"];
  std::this_thread::sleep_for(session);
  server_.start();
  if (const auto keeps = GetParam().keeps_instances) {
    EXPECT_EQ(server_.standing(who, mortal->address()).empty(), !*keeps) << "it stands there again";
  }
  EXPECT_TRUE(agrees(convergence, "kill -9 and a restart on the same data"));
  EXPECT_LE(load.so_far()["m"], at_death + 2) << "calls under way when it died";
  provide("e");
  EXPECT_TRUE(agrees(convergence));
  EXPECT_TRUE(answer({"a", "b", "c", "e"}));
  expect_commands_arrive();
  expect_undisturbed(load, {"a", "b", "c"});
}

// REG-8, I5. The list is empty at first, which is not believed; but who has died meanwhile is not kept for that.
TEST_P(SlowLiveOutage, TheServerLosesItsData) {
  server_.start();
  meet_at(server_.address());
  settle();
  MortalProvider mortals[] = {{store_, "m"}, {store_, "n"}};
  ASSERT_TRUE(agrees(seconds(10), "", {mortals[0].address(), mortals[1].address()}));
  Load load(consumer(), 2, milliseconds(1));
  server_.kill();
  server_.wipe();
  std::this_thread::sleep_for(session);
  stop("c");
  for (MortalProvider& mortal : mortals) {  // most of them: the list collapses
    mortal.signal(SIGKILL);
    (void)mortal.end();
  }
  server_.start();
  EXPECT_TRUE(agrees(convergence, "a restart without data"));
  std::this_thread::sleep_for(session * 2);  // whatever is still to come
  EXPECT_TRUE(agrees(convergence));
  provide("e");
  EXPECT_TRUE(agrees(convergence));
  EXPECT_TRUE(answer({"a", "b", "e"}));
  expect_commands_arrive();
  expect_undisturbed(load, {"a", "b"});
}

/// Where clients connect again soon. Those of a center pause for up to 3.5 s, so short leases may end meanwhile.
class SlowLiveCuts : public SlowLiveOutage {
 public:
  static std::vector<PlaceKind> soon() {
    std::vector<PlaceKind> kinds = places();
    std::erase_if(kinds, [](const PlaceKind& kind) { return kind.name == "center"; });
    return kinds;
  }
};
INSTANTIATE_TEST_SUITE_P(Slow, SlowLiveCuts, testing::ValuesIn(SlowLiveCuts::soon()), place_name);

// REG-3. Connections that come back within the session are not seen by anybody.
TEST_P(SlowLiveCuts, TwentyShortCutsChangeNothing) {
  server_.start();
  FaultProxy network(server_.address());
  meet_at(network.address());
  settle();
  const auto standing = [&] {
    std::map<std::string, std::string> all;
    for (const std::string& address : living()) all[address] = server_.standing(who, address);
    return all;
  };
  const auto before = standing();
  const std::string changes_before = server_.changes(who);
  Load load(consumer(), 2, milliseconds(1));
  for (int i = 0; i < 20; ++i) {
    network.refuse(true);
    network.cut(Cut::reset);
    std::this_thread::sleep_for(milliseconds(500));
    network.refuse(false);
    std::this_thread::sleep_for(milliseconds(700));
  }
  EXPECT_EQ(standing(), before);
  EXPECT_EQ(server_.changes(who), changes_before) << "nobody saw one go";
  EXPECT_TRUE(agrees(convergence, "twenty cuts"));
  expect_undisturbed(load, {"a", "b", "c"});
}

// I4.
TEST_P(SlowLiveOutage, TheServerIsDeadForAMinute) {
  server_.start();
  meet_at(server_.address());
  settle();
  Load load(consumer(), 2, milliseconds(1));
  const std::map<std::string, int> before = logged();
  server_.kill();
  const auto begun = steady_clock::now();
  while (steady_clock::now() < begun + seconds(60)) {
    std::this_thread::sleep_for(seconds(5));
    ASSERT_EQ(known(), living()) << "after " << seconds_since(begun) << " s";
  }
  std::map<std::string, int> lines = logged();
  for (const auto& [cause, count] : before) lines[cause] -= count;
  for (const auto& [cause, count] : lines) {
    std::printf("%d lines of cause %s in 60 s\n", count, cause.c_str());
    // Of the library's lines each place in it is a cause of its own; three of them speak.
    // Two addresses cannot be connected.
    EXPECT_LE(count, cause == "connect" ? 16 : 8) << log_text();  // one in ten seconds, from the first to the last
  }
  server_.start();
  EXPECT_TRUE(agrees(convergence, "a minute without a server"));
  provide("e");
  EXPECT_TRUE(agrees(convergence));
  expect_commands_arrive();
  expect_undisturbed(load, {"a", "b", "c"});
}

class SlowLiveOrder : public Live, public testing::WithParamInterface<std::tuple<PlaceKind, std::string>> {};

// REG-6. c: consumer, p: provider, z: server. Whoever comes last, all meet; calls made before end at their deadline.
TEST_P(SlowLiveOrder, AllOrdersOfStartingMeet) {
  const auto& [kind, order] = GetParam();
  const std::unique_ptr<Place> server = kind.make(session);
  store_ = server->store(server->address(), milliseconds(200));
  std::set<char> there;
  for (const char who : order) {
    there.insert(who);
    if (who == 'z') server->start();
    if (who == 'c') consume();
    if (who == 'p') provide("a");
    if (there.contains('c') && there.size() < 3) {
      const ClientFunction<std::string(std::string)> name(consumer().app->reference("r"), "name");
      CallOptions hurry;
      hurry.timeout = milliseconds(300);
      const auto begun = steady_clock::now();
      const Result<std::string> early = name.call(hurry, "");
      EXPECT_LT(steady_clock::now() - begun, milliseconds(1300));
      ASSERT_FALSE(early.ok());
      EXPECT_NE(early.error().text().find("no instance"), std::string::npos) << early.error().text();
    }
    if (there.size() < 3) std::this_thread::sleep_for(seconds(2));
  }
  EXPECT_TRUE(agrees(convergence, "starting in the order " + order));
  EXPECT_TRUE(answer({"a"}));
}
INSTANTIATE_TEST_SUITE_P(SlowAll, SlowLiveOrder,
                         testing::Combine(testing::ValuesIn(places()),
                                          testing::Values("zcp", "zpc", "czp", "pzc", "cpz", "pcz")),
                         [](const auto& info) {
                           return std::get<0>(info.param).name + "_" + std::get<1>(info.param);
                         });

}  // namespace
}  // namespace tenon::test
