// Whole applications under 1000 calls a second, whose registry center is dead for a minute, or stands still for one:
// no call fails, nobody who lives is dropped, and afterwards everybody knows who is there.
#include <csignal>
#include <sstream>

#include "../discovery/live_fixture.hpp"
#include "center_app.hpp"
#include "steady_load.hpp"
#include "support/center_server.hpp"
#include "support/fault_proxy.hpp"

namespace tenon::test {
namespace {

/// Another application that watches a service.
class Observer {
 public:
  Observer(const Store& store, const ServiceName& service) : hand_(store, "observer") {
    const auto watched = hand_.watch(service, [this](const Result<Snapshot>& news) {
      const std::lock_guard lock(mutex_);
      if (!news.ok()) return;
      addresses_.clear();
      for (const Instance& instance : news->instances) addresses_.insert(instance.address);
      for (const std::string& address : alive_)
        if (!addresses_.contains(address)) ++evictions_;
      least_ = std::min(least_, addresses_.size());
    });
    EXPECT_TRUE(watched.ok()) << watched.error().text();
  }
  /// These live all the time from now on.
  void expect_alive(std::set<std::string> addresses) {
    const std::lock_guard lock(mutex_);
    alive_ = std::move(addresses);
    least_ = addresses_.size();
  }
  std::set<std::string> addresses() const {
    const std::lock_guard lock(mutex_);
    return addresses_;
  }
  /// How many of those who live were missing in a list, over all lists.
  int evictions() const {
    const std::lock_guard lock(mutex_);
    return evictions_;
  }
  std::size_t least() const {
    const std::lock_guard lock(mutex_);
    return least_;
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::string> addresses_;
  std::set<std::string> alive_;
  std::size_t least_ = 0;
  int evictions_ = 0;
  RegistryHand hand_;  // whose watch ends first
};

/// Of clients it may have lost those who had nothing there at the moment.
void expect_no_instance_lost(const std::string& log) {
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("[center-lost]") == std::string::npos) continue;
    EXPECT_NE(line.find("dropped are its 0 instances"), std::string::npos) << line;
  }
}

class SlowCenterOutage : public Live {
 protected:
  static constexpr Duration away = seconds(60);

