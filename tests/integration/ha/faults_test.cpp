// Every strategy while connections break, stall and are refused: each call completes once, and nothing stays behind.

#include <ostream>
#include <thread>

#include "fixture.hpp"
#include "ha/backup_request.hpp"
#include "ha/failback.hpp"
#include "ha/failover.hpp"
#include "ha/failsafe.hpp"
#include "ha/forking.hpp"

namespace tenon::test {
namespace {

using namespace std::chrono_literals;
using cluster::BackupRequestOptions;
using cluster::FailbackOptions;
using cluster::FailoverOptions;
using cluster::ForkingOptions;

struct Strategy {
  const char* name;
  Component component;
};
void PrintTo(const Strategy& shown, std::ostream* out) { *out << shown.name; }

std::vector<Strategy> all_strategies() {
  return {{"failover", Component::of("failover", FailoverOptions{.retries = 3})},
          {"failfast", Component("failfast")},
          {"failsafe", Component("failsafe")},
          {"failback", Component::of("failback", FailbackOptions{.interval = 20ms, .retries = 5})},
          {"forking", Component::of("forking", ForkingOptions{.forks = 2})},
          {"broadcast", Component("broadcast")},
          {"backup_request", Component::of("backup-request", BackupRequestOptions{.after = 5ms, .ratio = 100})}};
}

class HaFaults : public HaCalls, public testing::WithParamInterface<Strategy> {
 protected:
  bool is(std::string_view name) const { return GetParam().name == name; }
};

// I1, I13. Connections are cut while calls are under way, one server is slow, one drops everything for a while.
TEST_P(HaFaults, EveryCallCompletesOnce) {
  open(3);
  worker(1).takes_ms = 20;
  const auto app = client(GetParam().component, [](ReferenceOptions& reference) { reference.timeout = 2s; });
  ASSERT_TRUE(app);
  ManyCalls calls;
  const Work idempotent = work(*app);
  const Work other = once(*app);
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 20; ++i) calls.begin(i % 2 == 0 ? idempotent : other, round * 20 + i);
    FaultProxy& victim = *sites_[static_cast<std::size_t>(round) % 3]->proxy;
    switch (round % 4) {
      case 0: victim.cut(Cut::reset); break;
      case 1: victim.silence(true); break;
      case 2: victim.cut(Cut::close); break;
      default:
        for (const auto& site : sites_) site->proxy->silence(false);
    }
    std::this_thread::sleep_for(10ms);
  }
  for (const auto& site : sites_) site->proxy->silence(false);
  ASSERT_TRUE(calls.join());
  expect_idle(*app);
  std::this_thread::sleep_for(20ms);  // for a completion too many
  calls.expect_once();
  EXPECT_TRUE(eventually([&] { return idempotent(1000).ok(); })) << "all is well again";
  for (const auto& call : calls.all()) {
    if (!call->ok) {
      EXPECT_TRUE(call->code == Errc::unavailable || call->code == Errc::deadline_exceeded) << call->text;
    }
  }
  // What is not idempotent ran once at most, or at most once at each when all are asked.
  for (int number = 1; number < 240; number += 2) {
    int runs = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_LE(worker(i).runs(number), 1);
      runs += worker(i).runs(number);
    }
    EXPECT_LE(runs, is("broadcast") ? 3 : 1) << number;
  }
}

// OVL-14. The server has done it; its reply is lost.
TEST_P(HaFaults, WhatRanIsNotRunAgain) {
  open(2);
  worker(0).takes_ms = worker(1).takes_ms = 60000;
  const auto app = client(GetParam().component);
  ASSERT_TRUE(app);
  ManyCalls calls;
  calls.begin(once(*app), 1);
  const int asked = is("broadcast") ? 2 : 1;
  ASSERT_TRUE(eventually([&] { return worker(0).runs(1) + worker(1).runs(1) == asked; }));
  worker(0).takes_ms = worker(1).takes_ms = 0;
  for (const auto& site : sites_) site->proxy->cut(Cut::reset);
  ASSERT_TRUE(calls.join());
  EXPECT_EQ(calls.good(), is("failsafe") ? 1u : 0u) << calls.all()[0]->text;
  if (!calls.all()[0]->ok) {
    EXPECT_EQ(calls.all()[0]->code, Errc::unavailable);
  }
  ASSERT_TRUE(eventually([&] { return work(*app)(2).ok(); }));
  std::this_thread::sleep_for(50ms);  // failback would have come again
  EXPECT_LE(worker(0).runs(1), 1);
  EXPECT_LE(worker(1).runs(1), 1);
  EXPECT_EQ(worker(0).runs(1) + worker(1).runs(1), asked);
  expect_idle(*app);
}

TEST_P(HaFaults, ACallersCancellationReachesEveryServer) {
  open(3);
  for (std::size_t i = 0; i < 3; ++i) worker(i).takes_ms = 60000;
  const auto app = client(GetParam().component);
  ASSERT_TRUE(app);
  CancelSource cancel;
  CallOptions options;
  options.cancel = &cancel;
  std::thread canceller([&] {
    const int attempts = is("broadcast") ? 3 : is("forking") || is("backup_request") ? 2 : 1;
    EXPECT_TRUE(eventually([&] { return begun() >= attempts; }));
    cancel.cancel();
  });
  const Result<std::string> answer = work(*app).call(options, 1);
  canceller.join();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code(), Errc::cancelled) << answer.error().text();
  EXPECT_TRUE(eventually([&] { return worker(0).cancelled + worker(1).cancelled + worker(2).cancelled == begun(); }));
  expect_idle(*app);
}

// I2 (its outcome; SlowHaRates measures). Nobody answers: the deadline ends the call, whatever was still to be tried.
TEST_P(HaFaults, ABlackHoleEndsWithTheDeadline) {
  open(3);
  const auto app = client(GetParam().component);
  ASSERT_TRUE(app);
  for (const auto& site : sites_) site->proxy->set(both({.discard = true}));
  CallOptions options;
  options.timeout = 60ms;
  const Result<std::string> answer = work(*app).call(options, 1);
  if (is("failsafe") || is("failback")) {
    ASSERT_TRUE(answer.ok()) << answer.error().text();
    EXPECT_EQ(*answer, "");
    return;
  }
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code(), Errc::deadline_exceeded) << answer.error().text();
  EXPECT_EQ(begun(), 0);
}

INSTANTIATE_TEST_SUITE_P(Each, HaFaults, testing::ValuesIn(all_strategies()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenon::test
