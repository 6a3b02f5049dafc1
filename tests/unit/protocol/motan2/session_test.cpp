// Calls, heartbeats, one-way, cancel, close.
#include <gtest/gtest.h>

#include "pair.hpp"

namespace tenon::motan2::test {
namespace {

std::uint64_t send(Peer& client, Frame frame) {
  const Result<void> done = client.session.send(frame);
  EXPECT_TRUE(done.ok()) << done.error().text();
  const std::vector<Wire> sent = Wire::all(client.drain());
  EXPECT_EQ(sent.size(), 1u);
  return sent.empty() ? 0 : sent[0].id;
}

TEST(Session, AnswersOutOfOrder) {
  Pair pair;
  for (const std::uint32_t call : {5u, 0u, 9u, 2u}) {
    const std::string body = "body " + std::to_string(call);
    Frame frame = request(pair.hello, call, body, 2s);
    frame.headers = {{"trace", std::to_string(call)}};
    ASSERT_TRUE(pair.client.session.send(frame).ok());
  }
  ASSERT_FALSE(pair.to_server());
  std::vector<Seen> asked = pair.server.take();
  ASSERT_EQ(asked.size(), 4u);
  EXPECT_EQ(asked[0].text().substr(asked[0].text().find("yf")),
            "yf-demo/demo.Greeter:1.0.hello simple+ 2000000000 0 [trace=5;] body 6:body 5");
  std::ranges::reverse(asked);
  for (const Seen& one : asked) {
    Frame frame = response(one.call, one.body);
    frame.took = 3ms;
    ASSERT_TRUE(pair.server.session.send(frame).ok());
  }
  ASSERT_FALSE(pair.to_client());
  const std::vector<Seen> answers = pair.client.take();
  ASSERT_EQ(answers.size(), 4u);
  const std::uint32_t order[] = {2, 9, 0, 5};
  for (std::size_t at = 0; at < 4; ++at) {
    EXPECT_EQ(answers[at].call, order[at]);
    EXPECT_EQ(answers[at].body, "body " + std::to_string(order[at]));
    EXPECT_EQ(answers[at].took, 3ms);
  }
}

TEST(Session, ServersUseSmallNumbersAgain) {
  Peer server(Side::server);
  for (std::uint64_t round = 0; round < 100; ++round) {
    ASSERT_FALSE(server.feed(wire_request(~round).bytes()));
    const std::vector<Seen> asked = server.take();
    ASSERT_EQ(asked.size(), 1u);
    EXPECT_EQ(asked[0].call, 0u);
    Frame frame = response(asked[0].call);
    ASSERT_TRUE(server.session.send(frame).ok());
    EXPECT_EQ(Wire::all(server.drain()).at(0).id, ~round) << "all 64 bits of the client's id";
    Frame again = response(asked[0].call);
    EXPECT_FALSE(server.session.send(again).ok()) << "answered twice";
    Frame error = failure(asked[0].call, Error(Errc::internal, "late"));
    EXPECT_FALSE(server.session.send(error).ok());
  }
}

TEST(Session, EveryNumberThatIsFreeIsUsedAgain) {
  Peer server(Side::server);
  for (std::uint64_t round = 0; round < 3; ++round) {
    for (std::uint64_t id = 0; id < 10; ++id) ASSERT_FALSE(server.feed(wire_request(id).bytes()));
    const std::vector<Seen> asked = server.take();
    ASSERT_EQ(asked.size(), 10u);
    for (const Seen& one : asked) {
      EXPECT_LT(one.call, 10u);
      Frame frame = response(one.call);
      ASSERT_TRUE(server.session.send(frame).ok());
    }
  }
}

TEST(Session, EqualIdsOfTwoClientsBehindOneConnection) {
  Peer server(Side::server);
  ASSERT_FALSE(server.feed(wire_request(1, "a").bytes() + wire_request(1, "b").bytes()));
  const std::vector<Seen> asked = server.take();
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_NE(asked[0].call, asked[1].call);
}

TEST(Session, IdsArePositiveAndNeverThoseOfHeartbeats) {
  Methods methods;
  Peer client(Side::client);
  std::uint64_t last = 0;
  for (int use = 0; use < 1000; ++use) {
    const std::uint64_t id = send(client, request(methods.hello, 7));
    EXPECT_NE(id, last);
    EXPECT_LT(id, std::uint64_t{1} << 63);
    EXPECT_NE(id >> 32, ClientCalls::heartbeat);
    EXPECT_NE(id >> 32, 0u);
    last = id;
  }
  ClientCalls calls;
  ASSERT_EQ(calls.begin(3), std::uint64_t{1} << 32 | 3);
  EXPECT_FALSE(calls.end(std::uint64_t{2} << 32 | 3));
  EXPECT_FALSE(calls.end(std::uint64_t{1} << 32 | 4));
  EXPECT_TRUE(calls.end(std::uint64_t{1} << 32 | 3));
  EXPECT_FALSE(calls.end(std::uint64_t{1} << 32 | 3)) << "twice";
}

TEST(Session, TheLateAnswerOfACancelledCallIsDropped) {
  Methods methods;
  Peer client(Side::client);
  EXPECT_FALSE(client.session.acknowledges_cancel());
  const std::uint64_t first = send(client, request(methods.hello, 4));
  Frame cancel = plain(FrameKind::cancel, 4);
  ASSERT_TRUE(client.session.send(cancel).ok());
  EXPECT_EQ(client.session.unwritten(), 0u) << "there is no cancel on this wire";
  ASSERT_FALSE(client.feed(wire_reply(first, "too late").bytes()));
  EXPECT_TRUE(client.take().empty());
  const std::uint64_t second = send(client, request(methods.hello, 4));
  ASSERT_FALSE(client.feed(wire_reply(first, "much too late").bytes() + wire_reply(second, "good").bytes() +
                           wire_reply(second, "again").bytes() + wire_reply(77, "never asked").bytes()));
  const std::vector<Seen> seen = client.take();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].body, "good");
  EXPECT_EQ(seen[0].call, 4u);
}

