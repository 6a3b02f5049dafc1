#pragma once
// For one source file of each test program.
// What every Transport must do. Parameterised by how to make one and where it can listen; used with
//   INSTANTIATE_TEST_SUITE_P(Tcp, TransportContract, testing::Values(TransportCase{…}), name_of_case);

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "support/descriptors.hpp"
#include "support/recording_log.hpp"
#include "support/stream_tasks.hpp"
#include "support/test_executor.hpp"
#include "tenon/environment.hpp"
#include "tenon/scope.hpp"
#include "tenon/transport.hpp"

namespace tenon::test {

struct TransportCase {
  std::string name;
  std::function<std::unique_ptr<Transport>(Environment)> make;
  std::string listen;   ///< an address to listen on; the listener says what became of it
  std::string nowhere;  ///< well-formed, nobody listens
  /// Given the listener's address: the one to connect to (a host name instead of a number).
  std::function<std::string(const std::string&)> reach = [](const std::string& address) { return address; };
  std::size_t large = 24u << 20;  ///< bytes of a transfer no buffer holds
  bool secure = false;
  bool direct = true;  ///< false: `reach` leads through something with addresses and descriptors of its own
};

inline void PrintTo(const TransportCase& shown, std::ostream* out) { *out << shown.name; }

inline std::string name_of_case(const testing::TestParamInfo<TransportCase>& info) { return info.param.name; }

/// Two executors, a listener on one and connections from the other.
class TransportContract : public testing::TestWithParam<TransportCase> {
 protected:
  using Stream = std::unique_ptr<ByteStream>;
  struct Pair {
    Stream client;  // lives on client_
    Stream server;  // lives on server_
  };

  void SetUp() override {
    transport_ = GetParam().make(Environment{client_, log_, client_.clock()});
    ASSERT_TRUE(transport_);
    auto listener = server_.call([&] { return transport_->listen(GetParam().listen, server_); });
    ASSERT_TRUE(listener.ok()) << listener.error().text();
    listener_ = std::move(*listener);
    address_ = GetParam().reach(listener_->address());
  }
  void TearDown() override {
    server_.call([&] { listener_.reset(); });
  }

  static TimePoint within(Duration time) { return std::chrono::steady_clock::now() + time; }
  Result<Stream> connect(const std::string& address, Duration time = std::chrono::seconds(10)) {
    return client_.run([&] { return transport_->connect(address, client_, within(time)); });
  }
  Pair make_pair() {
    auto client = connect(address_);
    EXPECT_TRUE(client.ok()) << client.error().text();
    auto server = server_.run([&] { return listener_->accept(server_); });
    EXPECT_TRUE(server.ok()) << server.error().text();
    return {std::move(*client), std::move(*server)};
  }
  void drop(Pair& pair) {
    client_.call([&] { pair.client.reset(); });
    server_.call([&] { pair.server.reset(); });
  }
  static std::string pattern(std::size_t size) {
    std::string bytes(size, 0);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 31 + i / 251);
    return bytes;
  }

  RecordingLog log_;
  TestExecutor client_;
  TestExecutor server_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Listener> listener_;
  std::string address_;
};

TEST_P(TransportContract, EchoesAndTellsWhoIsWho) {
  Pair pair = make_pair();
  EXPECT_EQ(server_.run([&] { return write_all(*pair.server, "hello"); }), 0);
  EXPECT_EQ(client_.run([&] { return read_all(*pair.client, 5); }).bytes, "hello");
  EXPECT_EQ(client_.run([&] { return write_all(*pair.client, "there"); }), 0);
  EXPECT_EQ(server_.run([&] { return read_all(*pair.server, 5); }).bytes, "there");
  if (GetParam().direct) {
    EXPECT_EQ(pair.client->info().peer, pair.server->info().local);
    EXPECT_EQ(pair.client->info().local, pair.server->info().peer);
  }
  EXPECT_NE(pair.client->info().peer.find(':'), std::string::npos);
  EXPECT_NE(pair.client->info().local, pair.client->info().peer);
  EXPECT_EQ(pair.client->info().secure, GetParam().secure);
  EXPECT_EQ(pair.server->info().secure, GetParam().secure);
  drop(pair);
}

