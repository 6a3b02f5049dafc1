// What strategies add to the load of services that fail, and how long their calls take.

#include <cstdio>
#include <map>
#include <mutex>
#include <thread>

#include "fixture.hpp"
#include "ha/backup_request.hpp"
#include "ha/failover.hpp"
#include "ha/forking.hpp"

namespace tenon::test {
namespace {

using namespace std::chrono_literals;
using cluster::BackupRequestOptions;
using cluster::FailoverOptions;
using cluster::ForkingOptions;

class SlowHaRates : public HaCalls {
 protected:
  SlowHaRates() { retries_per_second_ = 10; }

  /// 1 000 calls a second for `seconds`, each begun in time; all of them have completed.
  static void calls_at_1000(App& app, int seconds, ManyCalls& calls) {
    const Work call = work(app);
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000 * seconds; ++i) {
      std::this_thread::sleep_until(begun + i * 1ms);
      calls.begin(call, i);
    }
    EXPECT_TRUE(calls.join());
    calls.expect_once();
  }
  void all(Worker::Mood mood) {
    for (const auto& site : sites_) site->worker->mood = mood;
  }
};

// I3, OVL-6. Everything fails, and everything may be sent again.
TEST_F(SlowHaRates, AFailingBackendGetsAFifthMore) {
  open(3);
  constexpr int seconds = 4;
  const Component strategies[] = {
      Component::of("failover", FailoverOptions{.retries = 3}),
      Component::of("backup-request", BackupRequestOptions{.after = 1ms, .ratio = 100, .retries = 3}),
      Component::of("forking", ForkingOptions{.forks = 3})};
  for (const Component& strategy : strategies) {
    all(Worker::Mood::full);
    const auto opened = std::chrono::steady_clock::now();
    const auto app = client(strategy);
    ASSERT_TRUE(app);
    const int before = begun();
    ManyCalls calls;
    calls_at_1000(*app, seconds, calls);
    const int attempts = begun() - before;
    const double open_for = std::chrono::duration<double>(std::chrono::steady_clock::now() - opened).count();
    std::printf("%s: %d attempts for %d calls in %.1f s\n", strategy.use().c_str(), attempts, 1000 * seconds, open_for);
    EXPECT_EQ(calls.good(), 0u);
    EXPECT_LE(attempts, 1200 * seconds + 10 * (open_for + 1));
    EXPECT_GE(attempts, 1150 * seconds) << "the budget is used";
    all(Worker::Mood::good);  // and over
    ManyCalls after;
    calls_at_1000(*app, 1, after);
    EXPECT_EQ(after.good(), 1000u);
    expect_idle(*app);
  }
}

// The same when nothing fails, but everything is slow: backups must not double a brown-out.
TEST_F(SlowHaRates, ASlowBackendGetsATenthMore) {
  open(3);
  for (std::size_t i = 0; i < 3; ++i) worker(i).takes_ms = 50;
  const auto app = client(Component::of("backup-request", BackupRequestOptions{.after = 5ms}));
  ASSERT_TRUE(app);
  ManyCalls calls;
  calls_at_1000(*app, 3, calls);
  std::printf("%d attempts for 3000 calls\n", begun());
  EXPECT_EQ(calls.good(), 3000u);
  EXPECT_LE(begun(), 3300);
  expect_idle(*app);
}

// A chain of servers, each with retries to the next.
class SlowHaTiers : public SlowHaRates {
 protected:
  /// Makes site `index` forward what it is asked to the sites behind it, through `ha`.
  void forward(std::size_t index, const std::string& to, const Component& ha) {
    AppOptions options = client_options(worker_service, to);
    options.application = "tier";
    options.client.references["r"].ha = ha;
    options.client.references["r"].timeout = 5s;
    onward_.push_back(start(std::move(options)));
    ASSERT_TRUE(onward_.back());
    worker(index).next = [app = onward_.back().get()] { return app->reference("r"); };
    worker(index).mood = Worker::Mood::forwards;
  }
  void TearDown() override {
    for (const auto& site : sites_) site->worker->next = nullptr;
  }
  std::vector<std::unique_ptr<App>> onward_;
};

// I3. Three tiers: retries do not multiply.
TEST_F(SlowHaTiers, AtTheBottomOfThreeItIsHalfMoreAtMost) {
  open(6);  // two for each tier
  const Component ha = Component::of("failover", FailoverOptions{.retries = 3});
  const auto pair = [&](std::size_t first) {
    return sites_[first]->proxy->address() + "," + sites_[first + 1]->proxy->address();
  };
  for (const std::size_t top : {0u, 1u}) forward(top, pair(2), ha);
  for (const std::size_t middle : {2u, 3u}) forward(middle, pair(4), ha);
  worker(4).mood = worker(5).mood = Worker::Mood::full;
  AppOptions options = client_options(worker_service, pair(0));
  options.client.references["r"].ha = ha;
  const auto app = start(std::move(options));
  ASSERT_TRUE(app);
  ASSERT_TRUE(eventually([&] { return sites_[5]->app->counts().server_connections == 2; }));
  ManyCalls calls;
  calls_at_1000(*app, 4, calls);
  const int bottom = worker(4).begun + worker(5).begun;
  std::printf("%d attempts at the bottom, %d in the middle, %d at the top for 4000 calls\n", bottom,
              worker(2).begun + worker(3).begun, worker(0).begun + worker(1).begun);
  EXPECT_EQ(calls.good(), 0u);
  EXPECT_LE(bottom, 6000);
  EXPECT_GE(bottom, 4000);
}

// OVL-11. C calls P1, which calls P2, which is down: P1's failure is an answer, and is not asked for again.
TEST_F(SlowHaTiers, AFailureBehindAServerIsNotRetriedInFrontOfIt) {
  open(3);
  const Component ha = Component::of("failover", FailoverOptions{.retries = 3});
  for (const std::size_t front : {0u, 1u}) forward(front, sites_[2]->proxy->address(), ha);
  worker(2).mood = Worker::Mood::full;
  AppOptions options = client_options(worker_service, sites_[0]->proxy->address() + "," + sites_[1]->proxy->address());
  options.client.references["r"].ha = ha;
  const auto app = start(std::move(options));
  ASSERT_TRUE(app);
  ASSERT_TRUE(eventually([&] { return sites_[2]->app->counts().server_connections == 2; }));
  ManyCalls calls;
  calls_at_1000(*app, 3, calls);
  std::printf("%d attempts behind, %d in front for 3000 calls\n", worker(2).begun.load(),
              worker(0).begun + worker(1).begun);
  EXPECT_EQ(worker(0).begun + worker(1).begun, 3000);
  EXPECT_LE(worker(2).begun, 3600 + 2 * 40);
}

// I2. timeout 500 ms, retries 3, nobody answers: 500 ms, not 2000.
TEST_F(SlowHaRates, ABlackHoleTakesTheTimeoutOnce) {
  open(4);
  for (const auto& site : sites_) site->proxy->set(both({}));
  const Component strategies[] = {Component::of("failover", FailoverOptions{.retries = 3}),
                                  Component::of("backup-request", BackupRequestOptions{.after = 100ms, .retries = 3}),
                                  Component::of("forking", ForkingOptions{.forks = 3}), Component("broadcast"),
                                  Component("failsafe"), Component("failback"), Component("failfast")};
  for (const Component& strategy : strategies) {
    const auto app = client(strategy, [](ReferenceOptions& reference) { reference.timeout = 500ms; });
    ASSERT_TRUE(app);
    for (const auto& site : sites_) site->proxy->set(both({.discard = true}));
    const auto begun = std::chrono::steady_clock::now();
    (void)work(*app)(1);
    const auto took = std::chrono::steady_clock::now() - begun;
    std::printf("%s: %lld ms\n", strategy.use().c_str(),
                static_cast<long long>(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
    EXPECT_GE(took, 495ms) << strategy.use();
    EXPECT_LE(took, 750ms) << strategy.use();
    for (const auto& site : sites_) site->proxy->set(both({}));
  }
}

// LB-10. Half of the calls need a backup: it goes to another instance, and to each as often.
TEST_F(SlowHaRates, BackupsGoToOthersAndToEachAsOften) {
  retries_per_second_ = 10000;
  open(5);
  constexpr int calls = 2000;
  std::mutex mutex;
  std::map<std::int64_t, std::string> first;
  for (const auto& site : sites_) {
    // Of the even ones whoever is asked first takes too long.
    site->worker->takes_for = [&, name = site->worker->name()](std::int64_t number) -> std::int64_t {
      if (number % 2 != 0) return 0;
      const std::lock_guard lock(mutex);
      return first.emplace(number, name).second ? 60000 : 0;
    };
  }
  const auto app = client(Component::of("backup-request", BackupRequestOptions{.after = 2ms, .ratio = 100}));
  ASSERT_TRUE(app);
  const Work call = work(*app);
  std::map<std::string, int> backups;
  for (int i = 0; i < calls; ++i) {
    const Result<std::string> answer = call(i);
    ASSERT_TRUE(answer.ok()) << answer.error().text();
    if (i % 2 != 0) continue;
    EXPECT_NE(*answer, first.at(i));
    ++backups[*answer];
  }
  ASSERT_EQ(backups.size(), 5u);
  for (const auto& [name, times] : backups) EXPECT_NEAR(times, calls / 2 / 5, calls / 2 / 5 / 20) << name;
  expect_idle(*app);
}

}  // namespace
}  // namespace tenon::test
