#pragma once
// Clients, instances and watchers for tests of a center.

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "table.hpp"

namespace tenon::center {

/// The key of client number `n`, the same each time.
inline ClientKey key(unsigned n) {
  char id[33];
  std::snprintf(id, sizeof id, "%032x", n);
  char secret[33];
  std::snprintf(secret, sizeof secret, "%032x", n + 0x5EC0000);
  return {id, secret};
}
inline Opening opening(unsigned n, std::string name = "shop", std::string token = "") {
  return {key(n), std::move(name), std::move(token)};
}
inline Instance instance(const std::string& id, std::uint32_t weight = 100) {
  Instance made;
  made.id = id;
  made.transport = "tcp";
  made.address = "10.0.0.7:4080";
  made.protocols = {"tenon"};
  made.weight = weight;
  made.metadata = {{"zone", "a"}};
  return made;
}
inline const ServiceName greeter{"demo.Greeter", "blue", "1"};

/// Counts what it is told. Leaves by itself only when it is told that it is over.
class CountingWatcher final : public Watcher {
 public:
  explicit CountingWatcher(std::string name = "reader") : Watcher(std::move(name), "10.0.0.9") {}
  void changed() noexcept override { ++changes; }
  void ended(const Error& reason) noexcept override {
    ++ends;
    why = reason;
  }
  int changes = 0;
  int ends = 0;
  Error why;
};

/// A table whose lease is 15 seconds, with virtual time that goes by ticks.
class TableFixture : public testing::Test {
 protected:
  static CenterOptions small() {
    CenterOptions options;
    options.lease = std::chrono::seconds(15);
    return options;
  }
  void SetUp() override { restart(small()); }
  void restart(const CenterOptions& options, std::uint64_t epoch = 7) {
    table = std::make_unique<Table>(options, epoch);
    now = TimePoint{};
    rounds.clear();
  }
  void open(unsigned n, const std::string& name = "shop") {
    const auto opened = table->open(opening(n, name), now);
    ASSERT_TRUE(opened.ok()) << opened.error().text();
  }
  Result<void> announce(unsigned n, const Instance& what, const ServiceName& service = greeter) {
    return table->announce(key(n), service, what, false, now);
  }
  Result<void> update(unsigned n, const Instance& what, const ServiceName& service = greeter) {
    return table->announce(key(n), service, what, true, now);
  }
  void beat(unsigned n) {
    const auto beaten = table->beat(key(n), now);
    ASSERT_TRUE(beaten.ok()) << beaten.error().text();
  }
  /// Time goes on tick by tick; client 1 … `beating` beat every 5 seconds.
  void go(Duration by, unsigned beating = 0) {
    const TimePoint to = now + by;
    while (now < to) {
      now += tick_period(std::chrono::seconds(15));
      if (now - last_beat >= std::chrono::seconds(5)) {
        last_beat = now;
        for (unsigned n = 1; n <= beating; ++n) beat(n);
      }
      rounds.push_back(table->tick(now));
    }
  }
  std::vector<std::string> ids(const ServiceName& service = greeter) const {
    std::vector<std::string> ids;
    for (const Instance& each : table->instances(service)) ids.push_back(each.id);
    return ids;
  }
  std::size_t lost() const {
    std::size_t lost = 0;
    for (const Round& round : rounds) lost += round.lost.size();
    return lost;
  }
  int seen(Preservation::Change change) const {
    int times = 0;
    for (const Round& round : rounds) times += round.preservation == change ? 1 : 0;
    return times;
  }

  std::unique_ptr<Table> table;
  TimePoint now{};
  TimePoint last_beat{};
  std::vector<Round> rounds;
};

}  // namespace tenon::center
