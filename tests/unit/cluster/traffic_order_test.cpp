// What registries say about who is there: late, twice, in another order (REG-13: the newest counts, in every group),
// and all at once nothing.
#include <random>

#include "traffic_fixture.hpp"

namespace tenon::cluster {
namespace {

using fake::instance;
using std::chrono::seconds;

TEST_F(TrafficGroupsTest, SnapshotsInAnyOrderEndInTheNewest) {
  start();
  merge(R"("own:1","g1:1")");
  std::mt19937 random(7);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  /// One group's history: each step adds or removes one of sixty.
  struct History {
    std::string group;
    std::vector<Snapshot> snapshots;
  };
  std::vector<History> histories = {{"own", {}}, {"g1", {}}};
  for (History& history : histories) {
    std::set<int> there;
    for (int i = 0; i < 30; ++i) there.insert(i);
    for (int step = 0; step < 1000; ++step) {
      const int one = static_cast<int>(below(60));
      if (!there.erase(one) || there.size() < 20) there.insert(one);
      Snapshot snapshot;
      snapshot.revision = static_cast<std::uint64_t>(10 + step);
      for (const int each : there)
        snapshot.instances.push_back(fake::instance(history.group + std::to_string(each), 1 + below(3)));
      history.snapshots.push_back(std::move(snapshot));
    }
  }
  tell("own", histories[0].snapshots[0].instances, {"a"});
  executor.go(std::chrono::seconds(2));  // the group that has said nothing is not waited for any longer
  // Each is delivered up to five places away from its own, a quarter of them twice.
  for (std::size_t at = 0; at < 1000; at += 5)
    for (const History& history : histories) {
      std::vector<std::size_t> window;
      for (std::size_t each = at; each < at + 5; ++each)
        for (std::size_t times = 1 + (below(4) == 0 ? 1 : 0); times > 0; --times) window.push_back(each);
      if (at >= 5 && below(3) == 0) window.push_back(at - 1 - below(5));
      std::shuffle(window.begin(), window.end(), random);
      for (const std::size_t each : window) {
        const Snapshot& said = history.snapshots[each];
        registry->say_to(history.group, said.revision, said.instances);
        if (below(2) == 0) executor.run();
      }
      executor.run();
      const auto newest = history.snapshots[at + 4].instances;
      std::map<std::string, std::uint32_t> wanted;
      for (const Instance& instance : newest) wanted[instance.id] = instance.weight;
      std::map<std::string, std::uint32_t> got;
      for (const auto& member : *cluster->members())
        if (member->instance().group == history.group) got[member->instance().id] = member->instance().weight;
      ASSERT_EQ(got, wanted) << history.group << " after revision " << at + 14;
    }
}

// I5, I6. A list that collapses is not believed; but who cannot be connected to either is not kept for a minute.
TEST_F(TrafficGroupsTest, WhoVanishesAndIsNotConnectedLeavesSoon) {
  const auto known = [&] {
    std::string all;
    for (const auto& member : *cluster->members()) all += member->instance().id;
    return all;
  };
  join();
  command("");
  tell("own", {instance("a"), instance("b"), instance("c"), instance("d")});
  for (const char* dead : {"c", "d"}) dialer->endpoint(dead)->state = Health::closed;
  tell("own", {});
  EXPECT_EQ(known(), "abcd") << "nobody is listed: not believed at once";
  executor.go(seconds(2));
  EXPECT_EQ(known(), "ab");
  // One that loses its connection later goes, too; the last ones stay: it may be this process that is cut off.
  dialer->endpoint("b")->state = Health::closed;
  executor.go(seconds(2));
  EXPECT_EQ(known(), "a");
  dialer->endpoint("a")->state = Health::closed;
  executor.go(seconds(5));
  EXPECT_EQ(known(), "a");
  // Whoever is listed is not doubted, connected or not.
  tell("own", {instance("a"), instance("b")});
  dialer->endpoint("b")->state = Health::closed;
  executor.go(seconds(5));
  EXPECT_EQ(known(), "ab");
  tell("own", {});
  executor.go(seconds(61));
  EXPECT_EQ(known(), "") << "and nobody is kept for ever";
}

}  // namespace
}  // namespace tenon::cluster
