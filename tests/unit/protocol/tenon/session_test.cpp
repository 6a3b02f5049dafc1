// What a correct pair of peers does, whatever way the bytes are cut.
#include <gtest/gtest.h>

#include "pair.hpp"
#include "protocol.hpp"

namespace tenon::wire::test {
namespace {

const std::string int64_body("\x08\xd2\x85\xd8\xcc\x04", 6);  // field 1, 1234567890

TEST(Sniff, TellsItFromOthers) {
  TenonProtocol protocol;
  EXPECT_EQ(protocol.sniff(""), Protocol::Match::more);
  EXPECT_EQ(protocol.sniff("\x89"), Protocol::Match::more);
  EXPECT_EQ(protocol.sniff(magic), Protocol::Match::yes);
  EXPECT_EQ(protocol.sniff(std::string(magic) + "rest"), Protocol::Match::yes);
  for (const std::string_view other : {"GET / HTTP/1.1", "PRI * HTTP/2.0", "\x16\x03\x01", "\xf1\xf1\x00", "TENON"})
    EXPECT_EQ(protocol.sniff(other), Protocol::Match::no) << other;
}

TEST(Check, RefusesNamesThatDoNotFit) {
  TenonProtocol protocol;
  EXPECT_TRUE(protocol.check({.serializer = "json", .compressor = "gzip", .streams = true}).ok());
  const std::string name(max_name + 1, 'n');
  Result<void> refused = protocol.check({.serializer = "json", .compressor = name});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Errc::config);
}

TEST(Size, WarmCallTakes12And9Bytes) {
  Pair pair;
  for (std::uint32_t call : {1u, 127u}) {
    Frame first = request(pair.hello, call, int64_body);
    ASSERT_TRUE(pair.client.session.send(first).ok());
    const std::string sent = pair.client.drain();
    if (call == 127) {
      EXPECT_EQ(sent.size(), 12u);
    }
    ASSERT_FALSE(pair.server.feed(sent));
    ASSERT_EQ(pair.server.sink.seen.size(), 1u);
    EXPECT_EQ(pair.server.sink.seen[0].token, 1u);
    EXPECT_EQ(pair.server.take()[0].remaining, 1s);
    Frame reply = response(call, int64_body);
    ASSERT_TRUE(pair.server.session.send(reply).ok());
    const std::string answered = pair.server.drain();
    EXPECT_EQ(answered.size(), 9u);
    ASSERT_FALSE(pair.client.feed(answered));
    EXPECT_EQ(pair.client.take().at(0).body, int64_body);
  }
}

TEST(Request, CarriesEverything) {
  Pair pair;
  Frame sent = request(pair.hello, 70000, "body", 1500us);
  sent.compressor = "gzip";
  sent.headers = Headers{{"k", "v"}, {"empty", ""}};
  ASSERT_TRUE(pair.client.session.send(sent).ok());
  ASSERT_FALSE(pair.to_server());
  const Seen got = pair.server.take().at(0);
  EXPECT_EQ(got.text(),
            "0 call 70000 token 1 yf-demo/demo.Greeter:1.0.SayHello protobuf+gzip 2000000 [k=v;empty=;] "
            "body 4:body");
}

TEST(Request, RemainingTimeIsRoundedUpAndNeverBecomesNone) {
  Pair pair;
  const std::pair<Duration, Duration> cases[] = {
      {0ns, 0ns}, {1ns, 1ms},       {-5s, 1ms},
      {1ms, 1ms}, {1ms + 1ns, 2ms}, {Duration::max(), Duration(std::chrono::milliseconds(max_remaining_ms))}};
  std::uint32_t call = 0;
  for (const auto& [given, expected] : cases) {
    Frame sent = request(pair.hello, call++, "", given);
    ASSERT_TRUE(pair.client.session.send(sent).ok());
    ASSERT_FALSE(pair.to_server());
    EXPECT_EQ(pair.server.take().at(0).remaining, expected);
  }
}

TEST(Request, MayFollowThePrefaceAtOnce) {
  Methods methods;
  Peer client(Side::client);
  Peer server(Side::server);
  Frame sent = request(methods.hello, 1, "early");
  ASSERT_TRUE(client.session.send(sent).ok());
  ASSERT_FALSE(server.feed(client.drain()));
  ASSERT_EQ(server.sink.seen.size(), 1u);
  EXPECT_EQ(server.sink.seen[0].body, "early");
}

TEST(Request, OneWayIsNotAnsweredAndNotCounted) {
  Pair pair({.max_concurrent = 1}, {});
  for (std::uint32_t call = 0; call < 5; ++call) {
    Frame sent = request(pair.hello, call, "x");
    sent.one_way = true;
    ASSERT_TRUE(pair.client.session.send(sent).ok());
  }
  ASSERT_FALSE(pair.to_server());
  ASSERT_EQ(pair.server.sink.seen.size(), 5u);
  EXPECT_TRUE(pair.server.sink.seen[4].one_way);
  Frame reply = response(4, "no");
  EXPECT_EQ(pair.server.session.send(reply).error().code(), Errc::invalid_argument);
  EXPECT_EQ(pair.server.session.unwritten(), 0u);
}

TEST(Response, OtherSerializerOrCompressorIsSaid) {
  Pair pair;
  for (std::uint32_t call : {1u, 2u, 3u}) {
    Frame sent = request(pair.hello, call, "");
    ASSERT_TRUE(pair.client.session.send(sent).ok());
  }
  ASSERT_FALSE(pair.to_server());
  Frame same = response(1, "a");
  same.serializer = "";
  Frame packed = response(2, "b");
  packed.compressor = "gzip";
  Frame other = response(3, "c");
  other.serializer = "json";
  other.headers = Headers{{"h", "1"}};
  for (Frame* frame : {&same, &packed, &other}) ASSERT_TRUE(pair.server.session.send(*frame).ok());
  ASSERT_FALSE(pair.to_client());
  const auto got = pair.client.take();
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[0].serializer + "+" + got[0].compressor, "protobuf+");
  EXPECT_EQ(got[1].serializer + "+" + got[1].compressor, "protobuf+gzip");
  EXPECT_EQ(got[2].serializer + "+" + got[2].compressor, "json+");
  EXPECT_EQ(*got[2].headers.find("h"), "1");
}

