// Each fault really happens.

#include "support/fault_proxy.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <thread>

#include "support/descriptors.hpp"
#include "support/raw_socket.hpp"

namespace tenon::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Entry = ConnectionFaults::Entry;

std::string pattern(std::size_t size) {
  std::string bytes(size, 0);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 31 + i / 251);
  return bytes;
}

/// How a stream of bytes ended.
enum class End { none, end, reset };
struct Received {
  std::string bytes;
  std::size_t reads = 0;
  End end = End::none;
};
/// Until the end, `most` bytes, or silence for `milliseconds`.
Received receive(RawSocket& socket, int milliseconds, std::size_t most = 1u << 30) {
  Received received;
  while (received.bytes.size() < most) {
    pollfd ready = {socket.fd(), POLLIN, 0};
    if (::poll(&ready, 1, milliseconds) <= 0) return received;
    char buffer[65536];
    const ssize_t got = ::recv(socket.fd(), buffer, std::min(sizeof buffer, most - received.bytes.size()), 0);
    if (got <= 0) {
      received.end = got == 0 ? End::end : End::reset;
      return received;
    }
    received.bytes.append(buffer, static_cast<std::size_t>(got));
    ++received.reads;
  }
  return received;
}

/// A raw client and a raw server with the proxy between them.
class FaultProxyTest : public testing::Test {
 protected:
  void join(const ConnectionFaults& faults, std::uint64_t seed = 1) {
    proxy = std::make_unique<FaultProxy>(listener.address(), faults, seed);
    connect();
  }
  void connect() {
    server.reset();
    client = std::make_unique<RawSocket>(proxy->address());
    ASSERT_TRUE(client->connected());
    server = std::make_unique<RawSocket>(accept());
    ASSERT_TRUE(server->connected());
  }
  RawSocket accept(int milliseconds = 5000) { return listener.accept(milliseconds); }

  RawListener listener;
  std::unique_ptr<FaultProxy> proxy;
  std::unique_ptr<RawSocket> client;
  std::unique_ptr<RawSocket> server;
};