TEST_P(TransportContract, CarriesALargeTransferThroughBackpressure) {
  Pair pair = make_pair();
  const std::string bytes = pattern(GetParam().large);
  auto writer = std::async(std::launch::async,
                           [&] { return client_.run([&] { return write_all(*pair.client, bytes); }); });
  const ReadAll read = server_.run([&] { return read_all(*pair.server, bytes.size(), 9999); });
  EXPECT_EQ(writer.get(), 0);
  EXPECT_EQ(read.bytes.size(), bytes.size());
  EXPECT_TRUE(read.bytes == bytes);
  drop(pair);
}

TEST_P(TransportContract, BlocksAWriterNobodyReadsFrom) {
  Pair pair = make_pair();
  const std::string bytes(1u << 20, 'x');
  const bool blocked = client_.call([&] {
    const std::string_view part = bytes;
    for (int i = 0; i < 64; ++i)
      if (pair.client->try_write({&part, 1}).status == IoResult::Status::would_block) return true;
    return false;
  });
  EXPECT_TRUE(blocked);
  drop(pair);
}

TEST_P(TransportContract, CarriesOneByteAtATime) {
  Pair pair = make_pair();
  const std::string bytes = pattern(3000);
  auto writer = std::async(std::launch::async,
                           [&] { return client_.run([&] { return write_all(*pair.client, bytes, 1); }); });
  const ReadAll read = server_.run([&] { return read_all(*pair.server, bytes.size(), 1); });
  EXPECT_EQ(writer.get(), 0);
  EXPECT_EQ(read.bytes, bytes);
  drop(pair);
}

TEST_P(TransportContract, GathersPartsInOrder) {
  Pair pair = make_pair();
  std::vector<std::string> texts;
  std::string all_text;
  for (int i = 0; i < 100; ++i) texts.push_back(i % 7 == 0 ? "" : "part" + std::to_string(i));
  for (int i = 0; i < 100; ++i) all_text += texts[static_cast<std::size_t>(i)];
  const IoResult put = client_.call([&] {
    const std::vector<std::string_view> parts(texts.begin(), texts.end());
    return pair.client->try_write(parts);
  });
  ASSERT_EQ(put.status, IoResult::Status::done);
  ASSERT_GT(put.bytes, 0u);
  const ReadAll read = server_.run([&] { return read_all(*pair.server, put.bytes); });
  EXPECT_EQ(read.bytes, all_text.substr(0, put.bytes));
  drop(pair);
}

TEST_P(TransportContract, HalfClosesAfterWhatWasWritten) {
  Pair pair = make_pair();
  EXPECT_EQ(client_.run([&] { return write_all(*pair.client, "last words"); }), 0);
  client_.call([&] { pair.client->finish(); });
  const ReadAll read = server_.run([&] { return read_all(*pair.server); });
  EXPECT_EQ(read.bytes, "last words");
  EXPECT_EQ(read.last, IoResult::Status::end);
  EXPECT_EQ(server_.run([&] { return write_all(*pair.server, "answer"); }), 0);
  EXPECT_EQ(client_.run([&] { return read_all(*pair.client, 6); }).bytes, "answer");
  drop(pair);
}

TEST_P(TransportContract, ReadsWhatIsLeftAfterThePeerHasGone) {
  Pair pair = make_pair();
  EXPECT_EQ(client_.run([&] { return write_all(*pair.client, "bye"); }), 0);
  client_.call([&] { pair.client.reset(); });
  const ReadAll read = server_.run([&] { return read_all(*pair.server); });
  EXPECT_EQ(read.bytes, "bye");
  EXPECT_EQ(read.last, IoResult::Status::end);
  drop(pair);
}