TEST(ErrorFrame, CarriesEverything) {
  Pair pair;
  Frame sent = request(pair.hello, 9, "");
  ASSERT_TRUE(pair.client.session.send(sent).ok());
  ASSERT_FALSE(pair.to_server());
  Error error(Errc::overloaded, "queue is full", Delivery::not_run);
  error.advise(Advice::after, 1500ms);
  error.foreign("motan", -10013);
  error.attach(Headers{{"node", "n1"}});
  Frame reply = failure(9, error);
  ASSERT_TRUE(pair.server.session.send(reply).ok());
  ASSERT_FALSE(pair.to_client());
  const Seen got = pair.client.take().at(0);
  EXPECT_EQ(got.error.code(), Errc::overloaded);
  EXPECT_EQ(got.error.delivery(), Delivery::not_run);
  EXPECT_EQ(got.error.advice(), Advice::after);
  EXPECT_EQ(got.error.retry_after(), 1500ms);
  EXPECT_EQ(got.error.domain(), "motan");
  EXPECT_EQ(got.error.foreign_code(), -10013);
  EXPECT_EQ(got.error.text(), "queue is full");
  ASSERT_TRUE(got.error.headers());
  EXPECT_EQ(*got.error.headers()->find("node"), "n1");
  EXPECT_FALSE(got.resend);
}

TEST(ErrorFrame, LongTextIsCutAndLargeHeadersAreLeftOut) {
  Pair pair({.max_headers = 100}, {});
  Frame sent = request(pair.hello, 1, "");
  ASSERT_TRUE(pair.client.session.send(sent).ok());
  ASSERT_FALSE(pair.to_server());
  Error error(Errc::internal, std::string(max_text - 100, 'a') + std::string(300, '\xa9'));
  error.attach(Headers{{"big", std::string(200, 'x')}});
  Frame reply = failure(1, error);
  ASSERT_TRUE(pair.server.session.send(reply).ok());
  ASSERT_FALSE(pair.to_client());
  const Seen got = pair.client.take().at(0);
  EXPECT_LE(got.error.text().size(), max_text);
  EXPECT_NE(got.error.text().find("headers left out"), std::string::npos);
  EXPECT_EQ(got.error.headers(), nullptr);
}

