// Many subscriptions, many changes, several threads, and readers that do not read.
#include "../faults/measures.hpp"
#include "center_app.hpp"

namespace tenon::center {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(TENON_UNDER_TSAN)
constexpr bool measures_memory = false;  // sanitizers keep what is freed
#else
constexpr bool measures_memory = true;
#endif

TEST(SlowCenterMany, TenThousandSubscriptionsLeaveNothingBehind) {
  const CenterApp center({});
  const Member member(center.address());
  ASSERT_TRUE(member.open().ok());
  ASSERT_TRUE(member.announce(instance("a")).ok());
  const auto subscribe = [&](int from, int to) {
    for (int i = from; i < to; i += 50) {
      std::vector<Stream<List>> lists;
      for (int each = i; each < i + 50; ++each)  // a third of them of a service of its own
        lists.push_back(member.watch(each % 3 == 0 ? ServiceName{"s" + std::to_string(each), "", ""} : greeter));
      List list;
      for (Stream<List>& stream : lists) {
        ASSERT_TRUE(*stream.next(list));
      }
    }
  };
  subscribe(0, 3000);
  EXPECT_TRUE(test::eventually([&] { return member.state().subscriptions == 0; }));
  const std::size_t before = test::resident_kib();
  subscribe(3000, 10000);
  EXPECT_TRUE(test::eventually([&] { return member.state().subscriptions == 0; }));
  EXPECT_EQ(member.state().services, 1u);
  EXPECT_TRUE(test::eventually([&] { return member.calls.services()->size() == 1; }));
  if (measures_memory) {
    EXPECT_LT(test::resident_kib(), before + 2048);
  }
  ASSERT_TRUE(member.close().ok());
  EXPECT_TRUE(test::eventually([&] { return empty(member) && test::idle(*center.app); }));
}

TEST(CenterMany, WhoNeverReadsCostsOneListAndFindsTheNewest) {
  const CenterApp center({});
  const Member provider(center.address());
  const Member lazy(center.address(), "host/lazy", 64u << 10);
  const Member reader(center.address(), "host/reader");
  ASSERT_TRUE(provider.open().ok());
  ASSERT_TRUE(lazy.open().ok());
  ASSERT_TRUE(reader.open().ok());
  for (int i = 0; i < 50; ++i) {
    Instance large = instance(i == 49 ? "last" : std::to_string(i));
    large.metadata["large"] = std::string(4000, 'x');
    ASSERT_TRUE(provider.announce(large).ok());
  }
  std::vector<Stream<List>> unread;
  for (int i = 0; i < 20; ++i) unread.push_back(lazy.watch());
  Stream<List> lists = reader.watch();
  List list;
  ASSERT_TRUE(*lists.next(list));
  EXPECT_TRUE(test::eventually([&] { return reader.state().subscriptions == 21; }));
  const auto change = [&](std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t weight = from; weight < to; ++weight) {
      Instance large = instance("last", weight);
      large.metadata["large"] = std::string(4000, 'x');
      ASSERT_TRUE(provider.update(large).ok());
      ASSERT_TRUE(reads<List>(lists, list, [&](const List& now) { return now.instances.back().weight == weight; }))
          << weight;
    }
  };
  change(1, 20);
  const std::size_t before = test::resident_kib();
  change(20, 100);  // 20 streams of 80 lists of 200 KB are 320 MB
  if (measures_memory) {
    EXPECT_LT(test::resident_kib(), before + (20u << 10));
  }
  for (Stream<List>& stream : unread) {
    int messages = 0;
    EXPECT_TRUE(reads<List>(stream, list, [&](const List& now) {
      ++messages;
      return now.instances.back().weight == 99;
    }));
    EXPECT_LE(messages, 4) << "what was under way, and the newest";
  }
}

TEST(CenterMany, AThousandAnnouncementsAreNotAThousandLists) {
  const CenterApp center({});
  const Member provider(center.address());
  const Member reader(center.address());
  ASSERT_TRUE(provider.open().ok());
  ASSERT_TRUE(reader.open().ok());
  Stream<List> lists = reader.watch();
  std::atomic<int> messages{0};
  std::thread reading([&] {
    List list;
    EXPECT_TRUE(reads<List>(lists, list, [&](const List& now) {
      ++messages;
      return now.instances.size() == 1000;
    }));
  });
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(provider.announce(instance(std::to_string(i))).ok());
  }
  reading.join();
  EXPECT_LT(messages, 300);
}

class CenterThreads : public testing::TestWithParam<const char*> {};

// Announcing, withdrawing, watching, operating, all at once on two io threads, or on the threads of a pool.
TEST_P(CenterThreads, DoEverythingAtOnce) {
  StoreFolder folder;
  CenterOptions options;
  options.store = folder.text();
  const CenterApp center(options, 2, GetParam());
  ASSERT_TRUE(center.app);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      const Member member(center.address(), "host/" + std::to_string(t));
      const std::string mine = std::to_string(t);
      for (std::uint32_t round = 1; round <= 15; ++round) {
        ASSERT_TRUE(member.open().ok());
        Stream<List> lists = member.watch();
        Stream<Document> documents = member.watch_document("command", mine);
        const Result<void> announced = member.announce(instance(mine, round));
        ASSERT_TRUE(announced.ok()) << announced.error().text();
        List list;
        ASSERT_TRUE(reads<List>(lists, list, [&](const List& now) {
          return std::ranges::any_of(now.instances, [&](const Instance& each) { return each.id == mine; });
        }));
        EXPECT_TRUE(member.calls.set_weight(greeter, mine, 1000).ok());
        const Result<Document> document = member.calls.read("command", mine);
        ASSERT_TRUE(document.ok());
        const std::string text = mine + std::to_string(round);
        EXPECT_TRUE(member.calls.write(Document{"command", mine, text, document->version}).ok());
        Document seen;
        EXPECT_TRUE(reads<Document>(documents, seen, [&](const Document& now) { return now.text == text; }));
        if (round % 3 == 0) {
          EXPECT_TRUE(member.withdraw(mine).ok());
        } else if (round % 3 == 1) {
          EXPECT_TRUE(member.close().ok());
        }
      }
      EXPECT_TRUE(member.close().ok());
    });
  for (std::thread& thread : threads) thread.join();
  const Member looks(center.address());
  EXPECT_TRUE(test::eventually([&] { return empty(looks); }));
  EXPECT_EQ(looks.state().documents, 3u);
  EXPECT_TRUE(test::eventually([&] { return test::idle(*center.app); }));
}
INSTANTIATE_TEST_SUITE_P(, CenterThreads, testing::Values("", "work"),
                         [](const auto& info) { return *info.param ? "pool" : "io"; });

}  // namespace
}  // namespace tenon::center