TEST_F(FaultProxyTest, ForwardsBothWaysAndTheEnd) {
  join({});
  const std::string bytes = pattern(100'000);
  ASSERT_TRUE(client->send(bytes));
  client->finish();
  const Received up = receive(*server, 5000);
  EXPECT_TRUE(up.bytes == bytes);
  EXPECT_EQ(up.end, End::end);
  ASSERT_TRUE(server->send("answer"));  // a half-closed connection still carries the other half
  server->close();
  const Received down = receive(*client, 5000);
  EXPECT_EQ(down.bytes, "answer");
  EXPECT_EQ(down.end, End::end);
  EXPECT_EQ(proxy->to_server().bytes, bytes.size());
  EXPECT_EQ(proxy->to_client().bytes, 6u);
  EXPECT_EQ(proxy->accepted(), 1);
  for (int i = 0; i < 1000 && proxy->open() > 0; ++i) ::usleep(1000);
  EXPECT_EQ(proxy->open(), 0u);
}

TEST_F(FaultProxyTest, SlicesAreSmallAndTheSameForTheSameSeed) {
  std::uint64_t sends[3] = {};
  for (int round = 0; round < 3; ++round) {
    join(both(sliced(100)), round == 2 ? 8 : 7);
    const std::string bytes = pattern(20'000);
    ASSERT_TRUE(client->send(bytes));
    EXPECT_TRUE(receive(*server, 5000, bytes.size()).bytes == bytes);
    sends[round] = proxy->to_server().sends;
    EXPECT_GT(sends[round], bytes.size() / 100);
    EXPECT_LT(sends[round], bytes.size());
  }
  EXPECT_EQ(sends[0], sends[1]);
  EXPECT_NE(sends[0], sends[2]);
}

TEST_F(FaultProxyTest, OneByteAtATimeIsReadSo) {
  join(both(one_byte()));
  const std::string bytes = pattern(300);
  ASSERT_TRUE(client->send(bytes));
  const Received up = receive(*server, 5000, bytes.size());
  EXPECT_EQ(up.bytes, bytes);
  EXPECT_GT(up.reads, 200u);  // a loaded machine may join a few
  EXPECT_EQ(proxy->to_server().sends, bytes.size());
}

TEST_F(FaultProxyTest, GathersPieces) {
  join(both({.gather = 20ms}));
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(client->send("x"));
  EXPECT_EQ(receive(*server, 5000, 50).bytes, std::string(50, 'x'));
  EXPECT_LT(proxy->to_server().sends, 50u);
}

TEST_F(FaultProxyTest, DelaysEachDirectionByItself) {
  join({.to_server = {.delay = 60ms, .jitter = 20ms}});
  const auto begun = Clock::now();
  ASSERT_TRUE(client->send("late"));
  ASSERT_TRUE(server->send("soon"));
  EXPECT_EQ(receive(*client, 5000, 4).bytes, "soon");
  EXPECT_EQ(proxy->to_server().bytes, 0u);
  EXPECT_EQ(receive(*server, 5000, 4).bytes, "late");
  EXPECT_GE(Clock::now() - begun, 60ms);
}

TEST_F(FaultProxyTest, LimitsBandwidth) {
  join({.to_client = {.bytes_per_second = 1'000'000}});
  const std::string bytes = pattern(200'000);
  const auto begun = Clock::now();
  ASSERT_TRUE(server->send(bytes));
  EXPECT_TRUE(receive(*client, 5000, bytes.size()).bytes == bytes);
  EXPECT_GE(Clock::now() - begun, 180ms);
}

TEST_F(FaultProxyTest, StallsSoThatTheSenderBlocksAndGoesOnLater) {
  join({.to_server = {.stall = true}});
  std::string sent;
  const std::string piece = pattern(10'000);
  while (sent.size() < (64u << 20)) {
    const ssize_t put = ::send(client->fd(), piece.data(), piece.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put < 0) break;
    sent.append(piece, 0, static_cast<std::size_t>(put));
  }
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_LT(sent.size(), 64u << 20);
  EXPECT_EQ(receive(*server, 50).bytes, "");
  ASSERT_TRUE(server->send("the other direction works"));
  EXPECT_EQ(receive(*client, 5000, 25).bytes.size(), 25u);
  proxy->silence(false);
  EXPECT_TRUE(receive(*server, 5000, sent.size()).bytes == sent);
  proxy->silence(true);
  ASSERT_TRUE(server->send("x"));
  EXPECT_EQ(receive(*client, 50).bytes, "");
}

TEST_F(FaultProxyTest, ABlackHoleTakesEverythingAndGivesNothing) {
  join({.to_server = {.discard = true}});
  ASSERT_TRUE(client->send(pattern(4u << 20)));
  client->finish();
  const Received up = receive(*server, 50);
  EXPECT_EQ(up.bytes, "");
  EXPECT_EQ(up.end, End::none);
  EXPECT_EQ(proxy->to_server().bytes, 0u);
}

TEST_F(FaultProxyTest, CutsAfterExactlyNBytes) {
  for (const std::uint64_t at : {0u, 1u, 7u, 999u})
    for (const Cut cut : {Cut::half, Cut::close, Cut::reset}) {
      join({.to_server = {.slices = {1, 5}, .cut_at = at, .cut = cut}});
      const bool sent = client->send(pattern(1000));
      const Received up = receive(*server, 5000);
      EXPECT_EQ(up.bytes, pattern(1000).substr(0, at));
      EXPECT_EQ(up.end, cut == Cut::reset ? End::reset : End::end);
      EXPECT_EQ(proxy->to_server().bytes, at);
      (void)server->send("answer");
      const Received down = receive(*client, cut == Cut::half ? 1000 : 5000, 6);
      EXPECT_EQ(down.bytes, cut == Cut::half ? "answer" : "");
      if (cut == Cut::reset && !sent) continue;  // send() was told of the reset, and nobody is told twice
      EXPECT_EQ(down.end, cut == Cut::half ? End::none : cut == Cut::close ? End::end : End::reset);
    }
}

TEST_F(FaultProxyTest, CorruptsOneByteAndRepeatsSome) {
  join({.to_server = {.slices = {1, 3}, .corrupt_at = 10, .corrupt_bits = 0x01}});
  ASSERT_TRUE(client->send(pattern(20)));
  std::string expected = pattern(20);
  expected[10] = static_cast<char>(expected[10] ^ 1);
  EXPECT_EQ(receive(*server, 5000, 20).bytes, expected);
  for (const bool split : {false, true}) {
    join({.to_server = {.repeat_at = 3, .repeat_size = 4}});
    ASSERT_TRUE(client->send(split ? "01234" : "0123456789"));
    if (split) {
      EXPECT_EQ(receive(*server, 5000, 5).bytes, "01234");
      ASSERT_TRUE(client->send("56789"));
    }
    EXPECT_EQ(receive(*server, 5000, split ? 9 : 14).bytes, split ? "563456789" : "01234563456789");
  }
}

TEST_F(FaultProxyTest, AcceptsAndIsSilentOrResetsOrRefuses) {
  proxy = std::make_unique<FaultProxy>(listener.address(), ConnectionFaults{.entry = Entry::silent});
  RawSocket silent(proxy->address());
  ASSERT_TRUE(silent.connected());
  ASSERT_TRUE(silent.send("anybody?"));
  EXPECT_EQ(receive(silent, 50).end, End::none);
  EXPECT_FALSE(accept(0).connected());
  proxy->set({.entry = Entry::reset});
  RawSocket reset(proxy->address());
  EXPECT_EQ(receive(reset, 5000).end, End::reset);
  proxy->refuse(true);
  EXPECT_FALSE(RawSocket(proxy->address()).connected());
  proxy->refuse(false);
  proxy->set({});
  connect();
  ASSERT_TRUE(client->send("x"));
  EXPECT_EQ(receive(*server, 5000, 1).bytes, "x");
}

TEST_F(FaultProxyTest, FaultsHoldForOneConnectionOrAllAndChangeWhileItRuns) {
  proxy = std::make_unique<FaultProxy>(listener.address());
  proxy->set(1, {.to_server = {.discard = true}});
  for (int number = 0; number < 3; ++number) {
    connect();
    ASSERT_TRUE(client->send("x"));
    EXPECT_EQ(receive(*server, number == 1 ? 50 : 5000, 1).bytes, number == 1 ? "" : "x") << number;
  }
  proxy->set({.to_server = {.corrupt_at = 1}});
  ASSERT_TRUE(client->send("y"));
  EXPECT_EQ(receive(*server, 5000, 1).bytes, std::string(1, static_cast<char>('y' ^ 0xff)));
  proxy->cut(Cut::reset);
  EXPECT_EQ(receive(*server, 5000).end, End::reset);
  EXPECT_EQ(receive(*client, 5000).end, End::reset);
}

TEST_F(FaultProxyTest, HandsOnAResetAndARefusal) {
  join({});
  const linger now{1, 0};
  (void)::setsockopt(client->fd(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  client->close();
  EXPECT_EQ(receive(*server, 5000).end, End::reset);
  std::string nobody;
  {
    RawListener gone;
    nobody = gone.address();
  }
  FaultProxy refused(nobody);
  RawSocket late(refused.address());
  EXPECT_EQ(receive(late, 5000).end, End::reset);
}

TEST_F(FaultProxyTest, KeepsNoDescriptor) {
  const std::size_t before = open_descriptors();
  {
    FaultProxy own(listener.address());
    for (int i = 0; i < 20; ++i) {
      RawSocket one(own.address());
      RawSocket other = accept();
      ASSERT_TRUE(other.connected());
    }
    own.set({.entry = Entry::silent});
    RawSocket silent(own.address());
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(FaultProxySpeed, CarriesMuchWhenNothingIsWrong) {
  RawListener listener;
  FaultProxy proxy(listener.address());
  RawSocket client(proxy.address());
  RawSocket server = listener.accept();
  ASSERT_TRUE(server.connected());
  const std::string bytes = pattern(8u << 20);
  std::string received;
  std::thread sender([&] { (void)client.send(bytes); });
  const auto begun = Clock::now();
  EXPECT_TRUE(receive(server, 5000, bytes.size()).bytes == bytes);
  const std::chrono::duration<double> took = Clock::now() - begun;
  sender.join();
  RecordProperty("MB_per_second", std::to_string(8.4 / took.count()));
}

}  // namespace
}  // namespace tenon::test
