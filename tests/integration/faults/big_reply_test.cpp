// Small calls beside a 10 MiB reply that takes half a second to arrive, on the same connection.

#include <iostream>
#include <optional>

#include "conversation.hpp"
#include "measures.hpp"
#include "support/fault_proxy.hpp"
#include "tcp_transport.hpp"

namespace tenon::test {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t big = 10 << 20;

/// How much the server's kernel takes off its hands unasked: what lies there, nothing passes any more.
class BigReply : public testing::TestWithParam<std::optional<ByteSize>> {};
INSTANTIATE_TEST_SUITE_P(Slow, BigReply, testing::Values(std::nullopt, ByteSize(64u << 10)), [](const auto& info) {
  return info.param ? "send_buffer_64KiB" : "send_buffer_of_the_kernel";
});

TEST_P(BigReply, LetsSmallCallsPass) {
  auto service = std::make_shared<Functions>("test.Big");
  service->add("fill", [](std::int64_t size) { return std::string(static_cast<std::size_t>(size), 'x'); });
  service->add("same", [](std::int64_t n) { return n; });
  AppOptions serving = server_options();
  serving.server.limits.max_frame = 16u << 20;
  tcp::TcpOptions transport;
  transport.send_buffer = GetParam();
  serving.server.listen[0].transport = InlineComponent(Component::of("tcp", transport));
  auto server = start(std::move(serving), {service});
  ASSERT_TRUE(server);
  Faults slow;
  slow.bytes_per_second = 20'000'000;
  FaultProxy proxy(server->addresses()[0], {{}, slow});
  AppOptions calling = client_options("test.Big", proxy.address());
  calling.client.references["r"].limits.max_frame = 16u << 20;
  calling.client.references["r"].timeout = 60s;
  auto client = start(std::move(calling));
  ASSERT_TRUE(client);
  const ClientFunction<std::string(std::int64_t)> fill(client->reference("r"), "fill");
  const ClientFunction<std::int64_t(std::int64_t)> same(client->reference("r"), "same");
  ASSERT_EQ(*same(1), 1);
  std::vector<double> alone;
  for (int i = 0; i < 200; ++i) {
    const auto begun = std::chrono::steady_clock::now();
    ASSERT_EQ(*same(i), i);
    alone.push_back(milliseconds_since(begun));
  }

  std::vector<double> beside;
  std::vector<double> took;
  for (int round = 0; round < 5; ++round) {
    std::atomic<bool> arrived = false;
    std::size_t size = 0;
    const auto begun = std::chrono::steady_clock::now();
    fill(big, [&](Result<std::string> answer) {
      if (answer.ok()) size = answer->size();
      arrived = true;
    });
    while (!arrived) {
      const auto asked = std::chrono::steady_clock::now();
      ASSERT_EQ(*same(7), 7);
      beside.push_back(milliseconds_since(asked));
      std::this_thread::sleep_for(1ms);
    }
    took.push_back(milliseconds_since(begun));
    ASSERT_EQ(size, static_cast<std::size_t>(big));
  }
  EXPECT_EQ(proxy.accepted(), 1);
  ASSERT_FALSE(beside.empty());
  std::cout << "small calls alone: p99 " << percentile(alone, 99) << " ms; beside a 10 MiB reply (" << beside.size()
            << "): p50 " << percentile(beside, 50) << " ms, p99 " << percentile(beside, 99) << " ms; the reply took "
            << percentile(took, 50) << " ms\n";
  EXPECT_GE(percentile(took, 50), 450);  // 10 MiB at 20 MB/s
  EXPECT_LE(percentile(took, 50), 800);
  EXPECT_GT(beside.size(), 50u);
  EXPECT_LE(percentile(beside, 99), 20);
}

}  // namespace
}  // namespace tenon::test