  void SetUp() override {
    center_.start();
    store_ = {"registry-center", center_.registry(center_.address(), seconds(1))};
    for (const char* name : {"a", "b", "c", "d"}) launch(name);
    consume();
    ASSERT_TRUE(agrees(seconds(20), "", there()));
    ASSERT_TRUE(answer({"a", "b", "c", "d"}));
    observer_ = std::make_unique<Observer>(store_, who);
    ASSERT_TRUE(eventually([&] { return observer_->addresses() == there(); }));
  }
  void launch(const std::string& name) { providers_[name] = std::make_unique<MortalProvider>(store_, name); }
  std::set<std::string> there() const {
    std::set<std::string> addresses;
    for (const auto& [name, provider] : providers_) addresses.insert(provider->address());
    return addresses;
  }
  std::set<std::string> at(const std::set<std::string>& names) const {
    std::set<std::string> addresses;
    for (const std::string& name : names) addresses.insert(providers_.at(name)->address());
    return addresses;
  }
  /// Until then the consumer knows exactly these.
  void expect_known(const std::set<std::string>& addresses, steady_clock::time_point until) const {
    for (; steady_clock::now() < until; std::this_thread::sleep_for(milliseconds(500)))
      ASSERT_EQ(known(), addresses);
  }
  /// One line in ten seconds of each cause, from the first to the last; about connections, of two addresses.
  static void expect_quiet(const std::string& whose, const std::map<std::string, int>& lines) {
    for (const auto& [cause, count] : lines) {
      if (count > 0) std::printf("%s: %d lines of cause %s\n", whose.c_str(), count, cause.c_str());
      EXPECT_LE(count, cause == "connect" ? 16 : 8) << whose << ", cause " << cause;
    }
  }
  std::map<std::string, int> logged_since(const std::map<std::string, int>& before) const {
    std::map<std::string, int> lines = logged();
    for (const auto& [cause, count] : before) lines[cause] -= count;
    return lines;
  }
  /// No call has failed, and nobody was connected to twice.
  void finish(SteadyLoad& load, const std::set<std::string>& stayed) {
    const std::map<std::string, int> answers = load.stop();
    const std::string errors = errors_of(answers);
    std::printf("%d calls, %.0f a second, failed: %s; the slowest took %.0f ms\n", load.calls(), load.rate(),
                errors.empty() ? "0" : errors.c_str(), load.slowest_ms());
    EXPECT_EQ(errors, "");
    EXPECT_GE(load.rate(), 950) << "a steady load";
    EXPECT_EQ(observer_->evictions(), 0);
    for (const std::string& name : stayed) {
      providers_.at(name)->signal(SIGTERM);
      const ChildProcess::End end = providers_.at(name)->end();
      EXPECT_EQ(end.code, 0);
      EXPECT_EQ(end.out, "connections 1\n") << name;
      std::istringstream log(end.err);
      expect_quiet("provider " + name, by_cause(log));
    }
  }
  /// (a), (b): dead for a minute, in which one provider dies, too, and another one comes.
  void be_dead_for_a_minute(bool forgets) {
    observer_->expect_alive(at({"a", "b", "c"}));
    SteadyLoad load([this] { return consumer().call(); }, 1000);
    std::this_thread::sleep_for(seconds(2));
    const std::map<std::string, int> before = logged();
    center_.kill();
    const auto begun = steady_clock::now();
    expect_known(there(), begun + seconds(20));
    const std::set<std::string> old = there();
    providers_.at("d")->signal(SIGKILL);
    (void)providers_.at("d")->end();
    providers_.erase("d");
    expect_known(old, begun + seconds(30));
    launch("e");
    expect_known(old, begun + away);
    expect_quiet("consumer", logged_since(before));
    EXPECT_EQ(load.so_far().count("e"), 0u);
    if (forgets) center_.wipe();
    center_.start();
    EXPECT_TRUE(agrees(convergence, forgets ? "a minute without a center, which comes back empty"
                                            : "a minute without a center, which comes back with its store",
                       there()));
    expect_known(there(), steady_clock::now() + 2 * session);
    EXPECT_TRUE(eventually([&] { return load.so_far()["e"] > 100; }));
    EXPECT_EQ(observer_->addresses(), there());
    finish(load, {"a", "b", "c"});
  }

