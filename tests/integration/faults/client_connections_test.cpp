// Clients whose servers are unreachable, close at once, come back together, or leave.

#include <iostream>

#include "conversation.hpp"
#include "support/fault_proxy.hpp"
#include "support/raw_socket.hpp"

namespace tenon::test {
namespace {

using namespace std::chrono_literals;

constexpr Tongue tenon_tongue{"tenon", "protobuf"};

// CON-17. Five addresses that never answer delay nobody who calls the sixth.
TEST(ClientConnections, UnreachableInstancesDelayNoCallToTheOther) {
  CountedRuns counted;
  auto server = start(fault_server_options(tenon_tongue), {counted.service()});
  ASSERT_TRUE(server);
  std::vector<std::unique_ptr<BlackHole>> holes;
  std::string addresses;
  for (int i = 0; i < 5; ++i) {
    holes.push_back(std::make_unique<BlackHole>());
    addresses += holes.back()->address() + ",";
  }
  AppOptions chosen = fault_client_options(tenon_tongue, addresses + server->addresses()[0]);
  chosen.client.references["r"].connect_timeout = 500ms;
  auto client = start(std::move(chosen));
  ASSERT_TRUE(client);
  ASSERT_TRUE(eventually([&] { return server->counts().server_connections == 1; }));
  const Conversation::Echo echo(client->reference("r"), "echo");
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < 500; ++i) {
    const Result<std::string> answer = echo(i, "x");
    ASSERT_TRUE(answer.ok()) << answer.error().text();
  }
  // Had one of them waited for a connection, it would have taken the connect timeout.
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 400ms);
}

// CON-12, I3. A server that accepts and closes at once is no healthy server: pauses between attempts must grow.
TEST(SlowClientConnections, AServerThatClosesAtOnceIsNotHammered) {
  CountedRuns counted;
  auto server = start(fault_server_options(tenon_tongue), {counted.service()});
  ASSERT_TRUE(server);
  FaultProxy proxy(server->addresses()[0], {.to_client = {.cut_at = 0, .cut = Cut::close}});
  auto client = start(fault_client_options(tenon_tongue, proxy.address()));
  ASSERT_TRUE(client);
  std::this_thread::sleep_for(4s);
  std::cout << proxy.accepted() << " connections in about 5 s\n";
  EXPECT_LE(proxy.accepted(), 12);  // 0.1 s x 2 each time: 6, and room for jitter
}

// CON-12. Two hundred clients lose a server at one instant, which is back a second later: they come back spread out.
TEST(SlowClientConnections, ReconnectsAreSpread) {
  CountedRuns counted;
  auto server = start(fault_server_options(tenon_tongue), {counted.service()});
  ASSERT_TRUE(server);
  FaultProxy proxy(server->addresses()[0]);
  constexpr int clients = 200;
  AppOptions chosen = fault_options("client");
  for (int i = 0; i < clients; ++i)
    chosen.client.references[std::to_string(i)] = fault_reference_options(tenon_tongue, proxy.address());
  auto client = start(std::move(chosen));
  ASSERT_TRUE(client);
  ASSERT_TRUE(eventually([&] { return proxy.accepted() == clients; }));
  proxy.refuse(true);
  proxy.cut(Cut::reset);
  std::this_thread::sleep_for(1s);
  proxy.refuse(false);
  std::vector<int> buckets;
  int last = proxy.accepted();
  for (int bucket = 0; bucket < 40 && last < 2 * clients; ++bucket) {
    std::this_thread::sleep_for(100ms);
    const int now = proxy.accepted();
    buckets.push_back(now - last);
    last = now;
  }
  std::cout << "reconnected in each 100 ms:";
  for (const int count : buckets) std::cout << ' ' << count;
  std::cout << '\n';
  EXPECT_EQ(last, 2 * clients);
  EXPECT_LE(*std::max_element(buckets.begin(), buckets.end()), clients / 5);
}

// SHD-1, CON-5. A provider leaves the registry and says goodbye while a call runs: the call is answered, and the client
// lets go of the instance with that reply, before the connection has closed. (A use after free: bad_weak_ptr ends the
// process, or a sanitizer tells.)
TEST(ClientConnections, AConnectionThatGoesAwayOutlivesItsInstance) {
  const auto with_registry = [](AppOptions options) {
    options.plugins.load.push_back("registry-memory");
    options.registries["here"] = Component("memory");
    return options;
  };
  CountedRuns counted;
  AppOptions serving = with_registry(fault_server_options(tenon_tongue));
  ServiceOptions offered;
  offered.name = counted_interface;
  offered.registry = {"here"};
  serving.server.services = {offered};
  auto provider = start(std::move(serving), {counted.service()});
  AppOptions calling = with_registry(fault_options("client"));
  calling.client.references["r"] = fault_reference_options(tenon_tongue, "");
  calling.client.references["r"].registry = {"here"};
  auto client = start(std::move(calling));
  ASSERT_TRUE(provider && client);
  const ClientFunction<std::int64_t(std::int64_t, std::int64_t)> nap(client->reference("r"), "nap");
  std::atomic<int> answered = 0;
  for (int i = 0; i < 5; ++i) nap(i, 300, [&](const Result<std::int64_t>& answer) { answered += answer.ok() ? 1 : 0; });
  ASSERT_TRUE(eventually([&] { return counted.runs(4) == 1; }));
  EXPECT_TRUE(provider->stop(5s));
  EXPECT_TRUE(eventually([&] { return answered == 5; }));
  EXPECT_TRUE(eventually([&] { return idle(*client); }));
  EXPECT_FALSE(nap(9, 0).ok());  // nobody is left
}

// I15, I4. An App with many references that cannot be connected starts after one connect timeout, not one for each.
TEST(ClientConnections, StartWaitsForUnreachableReferencesTogether) {
  BlackHole hole;
  AppOptions chosen = fault_options("client");
  for (int i = 0; i < 10; ++i) {
    ReferenceOptions& reference = chosen.client.references[std::to_string(i)];
    reference = fault_reference_options(tenon_tongue, hole.address());
    reference.connect_timeout = 300ms;
  }
  const auto begun = std::chrono::steady_clock::now();
  auto client = start(std::move(chosen));
  const auto took = std::chrono::steady_clock::now() - begun;
  ASSERT_TRUE(client);
  std::cout << "start() took " << took / 1ms << " ms\n";
  EXPECT_LT(took, 900ms);
}

}  // namespace
}  // namespace tenon::test
