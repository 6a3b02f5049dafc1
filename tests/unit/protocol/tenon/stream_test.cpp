// Streams: head, messages, end; credit on both sides; cancel; trailers and failures.
#include <gtest/gtest.h>

#include "pair.hpp"

namespace tenon::wire::test {
namespace {

TEST(Stream, HeadMessagesAndEnd) {
  Pair pair;
  Frame asked = request(pair.hello, 7, "ask");
  asked.stream = true;
  ASSERT_TRUE(pair.client.session.send(asked).ok());
  ASSERT_FALSE(pair.to_server());
  EXPECT_TRUE(pair.server.take().at(0).stream);
  EXPECT_EQ(pair.server.session.credit(7), 256 << 10);

  Frame first = head(7);
  first.headers = Headers{{"h", "1"}};
  ASSERT_TRUE(pair.server.session.send(first).ok());
  Frame one = message(7, "one");
  Frame packed = message(7, "two");
  packed.compressor = "gzip";
  packed.attachment = attached("beside");
  Frame empty = message(7, "");
  Frame last = end(7);
  last.headers = Headers{{"t", "2"}};
  for (Frame* frame : {&one, &packed, &empty, &last}) ASSERT_TRUE(pair.server.session.send(*frame).ok());
  ASSERT_FALSE(pair.to_client());
  const auto got = pair.client.take();
  ASSERT_EQ(got.size(), 5u);
  EXPECT_EQ(got[0].kind, FrameKind::response);
  EXPECT_TRUE(got[0].stream);
  EXPECT_EQ(*got[0].headers.find("h"), "1");
  EXPECT_EQ(got[1].kind, FrameKind::message);
  EXPECT_EQ(got[1].body + got[1].serializer + got[1].compressor, "oneprotobuf");
  EXPECT_EQ(got[2].body + got[2].serializer + got[2].compressor + got[2].attachment, "twoprotobufgzipbeside");
  EXPECT_EQ(got[3].body, "");
  EXPECT_EQ(got[4].kind, FrameKind::end);
  EXPECT_FALSE(got[4].error);
  EXPECT_EQ(*got[4].headers.find("t"), "2");

  // The number is free on both sides.
  Frame again = request(pair.hello, 7, "plain");
  ASSERT_TRUE(pair.client.session.send(again).ok());
  ASSERT_FALSE(pair.to_server());
  EXPECT_FALSE(pair.server.take().at(0).stream);
  Frame reply = response(7, "yes");
  ASSERT_TRUE(pair.server.session.send(reply).ok());
  ASSERT_FALSE(pair.to_client());
  EXPECT_EQ(pair.client.take().at(0).body, "yes");
}

TEST(Stream, PlainResponseOrErrorInsteadOfAHead) {
  Pair pair;
  for (std::uint32_t call : {1u, 2u}) {
    Frame asked = request(pair.hello, call, "");
    asked.stream = true;
    ASSERT_TRUE(pair.client.session.send(asked).ok());
  }
  ASSERT_FALSE(pair.to_server());
  Frame reply = response(1, "no stream");
  ASSERT_TRUE(pair.server.session.send(reply).ok());
  Frame refused = failure(2, Error(Errc::not_found, "no such thing"));
  ASSERT_TRUE(pair.server.session.send(refused).ok());
  ASSERT_FALSE(pair.to_client());
  const auto got = pair.client.take();
  ASSERT_EQ(got.size(), 2u);
  EXPECT_FALSE(got[0].stream);
  EXPECT_EQ(got[0].body, "no stream");
  EXPECT_EQ(got[1].kind, FrameKind::error);
  for (std::uint32_t call : {1u, 2u}) {
    Frame late = credit(call, 5);
    EXPECT_TRUE(pair.client.session.send(late).ok());  // nothing to give it to
    EXPECT_EQ(pair.server.session.credit(call), 0);
  }
  EXPECT_EQ(pair.client.session.unwritten(), 0u);
}

TEST(Stream, FailsWithAnEndOrAnError) {
  for (const bool by_end : {true, false}) {
    Pair pair;
    pair.open_stream(3);
    Frame one = message(3, "one");
    ASSERT_TRUE(pair.server.session.send(one).ok());
    Error error(Errc::application, "half way", Delivery::ran);
    error.foreign("app", 5);
    Frame last = by_end ? end(3, error) : failure(3, error);
    if (by_end) last.headers = Headers{{"t", "v"}};
    ASSERT_TRUE(pair.server.session.send(last).ok());
    ASSERT_FALSE(pair.to_client());
    const auto got = pair.client.take();
    ASSERT_EQ(got.size(), 2u);
    EXPECT_EQ(got[1].kind, FrameKind::end);
    EXPECT_EQ(got[1].error.code(), Errc::application);
    EXPECT_EQ(got[1].error.foreign_code(), 5);
    EXPECT_EQ(got[1].headers.empty(), !by_end);
    Frame late = message(3, "late");
    EXPECT_EQ(pair.server.session.send(late).error().code(), Errc::invalid_argument);
    Frame twice = end(3);
    EXPECT_EQ(pair.server.session.send(twice).error().code(), Errc::invalid_argument);
  }
}

TEST(Stream, CreditIsTakenByCostAndGivenBack) {
  Pair pair({.stream_window = 1000});
  pair.open_stream(3);
  Session& server = pair.server.session;
  EXPECT_EQ(server.credit(3), 1000);
  EXPECT_EQ(server.credit(4), 0);
  const std::string body(500, 'x');
  Frame with = message(3, body);
  with.attachment = attached("0123456789");
  ASSERT_TRUE(server.send(with).ok());
  EXPECT_EQ(server.credit(3), 1000 - 574);
  const std::string more(700, 'y');
  Frame over = message(3, more);
  ASSERT_TRUE(server.send(over).ok());  // one may go below 0
  EXPECT_EQ(server.credit(3), 426 - 764);
  const std::size_t before = server.unwritten();
  Frame none = message(3, "");
  Result<void> refused = server.send(none);
  EXPECT_EQ(refused.error().code(), Errc::invalid_argument);
  EXPECT_EQ(refused.error().delivery(), Delivery::not_run);
  EXPECT_EQ(server.unwritten(), before);
  ASSERT_FALSE(pair.to_client());
  EXPECT_EQ(pair.client.take().size(), 2u);
  Frame give = credit(3, 338);
  ASSERT_TRUE(pair.client.session.send(give).ok());
  ASSERT_FALSE(pair.to_server());
  EXPECT_EQ(pair.server.take().at(0).credit, 338u);
  EXPECT_EQ(server.credit(3), 0);
  EXPECT_FALSE(server.send(none).ok());
  give.credit = 1;
  ASSERT_TRUE(pair.client.session.send(give).ok());
  ASSERT_FALSE(pair.to_server());
  EXPECT_TRUE(server.send(none).ok());
  ASSERT_FALSE(pair.to_client());
}

TEST(Stream, EmptyMessagesAreBoundedToo) {
  Pair pair({.stream_window = 640});
  pair.open_stream(3);
  for (int i = 0; i < 10; ++i) {
    Frame none = message(3, "");
    ASSERT_TRUE(pair.server.session.send(none).ok());
  }
  Frame none = message(3, "");
  EXPECT_FALSE(pair.server.session.send(none).ok());
  EXPECT_EQ(pair.server.session.credit(3), 0);
}

TEST(Stream, MoreThanTheCreditEndsTheConnection) {
  Pair pair({.stream_window = 200});
  pair.open_stream(3);
  const std::string sent = framed(bytes({8, 3}) + std::string(100, 'm'));
  ASSERT_FALSE(pair.client.feed(sent));
  ASSERT_FALSE(pair.client.feed(sent));  // 36 left: one more, of any size
  const Error error = pair.client.feed(sent);
  EXPECT_EQ(error.code(), Errc::malformed);
  EXPECT_NE(error.text().find("credit"), std::string::npos) << error.text();
  EXPECT_GT(pair.client.session.unwritten(), 10u);  // and the server is told
}

TEST(Stream, WithoutAWindowNothingComesBeforeCredit) {
  Pair pair({.stream_window = 0});
  pair.open_stream(3);
  EXPECT_EQ(pair.server.session.credit(3), 0);
  Frame give = credit(3, 10);
  ASSERT_TRUE(pair.client.session.send(give).ok());
  ASSERT_FALSE(pair.to_server());
  Frame one = message(3, "one");
  ASSERT_TRUE(pair.server.session.send(one).ok());
  ASSERT_FALSE(pair.to_client());
  EXPECT_EQ(pair.client.take().at(0).body, "one");
}

TEST(Stream, WindowsHaveAnUpperBound) {
  Pair pair({.stream_window = 0xFFFFFFFFu});
  pair.open_stream(3);
  EXPECT_EQ(pair.server.session.credit(3), max_initial_window);
  Frame give = credit(3, 0xFFFFFFFFu);
  int given = 0;
  while (pair.client.session.send(give).ok()) ++given;
  EXPECT_EQ(given, 255);  // 2^30 + 255 · (2^32 − 1) is below 2^40
  ASSERT_FALSE(pair.to_server());
  const Error error = pair.server.feed(framed(bytes({10, 3}) + varint(0xFFFFFFFFu)));
  EXPECT_EQ(error.code(), Errc::malformed);
}

TEST(Stream, HostileCredit) {
  for (const std::string& fields : {bytes({10, 3, 0}), bytes({10, 3}), bytes({10, 3, 1, 1}),
                                    bytes({10, 3}) + varint(std::uint64_t{1} << 32), bytes({10, 4, 1})}) {
    Pair pair;
    pair.open_stream(3);
    Frame plain_call = request(pair.hello, 4, "");
    ASSERT_TRUE(pair.client.session.send(plain_call).ok());
    ASSERT_FALSE(pair.to_server());
    EXPECT_EQ(pair.server.feed(framed(fields)).code(), Errc::malformed);
  }
  Pair pair;
  EXPECT_FALSE(pair.server.feed(framed(bytes({10, 9, 1}))));  // over, or never asked
  EXPECT_TRUE(pair.server.sink.seen.empty());
}

TEST(Stream, HostileAnswers) {
  const std::string failed = bytes({3, 0, 0, 0, 0, 0});
  for (const std::string& fields : {
           bytes({8, 1}) + "m",              // a message of a plain call
           bytes({8, 2}) + "m",              // before the head
           bytes({8, 9}) + "m",              // never asked
           bytes({9, 1}), bytes({9, 2}),     // ends of the same
           bytes({9, 9}), bytes({0x42, 1}),  // a head nobody asked for
           bytes({0x42, 3}), bytes({2, 3}),  // a second answer
           bytes({9, 3, 1}),                 // bytes behind an end
           bytes({0x19, 3}),                 // a failure that is not there
           bytes({0x29, 3, 1, 1, 0}),        // trailers that go to the dictionary
           bytes({0x29, 3, 2}),              // … or come from it
           bytes({0x88, 3, 5}) + "1234",     // an attachment larger than the frame
           bytes({0x28, 3}),                 // flags a message does not have
       }) {
    Pair pair;
    Frame one = request(pair.hello, 1, "");
    Frame two = request(pair.hello, 2, "");
    two.stream = true;
    for (Frame* frame : {&one, &two}) ASSERT_TRUE(pair.client.session.send(*frame).ok());
    pair.open_stream(3);
    EXPECT_EQ(pair.client.feed(framed(fields)).code(), Errc::malformed);
  }
}

TEST(Stream, CancelEndsItWithAnAnswer) {
  Pair pair;
  pair.open_stream(3);
  Frame one = message(3, "under way");
  ASSERT_TRUE(pair.server.session.send(one).ok());
  Frame cancel = plain(FrameKind::cancel, 3);
  ASSERT_TRUE(pair.client.session.send(cancel).ok());
  ASSERT_FALSE(pair.to_server());
  EXPECT_EQ(pair.server.take().at(0).kind, FrameKind::cancel);
  Frame last = end(3, Error(Errc::cancelled, "given up", Delivery::ran));
  ASSERT_TRUE(pair.server.session.send(last).ok());
  ASSERT_FALSE(pair.to_client());
  const auto got = pair.client.take();
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].body, "under way");
  EXPECT_EQ(got[1].error.code(), Errc::cancelled);
}