TEST(Cancel, ReachesOnlyAnOpenCall) {
  Pair pair;
  Frame cancel = plain(FrameKind::cancel, 5);
  ASSERT_TRUE(pair.client.session.send(cancel).ok());
  EXPECT_EQ(pair.client.session.unwritten(), 0u);  // nothing to cancel
  Frame sent = request(pair.hello, 5, "");
  ASSERT_TRUE(pair.client.session.send(sent).ok());
  ASSERT_TRUE(pair.client.session.send(cancel).ok());
  ASSERT_FALSE(pair.to_server());
  ASSERT_EQ(pair.server.sink.seen.size(), 2u);
  EXPECT_EQ(pair.server.take()[1].kind, FrameKind::cancel);
  // The answer and a second cancel cross.
  ASSERT_TRUE(pair.client.session.send(cancel).ok());
  Frame reply = failure(5, Error(Errc::cancelled, "cancelled", Delivery::ran));
  ASSERT_TRUE(pair.server.session.send(reply).ok());
  ASSERT_FALSE(pair.to_server());
  EXPECT_TRUE(pair.server.sink.seen.empty());
  ASSERT_FALSE(pair.to_client());
  EXPECT_EQ(pair.client.take().at(0).error.code(), Errc::cancelled);
}

TEST(Ping, IsAnsweredOnceWithItsOwnBytes) {
  Pair pair;
  Frame ping = plain(FrameKind::ping, 0x01020304);
  ASSERT_TRUE(pair.client.session.send(ping).ok());
  Frame opaque = plain(FrameKind::ping);
  opaque.body = "\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8";
  ASSERT_TRUE(pair.client.session.send(opaque).ok());
  ASSERT_FALSE(pair.to_server());
  EXPECT_EQ(pair.server.sink.seen.size(), 2u);
  ASSERT_FALSE(pair.to_client());
  const auto got = pair.client.take();
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].kind, FrameKind::pong);
  EXPECT_EQ(got[0].call, 0x01020304u);
  EXPECT_EQ(got[1].body, opaque.body);
}

TEST(Ping, SinkMayAnswerItself) {
  struct Answering : FrameSink {
    Session* session = nullptr;
    void on_frame(Frame& frame) override {
      frame.kind = FrameKind::pong;
      EXPECT_TRUE(session->send(frame).ok());
    }
  } sink;
  Pair pair;
  sink.session = &pair.server.session;
  Frame ping = plain(FrameKind::ping, 77);
  ASSERT_TRUE(pair.client.session.send(ping).ok());
  ASSERT_TRUE(pair.server.session.received(pair.client.drain(), sink).ok());
  EXPECT_EQ(pair.server.session.unwritten(), 10u);
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
  Pair pair;
  std::string bytes;
  for (std::uint32_t call : {1u, 2u, 3u}) {
    const std::string body = "body " + std::to_string(call);
    Frame sent = request(pair.hello, call, body);
    ASSERT_TRUE(pair.client.session.send(sent).ok());
  }
  bytes = pair.client.drain();
  for (std::size_t expected = 1; expected <= 3; ++expected) {
    sink.go_on();
    const auto taken = pair.server.session.received(bytes, sink);
    ASSERT_TRUE(taken.ok()) << taken.error().text();
    ASSERT_EQ(sink.seen.size(), expected);
    EXPECT_EQ(sink.seen.back().body, "body " + std::to_string(expected));
    bytes.erase(0, *taken);
  }
  EXPECT_TRUE(bytes.empty());
}

TEST(Goaway, UnreadRequestsAreProvenNotRunAndOthersAreAnswered) {
  Pair pair;
  for (std::uint32_t call : {7u, 3u}) {
    Frame sent = request(pair.hello, call, "read");
    ASSERT_TRUE(pair.client.session.send(sent).ok());
  }
  ASSERT_FALSE(pair.to_server());
  for (std::uint32_t call : {1u, 9u}) {
    Frame sent = request(pair.hello, call, "not read in time");
    ASSERT_TRUE(pair.client.session.send(sent).ok());
  }
  pair.server.session.close(Error(Errc::unavailable, "going down for maintenance"));
  pair.server.take();
  ASSERT_FALSE(pair.to_server());
  EXPECT_TRUE(pair.server.sink.seen.empty());  // dropped, the client is told
  Frame reply = response(7, "still answered");
  ASSERT_TRUE(pair.server.session.send(reply).ok());
  ASSERT_FALSE(pair.to_client());
  auto got = pair.client.take();
  ASSERT_EQ(got.size(), 4u);
  EXPECT_EQ(got[0].kind, FrameKind::goaway);
  EXPECT_EQ(got[0].call, 0xFFFFFFFFu);
  EXPECT_EQ(got[0].error.text(), "going down for maintenance");
  EXPECT_EQ(got[1].call + got[2].call, 10u);
  for (int i : {1, 2}) {
    EXPECT_EQ(got[i].error.code(), Errc::unavailable);
    EXPECT_EQ(got[i].error.delivery(), Delivery::not_run);
  }
  EXPECT_EQ(got[3].body, "still answered");
  Frame late = request(pair.hello, 20, "");
  Result<void> refused = pair.client.session.send(late);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Errc::unavailable);
  EXPECT_EQ(refused.error().delivery(), Delivery::not_run);
  EXPECT_EQ(pair.client.session.unwritten(), 0u);
}