TEST_P(TransportContract, WakesReaderAndWriterWhenThePeerGoesAbruptly) {
  Pair pair = make_pair();
  auto reader = std::async(std::launch::async, [&] { return client_.run([&] { return read_all(*pair.client); }); });
  EXPECT_EQ(client_.run([&] { return write_all(*pair.client, "unread"); }), 0);
  server_.call([&] { pair.server.reset(); });
  EXPECT_NE(reader.get().last, IoResult::Status::done);
  const std::string bytes(4u << 20, 'x');
  EXPECT_NE(client_.run([&] { return write_all(*pair.client, bytes); }), 0);
  drop(pair);
}

TEST_P(TransportContract, NeverCallsBackInline) {
  Pair pair = make_pair();
  EXPECT_EQ(server_.run([&] { return write_all(*pair.server, "x"); }), 0);
  (void)client_.run([&] { return read_all(*pair.client, 1); });
  EXPECT_EQ(server_.run([&] { return write_all(*pair.server, "y"); }), 0);
  std::promise<void> called;
  struct Seen {
    std::promise<void>* called;
    std::thread::id thread;
    bool inside = false;
    bool inline_call = false;
  } seen{&called, {}};
  client_.call([&] {
    seen.thread = std::this_thread::get_id();
    seen.inside = true;
    pair.client->wait_readable({[](void* p) noexcept {
                                  auto* self = static_cast<Seen*>(p);
                                  self->inline_call = self->inside || self->thread != std::this_thread::get_id();
                                  self->called->set_value();
                                },
                                &seen});
    seen.inside = false;
  });
  ASSERT_EQ(called.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
  EXPECT_FALSE(seen.inline_call);
  drop(pair);
}

TEST_P(TransportContract, DropsPendingWaitsWithTheStream) {
  for (int round = 0; round < 50; ++round) {
    Pair pair = make_pair();
    // Freed memory: a call after the stream's end is a use after free for the sanitizers, and counted without them.
    auto calls = std::make_shared<std::atomic<int>>(0);
    const Completion count{[](void* p) noexcept { ++*static_cast<std::atomic<int>*>(p); }, calls.get()};
    client_.call([&] {
      const std::string_view filler = "x";
      pair.client->wait_readable(count);
      // Ready at once, so that the notice is on its way already when the stream goes.
      pair.client->wait_writable(count);
      (void)pair.client->try_write({&filler, 1});
      pair.client.reset();
    });
    const int before = calls->load();
    drop(pair);
    client_.call([] {});
    client_.call([] {});
    EXPECT_EQ(before, 0);
    EXPECT_EQ(calls->load(), 0);
  }
}

TEST_P(TransportContract, RefusesWhereNobodyListens) {
  const auto refused = connect(GetParam().nowhere);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Errc::unavailable);
  EXPECT_EQ(refused.error().delivery(), Delivery::not_run);
  EXPECT_NE(refused.error().text().find(GetParam().nowhere), std::string::npos) << refused.error().text();
  EXPECT_NE(refused.error().text().find("connection refused"), std::string::npos) << refused.error().text();
}

TEST_P(TransportContract, HonoursADeadlineThatHasPassed) {
  const auto late = connect(address_, std::chrono::seconds(-1));
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code(), Errc::deadline_exceeded);
  EXPECT_EQ(late.error().delivery(), Delivery::not_run);
}

TEST_P(TransportContract, RefusesAnAddressInUse) {
  const auto taken = server_.call([&] { return transport_->listen(listener_->address(), server_); });
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().code(), Errc::unavailable);
  EXPECT_NE(taken.error().text().find("address already in use"), std::string::npos) << taken.error().text();
  EXPECT_NE(taken.error().text().find(listener_->address()), std::string::npos) << taken.error().text();
}

TEST_P(TransportContract, FreesTheAddressWithTheListener) {
  const std::string address = listener_->address();
  Pair pair = make_pair();
  server_.call([&] { listener_.reset(); });
  auto again = server_.call([&] { return transport_->listen(address, server_); });
  ASSERT_TRUE(again.ok()) << again.error().text();
  // Connections outlive their listener.
  EXPECT_EQ(client_.run([&] { return write_all(*pair.client, "still here"); }), 0);
  EXPECT_EQ(server_.run([&] { return read_all(*pair.server, 10); }).bytes, "still here");
  listener_ = std::move(*again);
  drop(pair);
}