TEST(Session, TheLargeAnswerOfACancelledCallIsDroppedWhileItComesIn) {
  Methods methods;
  Peer client(Side::client);
  const std::uint64_t first = send(client, request(methods.hello, 4));
  const std::string late = wire_reply(first, std::string(200 << 10, 'l')).bytes();
  ASSERT_FALSE(client.feed(late.substr(0, 100 << 10)));
  Frame cancel = plain(FrameKind::cancel, 4);
  ASSERT_TRUE(client.session.send(cancel).ok());
  const std::uint64_t second = send(client, request(methods.hello, 4));
  ASSERT_FALSE(client.feed(late.substr(100 << 10)));
  EXPECT_TRUE(client.take().empty());
  ASSERT_FALSE(client.feed(wire_reply(second).bytes()));
  EXPECT_EQ(client.take().size(), 1u);
}

TEST(Session, OneWayIsAnsweredAndTheAnswerDropped) {
  Pair pair;
  Frame frame = request(pair.hello, 6, "tell");
  frame.one_way = true;
  ASSERT_TRUE(pair.client.session.send(frame).ok());
  ASSERT_FALSE(pair.to_server());
  const std::vector<Seen> asked = pair.server.take();
  ASSERT_EQ(asked.size(), 1u);
  Frame next = request(pair.hello, 6, "ask");  // core uses the number at once
  ASSERT_TRUE(pair.client.session.send(next).ok());
  Frame reply = response(asked[0].call, "dropped");
  ASSERT_TRUE(pair.server.session.send(reply).ok());
  ASSERT_FALSE(pair.to_client());
  EXPECT_TRUE(pair.client.take().empty());
  ASSERT_FALSE(pair.to_server());
  Frame answer = response(pair.server.take().at(0).call, "answer");
  ASSERT_TRUE(pair.server.session.send(answer).ok());
  ASSERT_FALSE(pair.to_client());
  EXPECT_EQ(pair.client.take().at(0).body, "answer");
}

TEST(Session, TheAnswerToOneWayIsDroppedThoughItsNumberRests) {
  Methods methods;
  Peer client(Side::client);
  Frame frame = request(methods.hello, 6, "tell");
  frame.one_way = true;
  const std::uint64_t id = send(client, std::move(frame));
  const Wire refusal{.type = 1, .status = 1, .id = id, .metadata = "M_e\n{\"errcode\":500}"};
  ASSERT_FALSE(
      client.feed(refusal.bytes() + wire_reply(id).bytes() + wire_reply(id, std::string(5u << 20, 'x')).bytes()));
  EXPECT_TRUE(client.take().empty());
}

