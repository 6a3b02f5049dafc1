// Connections that are lost, half open, refused, or in the way of others.

#include <fstream>

#include "conversation.hpp"
#include "support/descriptors.hpp"
#include "support/fault_proxy.hpp"
#include "support/raw_socket.hpp"

namespace tenon::test {
namespace {

using namespace std::chrono_literals;

constexpr Tongue tenon_tongue{"tenon", "protobuf"};

/// Sockets of this machine in CLOSE_WAIT whose peer is `address` ("127.0.0.1:PORT").
std::size_t half_closed_to(const std::string& address) {
  char port[8];
  (void)std::snprintf(port, sizeof port, ":%04X", std::atoi(address.substr(address.rfind(':') + 1).c_str()));
  std::ifstream table("/proc/net/tcp");
  std::size_t count = 0;
  for (std::string line; std::getline(table, line);) {
    const std::size_t peer = line.find(port, line.find(':', line.find(':') + 1) + 1);
    if (peer != std::string::npos && line.compare(peer + 5, 4, " 08 ") == 0) ++count;
  }
  return count;
}

class TwoInstances : public testing::Test {
 protected:
  void SetUp() override {
    first = start(fault_server_options(tenon_tongue), {counted.service()});
    second = start(fault_server_options(tenon_tongue), {counted.service()});
    ASSERT_TRUE(first && second);
    proxy = std::make_unique<FaultProxy>(first->addresses()[0]);
    AppOptions chosen = fault_client_options(tenon_tongue, proxy->address() + "," + second->addresses()[0]);
    ReferenceOptions& reference = chosen.client.references["r"];
    reference.heartbeat = 50ms;
    reference.heartbeat_misses = 3;
    reference.timeout = 2s;
    client = start(std::move(chosen));
    ASSERT_TRUE(client);
    echo = std::make_unique<Conversation::Echo>(client->reference("r"), "echo");
    ASSERT_TRUE(eventually([&] { return proxy->accepted() == 1 && second->counts().server_connections == 1; }));
  }
  CountedRuns counted;
  std::unique_ptr<App> first, second;
  std::unique_ptr<FaultProxy> proxy;
  std::unique_ptr<App> client;
  std::unique_ptr<Conversation::Echo> echo;
};

// CON-1. The host is gone without a word: packets vanish (black hole), and nobody can connect.
TEST_F(TwoInstances, AHalfOpenOneIsLeftAndFoundAgain) {
  for (int i = 0; i < 20; ++i) ASSERT_TRUE((*echo)(i, "x").ok());
  proxy->set(both({.discard = true}));
  proxy->refuse(true);
  // Those under way there fail when the heartbeat is missed; from then on everything goes to the other.
  ASSERT_TRUE(eventually([&] {
    for (int i = 0; i < 20; ++i)
      if (!(*echo)(100 + i, "x").ok()) return false;
    return true;
  }));
  for (int i = 0; i < 200; ++i) {
    const Result<std::string> answer = (*echo)(200 + i, "x");
    ASSERT_TRUE(answer.ok()) << answer.error().text();
  }
  const std::uint64_t before = proxy->to_server().bytes;
  proxy->set({});
  proxy->refuse(false);
  EXPECT_TRUE(eventually([&] {
    (void)(*echo)(500, "x");
    return proxy->to_server().bytes > before;
  })) << "it is not used again";
  client.reset();
  for (int i = 200; i < 400; ++i) EXPECT_EQ(counted.runs(i), 1);
}

// CON-10, CON-1. Lost in the middle of a call: said once, with the truth about delivery, and the next call works.
TEST_F(TwoInstances, OneThatIsResetTakesOnlyItsOwnCalls) {
  const ClientFunction<std::int64_t(std::int64_t, std::int64_t)> nap(client->reference("r"), "nap");
  std::atomic<int> good = 0;
  std::atomic<int> cut = 0;
  constexpr int calls = 20;
  for (int i = 0; i < calls; ++i)
    nap(1000 + i, 300, [&](Result<std::int64_t> answer) {
      if (answer.ok())
        ++good;
      else if (answer.error().code() == Errc::unavailable && answer.error().delivery() == Delivery::maybe_run)
        ++cut;
    });
  ASSERT_TRUE(eventually([&] {
    int running = 0;
    for (int i = 0; i < calls; ++i) running += counted.runs(1000 + i);
    return running == calls;
  }));
  proxy->cut(Cut::reset);
  ASSERT_TRUE(eventually([&] { return cut == calls / 2; }));
  EXPECT_TRUE((*echo)(2000, "x").ok());  // by the other
  ASSERT_TRUE(eventually([&] { return good + cut == calls; }));
  EXPECT_EQ(good, calls / 2);
  EXPECT_EQ(cut, calls / 2);
}

// CON-4. Servers that accept and close, a thousand times.
TEST(SlowConnections, AThousandClosedByTheServerLeaveNothing) {
  CountedRuns counted;
  auto server = start(fault_server_options(tenon_tongue), {counted.service()});
  ASSERT_TRUE(server);
  const std::size_t before = open_descriptors();
  {
    FaultProxy proxy(server->addresses()[0], {.to_client = {.cut_at = 0, .cut = Cut::close}});
    AppOptions chosen = fault_options("client");
    for (int i = 0; i < 250; ++i) {
      ReferenceOptions& reference = chosen.client.references[std::to_string(i)];
      reference = fault_reference_options(tenon_tongue, proxy.address());
      reference.connect_timeout = 5ms;  // so long does start() wait for each
    }
    auto client = start(std::move(chosen));
    ASSERT_TRUE(client);
    EXPECT_TRUE(eventually([&] { return proxy.accepted() >= 1000; }, 20s));
    EXPECT_TRUE(eventually([&] { return half_closed_to(proxy.address()) == 0; }));
  }
  EXPECT_TRUE(eventually([&] { return open_descriptors() == before; }));
  EXPECT_TRUE(eventually([&] { return server->counts().server_connections == 0; }));
}

// CON-14. IPv6, and how it is written.
TEST(Connections, Ipv6RoundTripAndBracketsInMessages) {
  CountedRuns counted;
  auto server = start(fault_server_options(tenon_tongue, "[::1]:0"), {counted.service()});
  ASSERT_TRUE(server);
  const std::string address = server->addresses()[0];
  ASSERT_TRUE(address.starts_with("[::1]:")) << address;
  FaultProxy proxy(address, both(sliced(10)));
  auto client = start(fault_client_options(tenon_tongue, proxy.address()));
  ASSERT_TRUE(client);
  const Conversation::Echo echo(client->reference("r"), "echo");
  EXPECT_EQ(*echo(1, "over six"), "over six");
  proxy.refuse(true);
  proxy.cut(Cut::reset);
  std::string text;
  ASSERT_TRUE(eventually([&] {
    const Result<std::string> answer = echo(2, "x");
    text = answer.ok() ? "" : answer.error().text();
    return text.find("refused") != std::string::npos;
  })) << text;
  EXPECT_NE(text.find(proxy.address()), std::string::npos) << text;
}

// CON-1, accept and then silence: a stopped process whose kernel goes on accepting.
TEST(Connections, AServerThatOnlyAcceptsIsGivenUpByTheCallsDeadline) {
  RawListener stopped;  // the kernel accepts for it
  for (const Tongue& tongue : {tenon_tongue, Tongue{"motan2", "simple"}}) {
    AppOptions chosen = fault_client_options(tongue, stopped.address());
    chosen.client.references["r"].timeout = 200ms;
    chosen.client.references["r"].ha = Component("failfast");
    auto client = start(std::move(chosen));
    ASSERT_TRUE(client);
    const Conversation::Echo echo(client->reference("r"), "echo");
    const auto begun = std::chrono::steady_clock::now();
    const Result<std::string> answer = echo(1, "x");
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code(), Errc::deadline_exceeded) << answer.error().text();
    EXPECT_EQ(answer.error().delivery(), Delivery::maybe_run);
    EXPECT_GE(std::chrono::steady_clock::now() - begun, 190ms);
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 2s);
  }
}

}  // namespace
}  // namespace tenon::test
