#pragma once
// For one source file of each test program.
// What every Registry must do. Used with
//   INSTANTIATE_TEST_SUITE_P(Memory, RegistryContract, testing::Values(RegistryCase{…}), registry_case_name);
// Everything a registry promises only some time after a call is waited for as an event, at most `patience`.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "contract/registry_documents_contract.hpp"
#include "contract/registry_fixture.hpp"

namespace tenon::test {

TEST_P(RegistryContract, AWatcherHearsFirstWhatIsKnownOnItsOwnExecutor) {
  const auto here = member();
  SnapshotDiary diary;
  const bool inside = here->executor.call([&] {
    here->watch(service_, diary);
    return diary.count() > 0;
  });
  EXPECT_FALSE(inside) << "never inline";
  ASSERT_TRUE(shows(diary, {}));
  EXPECT_TRUE(diary.latest().withdrawn.empty());
  EXPECT_EQ(diary.executors(), std::set<const Executor*>{&here->executor});
}

TEST_P(RegistryContract, AnAnnouncementSucceedsAndCanBeTakenBack) {
  const auto here = member();
  auto lease = here->announce(service_, instance("one"));
  ASSERT_TRUE(lease.ok()) << lease.error().text();
  here->update(**lease, instance("one", 50));
  EXPECT_TRUE(here->withdraw(**lease).ok());
  EXPECT_TRUE(here->withdraw(**lease).ok()) << "a second time, too";
  here->drop(*lease);
}

TEST_P(RegistryContract, WhatIsAnnouncedIsSeenAsItIs) {
  if (!announces()) GTEST_SKIP() << deaf;
  const auto provider = member();
  const auto consumer = member();
  SnapshotDiary diary;
  consumer->watch(service_, diary);
  Instance full = instance("one", 7);
  full.protocols = {"tenon", "motan2"};
  full.metadata = {{"zone", "a"}, {"empty", ""}, {"text", "a=b&c=\"d\"\n\xE2\x82\xAC"}};
  auto lease = provider->announce(service_, full);
  ASSERT_TRUE(lease.ok()) << lease.error().text();
  EXPECT_TRUE(shows(diary, {full})) << diary.text();
  // Who comes later sees the same.
  SnapshotDiary late;
  provider->watch(service_, late);
  EXPECT_TRUE(shows(late, {full})) << late.text();
  provider->drop(*lease);
}

TEST_P(RegistryContract, UpdatesAreSeen) {
  if (!announces()) GTEST_SKIP() << deaf;
  const auto provider = member();
  const auto consumer = member();
  SnapshotDiary diary;
  consumer->watch(service_, diary);
  Instance now = instance("one");
  auto lease = provider->announce(service_, now);
  ASSERT_TRUE(lease.ok());
  ASSERT_TRUE(shows(diary, {now}));
  for (const std::uint32_t weight : {0u, 1u, 250u, 100u}) {
    now.weight = weight;
    provider->update(**lease, now);
    EXPECT_TRUE(shows(diary, {now})) << diary.text();
  }
  now.serving = false;
  provider->update(**lease, now);
  EXPECT_TRUE(shows(diary, {now})) << diary.text();
  now.serving = true;
  now.metadata["zone"] = "b";
  provider->update(**lease, now);
  EXPECT_TRUE(shows(diary, {now})) << diary.text();
  EXPECT_TRUE(diary.withdrawn().empty());
  provider->drop(*lease);
}

TEST_P(RegistryContract, WhatIsWithdrawnIsGoneOnPurpose) {
  if (!announces()) GTEST_SKIP() << deaf;
  const auto provider = member();
  const auto consumer = member();
  SnapshotDiary diary;
  consumer->watch(service_, diary);
  auto goes = provider->announce(service_, instance("goes"));
  auto stays = provider->announce(service_, instance("stays"));
  ASSERT_TRUE(goes.ok() && stays.ok());
  ASSERT_TRUE(shows(diary, {instance("goes"), instance("stays")}));
  ASSERT_TRUE(provider->withdraw(**goes).ok());
  EXPECT_TRUE(shows(diary, {instance("stays")})) << diary.text();
  EXPECT_EQ(diary.withdrawn(), std::set<std::string>{"goes"});
  // It stays away.
  provider->update(**goes, instance("goes", 5));
  provider->drop(*goes);
  auto other = provider->announce(service_, instance("other"));
  ASSERT_TRUE(other.ok());
  EXPECT_TRUE(shows(diary, {instance("stays"), instance("other")})) << diary.text();
  provider->drop(*stays);
  provider->drop(*other);
}

TEST_P(RegistryContract, ALeaseThatEndsTakesItsInstanceAlong) {
  if (!announces()) GTEST_SKIP() << deaf;
  const auto provider = member();
  const auto consumer = member();
  SnapshotDiary diary;
  consumer->watch(service_, diary);
  auto lease = provider->announce(service_, instance("one"));
  ASSERT_TRUE(lease.ok());
  ASSERT_TRUE(shows(diary, {instance("one")}));
  provider->drop(*lease);
  EXPECT_TRUE(shows(diary, {})) << diary.text();
  // And may come back.
  auto again = provider->announce(service_, instance("one"));
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_TRUE(shows(diary, {instance("one")})) << diary.text();
  EXPECT_FALSE(contains(diary.latest().withdrawn, "one")) << "it is there";
  provider->drop(*again);
}

TEST_P(RegistryContract, AWatchThatEndedIsNotCalled) {
  const auto here = member();
  SnapshotDiary early;
  here->executor.call([&] {
    here->watch(service_, early);
    here->end_watches();
  });
  here->executor.call([] {});
  here->executor.call([] {});
  EXPECT_EQ(early.count(), 0u) << "ended before it was called first";

  SnapshotDiary ended;
  here->watch(service_, ended);
  ASSERT_TRUE(shows(ended, {}));
  here->end_watches();
  const std::size_t calls = ended.count();
  if (!announces()) return;
  SnapshotDiary other;
  here->watch(service_, other);
  auto lease = here->announce(service_, instance("one"));
  ASSERT_TRUE(lease.ok());
  ASSERT_TRUE(shows(other, {instance("one")}));
  EXPECT_EQ(ended.count(), calls);
  here->drop(*lease);
}

TEST_P(RegistryContract, AWatchMayEndWithinItsObserver) {
  const auto here = member();
  std::atomic<int> calls = 0;
  std::unique_ptr<Watch> watch;
  here->executor.call([&] {
    auto made = here->registry->watch({service_, "test"}, [&, held = std::string(100, 'x')](const Result<Snapshot>&) {
      watch.reset();
      calls += held.size() == 100 ? 1 : 1000;
    });
    ASSERT_TRUE(made.ok()) << made.error().text();
    watch = std::move(*made);
  });
  SnapshotDiary after;
  here->watch(service_, after);
  ASSERT_TRUE(shows(after, {}));
  // Two watches may be told in any order.
  const auto until = std::chrono::steady_clock::now() + GetParam().patience;
  while (calls == 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(calls, 1);
}

TEST_P(RegistryContract, EveryWatcherIsTold) {
  const auto first = member();
  const auto second = member();
  SnapshotDiary diaries[4];
  SnapshotDiary elsewhere;
  first->watch(service_, diaries[0]);
  first->watch(service_, diaries[1]);
  second->watch(service_, diaries[2]);
  second->watch(service_, diaries[3]);
  second->watch({"demo.Other", "blue", "1.0"}, elsewhere);
  for (SnapshotDiary& diary : diaries) ASSERT_TRUE(shows(diary, {}));
  ASSERT_TRUE(shows(elsewhere, {}));
  if (!announces()) return;
  auto lease = first->announce(service_, instance("one"));
  ASSERT_TRUE(lease.ok());
  for (SnapshotDiary& diary : diaries) EXPECT_TRUE(shows(diary, {instance("one")})) << diary.text();
  EXPECT_TRUE(elsewhere.latest().instances.empty()) << elsewhere.text();
  first->drop(*lease);
}

TEST_P(RegistryContract, GroupsAndVersionsAreServicesOfTheirOwn) {
  if (!announces()) GTEST_SKIP() << deaf;
  const auto here = member();
  const std::vector<ServiceName> names = {
      {"demo.Greeter", "blue", "1.0"}, {"demo.Greeter", "green", "1.0"}, {"demo.Greeter", "blue", "2.0"},
      {"demo.Greeter", "", ""},        {"demo.Greeter2", "blue", "1.0"},
  };
  std::vector<SnapshotDiary> diaries(names.size());
  std::vector<std::unique_ptr<Lease>> leases;
  for (std::size_t i = 0; i < names.size(); ++i) {
    here->watch(names[i], diaries[i]);
    auto lease = here->announce(names[i], instance("i" + std::to_string(i)));
    ASSERT_TRUE(lease.ok()) << lease.error().text();
    leases.push_back(std::move(*lease));
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    EXPECT_TRUE(shows(diaries[i], {instance("i" + std::to_string(i))})) << names[i].text() << diaries[i].text();
  for (auto& lease : leases) here->drop(lease);
}

TEST_P(RegistryContract, RevisionsOnlyGrow) {
  if (!announces()) GTEST_SKIP() << deaf;
  const auto provider = member();
  const auto consumer = member();
  SnapshotDiary diary;
  consumer->watch(service_, diary);
  ASSERT_TRUE(shows(diary, {}));
  for (int round = 0; round < 10; ++round) {
    Instance now = instance("one");
    auto lease = provider->announce(service_, now);
    ASSERT_TRUE(lease.ok());
    ASSERT_TRUE(shows(diary, {now}));
    now.weight = 1;
    provider->update(**lease, now);
    ASSERT_TRUE(shows(diary, {now}));
    ASSERT_TRUE(provider->withdraw(**lease).ok());
    ASSERT_TRUE(shows(diary, {}));
    provider->drop(*lease);
  }
  EXPECT_TRUE(diary.grows()) << diary.text();
  EXPECT_GE(diary.count(), 31u);
}

// A restart: the same address under a new id.
TEST_P(RegistryContract, ANewIdAtAnOldAddressTakesItsPlace) {
  if (!announces()) GTEST_SKIP() << deaf;
  const auto old_process = member();
  const auto new_process = member();
  const auto consumer = member();
  SnapshotDiary diary;
  consumer->watch(service_, diary);
  Instance before = instance("before");
  auto old_lease = old_process->announce(service_, before);
  ASSERT_TRUE(old_lease.ok());
  ASSERT_TRUE(shows(diary, {before}));
  Instance after = before;
  after.id = "after";
  auto new_lease = new_process->announce(service_, after);
  ASSERT_TRUE(new_lease.ok()) << new_lease.error().text();
  old_process->drop(*old_lease);
  EXPECT_TRUE(shows(diary, {after})) << diary.text();
  new_process->drop(*new_lease);
}

TEST_P(RegistryContract, OddNamesWorkOrAreRefused) {
  const auto here = member();
  const std::vector<std::string> odd = {
      "a/b/c",        "/",
      "..",           "../../etc/passwd",
      "a b",          "%2F%00",
      "a:b?c#d&e=f",  "\xE5\x90\x8D\xE5\x89\x8D",
      "line\nbreak",  std::string("nul\0byte", 8),
      "\x7F\x1B[31m", std::string(1024, 'n'),
      "\xFF\xFE",     "",
  };
  int worked = 0;
  for (const std::string& name : odd) {
    for (const ServiceName& service : {ServiceName{name, "blue", "1.0"}, ServiceName{"demo.Greeter", name, name}}) {
      // One of the two is odd, or both.
      for (const std::string& id : {std::string("plain"), name}) {
        SnapshotDiary diary;
        auto watched = here->try_watch(service, diary);
        Instance odd_one = instance("x");
        odd_one.id = id;
        odd_one.metadata = {{name, name}};
        auto lease = here->announce(service, odd_one);
        for (const Error& error : {watched.ok() ? Error() : watched.error(), lease.ok() ? Error() : lease.error()})
          EXPECT_TRUE(!error || error.code() == Errc::config || error.code() == Errc::invalid_argument) << error.text();
        if (lease.ok() && watched.ok() && announces()) {
          EXPECT_TRUE(shows(diary, {odd_one})) << diary.text();
          ++worked;
        }
        if (lease.ok()) here->drop(*lease);
        here->end_watches();
      }
    }
  }
  EXPECT_TRUE(!announces() || worked > 0);
}

TEST_P(RegistryContract, AThousandInstances) {
  if (!announces()) GTEST_SKIP() << deaf;
  const auto provider = member();
  const auto consumer = member();
  SnapshotDiary diary;
  consumer->watch(service_, diary);
  std::vector<std::unique_ptr<Lease>> leases;
  std::vector<Instance> all;
  for (int i = 0; i < 1000; ++i) {
    all.push_back(instance("instance-" + std::to_string(i)));
    auto lease = provider->announce(service_, all.back());
    ASSERT_TRUE(lease.ok()) << lease.error().text();
    leases.push_back(std::move(*lease));
  }
  EXPECT_TRUE(shows(diary, all));
  for (auto& lease : leases) ASSERT_TRUE(provider->withdraw(*lease).ok());
  EXPECT_TRUE(shows(diary, {}));
  EXPECT_EQ(diary.withdrawn().size(), 1000u);
  for (auto& lease : leases) provider->drop(lease);
}

}  // namespace tenon::test
