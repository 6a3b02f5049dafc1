// Registries over a center process that dies, comes back empty or with its store, and stands still.
#include <csignal>

#include "center_app.hpp"
#include "client/center_registry.hpp"
#include "contract/registry_fixture.hpp"
#include "settled_registry.hpp"
#include "support/child_process.hpp"

namespace tenon::center {
namespace {

using test::RegistryMember;
using test::SnapshotDiary;

constexpr Duration patience = seconds(20);

class CenterRecovery : public testing::Test {
 protected:
  void launch(const std::string& store, const std::string& address = "127.0.0.1:0", const std::string& lease = "1000") {
    process_ = std::make_unique<test::ChildProcess>(CENTER_PROGRAM, std::vector<std::string>{store, lease, address});
    address_ = process_->line();
    ASSERT_FALSE(address_.empty()) << process_->end(seconds(1)).err;
    if (!client_) client_ = client();
    ASSERT_TRUE(client_);
  }
  std::unique_ptr<App> client() const {
    AppOptions chosen = test::client_options(std::string(interface), address_);
    chosen.client.references["r"].max_reconnect_pause = milliseconds(100);
    return test::start(std::move(chosen));
  }
  void kill() {
    process_->signal(SIGKILL);
    EXPECT_EQ(process_->end(seconds(10)).code, 128 + SIGKILL);
    process_.reset();
  }
  std::unique_ptr<RegistryMember> member() {
    return std::make_unique<RegistryMember>([this](Environment environment) -> std::unique_ptr<Registry> {
      CenterRegistryOptions options;
      options.connect_timeout = seconds(60);  // observers should not hear of it
      auto app = client();
      auto made = CenterRegistry::over(app->reference("r"), options, environment);
      if (!made.ok()) return nullptr;
      return std::make_unique<test::SettledRegistry>(std::move(*made), std::move(app));
    });
  }
  static Instance at(int port, std::uint32_t weight = 100) {
    Instance made = instance("i" + std::to_string(port), weight);
    made.address = "10.0.0.7:" + std::to_string(port);
    return made;
  }
  static bool shows(SnapshotDiary& diary, const std::vector<Instance>& wanted) {
    return diary.wait([&](const Snapshot& now) { return test::same_instances(now.instances, wanted); }, patience);
  }
  /// What the center itself has.
  std::vector<Instance> listed() const {
    const Calls calls(client_->reference("r"));
    const Result<std::vector<Instance>> found = calls.instances(greeter);
    return found.ok() ? *found : std::vector<Instance>();
  }
  bool lists(const std::vector<Instance>& wanted) const {
    return test::eventually([&] { return test::same_instances(listed(), wanted); }, patience);
  }

