#pragma once
// The part of registry_contract.hpp about threads, documents and tools.

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "contract/registry_fixture.hpp"

namespace tenon::test {

TEST_P(RegistryContract, ManyThreadsEachOnItsOwnExecutor) {
  if (!announces()) GTEST_SKIP() << deaf;
  constexpr int members = 4;
  std::vector<std::unique_ptr<RegistryMember>> all;
  std::vector<SnapshotDiary> diaries(members);
  for (int i = 0; i < members; ++i) {
    all.push_back(member());
    all.back()->watch(service_, diaries[static_cast<std::size_t>(i)]);
  }
  std::vector<std::unique_ptr<Lease>> kept(members);
  std::vector<std::thread> threads;
  for (int i = 0; i < members; ++i)
    threads.emplace_back([&, i] {
      RegistryMember& mine = *all[static_cast<std::size_t>(i)];
      for (int round = 0; round < 25; ++round) {
        auto lease = mine.announce(service_, instance(std::to_string(i) + "." + std::to_string(round)));
        ASSERT_TRUE(lease.ok()) << lease.error().text();
        mine.update(**lease, instance(std::to_string(i) + "." + std::to_string(round), 7));
        if (round == 24) {
          kept[static_cast<std::size_t>(i)] = std::move(*lease);
        } else {
          if (round % 2 == 0) {
            EXPECT_TRUE(mine.withdraw(**lease).ok());
          }
          mine.drop(*lease);
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  std::vector<Instance> left;
  for (int i = 0; i < members; ++i) left.push_back(instance(std::to_string(i) + ".24", 7));
  for (int i = 0; i < members; ++i) {
    SnapshotDiary& diary = diaries[static_cast<std::size_t>(i)];
    EXPECT_TRUE(shows(diary, left)) << diary.text();
    EXPECT_TRUE(diary.grows());
    EXPECT_EQ(diary.executors(), std::set<const Executor*>{&all[static_cast<std::size_t>(i)]->executor});
  }
  for (int i = 0; i < members; ++i) all[static_cast<std::size_t>(i)]->drop(kept[static_cast<std::size_t>(i)]);
}

TEST_P(RegistryContract, DocumentsAreSeenAndNeverLost) {
  const auto writer = member();
  const auto reader = member();
  DocumentDiary diary;
  auto watched = reader->try_watch_document("command", "blue", diary);
  if (!GetParam().documents) {
    ASSERT_FALSE(watched.ok());
    EXPECT_EQ(watched.error().code(), Errc::unimplemented);
    return;
  }
  ASSERT_TRUE(watched.ok()) << watched.error().text();
  const auto reads = [&](DocumentDiary& in, const std::string& text) {
    return in.wait([&](const Document& now) { return now.text == text; }, GetParam().patience);
  };
  EXPECT_TRUE(reads(diary, "")) << "what is known first: nothing was written";
  EXPECT_EQ(diary.latest().kind, "command");
  EXPECT_EQ(diary.latest().group, "blue");
  EXPECT_EQ(diary.executors(), std::set<const Executor*>{&reader->executor});
  RegistryAdmin* const admin = writer->executor.call([&] { return writer->registry->admin(); });
  ASSERT_NE(admin, nullptr) << "the suite writes documents with it";
  const auto read = [&] { return writer->run([&] { return admin->read("command", "blue"); }); };
  const auto write = [&](const Document& document) { return writer->run([&] { return admin->write(document); }); };

  Document document{"command", "blue", "first", 0};
  ASSERT_TRUE(write(document).ok());
  EXPECT_TRUE(reads(diary, "first"));
  EXPECT_EQ(write(document).error().code(), Errc::already_exists) << "somebody wrote since it was read";
  Result<Document> stored = read();
  ASSERT_TRUE(stored.ok()) << stored.error().text();
  EXPECT_EQ(stored->text, "first");
  EXPECT_EQ(stored->version, diary.latest().version);
  stored->text = "second \xE2\x82\xAC\n" + std::string(10000, 'x');
  ASSERT_TRUE(write(*stored).ok());
  EXPECT_TRUE(reads(diary, stored->text));
  EXPECT_GT(diary.latest().version, stored->version);
  EXPECT_EQ(write(*stored).error().code(), Errc::already_exists);
  // Other kinds and groups are other documents.
  DocumentDiary other;
  ASSERT_TRUE(reader->try_watch_document("command", "green", other).ok());
  EXPECT_TRUE(reads(other, ""));
  DocumentDiary late;
  ASSERT_TRUE(writer->try_watch_document("command", "blue", late).ok());
  EXPECT_TRUE(reads(late, stored->text));
  // Who has ended hears nothing.
  reader->end_watches();
  const std::size_t calls = diary.count();
  stored = read();
  ASSERT_TRUE(stored.ok());
  stored->text = "third";
  ASSERT_TRUE(write(*stored).ok());
  EXPECT_TRUE(reads(late, "third"));
  EXPECT_EQ(diary.count(), calls);
}

TEST_P(RegistryContract, DocumentsAreRemovedByWhoKnowsThem) {
  if (!GetParam().documents) GTEST_SKIP() << "it keeps no documents";
  const auto here = member();
  RegistryAdmin* const admin = here->executor.call([&] { return here->registry->admin(); });
  ASSERT_NE(admin, nullptr) << "the suite writes documents with it";
  const auto read = [&] { return here->run([&] { return admin->read("command", "blue"); }); };
  const auto write = [&](const Document& document) { return here->run([&] { return admin->write(document); }); };
  const auto remove = [&](const Document& document) { return here->run([&] { return admin->remove(document); }); };
  const auto groups = [&] {
    const auto found = here->run([&] { return admin->groups(); });
    EXPECT_TRUE(found.ok()) << found.error().text();
    return found.ok() ? *found : std::vector<std::string>();
  };
  Document document{"command", "blue", "first", 0};
  EXPECT_EQ(remove(document).error().code(), Errc::not_found);
  EXPECT_FALSE(contains(groups(), "blue"));
  ASSERT_TRUE(write(document).ok());
  EXPECT_TRUE(contains(groups(), "blue")) << "a group of documents only";
  DocumentDiary diary;
  ASSERT_TRUE(here->try_watch_document("command", "blue", diary).ok());
  const auto reads = [&](const std::string& text, bool is_there) {
    return diary.wait([&](const Document& now) { return now.text == text && (now.version != 0) == is_there; },
                      GetParam().patience);
  };
  EXPECT_TRUE(reads("first", true));
  const Result<Document> first = read();
  ASSERT_TRUE(first.ok()) << first.error().text();
  Document changed = *first;
  changed.text = "second";
  ASSERT_TRUE(write(changed).ok());
  EXPECT_EQ(remove(*first).error().code(), Errc::already_exists) << "somebody wrote since it was read";
  EXPECT_TRUE(reads("second", true));
  const Result<Document> second = read();
  ASSERT_TRUE(second.ok()) << second.error().text();
  const Result<void> removed = remove(*second);
  ASSERT_TRUE(removed.ok()) << removed.error().text();
  EXPECT_TRUE(reads("", false));
  EXPECT_EQ(remove(*second).error().code(), Errc::not_found);
  const Result<Document> gone = read();
  ASSERT_TRUE(gone.ok()) << gone.error().text();
  EXPECT_EQ(gone->version, 0u);
  // One that comes again is another.
  ASSERT_TRUE(write(document).ok());
  EXPECT_TRUE(reads("first", true));
  EXPECT_GT(diary.latest().version, second->version);
  EXPECT_EQ(write(*second).error().code(), Errc::already_exists);
}

TEST_P(RegistryContract, ToolsSeeAndChangeWhatIsThere) {
  const auto here = member();
  const auto consumer = member();
  RegistryAdmin* const admin = here->executor.call([&] { return here->registry->admin(); });
  if (!GetParam().administered) {
    EXPECT_EQ(admin, nullptr);
    return;
  }
  ASSERT_NE(admin, nullptr);
  if (!announces()) GTEST_SKIP() << deaf;
  SnapshotDiary diary;
  consumer->watch(service_, diary, "shop");
  auto lease = here->announce(service_, instance("one"));
  ASSERT_TRUE(lease.ok());
  ASSERT_TRUE(shows(diary, {instance("one")}));
  const auto services = here->run([&] { return admin->services(); });
  ASSERT_TRUE(services.ok()) << services.error().text();
  EXPECT_NE(std::find(services->begin(), services->end(), service_), services->end());
  const auto instances = here->run([&] { return admin->instances(service_); });
  ASSERT_TRUE(instances.ok()) << instances.error().text();
  EXPECT_TRUE(same_instances(*instances, {instance("one")}));
  const auto subscribers = here->run([&] { return admin->subscribers(service_); });
  ASSERT_TRUE(subscribers.ok()) << subscribers.error().text();
  EXPECT_EQ(std::count_if(subscribers->begin(), subscribers->end(),
                          [](const Subscriber& each) { return each.name == "shop" && !each.foreign; }),
            1);
  const auto groups = here->run([&] { return admin->groups(); });
  ASSERT_TRUE(groups.ok()) << groups.error().text();
  EXPECT_EQ(*groups, std::vector<std::string>{"blue"});
  const auto weigh = [&](const std::string& id) {
    return here->run([&] { return admin->set_weight(service_, id, 33); });
  };
  const Result<void> weighed = weigh("one");
  EXPECT_TRUE(weighed.ok()) << weighed.error().text();
  EXPECT_TRUE(shows(diary, {instance("one", 33)})) << diary.text();
  EXPECT_EQ(weigh("nobody").error().code(), Errc::not_found);
  const auto serve = [&](const std::string& id, bool serving) {
    return here->run([&] { return admin->set_serving(service_, id, serving); });
  };
  const auto serves = [&](bool serving) {
    Instance wanted = instance("one", 33);
    wanted.serving = serving;
    const auto listed = here->run([&] { return admin->instances(service_); });
    return shows(diary, {wanted}) && listed.ok() && same_instances(*listed, {wanted});
  };
  for (int round = 0; round < 2; ++round) {
    const Result<void> offline = serve("one", false);
    EXPECT_TRUE(offline.ok()) << offline.error().text();
    EXPECT_TRUE(serves(false)) << diary.text();
    const Result<void> online = serve("one", true);
    EXPECT_TRUE(online.ok()) << online.error().text();
    EXPECT_TRUE(serves(true)) << diary.text();
  }
  EXPECT_EQ(serve("nobody", false).error().code(), Errc::not_found);
  // The provider's own word is the last.
  ASSERT_TRUE(serve("one", false).ok());
  EXPECT_TRUE(serves(false));
  here->update(**lease, instance("one", 50));
  EXPECT_TRUE(shows(diary, {instance("one", 50)})) << diary.text();
  EXPECT_TRUE(diary.withdrawn().empty()) << "it never left";
  const ServiceName unknown{"demo.Unknown", "", ""};
  const auto none = here->run([&] { return admin->instances(unknown); });
  EXPECT_TRUE(none.ok() ? none->empty() : none.error().code() == Errc::not_found);
  here->drop(*lease);
}

}  // namespace tenon::test
