// The way bytes are cut, in and out, changes nothing; and the tables behind it.
#include <gtest/gtest.h>

#include "pair.hpp"

namespace tenon::wire::test {
namespace {

// A conversation with every kind of frame, in both directions, cut in every way.
struct Conversation {
  std::string to_server, to_client;
  std::vector<std::string> server_saw, client_saw;

  Conversation() {
    Methods methods;
    Peer client(Side::client), server(Side::server);
    const auto exchange = [&] {
      const std::string up = client.drain();
      EXPECT_FALSE(server.feed(up));
      to_server += up;
      const std::string down = server.drain();
      EXPECT_FALSE(client.feed(down));
      to_client += down;
    };
    exchange();
    for (std::uint32_t call = 0; call < 6; ++call) {
      const std::string body(call * 40, 'b');
      Frame sent = request(call % 2 ? methods.hello : methods.goodbye, call * 100, body);
      if (call >= 2) sent.headers = Headers{{"trace", "constant"}, {"n", call < 5 ? "1" : "2"}};
      if (call == 4) sent.one_way = true;
      EXPECT_TRUE(client.session.send(sent).ok());
    }
    Frame cancel = plain(FrameKind::cancel, 100);
    EXPECT_TRUE(client.session.send(cancel).ok());
    Frame asked = request(methods.hello, 600, "ask");
    asked.stream = true;
    asked.attachment = attached("beside the question");
    EXPECT_TRUE(client.session.send(asked).ok());
    Frame give = credit(600, 100'000);
    EXPECT_TRUE(client.session.send(give).ok());
    Frame ping = plain(FrameKind::ping, 42);
    EXPECT_TRUE(client.session.send(ping).ok());
    exchange();
    const std::string answer(200, 'r');
    for (std::uint32_t call : {0u, 2u, 3u}) {
      Frame reply = response(call * 100, answer);
      if (call) reply.headers = Headers{{"server", "s"}};
      if (call == 3) reply.compressor = "gzip";
      EXPECT_TRUE(server.session.send(reply).ok());
    }
    Frame reply = failure(100, Error(Errc::cancelled, "given up", Delivery::ran).foreign("d", -1));
    EXPECT_TRUE(server.session.send(reply).ok());
    Frame first = head(600);
    first.headers = Headers{{"server", "s"}};
    Frame one = message(600, "one");
    one.attachment = attached("beside the answer");
    Frame two = message(600, "two");
    two.compressor = "gzip";
    Frame over = end(600, Error(Errc::application, "half way"));
    over.headers = Headers{{"trailer", "t"}};
    for (Frame* frame : {&first, &one, &two, &over}) EXPECT_TRUE(server.session.send(*frame).ok());
    server.session.close(Error(Errc::unavailable, "bye"));
    Frame last = response(500, "last");
    EXPECT_TRUE(server.session.send(last).ok());
    exchange();
    server_saw = texts(server.sink.seen);
    client_saw = texts(client.sink.seen);
    EXPECT_EQ(server_saw.size(), 10u);
    EXPECT_EQ(client_saw.size(), 11u);
  }

  // A client session that has sent what the conversation's client sent.
  static void send_all(Peer& client, const Methods& methods) {
    client.drain();
    for (std::uint32_t call = 0; call < 6; ++call) {
      Frame sent = request(call % 2 ? methods.hello : methods.goodbye, call * 100, "");
      sent.one_way = call == 4;
      EXPECT_TRUE(client.session.send(sent).ok());
    }
    Frame asked = request(methods.hello, 600, "");
    asked.stream = true;
    EXPECT_TRUE(client.session.send(asked).ok());
  }
};

TEST(Cuts, SplitAtEveryOffset) {
  const Conversation conversation;
  const Methods methods;
  for (std::size_t at = 0; at <= conversation.to_server.size(); ++at) {
    Peer server(Side::server);
    const std::string_view all = conversation.to_server;
    ASSERT_FALSE(server.feed(all.substr(0, at)));
    ASSERT_FALSE(server.feed(all.substr(at)));
    ASSERT_EQ(texts(server.sink.seen), conversation.server_saw) << "cut at " << at;
  }
  for (std::size_t at = 0; at <= conversation.to_client.size(); ++at) {
    Peer client(Side::client);
    Conversation::send_all(client, methods);
    const std::string_view all = conversation.to_client;
    ASSERT_FALSE(client.feed(all.substr(0, at)));
    ASSERT_FALSE(client.feed(all.substr(at)));
    ASSERT_EQ(texts(client.sink.seen), conversation.client_saw) << "cut at " << at;
  }
}

TEST(Cuts, PiecesOfEverySize) {
  const Conversation conversation;
  const Methods methods;
  for (const std::size_t chunk : {1, 2, 3, 5, 7, 11, 64, 1000, 1000000}) {
    Peer server(Side::server);
    ASSERT_FALSE(server.feed(conversation.to_server, chunk));
    ASSERT_EQ(texts(server.sink.seen), conversation.server_saw) << chunk;
    Peer client(Side::client);
    Conversation::send_all(client, methods);
    ASSERT_FALSE(client.feed(conversation.to_client, chunk));
    ASSERT_EQ(texts(client.sink.seen), conversation.client_saw) << chunk;
  }
}

TEST(Output, BudgetAndPartialWritesKeepTheOrder) {
  Pair whole, parts;
  std::string pieces;
  for (Pair* pair : {&whole, &parts}) {
    for (std::uint32_t call = 0; call < 300; ++call) {
      const std::string body(call, static_cast<char>('a' + call % 26));
      Frame sent = request(pair->hello, call, body);
      if (call % 50 == 7) sent.owned.append(std::string(40000 + call, 'L'));
      ASSERT_TRUE(pair->client.session.send(sent).ok());
      if (pair == &parts && call % 3 == 0) {
        Gather gather;
        pair->client.session.produce(gather, 100 + call);
        ASSERT_LE(gather.bytes(), 100u + call);
        std::string given;
        for (const std::string_view part : gather.parts()) given += part;
        const std::size_t n = given.size() / 2 + 1;
        pieces += given.substr(0, n);
        pair->client.session.written(n);
      }
    }
  }
  pieces += parts.client.drain();
  EXPECT_TRUE(pieces == whole.client.drain());
  EXPECT_EQ(parts.client.session.unwritten(), 0u);
}

TEST(Calls, TableSurvivesAnyOrder) {
  for (const bool own : {true, false}) {
    CallTable table(own);
    std::vector<std::uint32_t> open;
    std::uint64_t random = 12345;
    for (int step = 0; step < 20000; ++step) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      const auto number = static_cast<std::uint32_t>(random >> 33) % (step % 2 ? 500u : 0xFFFFFFFFu);
      if (open.size() < 200 && !table.find(number)) {
        table.reserve_one();
        table.insert(number).sequence = number + 1;
        open.push_back(number);
      } else if (!open.empty()) {
        const std::size_t at = (random >> 20) % open.size();
        OpenCall* found = table.find(open[at]);
        ASSERT_NE(found, nullptr);
        ASSERT_EQ(found->sequence, open[at] + 1);
        table.erase(found);
        ASSERT_EQ(table.find(open[at]), nullptr);
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
      }
      ASSERT_EQ(table.size(), open.size());
    }
    for (const std::uint32_t number : open) EXPECT_NE(table.find(number), nullptr);
  }
}

// 60 000 calls open at once, ended in the order they came and in the other: linear, so a fraction of a second even
// with sanitizers; a table whose neighbours cluster takes minutes.
TEST(Calls, ManyOpenAtOnceStayCheap) {
  for (const bool own : {true, false}) {
    for (const bool upwards : {true, false}) {
      CallTable table(own);
      constexpr std::uint32_t many = 60'000;
      const auto start = std::chrono::steady_clock::now();
      for (int round = 0; round < 2; ++round) {
        for (std::uint32_t call = 0; call < many; ++call) {
          table.reserve_one();
          table.insert(call);
        }
        for (std::uint32_t call = 0; call < many; ++call) table.erase(table.find(upwards ? call : many - 1 - call));
      }
      EXPECT_EQ(table.size(), 0u);
      EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
    }
  }
}

}  // namespace
}  // namespace tenon::wire::test