  StoreFolder folder_;
  std::unique_ptr<test::ChildProcess> process_;
  std::string address_;
  std::unique_ptr<App> client_;
};

TEST_F(CenterRecovery, WhatShouldBeIsBroughtAboutAfterACenterWithoutMemory) {
  ASSERT_NO_FATAL_FAILURE(launch(""));
  const auto provider = member();
  const auto consumer = member();
  SnapshotDiary diary;
  consumer->watch(greeter, diary);
  auto stays = provider->announce(greeter, at(1));
  auto changes = provider->announce(greeter, at(2));
  auto leaves = provider->announce(greeter, at(3));
  ASSERT_TRUE(stays.ok() && changes.ok() && leaves.ok());
  ASSERT_TRUE(shows(diary, {at(1), at(2), at(3)})) << diary.text();
  kill();
  // Meanwhile life goes on.
  provider->update(**changes, at(2, 7));
  EXPECT_FALSE(provider->withdraw(**leaves).ok()) << "nobody could be told";
  auto comes = std::make_unique<Result<std::unique_ptr<Lease>>>(Error(Errc::internal, "not announced"));
  std::thread announcing([&] { *comes = provider->announce(greeter, at(4)); });  // waits for the center
  const std::size_t heard = diary.count();
  ASSERT_NO_FATAL_FAILURE(launch("", address_));
  announcing.join();
  EXPECT_TRUE(comes->ok()) << comes->error().text();
  EXPECT_TRUE(lists({at(1), at(2, 7), at(4)}));
  EXPECT_TRUE(shows(diary, {at(1), at(2, 7), at(4)})) << diary.text();
  EXPECT_GT(diary.count(), heard);
  EXPECT_TRUE(diary.grows());
  // The one that stays was never missing.
  const std::vector<Snapshot> all = diary.heard();
  const auto first = std::find_if(all.begin(), all.end(), [](const Snapshot& each) { return !each.instances.empty(); });
  for (auto each = first; each != all.end(); ++each)
    EXPECT_TRUE(std::any_of(each->instances.begin(), each->instances.end(),
                            [](const Instance& instance) { return instance.id == "i1"; }))
        << "revision " << each->revision;
  provider->drop(*stays);
  provider->drop(*changes);
  provider->drop(*leaves);
  provider->drop(**comes);
}

TEST_F(CenterRecovery, WhatOperatorsSetStaysWithTheStoreUntilItsProviderChangesIt) {
  ASSERT_NO_FATAL_FAILURE(launch(folder_.text()));
  const auto provider = member();
  const auto consumer = member();
  SnapshotDiary diary;
  consumer->watch(greeter, diary);
  auto lease = provider->announce(greeter, at(1));
  ASSERT_TRUE(lease.ok());
  ASSERT_TRUE(consumer->run([&] { return consumer->registry->admin()->set_weight(greeter, "i1", 3); }).ok());
  const Document command{"command", "blue", "{}", 0};
  ASSERT_TRUE(consumer->run([&] { return consumer->registry->admin()->write(command); }).ok());
  ASSERT_TRUE(shows(diary, {at(1, 3)})) << diary.text();
  kill();
  ASSERT_NO_FATAL_FAILURE(launch(folder_.text(), address_));
  EXPECT_TRUE(lists({at(1, 3)})) << "announced again, which is no change";
  const auto read = consumer->run([&] { return consumer->registry->admin()->read("command", "blue"); });
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->text, "{}");
  provider->update(**lease, at(1, 50));
  EXPECT_TRUE(shows(diary, {at(1, 50)})) << diary.text();
  provider->drop(*lease);
}

TEST_F(CenterRecovery, ACenterThatStoodStillDropsNobody) {
  ASSERT_NO_FATAL_FAILURE(launch("", "127.0.0.1:0", "500"));
  const auto provider = member();
  const auto consumer = member();
  SnapshotDiary diary;
  consumer->watch(greeter, diary);
  auto lease = provider->announce(greeter, at(1));
  ASSERT_TRUE(lease.ok());
  ASSERT_TRUE(shows(diary, {at(1)}));
  process_->signal(SIGSTOP);
  std::this_thread::sleep_for(milliseconds(1500));
  process_->signal(SIGCONT);
  EXPECT_TRUE(lists({at(1)}));
  auto another = provider->announce(greeter, at(2));
  ASSERT_TRUE(another.ok()) << another.error().text();
  EXPECT_TRUE(shows(diary, {at(1), at(2)})) << diary.text();
  for (const Snapshot& snapshot : diary.heard()) EXPECT_TRUE(snapshot.withdrawn.empty());
  provider->drop(*lease);
  provider->drop(*another);
}

TEST_F(CenterRecovery, WhoEndsWithoutAWordIsDroppedAfterItsLease) {
  ASSERT_NO_FATAL_FAILURE(launch("", "127.0.0.1:0", "500"));
  const auto consumer = member();
  SnapshotDiary diary;
  consumer->watch(greeter, diary);
  const Member silent(address_);  // opens and announces, and never beats
  ASSERT_TRUE(silent.open().ok());
  ASSERT_TRUE(silent.announce(at(9)).ok());
  ASSERT_TRUE(shows(diary, {at(9)}));
  EXPECT_TRUE(shows(diary, {})) << diary.text();
  EXPECT_TRUE(diary.latest().withdrawn.empty()) << "it did not leave on purpose";
}

}  // namespace
}  // namespace tenon::center