TEST_P(TransportContract, CancelsAPendingAccept) {
  for (const bool destroy : {false, true}) {
    auto pending =
        std::async(std::launch::async, [&] { return server_.run([&] { return listener_->accept(server_); }); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    server_.call([&] {
      if (destroy)
        listener_.reset();
      else
        listener_->close();
    });
    const auto accepted = pending.get();
    ASSERT_FALSE(accepted.ok());
    EXPECT_EQ(accepted.error().code(), Errc::cancelled);
    if (destroy) break;
    const auto after = server_.run([&] { return listener_->accept(server_); });
    ASSERT_FALSE(after.ok());
    EXPECT_EQ(after.error().code(), Errc::cancelled);
    server_.call([&] { listener_ = std::move(*transport_->listen(GetParam().listen, server_)); });
  }
}

TEST_P(TransportContract, AcceptsOntoAnotherExecutor) {
  TestExecutor home;
  auto client = connect(address_);
  ASSERT_TRUE(client.ok());
  auto server = server_.run([&] { return listener_->accept(home); });
  ASSERT_TRUE(server.ok());
  EXPECT_EQ(client_.run([&] { return write_all(**client, "over"); }), 0);
  const std::thread::id home_thread = home.call([] { return std::this_thread::get_id(); });
  std::thread::id seen;
  const auto read = home.run([&]() -> Task<ReadAll> {
    auto reading = read_all(**server, 4);
    ReadAll all = co_await reading;
    seen = std::this_thread::get_id();
    co_return std::move(all);
  });
  EXPECT_EQ(read.bytes.size(), 4u);
  EXPECT_EQ(seen, home_thread);
  home.call([&] { server->reset(); });
  client_.call([&] { client->reset(); });
}

TEST_P(TransportContract, HoldsManyConnections) {
  constexpr int many = 300;
  Scope echoes;
  Result<Stream> last = Stream();
  auto accepting = std::async(std::launch::async, [&] {
    for (int i = 0; i < many; ++i) {
      auto accepted = server_.run([&] { return listener_->accept(server_); });
      EXPECT_TRUE(accepted.ok());
      if (accepted.ok()) server_.call([&] { echoes.spawn(echo(std::move(*accepted))); });
    }
  });
  std::vector<Stream> streams;
  for (int i = 0; i < many; ++i) {
    auto stream = connect(address_);
    ASSERT_TRUE(stream.ok()) << stream.error().text();
    streams.push_back(std::move(*stream));
  }
  accepting.get();
  const std::string text = pattern(90);
  for (const auto& stream : streams) EXPECT_EQ(client_.run([&] { return write_all(*stream, text); }), 0);
  for (const auto& stream : streams) EXPECT_EQ(client_.run([&] { return read_all(*stream, text.size()); }).bytes, text);
  client_.call([&] { streams.clear(); });
  server_.run([&]() -> Task<int> {
    co_await echoes.join();
    co_return 0;
  });
}

TEST_P(TransportContract, LeaksNoDescriptorOverTenThousandFailedConnects) {
  if (!GetParam().direct) GTEST_SKIP() << "what stands in between closes when it likes";
  (void)connect(GetParam().nowhere);  // whatever is opened once is open now
  const std::size_t before = open_descriptors();
  const int failed = client_.run([&]() -> Task<int> {
    int count = 0;
    for (int i = 0; i < 10000; ++i) {
      const TimePoint deadline = within(std::chrono::seconds(10));
      auto connecting = transport_->connect(GetParam().nowhere, client_, deadline);
      const Result<Stream> stream = co_await connecting;
      count += stream.ok() ? 0 : 1;
    }
    co_return count;
  });
  EXPECT_EQ(failed, 10000);
  EXPECT_EQ(open_descriptors(), before);
}

TEST_P(TransportContract, ConnectsAndClosesWithoutLeaking) {
  if (!GetParam().direct) GTEST_SKIP() << "what stands in between closes when it likes";
  Pair warm = make_pair();
  drop(warm);
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 500; ++i) {
    Pair pair = make_pair();
    drop(pair);
  }
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace tenon::test