TEST(Heartbeats, AreAnsweredInTheAskersStyle) {
  struct Row {
    unsigned type, serializer, answer;
  };
  for (const Row& row : {Row{0x10, 1, 0x11}, Row{0x12, 6, 0x13}, Row{0x10, 0, 0x11}, Row{0x12, 31, 0x13}}) {
    Peer server(Side::server);
    // A body or metadata make no difference.
    for (const char* extra : {"", "extra"}) {
      const Wire ping{.type = row.type,
                      .serializer = row.serializer,
                      .id = 0x8000'0000'0000'004D,
                      .metadata = extra,
                      .body = extra};
      ASSERT_FALSE(server.feed(ping.bytes()));
      const std::vector<Seen> seen = server.take();
      ASSERT_EQ(seen.size(), 1u);
      EXPECT_EQ(seen[0].kind, FrameKind::ping);
      const Wire pong{.type = row.answer, .serializer = row.serializer, .id = ping.id};
      EXPECT_EQ(server.drain(), pong.bytes());
    }
  }
}

// As core does.
class Ponger : public FrameSink {
 public:
  explicit Ponger(Session& session) : session_(session) {}
  void on_frame(Frame& frame) override {
    ASSERT_EQ(frame.kind, FrameKind::ping);
    frame.kind = FrameKind::pong;
    ASSERT_TRUE(session_.send(frame).ok());
  }

 private:
  Session& session_;
};

TEST(Heartbeats, AreAnsweredOnceWhoeverAnswers) {
  Peer server(Side::server);
  Ponger sink(server.session);
  const std::string ping = Wire{.type = 0x12, .id = 3}.bytes();
  ASSERT_TRUE(server.session.received(ping + ping, sink).ok());
  EXPECT_EQ(Wire::all(server.drain()).size(), 2u);
}

// A server that has too much to write takes one request at a time.
TEST(Requests, AreGivenOneByOneToASinkThatHasEnough) {
  struct Full : Recorder {
    void on_frame(Frame& frame) override {
      Recorder::on_frame(frame);
      enough_ = true;
    }
    void go_on() { enough_ = false; }
  } sink;
  Methods methods;
  Peer client(Side::client);
  Peer server(Side::server);
  for (std::uint32_t call : {1u, 2u, 3u}) {
    Frame sent = request(methods.hello, call);
    ASSERT_TRUE(client.session.send(sent).ok());
  }
  std::string bytes = client.drain();
  for (std::size_t expected = 1; expected <= 3; ++expected) {
    sink.go_on();
    const auto taken = server.session.received(bytes, sink);
    ASSERT_TRUE(taken.ok()) << taken.error().text();
    ASSERT_EQ(sink.seen.size(), expected);
    bytes.erase(0, *taken);
  }
  EXPECT_TRUE(bytes.empty());
}

TEST(Heartbeats, OfClientsInBothStyles) {
  for (const bool java : {true, false}) {
    Methods methods;
    Peer client(Side::client, {}, {.heartbeat = java ? HeartbeatStyle::java : HeartbeatStyle::go});
    Frame ping = plain(FrameKind::ping);
    ASSERT_TRUE(client.session.send(ping).ok());
    ASSERT_TRUE(client.session.send(ping).ok());
    const std::vector<Wire> sent = Wire::all(client.drain());
    ASSERT_EQ(sent.size(), 2u);
    EXPECT_NE(sent[0].id, sent[1].id);
    for (const Wire& one : sent) {
      EXPECT_EQ(one.type, java ? 0x10u : 0x12u);
      EXPECT_EQ(one.serializer, java ? 1u : 6u);
      EXPECT_EQ(one.bytes().size(), 21u);
    }
    const std::uint64_t call = send(client, request(methods.hello, 1));
    // In either style, or as the ordinary error of a server whose pool is full.
    const Wire answers[] = {
        {.type = 0x11, .serializer = 1, .id = sent[0].id},
        {.type = 0x13, .id = sent[1].id},
        {.type = 0x01,
         .status = 1,
         .serializer = 0,
         .id = sent[1].id,
         .metadata = "M_pt\n0\nM_e\n{\"errcode\":10002,\"errtype\":1,\"errmsg\":\"process thread pool is full\"}"}};
    for (const Wire& answer : answers) {
      ASSERT_FALSE(client.feed(answer.bytes()));
      const std::vector<Seen> seen = client.take();
      ASSERT_EQ(seen.size(), 1u);
      EXPECT_EQ(seen[0].kind, FrameKind::pong);
    }
    ASSERT_FALSE(client.feed(wire_reply(call).bytes()));
    EXPECT_EQ(client.take().at(0).kind, FrameKind::response) << "calls are not touched by that";
  }
}

