// Instances that are connected and do not answer, among others that do; connections that break; clients that get no
// CPU.

#include <array>
#include <cstdio>
#include <fstream>
#include <optional>
#include <thread>

#include "cluster_options.hpp"
#include "conversation.hpp"
#include "support/fault_proxy.hpp"
#include "support/temporary_folder.hpp"

namespace tenon::test {
namespace {

using namespace std::chrono_literals;

constexpr Tongue tenon_tongue{"tenon", "protobuf"};

/// Three servers, each behind a proxy, and a client of all of them whose ejections last half a second.
class Outliers : public testing::Test {
 protected:
  struct Site {
    CountedRuns counted;
    std::unique_ptr<App> server;
    std::unique_ptr<FaultProxy> proxy;
  };
  void open(Duration nap_timeout = 10s) {
    std::string addresses;
    for (Site& site : sites_) {
      site.server = start(fault_server_options(tenon_tongue), {site.counted.service()});
      ASSERT_TRUE(site.server);
      site.proxy = std::make_unique<FaultProxy>(site.server->addresses()[0]);
      addresses += (addresses.empty() ? "" : ",") + site.proxy->address();
    }
    AppOptions chosen = fault_client_options(tenon_tongue, addresses);
    cluster::ClusterOptions options;
    options.outliers.ejection = 500ms;
    options.slow_start = 0ms;
    chosen.client.references["r"].cluster = Component::of("default", options);
    chosen.client.references["r"].ha = Component("failfast");
    chosen.client.references["r"].max_reconnect_pause = 100ms;
    chosen.client.references["r"].methods["nap"].timeout = nap_timeout;
    chosen.log.level = LogLevel::info;
    chosen.log.file = folder_.path() + "/log";
    client_ = start(std::move(chosen));
    ASSERT_TRUE(client_);
    for (const Site& site : sites_)
      ASSERT_TRUE(eventually([&] { return site.server->counts().server_connections == 1; }));
    echo_.emplace(client_->reference("r"), "echo");
    nap_.emplace(client_->reference("r"), "nap");
  }
  /// So many calls, one after the other; how many failed.
  int calls(int count, Duration timeout = 100ms) {
    CallOptions hurry;
    hurry.timeout = timeout;
    int failed = 0;
    for (int i = 0; i < count; ++i) failed += echo_->call(hurry, ++number_, "x").ok() ? 0 : 1;
    return failed;
  }
  int runs(std::size_t site) const {
    int all = 0;
    for (std::int64_t i = 1; i <= number_; ++i) all += sites_[site].counted.runs(i);
    return all;
  }
  int logged(const std::string& part) const {
    std::ifstream file(folder_.path() + "/log");
    int lines = 0;
    for (std::string line; std::getline(file, line);) lines += line.find(part) != line.npos ? 1 : 0;
    return lines;
  }

  const TemporaryFolder folder_;
  std::array<Site, 3> sites_;
  std::unique_ptr<App> client_;
  std::optional<Conversation::Echo> echo_;
  std::optional<ClientFunction<std::int64_t(std::int64_t, std::int64_t)>> nap_;
  std::int64_t number_ = 0;
};

// A heartbeat is no answer to a call. Five lost calls, and the others get all; then one tries it.
TEST_F(Outliers, OneThatNoLongerAnswersGetsFiveCallsAndThenOneEachTime) {
  open();
  EXPECT_EQ(calls(30, 5s), 0);
  sites_[2].proxy->set({.to_client = {.discard = true}});
  EXPECT_EQ(calls(300), 5);
  EXPECT_EQ(logged("gets no calls for 0.5 s: 5 faults in a row"), 1);
  std::this_thread::sleep_for(600ms);
  EXPECT_EQ(calls(60), 1) << "the one that tries it";
  sites_[2].proxy->set(ConnectionFaults());
  const int before = runs(2);
  std::this_thread::sleep_for(1100ms);
  EXPECT_EQ(calls(60, 5s), 0);
  EXPECT_EQ(logged("answers and gets calls again"), 1);
  EXPECT_GE(runs(2) - before, 15);
}

// One event, however many calls were on the connection; and whoever is back is back.
TEST_F(Outliers, ABrokenConnectionIsOneFault) {
  open();
  std::atomic<int> ended{0};
  for (int i = 0; i < 60; ++i) (*nap_)(++number_, 2000, [&ended](const Result<std::int64_t>&) { ++ended; });
  ASSERT_TRUE(eventually([&] { return client_->counts().client_calls == 60; }));
  sites_[1].proxy->cut(Cut::reset);
  ASSERT_TRUE(eventually([&] { return ended >= 20; }));
  ASSERT_TRUE(eventually([&] { return sites_[1].server->counts().server_connections == 1; }));
  ASSERT_TRUE(eventually([&] { return ended == 60; }));
  const int before = runs(1);
  EXPECT_EQ(calls(60, 5s), 0);
  EXPECT_EQ(runs(1) - before, 20);
  EXPECT_EQ(logged("gets no calls"), 0);
}

// It is the client that is late, not the servers. Whoever blames them loses them, too.
TEST_F(Outliers, AClientThatDoesNotGetToRunBlamesNobody) {
  open(100ms);
  int late = 0;
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> ended{0};
    std::atomic<int> timed_out{0};
    // Callbacks run on the io thread, unless they ask for another one. What this one sends leaves when it has ended: by
    // then all of its deadlines have passed.
    (*echo_)(++number_, "x", [&](const Result<std::string>&) {
      for (int i = 0; i < 30; ++i)
        (*nap_)(++number_, 1, [&](const Result<std::int64_t>& result) {
          timed_out += result.ok() ? 0 : 1;
          ++ended;
        });
      std::this_thread::sleep_for(300ms);
    });
    ASSERT_TRUE(eventually([&] { return ended == 30; }));
    late += timed_out;
  }
  std::printf("%d of 150 calls were late by our own fault\n", late);
  EXPECT_GE(late, 100) << "or this shows nothing";
  EXPECT_EQ(logged("gets no calls"), 0);
  EXPECT_EQ(calls(60, 5s), 0);
}

}  // namespace
}  // namespace tenon::test
