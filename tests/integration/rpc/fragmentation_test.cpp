// How TCP cuts and joins the bytes changes no result.

#include <latch>

#include "support/fault_proxy.hpp"
#include "support/test_apps.hpp"

namespace tenon {
namespace {

enum class Pieces { one_byte, random, joined };

test::ConnectionFaults faults_of(Pieces pieces) {
  switch (pieces) {
    case Pieces::one_byte: return test::both(test::one_byte());
    case Pieces::random: return test::both(test::sliced(40));
    case Pieces::joined: return test::both(test::joined());
  }
  return {};
}

/// Bytes that repeat nowhere near a power of two, so that a piece lost or doubled shows.
std::string text_of(std::size_t size, unsigned seed = 1) {
  std::string text(size, '\0');
  std::uint32_t state = seed;
  for (char& c : text) c = static_cast<char>('a' + (state = state * 1664525u + 1013904223u) % 8191 % 26);
  return text;
}

std::string reversed(const std::string& text) { return {text.rbegin(), text.rend()}; }

class Fragmentation : public testing::TestWithParam<Pieces> {
 protected:
  void SetUp() override {
    auto service = std::make_shared<Functions>("test.Texts");
    service->add("reverse", [](const std::string& text) { return reversed(text); });
    server = test::start(test::server_options(), {service});
    ASSERT_TRUE(server);
    relay = std::make_unique<test::FaultProxy>(server->addresses()[0], faults_of(GetParam()));
    AppOptions options = test::client_options("test.Texts", relay->address());
    options.client.references["r"].timeout = std::chrono::seconds(30);
    client = test::start(std::move(options));
    ASSERT_TRUE(client);
  }
  void TearDown() override {
    if (!server || !client) return;
    EXPECT_TRUE(test::eventually([&] { return test::idle(*client) && test::idle(*server); }));
    EXPECT_EQ(relay->accepted(), 1);  // nobody took the pieces for an error and connected again
  }
  /// The relay really cut or joined: `calls` is how many went through.
  void expect_pieces(std::uint64_t calls) {
    for (const auto& traffic : {relay->to_server(), relay->to_client()}) {
      switch (GetParam()) {
        case Pieces::one_byte: EXPECT_EQ(traffic.sends, traffic.bytes); break;
        case Pieces::random: EXPECT_GT(traffic.sends, 2 * calls); break;
        case Pieces::joined: EXPECT_LT(traffic.sends, calls / 2); break;
      }
      EXPECT_GT(traffic.bytes, 8 * calls);
    }
  }
  std::unique_ptr<App> server;
  std::unique_ptr<test::FaultProxy> relay;
  std::unique_ptr<App> client;
};

INSTANTIATE_TEST_SUITE_P(Tcp, Fragmentation, testing::Values(Pieces::one_byte, Pieces::random, Pieces::joined),
                         [](const auto& info) {
                           return info.param == Pieces::one_byte ? "one_byte"
                                  : info.param == Pieces::random ? "random"
                                                                 : "joined";
                         });

TEST_P(Fragmentation, SmallCallsOneAfterTheOtherAndAtOnce) {
  const ClientFunction<std::string(std::string)> reverse(client->reference("r"), "reverse");
  const std::size_t sizes[] = {0, 1, 2, 50, 114, 127, 128, 129, 1000};
  for (const std::size_t size : sizes) {
    const std::string text = text_of(size);
    const Result<std::string> answer = reverse(text);
    ASSERT_TRUE(answer.ok()) << answer.error().text();
    EXPECT_EQ(*answer, reversed(text));
  }
  constexpr int many = 100;
  std::atomic<int> good = 0;
  auto all = std::make_shared<std::latch>(many);
  for (unsigned i = 0; i < many; ++i) {
    const std::string text = text_of(i, i);
    reverse(text, [&good, all, want = reversed(text)](Result<std::string> answer) {
      if (answer.ok() && *answer == want) ++good;
      all->count_down();
    });
  }
  ASSERT_TRUE(test::eventually([&] { return all->try_wait(); }, std::chrono::seconds(30)));
  EXPECT_EQ(good, many);
  expect_pieces(many + std::size(sizes));
}

TEST_P(Fragmentation, LargeCallsAmongSmallOnes) {
  const ClientFunction<std::string(std::string)> reverse(client->reference("r"), "reverse");
  // On both sides of the size above which bodies are read in place (32 KiB), and far beyond it.
  std::vector<std::size_t> sizes = {10, (32u << 10) - 3, (32u << 10) + 1, 300u << 10, 20};
  // With a send for each byte one large body is enough: it takes seconds.
  if (GetParam() != Pieces::one_byte) sizes.insert(sizes.end(), {300u << 10, 30});
  std::atomic<int> good = 0;
  auto all = std::make_shared<std::latch>(static_cast<std::ptrdiff_t>(sizes.size()));
  for (const std::size_t size : sizes) {
    const std::string text = text_of(size, static_cast<unsigned>(size));
    reverse(text, [&good, all, want = reversed(text)](Result<std::string> answer) {
      if (answer.ok() && *answer == want) ++good;
      all->count_down();
    });
  }
  ASSERT_TRUE(test::eventually([&] { return all->try_wait(); }, std::chrono::seconds(40)));
  EXPECT_EQ(good, static_cast<int>(sizes.size()));
  std::size_t all_bytes = 0;
  for (const std::size_t size : sizes) all_bytes += size;
  EXPECT_GT(relay->to_server().bytes, all_bytes);
  EXPECT_GT(relay->to_client().bytes, all_bytes);
  if (GetParam() == Pieces::one_byte) {
    EXPECT_EQ(relay->to_server().sends, relay->to_server().bytes);
    EXPECT_EQ(relay->to_client().sends, relay->to_client().bytes);
  }
}

}  // namespace
}  // namespace tenon