TEST(Heartbeats, GoOnlyFromClientToServer) {
  Peer client(Side::client);
  Peer server(Side::server);
  Frame pong = plain(FrameKind::pong);
  Frame ping = plain(FrameKind::ping);
  EXPECT_FALSE(client.session.send(pong).ok());
  EXPECT_FALSE(server.session.send(ping).ok()) << "Motan's clients do not read requests";
  EXPECT_EQ(client.session.unwritten() + server.session.unwritten(), 0u);
}

TEST(Close, AClientSendsNothingNewAndReadsWhatIsLeft) {
  Pair pair;
  Frame first = request(pair.hello, 1);
  ASSERT_TRUE(pair.client.session.send(first).ok());
  pair.client.session.close(Error(Errc::unavailable, "done"));
  Frame second = request(pair.hello, 2);
  const Result<void> refused = pair.client.session.send(second);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Errc::unavailable);
  EXPECT_EQ(refused.error().delivery(), Delivery::not_run);
  ASSERT_FALSE(pair.to_server());
  pair.server.session.close(Error(Errc::unavailable, "stopping"));
  EXPECT_EQ(pair.server.session.unwritten(), 0u) << "there is no goodbye on this wire";
  Frame reply = response(pair.server.take().at(0).call);
  ASSERT_TRUE(pair.server.session.send(reply).ok());
  ASSERT_FALSE(pair.to_client());
  EXPECT_EQ(pair.client.take().size(), 1u);
}

TEST(Session, SaysNothingFirstAndHasNoClock) {
  for (const Side side : {Side::client, Side::server}) {
    Peer peer(side);
    EXPECT_EQ(peer.session.unwritten(), 0u);
    EXPECT_EQ(peer.session.next_deadline(), never);
    EXPECT_TRUE(peer.session.tick(TimePoint{}).ok());
    EXPECT_TRUE(peer.session.accepts("gzip"));
    EXPECT_FALSE(peer.session.accepts("zstd"));
    EXPECT_EQ(peer.session.max_concurrent(), Limits{}.max_concurrent);
  }
}

TEST(Session, RefusesWhatTheWireCannotSay) {
  Pair pair;
  Frame frame = request(pair.hello, 1);
  ASSERT_TRUE(pair.client.session.send(frame).ok());
  ASSERT_FALSE(pair.to_server());
  const auto refuses = [](Peer& peer, Frame what, std::string_view about) {
    const Result<void> done = peer.session.send(what);
    ASSERT_FALSE(done.ok()) << about;
    EXPECT_EQ(done.error().code(), Errc::invalid_argument) << done.error().text();
    EXPECT_EQ(done.error().delivery(), Delivery::not_run);
    EXPECT_NE(done.error().text().find(about), std::string::npos) << done.error().text();
    EXPECT_EQ(peer.session.unwritten(), 0u);
  };
  for (const FrameKind kind : {FrameKind::message, FrameKind::end, FrameKind::credit}) {
    refuses(pair.client, plain(kind), "streams");
    refuses(pair.server, plain(kind), "streams");
  }
  refuses(pair.server, request(pair.hello, 1), "server");
  refuses(pair.client, response(1), "not open");
  refuses(pair.client, failure(1, Error(Errc::internal, "x")), "not open");
  refuses(pair.server, response(1), "not open");
  refuses(pair.client, plain(FrameKind::request), "without a target");
  Frame unnamed = request(pair.hello, 2);
  unnamed.serializer = "cbor";
  refuses(pair.client, std::move(unnamed), "\"cbor\" has no number");
  Frame squeezed = request(pair.hello, 2);
  squeezed.compressor = "zstd";
  refuses(pair.client, std::move(squeezed), "not gzip");
  Frame other = response(0);
  other.serializer = "cbor";
  refuses(pair.server, std::move(other), "\"cbor\" has no number");
  Frame zstd = response(0);
  zstd.compressor = "zstd";
  refuses(pair.server, std::move(zstd), "not gzip");
  Frame fine = response(0);
  EXPECT_TRUE(pair.server.session.send(fine).ok());
}

}  // namespace
}  // namespace tenon::motan2::test
