#include "memory_transport.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <vector>

#include "rendezvous.hpp"
#include "support/recording_log.hpp"
#include "support/stream_tasks.hpp"
#include "support/test_executor.hpp"

namespace tenon::mem {
namespace {

using test::RecordingLog;
using test::TestExecutor;
using namespace std::chrono_literals;

class Memory : public testing::Test {
 protected:
  static std::unique_ptr<MemoryTransport> make(TestExecutor& loop, RecordingLog& log, const MemoryOptions& options) {
    auto made = MemoryTransport::create(options, Environment{loop, log, loop.clock()});
    EXPECT_TRUE(made.ok());
    return std::move(*made);
  }
  RecordingLog log_;
  TestExecutor one_;
  TestExecutor other_;
};

TEST(MemoryRing, WrapsAround) {
  Ring ring(5);
  char out[8];
  EXPECT_EQ(ring.put("abcdefg"), 5u);
  EXPECT_EQ(ring.put("h"), 0u);
  EXPECT_EQ(ring.take(out, 3), 3u);
  EXPECT_EQ(std::string(out, 3), "abc");
  EXPECT_EQ(ring.put("xyz"), 3u);
  EXPECT_EQ(ring.take(out, 8), 5u);
  EXPECT_EQ(std::string(out, 5), "dexyz");
  EXPECT_EQ(ring.take(out, 8), 0u);
  EXPECT_EQ(ring.room(), 5u);
}

TEST_F(Memory, LetsTwoTransportObjectsMeet) {
  const auto server = make(one_, log_, {});
  const auto client = make(other_, log_, {});
  auto listener = one_.call([&] { return server->listen("meeting point", one_); });
  ASSERT_TRUE(listener.ok());
  EXPECT_EQ((*listener)->address(), "meeting point");
  auto near = other_.run([&] { return client->connect("meeting point", other_, never); });
  ASSERT_TRUE(near.ok());
  auto far = one_.run([&] { return (*listener)->accept(one_); });
  ASSERT_TRUE(far.ok());
  EXPECT_EQ((*near)->info().peer, "memory:meeting point");
  EXPECT_EQ((*far)->info().local, "memory:meeting point");
  EXPECT_EQ((*far)->info().peer.rfind("memory:meeting point#", 0), 0u);
  other_.call([&] { near->reset(); });
  one_.call([&] {
    far->reset();
    listener->reset();
  });
  EXPECT_EQ(Rendezvous::of_process().find("meeting point"), nullptr);
}

TEST_F(Memory, ClosesWhatNobodyAccepted) {
  const auto transport = make(one_, log_, {});
  auto listener = one_.call([&] { return transport->listen("short-lived", one_); });
  auto stream = other_.run([&] { return transport->connect("short-lived", other_, never); });
  ASSERT_TRUE(listener.ok() && stream.ok());
  auto reading = std::async(std::launch::async, [&] { return other_.run([&] { return test::read_all(**stream); }); });
  one_.call([&] { listener->reset(); });
  EXPECT_EQ(reading.get().last, IoResult::Status::end);
  other_.call([&] { stream->reset(); });
}

TEST_F(Memory, BoundsTheConnectionsThatWait) {
  MemoryOptions options;
  options.backlog = 2;
  const auto transport = make(one_, log_, options);
  auto listener = one_.call([&] { return transport->listen("busy", one_); });
  ASSERT_TRUE(listener.ok());
  std::vector<std::unique_ptr<ByteStream>> streams;
  for (int i = 0; i < 2; ++i) {
    auto stream = one_.run([&] { return transport->connect("busy", one_, never); });
    ASSERT_TRUE(stream.ok());
    streams.push_back(std::move(*stream));
  }
  const auto third = one_.run([&] { return transport->connect("busy", one_, never); });
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.error().code(), Errc::unavailable);
  EXPECT_NE(third.error().text().find("2 connections wait"), std::string::npos) << third.error().text();
  one_.call([&] {
    streams.clear();
    listener->reset();
  });
}

TEST_F(Memory, RefusesBadAddressesAndOptions) {
  const auto transport = make(one_, log_, {});
  EXPECT_EQ(transport->check("").error().code(), Errc::config);
  EXPECT_EQ(transport->check("a\nb").error().code(), Errc::config);
  EXPECT_EQ(transport->check(std::string(256, 'a')).error().code(), Errc::config);
  EXPECT_TRUE(transport->check("any name: will do, ümlauts too").ok());
  const Environment environment{one_, log_, one_.clock()};
  MemoryOptions options;
  options.buffer = 0;
  EXPECT_EQ(MemoryTransport::create(options, environment).error().code(), Errc::config);
  options = {};
  options.backlog = 0;
  EXPECT_EQ(MemoryTransport::create(options, environment).error().code(), Errc::config);
}

TEST_F(Memory, SurvivesBothEndsGoingAtOnce) {
  const auto transport = make(one_, log_, {});
  auto listener = one_.call([&] { return transport->listen("race", one_); });
  ASSERT_TRUE(listener.ok());
  std::atomic<int> calls{0};
  const Completion count{[](void* p) noexcept { ++*static_cast<std::atomic<int>*>(p); }, &calls};
  for (int round = 0; round < 500; ++round) {
    auto near = other_.run([&] { return transport->connect("race", other_, never); });
    auto far = one_.run([&] { return (*listener)->accept(one_); });
    ASSERT_TRUE(near.ok() && far.ok());
    other_.call([&] { (*near)->wait_readable(count); });
    one_.call([&] { (*far)->wait_readable(count); });
    auto first = std::async(std::launch::async, [&] { other_.call([&] { near->reset(); }); });
    one_.call([&] { far->reset(); });
    first.get();
  }
  EXPECT_LE(calls, 500);  // of the two at most the one that was closed later
  one_.call([&] { listener->reset(); });
}

}  // namespace
}  // namespace tenon::mem