TEST(Stream, TrailersBeyondTheLimits) {
  Pair pair({.max_headers = 100});
  pair.open_stream(3);
  Frame last = end(3);
  last.headers = Headers{{"k", std::string(200, 'v')}};
  EXPECT_EQ(pair.server.session.send(last).error().code(), Errc::too_large);
  last.error = Error(Errc::internal, "failed");
  ASSERT_TRUE(pair.server.session.send(last).ok());
  ASSERT_FALSE(pair.to_client());
  const Seen got = pair.client.take().at(0);
  EXPECT_TRUE(got.headers.empty());
  EXPECT_NE(got.error.text().find("left out"), std::string::npos);
}

TEST(Stream, OversizeMessageFailsItWhenTheServerHasEndedIt) {
  Pair pair({.max_frame = 1000});
  pair.open_stream(3);
  const std::string large(1001, 'x');
  Frame refused = message(3, large);
  EXPECT_EQ(pair.server.session.send(refused).error().code(), Errc::too_large);  // it knows
  EXPECT_EQ(pair.server.session.credit(3), 256 << 10);
  // A server that does not care:
  ASSERT_FALSE(pair.client.feed(framed(bytes({8, 3}) + large), 100));
  ASSERT_FALSE(pair.client.feed(framed(bytes({8, 3}) + "dropped")));
  EXPECT_TRUE(pair.client.sink.seen.empty());
  ASSERT_FALSE(pair.to_server());
  EXPECT_EQ(pair.server.take().at(0).kind, FrameKind::cancel);
  Frame give = credit(3, 5);
  EXPECT_TRUE(pair.client.session.send(give).ok());
  EXPECT_EQ(pair.client.session.unwritten(), 0u);
  Frame last = end(3);
  ASSERT_TRUE(pair.server.session.send(last).ok());
  ASSERT_FALSE(pair.to_client());
  const Seen got = pair.client.take().at(0);
  EXPECT_EQ(got.kind, FrameKind::end);
  EXPECT_EQ(got.error.code(), Errc::too_large);
  EXPECT_EQ(got.error.delivery(), Delivery::ran);
}