  CenterServer center_{session};
  std::map<std::string, std::unique_ptr<MortalProvider>> providers_;
  std::unique_ptr<Observer> observer_;
};

// REG-8: nothing is known to it when it comes back, and nobody believes that nobody is there.
TEST_F(SlowCenterOutage, KilledForAMinuteAndBackEmpty) { be_dead_for_a_minute(true); }

// REG-19: what operators had set is still set.
TEST_F(SlowCenterOutage, KilledForAMinuteAndBackWithItsStore) {
  Desk desk(store_);
  const std::string drained = providers_.at("b")->address();
  const std::string id = desk.id_of(group, drained);
  ASSERT_TRUE(desk.set_weight(group, id, 0));
  EXPECT_TRUE(answer({"a", "c", "d"}));
  be_dead_for_a_minute(false);
  EXPECT_TRUE(eventually([&] { return desk.id_of(group, drained).empty(); })) << "it has been stopped";
}

// REG-15: when it goes on, it does not believe that everybody has been silent, of 200 instances none.
TEST_F(SlowCenterOutage, StandingStillForAMinuteDropsNobody) {
  const ServiceName many{"test.Many", group, ""};
  std::vector<std::unique_ptr<RegistryHand>> others;
  std::set<std::string> addresses;
  for (int number = 0; number < 200; ++number) {
    if (number % 10 == 0) others.push_back(std::make_unique<RegistryHand>(store_, "other"));
    Instance instance;
    instance.id = instance.address = "10.0.0.7:" + std::to_string(1000 + number);
    instance.transport = "tcp";
    ASSERT_TRUE(others.back()->announce(many, instance).ok());
    addresses.insert(instance.address);
  }
  Observer of_many(store_, many);
  ASSERT_TRUE(eventually([&] { return of_many.addresses() == addresses; }));
  of_many.expect_alive(addresses);
  observer_->expect_alive(there());
  const center::Member looks(center_.address());
  ASSERT_TRUE(eventually([&] { return looks.state().whole; }, seconds(10)));
  const std::uint64_t revision = looks.state().revision;
  SteadyLoad load([this] { return consumer().call(); }, 1000);
  const std::map<std::string, int> before = logged();
  center_.pause();
  expect_known(there(), steady_clock::now() + away);
  expect_quiet("consumer", logged_since(before));
  center_.resume();
  EXPECT_TRUE(agrees(convergence, "a minute in which the center stood still", there()));
  for (const auto until = steady_clock::now() + 3 * session; steady_clock::now() < until;) {
    ASSERT_EQ(known(), there());
    std::this_thread::sleep_for(milliseconds(50));
  }
  EXPECT_EQ(looks.state().instances, 204u);
  EXPECT_EQ(looks.state().revision, revision) << "no list has changed";
  EXPECT_EQ(of_many.evictions(), 0);
  EXPECT_EQ(of_many.least(), 200u);
  expect_no_instance_lost(center_.log());
  EXPECT_NE(center_.log().find("[center-paused]"), std::string::npos);
  std::printf("204 instances, evictions: %d\n", of_many.evictions() + observer_->evictions());
  launch("e");
  EXPECT_TRUE(agrees(convergence, "", there()));
  finish(load, {"a", "b", "c", "d"});
}

/// How 15 of 20 providers lose sight of the center, and of nobody else.
class SlowCenterPartition : public Live, public testing::WithParamInterface<const char*> {};

// REG-16.
TEST_P(SlowCenterPartition, MostProvidersAreKeptUntilTheyAreBack) {
  constexpr milliseconds lease = seconds(3);
  CenterServer center(lease, "preserve_limit: 5");
  center.start();
  FaultProxy network(center.address());
  const Store direct{"registry-center", center.registry(center.address(), seconds(1))};
  std::set<std::string> names;
  for (int i = 0; i < 20; ++i) {
    store_ = i < 15 ? Store{"registry-center", center.registry(network.address(), seconds(1))} : direct;
    const std::string name = "p" + std::to_string(i);
    provide(name);
    names.insert(name);
  }
  store_ = direct;
  consume();
  ASSERT_TRUE(agrees(seconds(20)));
  Observer observer(direct, who);
  ASSERT_TRUE(eventually([&] { return observer.addresses() == living(); }));
  observer.expect_alive(living());
  const center::Member looks(center.address());
  std::this_thread::sleep_for(lease);
  SteadyLoad load([this] { return consumer().call(); }, 1000);
  const bool silent = std::string(GetParam()) == "black_hole";
  if (silent) {
    network.silence(true);
  } else {
    network.refuse(true);
    network.cut(Cut::reset);
  }
  const auto cut = steady_clock::now();
  EXPECT_TRUE(eventually([&] { return looks.state().preserving; }, 2 * lease));
  const std::map<std::string, int> before = load.so_far();
  while (steady_clock::now() < cut + lease * 5 / 2) {
    ASSERT_EQ(known(), living());
    std::this_thread::sleep_for(milliseconds(100));
  }
  const std::map<std::string, int> after = load.so_far();
  for (const std::string& name : names) EXPECT_GT(after.at(name), before.at(name)) << name;
  EXPECT_TRUE(looks.state().preserving);
  silent ? network.silence(false) : network.refuse(false);
  const auto healed = steady_clock::now();
  EXPECT_TRUE(eventually([&] { return !looks.state().preserving; }, 2 * lease));
  std::printf("preserving ended %.2f s after the network was whole\n", seconds_since(healed));
  std::this_thread::sleep_for(2 * lease);
  EXPECT_EQ(known(), living());
  EXPECT_EQ(looks.state().instances, 20u);
  EXPECT_EQ(observer.evictions(), 0);
  expect_no_instance_lost(center.log());
  EXPECT_NE(center.log().find("[center-preserving] 15 of 20 instances fell silent"), std::string::npos) << center.log();
  EXPECT_EQ(center.log().find("did not come back"), std::string::npos);
  const std::map<std::string, int> answers = load.stop();
  std::printf("%d calls, %.0f a second, failed: %s\n", load.calls(), load.rate(),
              errors_of(answers).empty() ? "0" : errors_of(answers).c_str());
  EXPECT_EQ(errors_of(answers), "");
  for (const std::string& name : names) EXPECT_EQ(provider(name).connections(), 1u) << name;
}
INSTANTIATE_TEST_SUITE_P(Slow, SlowCenterPartition, testing::Values("black_hole", "refused"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tenon::test
