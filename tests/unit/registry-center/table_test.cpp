// Who may announce, change and withdraw what, and what watchers see of it.
#include <deque>

#include "known_clients.hpp"
#include "limits.hpp"

namespace tenon::center {
namespace {

using std::chrono::seconds;

class CenterTable : public TableFixture {};

TEST_F(CenterTable, OpeningMakesAClientKnown) {
  EXPECT_EQ(table->beat(key(1), now).error().code(), Errc::not_found);
  EXPECT_EQ(announce(1, instance("a")).error().code(), Errc::not_found);
  Result<Opened> opened = table->open(opening(1), now);
  ASSERT_TRUE(opened.ok());
  EXPECT_FALSE(opened->known);
  EXPECT_EQ(opened->epoch, 7u);
  EXPECT_EQ(opened->lease, seconds(15));
  EXPECT_EQ(opened->beat_every, seconds(5));
  ASSERT_TRUE(announce(1, instance("a")).ok());
  EXPECT_EQ(table->beat(key(1), now)->instances, 1u);
  opened = table->open(opening(1), now);
  ASSERT_TRUE(opened.ok());
  EXPECT_TRUE(opened->known);
  EXPECT_EQ(ids(), std::vector<std::string>{"a"});
}

TEST_F(CenterTable, AnotherSecretIsAnotherClient) {
  open(1, "shop");
  const ClientKey thief{key(1).id, key(2).secret};
  for (const auto& error :
       {table->beat(thief, now).error(), table->open({thief, "thief", ""}, now).error(),
        table->close(thief, now).error(), table->announce(thief, greeter, instance("a"), false, now).error()}) {
    EXPECT_EQ(error.code(), Errc::permission_denied);
    EXPECT_NE(error.text().find("shop"), std::string::npos) << error.text();
    EXPECT_EQ(error.text().find(key(1).secret), std::string::npos);
  }
}

TEST_F(CenterTable, EverybodyOwnsHisInstances) {
  open(1, "shop");
  open(2, "thief");
  ASSERT_TRUE(announce(1, instance("a")).ok());
  for (const auto& refused :
       {announce(2, instance("a", 1)), update(2, instance("a", 1)), table->withdraw(key(2), greeter, "a", now)}) {
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code(), Errc::permission_denied);
    EXPECT_NE(refused.error().text().find("is that of client \"shop\""), std::string::npos) << refused.error().text();
  }
  EXPECT_EQ(table->instances(greeter), std::vector<Instance>{instance("a")});
  // The same id of another service is another instance, and one that has left is nobody's.
  EXPECT_TRUE(announce(2, instance("a"), {"demo.Other", "", ""}).ok());
  ASSERT_TRUE(table->withdraw(key(1), greeter, "a", now).ok());
  EXPECT_TRUE(table->withdraw(key(1), greeter, "a", now).ok()) << "gone already";
  EXPECT_TRUE(table->withdraw(key(1), {"demo.Unknown", "", ""}, "a", now).ok());
  EXPECT_TRUE(announce(2, instance("a")).ok());
}

TEST_F(CenterTable, ListsAreMadeOnceAndTellWhoLeft) {
  open(1);
  open(2);
  CountingWatcher watcher;
  ASSERT_TRUE(table->watch(key(2), greeter, watcher, now).ok());
  const auto list = [&] { return table->list(*watcher.service); };
  ASSERT_TRUE(announce(1, instance("a")).ok());
  ASSERT_TRUE(announce(1, instance("b", 7)).ok());
  const auto first = list();
  EXPECT_EQ(first, list()) << "shared by everybody";
  EXPECT_EQ(first->instances, (std::vector<Instance>{instance("a"), instance("b", 7)}));
  const std::uint64_t revision = first->revision;
  ASSERT_TRUE(announce(1, instance("b", 7)).ok());
  EXPECT_EQ(list(), first) << "nothing has changed";
  ASSERT_TRUE(table->withdraw(key(1), greeter, "a", now).ok());
  EXPECT_EQ(list()->withdrawn, std::vector<std::string>{"a"});
  EXPECT_GT(list()->revision, revision);
  EXPECT_EQ(first->instances.size(), 2u) << "who reads slowly keeps what he has";
  ASSERT_TRUE(announce(1, instance("a")).ok());
  EXPECT_TRUE(list()->withdrawn.empty()) << "it is back";
  ASSERT_TRUE(table->close(key(1), now).ok());
  EXPECT_EQ(list()->withdrawn, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(list()->instances.empty());
  go(seconds(10), 0);
  beat(2);
  EXPECT_EQ(list()->withdrawn.size(), 2u);
  go(seconds(7), 0);
  EXPECT_TRUE(list()->withdrawn.empty()) << "after a lease it is history";
  table->leave(watcher);
  EXPECT_EQ(table->state(now).services, 0u);
  EXPECT_TRUE(table->services().empty());
}

TEST_F(CenterTable, RevisionsGrowOverRestarts) {
  const auto highest = [&] {
    open(1);
    for (int i = 0; i < 1000; ++i) {
      EXPECT_TRUE(announce(1, instance("a", static_cast<std::uint32_t>(i))).ok());
    }
    return table->state(now).revision;
  };
  restart(small(), 1790000000000);
  const std::uint64_t before = highest();
  restart(small(), 1790000000001);
  CountingWatcher watcher;
  open(1);
  ASSERT_TRUE(table->watch(key(1), greeter, watcher, now).ok());
  EXPECT_GT(table->list(*watcher.service)->revision, before) << "even of a service nobody has announced yet";
  EXPECT_LT(before, 1ull << 63) << "numbers that Java and JSON have, too";
  table->leave(watcher);
}

TEST_F(CenterTable, RevisionsOfAServiceMetAgainGrow) {
  open(1);
  open(2);
  const auto look = [&] {
    CountingWatcher watcher;
    EXPECT_TRUE(table->watch(key(2), greeter, watcher, now).ok());
    const std::uint64_t revision = table->list(*watcher.service)->revision;
    table->leave(watcher);
    return revision;
  };
  ASSERT_TRUE(announce(1, instance("a")).ok());
  const std::uint64_t first = look();
  ASSERT_TRUE(table->withdraw(key(1), greeter, "a", now).ok());
  go(seconds(30));
  open(1);
  open(2);
  EXPECT_GT(look(), first) << "it was forgotten meanwhile";
}

TEST_F(CenterTable, WhatOperatorsSetLiesOverWhatProvidersSay) {
  open(1);
  ASSERT_TRUE(announce(1, instance("a")).ok());
  const auto set = [&](std::optional<std::uint32_t> weight, std::optional<bool> serving) {
    const auto planned = table->plan(greeter, "a", weight, serving);
    ASSERT_TRUE(planned.ok()) << planned.error().text();
    EXPECT_TRUE(table->apply(*planned));
  };
  const auto shows = [&](std::uint32_t weight, bool serving) {
    const auto now_there = table->instances(greeter);
    return now_there.size() == 1 && now_there[0].weight == weight && now_there[0].serving == serving;
  };
  set(33, {});
  EXPECT_TRUE(shows(33, true));
  set({}, false);
  EXPECT_TRUE(shows(33, false));
  ASSERT_TRUE(announce(1, instance("a")).ok());
  EXPECT_TRUE(shows(33, false)) << "announced again after a loss: what operators set stays";
  // The provider changes something: his word is the last.
  ASSERT_TRUE(update(1, instance("a", 50)).ok());
  EXPECT_TRUE(shows(50, true));
  EXPECT_EQ(table->operator_state().take_dropped().size(), 1u);
  set(1, {});
  ASSERT_TRUE(update(1, instance("a", 50)).ok());
  EXPECT_TRUE(shows(50, true)) << "also when he only repeats himself";
  // Back to what the provider says is nothing set.
  set(1, {});
  set(50, {});
  EXPECT_EQ(table->operator_state().size(), 0u);
  for (const auto& unknown : {table->plan(greeter, "nobody", 1, {}), table->plan({"demo.No", "", ""}, "a", 1, {})})
    EXPECT_EQ(unknown.error().code(), Errc::not_found);
}

TEST_F(CenterTable, AnUpdateThatComesBetweenWinsOverTheOperator) {
  open(1);
  ASSERT_TRUE(announce(1, instance("a")).ok());
  const auto planned = table->plan(greeter, "a", 0, {});
  ASSERT_TRUE(planned.ok());
  ASSERT_TRUE(update(1, instance("a", 50)).ok());
  EXPECT_FALSE(table->apply(*planned));
  EXPECT_EQ(table->instances(greeter)[0].weight, 50u);
}

TEST_F(CenterTable, OperatorStateOutlivesTheInstanceByAnHour) {
  open(1);
  ASSERT_TRUE(announce(1, instance("a")).ok());
  const auto set = [&] { EXPECT_TRUE(table->apply(*table->plan(greeter, "a", 0, {}))); };
  set();
  go(std::chrono::minutes(58));  // lost after a lease
  EXPECT_TRUE(ids().empty());
  open(1);
  ASSERT_TRUE(announce(1, instance("a")).ok());
  EXPECT_EQ(table->instances(greeter)[0].weight, 0u) << "still drained";
  go(std::chrono::minutes(62));
  EXPECT_EQ(table->operator_state().size(), 0u);
  EXPECT_EQ(table->operator_state().take_dropped().size(), 1u);
  open(1);
  ASSERT_TRUE(announce(1, instance("a")).ok());
  EXPECT_EQ(table->instances(greeter)[0].weight, 100u);
}

TEST_F(CenterTable, LimitsNameWhoAndWhat) {
  CenterOptions options = small();
  options.max_clients = 3;
  options.max_instances = 5;
  options.max_subscriptions = 2;
  options.max_list = 4096;
  restart(options);
  for (unsigned i = 1; i <= 3; ++i) open(i);
  const auto expect_full = [](const Error& error, std::string_view text) {
    EXPECT_EQ(error.code(), Errc::overloaded);
    EXPECT_NE(error.text().find(text), std::string::npos) << error.text();
    EXPECT_NE(error.text().find("shop"), std::string::npos) << error.text();
  };
  expect_full(table->open(opening(4), now).error(), "3 clients already (max_clients)");
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(announce(1, instance(std::to_string(i))).ok());
  }
  expect_full(announce(2, instance("5")).error(), "5 instances already (max_instances)");
  EXPECT_TRUE(update(1, instance("4", 1)).ok()) << "it is there already";
  Instance large = instance("4");
  large.metadata = {{"large", std::string(4000, 'x')}};
  expect_full(update(1, large).error(), "more than 4096 bytes (max_list)");
  EXPECT_EQ(table->instances(greeter)[4], instance("4", 1)) << "nothing has changed";
  CountingWatcher watchers[3];
  ASSERT_TRUE(table->watch(key(1), greeter, watchers[0], now).ok());
  ASSERT_TRUE(table->watch_document(key(1), "rule", "", watchers[1], now).ok());
  expect_full(table->watch(key(2), greeter, watchers[2], now).error(), "2 subscriptions already");
  for (CountingWatcher& watcher : watchers) table->leave(watcher);
  EXPECT_TRUE(table->watch(key(2), greeter, watchers[2], now).ok());
  table->leave(watchers[2]);
}

TEST_F(CenterTable, OneClientHasItsShare) {
  open(1);
  open(2);
  for (std::size_t i = 0; i < max_instances_of_client; ++i) {
    ASSERT_TRUE(announce(1, instance("a"), {"s" + std::to_string(i), "", ""}).ok());
  }
  const auto refused = announce(1, instance("a"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Errc::overloaded);
  EXPECT_NE(refused.error().text().find("one client has at most 10000"), std::string::npos) << refused.error().text();
  EXPECT_TRUE(announce(2, instance("a")).ok()) << "others are not harmed";
  std::deque<CountingWatcher> watchers;
  for (std::size_t i = 0; i < max_subscriptions_of_client; ++i) {
    ASSERT_TRUE(table->watch(key(1), greeter, watchers.emplace_back(), now).ok());
  }
  CountingWatcher more;
  EXPECT_EQ(table->watch(key(1), greeter, more, now).error().code(), Errc::overloaded);
  EXPECT_TRUE(table->watch(key(2), greeter, more, now).ok());
  table->leave(more);
  ASSERT_TRUE(table->close(key(1), now).ok());
  EXPECT_EQ(table->state(now).subscriptions, 0u);
  EXPECT_EQ(table->state(now).instances, 1u);
}

TEST_F(CenterTable, WithdrawnIdsAreBounded) {
  open(1);
  open(2);
  CountingWatcher watcher;
  ASSERT_TRUE(table->watch(key(2), greeter, watcher, now).ok());
  for (int i = 0; i < 3000; ++i) {
    ASSERT_TRUE(announce(1, instance(std::to_string(i))).ok());
    ASSERT_TRUE(table->withdraw(key(1), greeter, std::to_string(i), now).ok());
  }
  EXPECT_EQ(table->list(*watcher.service)->withdrawn.size(), max_withdrawn);
  table->leave(watcher);
}

TEST_F(CenterTable, OperatorsSeeWhoIsThere) {
  open(1, "host/1");
  open(2, "host/2");
  ASSERT_TRUE(announce(1, instance("a")).ok());
  CountingWatcher shop("shop");
  CountingWatcher twice("shop");
  CountingWatcher nameless("");
  ASSERT_TRUE(table->watch(key(2), greeter, shop, now).ok());
  ASSERT_TRUE(table->watch(key(2), greeter, twice, now).ok());
  ASSERT_TRUE(table->watch(key(2), {"demo.Wanted", "green", ""}, nameless, now).ok());
  EXPECT_EQ(table->subscribers(greeter), (std::vector<Subscriber>{{"shop", "10.0.0.9", false}}));
  EXPECT_EQ(table->subscribers({"demo.Wanted", "green", ""})[0].name, "host/2");
  EXPECT_EQ(table->services().size(), 2u);
  EXPECT_EQ(table->groups(), (std::vector<std::string>{"blue", "green"}));
  EXPECT_TRUE(table->instances({"demo.Unknown", "", ""}).empty());
  EXPECT_TRUE(table->subscribers({"demo.Unknown", "", ""}).empty());
  table->end_all(Error(Errc::unavailable, "the end"));
  EXPECT_EQ(shop.ends + twice.ends + nameless.ends, 3);
  EXPECT_EQ(table->state(now).subscriptions, 0u);
}

TEST_F(CenterTable, HostileNamesChangeNothing) {
  open(1);
  for (const std::string& name :
       {std::string("a/b"), std::string(".."), std::string("a\0b", 3), std::string(64 << 10, 'x'), std::string()}) {
    EXPECT_EQ(announce(1, instance("a"), {name, "", ""}).error().code(), Errc::invalid_argument);
    CountingWatcher watcher;
    EXPECT_EQ(table->watch(key(1), {name, "", ""}, watcher, now).error().code(), Errc::invalid_argument);
    EXPECT_EQ(table->watch_document(key(1), name, "", watcher, now).error().code(), Errc::invalid_argument);
  }
  EXPECT_TRUE(table->services().empty());
  EXPECT_EQ(table->state(now).subscriptions, 0u);
}

}  // namespace
}  // namespace tenon::center