TEST(Goaway, ClosedClientRefusesToSend) {
  Pair pair;
  pair.client.session.close(Error(Errc::cancelled, "done"));
  pair.client.session.close(Error(Errc::cancelled, "done"));
  Frame sent = request(pair.hello, 1, "");
  EXPECT_EQ(pair.client.session.send(sent).error().delivery(), Delivery::not_run);
  ASSERT_FALSE(pair.to_server());
  ASSERT_EQ(pair.server.sink.seen.size(), 1u);
  EXPECT_EQ(pair.server.sink.seen[0].kind, FrameKind::goaway);
}

TEST(Limits, ConcurrentIsTheLesserOfBoth) {
  Pair pair({.max_concurrent = 10}, {.max_concurrent = 2});
  EXPECT_EQ(pair.client.session.max_concurrent(), 2u);
  for (std::uint32_t call : {1u, 2u}) {
    Frame sent = request(pair.hello, call, "");
    ASSERT_TRUE(pair.client.session.send(sent).ok());
  }
  Frame third = request(pair.hello, 3, "");
  const std::size_t before = pair.client.session.unwritten();
  Result<void> refused = pair.client.session.send(third);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Errc::overloaded);
  EXPECT_EQ(refused.error().delivery(), Delivery::not_run);
  EXPECT_EQ(pair.client.session.unwritten(), before);
  // The number comes free with the answer.
  ASSERT_FALSE(pair.to_server());
  Frame reply = response(1, "");
  ASSERT_TRUE(pair.server.session.send(reply).ok());
  ASSERT_FALSE(pair.to_client());
  EXPECT_TRUE(pair.client.session.send(third).ok());
}

TEST(Limits, ServerRefusesMoreThanItsConcurrent) {
  Methods methods;
  Peer client(Side::client);
  Peer server(Side::server, {.max_concurrent = 1});
  for (std::uint32_t call : {1u, 2u}) {  // sent before the server's limit is known
    Frame sent = request(methods.hello, call, "");
    ASSERT_TRUE(client.session.send(sent).ok());
  }
  ASSERT_FALSE(server.feed(client.drain()));
  EXPECT_EQ(server.sink.seen.size(), 1u);
  ASSERT_FALSE(client.feed(server.drain()));
  ASSERT_EQ(client.sink.seen.size(), 1u);
  EXPECT_EQ(client.sink.seen[0].call, 2u);
  EXPECT_EQ(client.sink.seen[0].error.code(), Errc::overloaded);
  EXPECT_EQ(client.sink.seen[0].error.delivery(), Delivery::not_run);
}

TEST(Handshake, HasALimitArmedByTheFirstTick) {
  for (const Side side : {Side::client, Side::server}) {
    Peer peer(side);
    const TimePoint start{1000s};
    EXPECT_LE(peer.session.next_deadline(), start);
    ASSERT_TRUE(peer.session.tick(start).ok());
    EXPECT_EQ(peer.session.next_deadline(), start + 5s);
    EXPECT_TRUE(peer.session.tick(start + 4999ms).ok());
    Result<void> late = peer.session.tick(start + 5s);
    ASSERT_FALSE(late.ok());
    EXPECT_EQ(late.error().code(), Errc::deadline_exceeded);
  }
  Pair pair;
  EXPECT_EQ(pair.client.session.next_deadline(), never);
  EXPECT_TRUE(pair.client.session.tick(TimePoint{1000s}).ok());
}

}  // namespace
}  // namespace tenon::wire::test
