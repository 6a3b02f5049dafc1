// Silence, over real connections and real time.
#include "center_app.hpp"

namespace tenon::center {
namespace {

CenterOptions short_lease() {
  CenterOptions options;
  options.lease = seconds(1);
  options.settle = seconds(0);
  return options;
}

/// Beats until it ends, as a registry's client does, and opens and announces again when it is not known any more.
class Heart {
 public:
  explicit Heart(const Member& member)
      : thread_([&member, this] {
          while (!stop_) {
            CallOptions quick;
            quick.timeout = milliseconds(500);
            if (member.calls.beat.call(quick, member.key).ok()) ++beats_;
            std::this_thread::sleep_for(milliseconds(50));
          }
        }) {}
  ~Heart() {
    stop_ = true;
    thread_.join();
  }
  int beats() const { return beats_; }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<int> beats_{0};
  std::thread thread_;
};

TEST(CenterLeasesLive, WhoIsSilentIsDroppedWhoBeatsIsNot) {
  const CenterApp center(short_lease());
  const Member silent(center.address(), "host/silent");
  const Member alive(center.address(), "host/alive");
  ASSERT_TRUE(silent.open().ok());
  ASSERT_TRUE(alive.open().ok());
  const Heart heart(alive);
  ASSERT_TRUE(alive.announce(instance("alive")).ok());
  ASSERT_TRUE(silent.announce(instance("silent")).ok());
  Stream<List> watched = silent.watch();
  Stream<Document> documents = silent.watch_document("command", "blue");
  Stream<List> lists = alive.watch();
  ASSERT_TRUE(reads_ids(lists, {"alive", "silent"}));
  List list;
  EXPECT_TRUE(reads<List>(lists, list, [](const List& now) { return now.instances.size() == 1; }));
  EXPECT_EQ(list.instances[0].id, "alive");
  EXPECT_TRUE(list.withdrawn.empty()) << "lost, not withdrawn";
  EXPECT_EQ(end_of(watched).code(), Errc::not_found) << "its streams end, so that it learns of it";
  EXPECT_EQ(end_of(documents).code(), Errc::not_found);
  EXPECT_EQ(silent.beat().error().code(), Errc::not_found);
  EXPECT_EQ(center.log.count("center-lost: client \"host/silent\""), 1u);
  const State state = alive.state();
  EXPECT_EQ(state.clients, 1u);
  EXPECT_EQ(state.instances, 1u);
  EXPECT_EQ(state.subscriptions, 1u);
  // It comes back.
  const Result<Opened> again = silent.open();
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(again->known);
  ASSERT_TRUE(silent.announce(instance("silent")).ok());
  EXPECT_TRUE(reads_ids(lists, {"alive", "silent"}));
}

TEST(CenterLeasesLive, AListBecomesWholeAfterALease) {
  const CenterApp center(short_lease());
  const Member member(center.address());
  ASSERT_TRUE(member.open().ok());
  const Heart heart(member);
  Stream<List> lists = member.watch();
  List list;
  ASSERT_TRUE(*lists.next(list));
  EXPECT_FALSE(list.whole);
  EXPECT_TRUE(reads<List>(lists, list, [](const List& now) { return now.whole; }));
  EXPECT_TRUE(member.state().whole);
  EXPECT_EQ(center.log.count("center-whole"), 1u);
}

TEST(CenterLeasesLive, ManyAtOnceAreKeptForAWhile) {
  CenterOptions options = short_lease();
  options.preserve_limit = 1000;
  const CenterApp center(options);
  const Member looks(center.address());
  ASSERT_TRUE(looks.open().ok());
  const Heart heart(looks);
  std::vector<ClientKey> others;
  for (const char digit : {'1', '2', '3', '4', '5'}) {
    const ClientKey key{std::string(32, digit), std::string(32, 'a')};
    ASSERT_TRUE(looks.calls.open(Opening{key, "host/other", ""}).ok());
    ASSERT_TRUE(looks.calls.announce(key, greeter, instance(std::string(1, digit))).ok());
    others.push_back(key);
  }
  EXPECT_TRUE(test::eventually([&] { return looks.state().preserving; }));
  EXPECT_EQ(looks.state().instances, 5u);
  EXPECT_EQ(center.log.count("center-preserving: 5 of 5 instances fell silent at once"), 1u);
  for (const ClientKey& key : others) EXPECT_TRUE(looks.calls.beat(key).ok()) << "still known";
  EXPECT_TRUE(test::eventually([&] { return !looks.state().preserving; }));
  EXPECT_EQ(center.log.count("center-preserving: over"), 1u);
}

TEST(CenterLeasesLive, PreservingEndsWithItsLimit) {
  CenterOptions options = short_lease();
  options.preserve_limit = 1;
  const CenterApp center(options);
  const Member member(center.address());
  ASSERT_TRUE(member.open().ok());
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(member.announce(instance(std::to_string(i))).ok());
  }
  EXPECT_TRUE(test::eventually([&] { return member.state().instances == 0; }));
  EXPECT_EQ(center.log.count("did not come back in time"), 1u);
}

}  // namespace
}  // namespace tenon::center
