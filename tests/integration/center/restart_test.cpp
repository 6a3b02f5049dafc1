// A center process that is killed, started again, and stopped for a while.
#include <csignal>

#include "center_app.hpp"
#include "support/child_process.hpp"

namespace tenon::center {
namespace {

class CenterRestart : public testing::Test {
 protected:
  void launch(const std::string& lease_ms = "1000", const std::string& address = "127.0.0.1:0") {
    process = std::make_unique<test::ChildProcess>(CENTER_PROGRAM,
                                                   std::vector<std::string>{folder.text(), lease_ms, address});
    where = process->line();
    ASSERT_FALSE(where.empty()) << process->end(seconds(1)).err;
  }
  void kill() {
    process->signal(SIGKILL);
    EXPECT_EQ(process->end(seconds(10)).code, 128 + SIGKILL);
    process.reset();
  }
  StoreFolder folder;
  std::unique_ptr<test::ChildProcess> process;
  std::string where;
};

TEST_F(CenterRestart, WhatWasAnsweredSurvivesKill9) {
  ASSERT_NO_FATAL_FAILURE(launch());
  std::uint64_t epoch = 0;
  std::uint64_t revision = 0;
  std::atomic<int> answered{0};
  std::uint64_t last_version = 0;
  {
    const Member member(where);
    const Result<Opened> opened = member.open();
    ASSERT_TRUE(opened.ok());
    epoch = opened->epoch;
    ASSERT_TRUE(member.announce(instance("drained")).ok());
    ASSERT_TRUE(member.announce(instance("offline")).ok());
    ASSERT_TRUE(member.calls.set_weight(greeter, "drained", 0).ok());
    ASSERT_TRUE(member.calls.set_serving(greeter, "offline", false).ok());
    ASSERT_TRUE(member.calls.write(Document{"command", "blue", "stays", 0}).ok());
    ASSERT_TRUE(member.calls.write(Document{"command", "gone", "goes", 0}).ok());
    ASSERT_TRUE(member.calls.remove(*member.calls.read("command", "gone")).ok());
    last_version = member.calls.read("command", "blue")->version + 1;
    revision = member.state().revision;
    // Killed in the middle of writing.
    std::thread writer([&] {
      for (int i = 0;; ++i) {
        if (!member.calls.write(Document{"log", std::to_string(i), "text", 0}).ok()) return;
        ++answered;
      }
    });
    EXPECT_TRUE(test::eventually([&] { return answered > 20; }, seconds(20)));
    kill();
    writer.join();
  }
  ASSERT_NO_FATAL_FAILURE(launch());
  const Member member(where);
  const Result<Opened> opened = member.open();
  ASSERT_TRUE(opened.ok());
  EXPECT_GT(opened->epoch, epoch);
  EXPECT_FALSE(opened->known);
  for (int i = 0; i < answered; ++i) EXPECT_EQ(member.calls.read("log", std::to_string(i))->text, "text") << i;
  EXPECT_EQ(member.calls.read("command", "blue")->text, "stays");
  EXPECT_EQ(member.calls.read("command", "gone")->version, 0u);
  ASSERT_TRUE(member.calls.write(Document{"command", "gone", "again", 0}).ok());
  EXPECT_GT(member.calls.read("command", "gone")->version, last_version) << "another one, not the same again";
  // Announced again: what operators set is still there, and a list is bigger than any before.
  ASSERT_TRUE(member.announce(instance("drained")).ok());
  ASSERT_TRUE(member.announce(instance("offline")).ok());
  const Result<std::vector<Instance>> instances = member.calls.instances(greeter);
  ASSERT_TRUE(instances.ok());
  EXPECT_EQ(instances->at(0).weight, 0u);
  EXPECT_FALSE(instances->at(1).serving);
  Stream<List> lists = member.watch();
  List list;
  ASSERT_TRUE(*lists.next(list));
  EXPECT_GT(list.revision, revision);
  EXPECT_FALSE(list.whole) << "nobody believes that the others are gone";
  ASSERT_TRUE(member.update(instance("drained", 5)).ok());
  kill();
  ASSERT_NO_FATAL_FAILURE(launch());
  const Member after(where);
  ASSERT_TRUE(after.open().ok());
  ASSERT_TRUE(after.announce(instance("drained", 5)).ok());
  EXPECT_EQ(after.calls.instances(greeter)->at(0).weight, 5u) << "its provider had changed it";
}

TEST_F(CenterRestart, ASecondCenterIsRefusedItsStore) {
  ASSERT_NO_FATAL_FAILURE(launch());
  test::ChildProcess second(CENTER_PROGRAM, {folder.text(), "1000", "127.0.0.1:0"});
  const auto end = second.end(seconds(20));
  EXPECT_EQ(end.code, 1);
  EXPECT_NE(end.err.find("another process uses it"), std::string::npos) << end.err;
  const Member member(where);
  EXPECT_TRUE(member.calls.write(Document{"command", "", "text", 0}).ok());
}

using SlowCenterRestart = CenterRestart;

TEST_F(SlowCenterRestart, ACenterThatStoodStillDropsNobody) {
  ASSERT_NO_FATAL_FAILURE(launch("500"));
  const Member member(where);
  ASSERT_TRUE(member.open().ok());
  constexpr unsigned many = 200;
  for (unsigned i = 0; i < many; ++i) {
    ASSERT_TRUE(member.announce(instance(std::to_string(i)), {"s" + std::to_string(i % 10), "", ""}).ok());
  }
  EXPECT_TRUE(test::eventually([&] {
    EXPECT_TRUE(member.beat().ok());
    return member.state().whole;
  }));
  const std::uint64_t revision = member.state().revision;
  ASSERT_TRUE(member.beat().ok());
  process->signal(SIGSTOP);
  std::this_thread::sleep_for(seconds(3));  // six leases
  process->signal(SIGCONT);
  // The client beats again as soon as it can: within a third of a lease after the center is back.
  std::this_thread::sleep_for(milliseconds(100));
  const Result<Beaten> beaten = member.beat();
  ASSERT_TRUE(beaten.ok()) << beaten.error().text();
  EXPECT_EQ(beaten->instances, many);
  const State state = member.state();
  EXPECT_EQ(state.revision, revision) << "nothing has changed";
  EXPECT_FALSE(state.preserving);
}

}  // namespace
}  // namespace tenon::center