TEST(Stream, GoawayLeavesOpenStreamsOpen) {
  Pair pair;
  pair.open_stream(3);
  pair.server.session.close(Error(Errc::unavailable, "bye"));
  Frame one = message(3, "still");
  Frame last = end(3);
  for (Frame* frame : {&one, &last}) ASSERT_TRUE(pair.server.session.send(*frame).ok());
  ASSERT_FALSE(pair.to_client());
  const auto got = pair.client.take();
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[1].body, "still");
  EXPECT_EQ(got[2].kind, FrameKind::end);
}

TEST(Stream, MisuseIsRefused) {
  Pair pair;
  Frame quiet = request(pair.hello, 1, "");
  quiet.stream = quiet.one_way = true;
  EXPECT_EQ(pair.client.session.send(quiet).error().code(), Errc::invalid_argument);
  Frame asked = request(pair.hello, 1, "");
  Frame streamed = request(pair.hello, 2, "");
  streamed.stream = true;
  for (Frame* frame : {&asked, &streamed}) ASSERT_TRUE(pair.client.session.send(*frame).ok());
  ASSERT_FALSE(pair.to_server());
  Session& server = pair.server.session;
  Frame not_asked = head(1);
  EXPECT_EQ(server.send(not_asked).error().code(), Errc::invalid_argument);
  Frame early = message(2, "");
  EXPECT_EQ(server.send(early).error().code(), Errc::invalid_argument);
  Frame early_end = end(2);
  EXPECT_EQ(server.send(early_end).error().code(), Errc::invalid_argument);
  Frame first = head(2);
  ASSERT_TRUE(server.send(first).ok());
  Frame second = head(2);
  EXPECT_EQ(server.send(second).error().code(), Errc::invalid_argument);
  Frame reply = response(2, "");
  EXPECT_EQ(server.send(reply).error().code(), Errc::invalid_argument);
  Frame give = credit(2, 1);
  EXPECT_EQ(server.send(give).error().code(), Errc::invalid_argument);
  give.credit = 0;
  EXPECT_EQ(pair.client.session.send(give).error().code(), Errc::invalid_argument);
  Frame other = credit(1, 1);
  EXPECT_EQ(pair.client.session.send(other).error().code(), Errc::invalid_argument);
}

}  // namespace
}  // namespace tenon::wire::test
