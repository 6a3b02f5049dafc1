// Bodies above 32 KiB, and frames above the limits.
#include <gtest/gtest.h>

#include "pair.hpp"

namespace tenon::wire::test {
namespace {

std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 31 + i / 251);
  return text;
}

OutBuffer block(std::string_view bytes) {
  OutBuffer buffer;
  buffer.append(bytes);
  return buffer;
}

TEST(Large, OwnedBodyIsGatheredNotCopied) {
  Pair pair;
  Frame sent = request(pair.hello, 1, "");
  sent.owned = block(pattern(direct_size));
  const char* const where = sent.owned.data();
  ASSERT_TRUE(pair.client.session.send(sent).ok());
  EXPECT_TRUE(sent.owned.empty());
  Gather gather;
  pair.client.session.produce(gather, 1u << 20);
  ASSERT_EQ(gather.parts().size(), 2u);
  EXPECT_EQ(gather.parts()[1].data(), where);
}

TEST(Large, EveryWayOfCutting) {
  const std::string body = pattern(300'000);
  for (const std::size_t chunk :
       {std::size_t{1}, std::size_t{17}, std::size_t{4096}, std::size_t{65536}, std::string::npos}) {
    Pair pair;
    Frame before = request(pair.goodbye, 1, "before");
    Frame sent = request(pair.hello, 2, "");
    sent.headers = Headers{{"k", "v"}};
    sent.owned = block(body);
    Frame view = request(pair.hello, 3, body);  // large, but not ours to take
    Frame after = request(pair.goodbye, 4, "after");
    for (Frame* frame : {&before, &sent, &view, &after}) ASSERT_TRUE(pair.client.session.send(*frame).ok());
    ASSERT_FALSE(pair.to_server(chunk)) << chunk;
    auto got = pair.server.take();
    ASSERT_EQ(got.size(), 4u) << chunk;
    EXPECT_EQ(got[1].body, "after");  // it passed the large ones
    std::sort(got.begin(), got.end(), [](const Seen& a, const Seen& b) { return a.call < b.call; });
    EXPECT_EQ(got[0].body, "before");
    EXPECT_EQ(got[1].method, "SayHello");
    EXPECT_EQ(*got[1].headers.find("k"), "v");
    EXPECT_TRUE(got[1].body == body);
    EXPECT_TRUE(got[2].body == body);
    EXPECT_TRUE(got[1].owned && got[2].owned);
    EXPECT_EQ(got[3].body, "after");
    EXPECT_LE(pair.server.most_kept, direct_size + 16);

    Frame reply = response(2, "");
    reply.owned = block(body);
    reply.headers = Headers{{"r", "s"}};
    ASSERT_TRUE(pair.server.session.send(reply).ok());
    ASSERT_FALSE(pair.to_client(chunk));
    const Seen answer = pair.client.take().at(0);
    EXPECT_TRUE(answer.body == body);
    EXPECT_EQ(*answer.headers.find("r"), "s");
    EXPECT_EQ(answer.serializer, "protobuf");
  }
}

TEST(Large, SizesAroundTheThresholds) {
  for (const std::size_t size : {direct_size - 20, direct_size - 1, direct_size, direct_size + 1,
                                 IncomingBody::believed, IncomingBody::believed + 1, std::size_t{4} << 20}) {
    const std::string body = pattern(size);
    Pair pair;
    Frame sent = request(pair.hello, 2, body);
    ASSERT_TRUE(pair.client.session.send(sent).ok());
    ASSERT_FALSE(pair.to_server(60000));
    ASSERT_EQ(pair.server.sink.seen.size(), 1u) << size;
    EXPECT_TRUE(pair.server.sink.seen[0].body == body) << size;
  }
}

TEST(Large, LargeHeadersLeaveTheCallersBuffer) {
  for (const std::size_t chunk : {1u, 1000u, 65536u}) {
    for (const std::size_t body : {10u, 30000u, 200000u}) {
      Pair pair;
      Frame sent = request(pair.hello, 1, "");
      sent.headers = Headers{{"large", std::string(60000, 'h')}};
      sent.owned = block(pattern(body));
      ASSERT_TRUE(pair.client.session.send(sent).ok());
      ASSERT_FALSE(pair.to_server(chunk));
      ASSERT_EQ(pair.server.sink.seen.size(), 1u);
      EXPECT_EQ(pair.server.sink.seen[0].headers.find("large")->size(), 60000u);
      EXPECT_TRUE(pair.server.sink.seen[0].body == pattern(body));
      EXPECT_LE(pair.server.most_kept, direct_size + 16);
    }
  }
}

TEST(Large, RoomGrowsWithWhatArrives) {
  Pair pair({.max_frame = 64u << 20}, {.max_frame = 64u << 20});
  const std::string head = bytes({1, 1, 0}) + std::string(6, '\0') + bytes({0});
  ASSERT_FALSE(pair.server.feed(varint(head.size() + (64u << 20)) + head + std::string(600, 'x')));
  std::size_t arrived = 600;
  while (arrived < (3u << 20)) {
    const Want want = pair.server.session.want();
    ASSERT_NE(want.into, nullptr);
    ASSERT_GT(want.size, 0u);
    ASSERT_LE(want.size, std::max(arrived + (64u << 10), std::size_t{128} << 10));
    const std::size_t n = std::min<std::size_t>(want.size, 10000);
    std::memset(want.into, 'y', n);
    ASSERT_TRUE(pair.server.session.received_direct(n, pair.server.sink).ok());
    arrived += n;
  }
}

TEST(Large, TooLargeToSendNamesMethodSizeAndLimit) {
  Pair pair({}, {.max_frame = 1000});
  Frame sent = request(pair.hello, 1, "");
  sent.owned = block(std::string(1001, 'x'));
  Result<void> refused = pair.client.session.send(sent);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Errc::too_large);
  EXPECT_EQ(refused.error().delivery(), Delivery::not_run);
  for (const char* fact : {"demo.Greeter", "SayHello", "1001", "1000"})
    EXPECT_NE(refused.error().text().find(fact), std::string::npos) << refused.error().text();
  EXPECT_EQ(pair.client.session.unwritten(), 0u);
  EXPECT_EQ(sent.owned.size(), 1001u);
  const std::string most(1000, 'x');
  Frame fits = request(pair.hello, 1, most);
  EXPECT_TRUE(pair.client.session.send(fits).ok());
}

TEST(Large, HeadersTooLargeToSend) {
  Pair pair({}, {.max_headers = 100, .max_header_count = 3});
  Frame wide = request(pair.hello, 1, "");
  wide.headers = Headers{{"k", std::string(100, 'v')}};
  EXPECT_EQ(pair.client.session.send(wide).error().code(), Errc::too_large);
  Frame many = request(pair.hello, 1, "");
  many.headers = Headers{{"a", ""}, {"b", ""}, {"c", ""}, {"d", ""}};
  EXPECT_EQ(pair.client.session.send(many).error().code(), Errc::too_large);
  Frame longname = request(pair.hello, 1, "");
  const std::string name(max_name + 1, 's');
  longname.serializer = name;
  EXPECT_EQ(pair.client.session.send(longname).error().code(), Errc::invalid_argument);
  EXPECT_EQ(pair.client.session.unwritten(), 0u);
}

TEST(Oversize, RequestIsAnsweredSkippedAndTheConnectionGoesOn) {
  for (const std::size_t chunk : {std::size_t{1000}, std::string::npos}) {
    Methods methods;
    Peer client(Side::client);
    Peer server(Side::server, {.max_frame = 1000, .max_headers = 200, .max_header_count = 4});
    const std::string body(100'000, 'x');
    Frame large = request(methods.hello, 1, body);  // sent before the server's limits are known
    Frame wide = request(methods.hello, 2, "b");
    wide.headers = Headers{{"k", std::string(300, 'v')}};
    Frame many = request(methods.hello, 3, "c");
    many.headers = Headers{{"1", ""}, {"2", ""}, {"3", ""}, {"4", ""}, {"5", ""}};
    Frame fits = request(methods.hello, 4, "fits");
    fits.headers = Headers{{"k", "v"}};
    Frame again = request(methods.hello, 5, "again");
    again.headers = Headers{{"k", "v"}};
    for (Frame* frame : {&large, &wide, &many, &fits, &again}) ASSERT_TRUE(client.session.send(*frame).ok());
    ASSERT_FALSE(server.feed(client.drain(), chunk));
    const auto seen = server.take();
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[0].body, "fits");
    EXPECT_EQ(*seen[1].headers.find("k"), "v");
    EXPECT_EQ(seen[1].token, 1u);
    ASSERT_FALSE(client.feed(server.drain()));
    const auto got = client.take();
    ASSERT_EQ(got.size(), 3u);
    for (const Seen& frame : got) {
      EXPECT_EQ(frame.error.code(), Errc::too_large) << frame.error.text();
      EXPECT_EQ(frame.error.delivery(), Delivery::not_run);
    }
    EXPECT_NE(got[0].error.text().find("1000"), std::string::npos);
  }
}

TEST(Oversize, ResponseBecomesAnErrorOfThatCall) {
  Pair pair({.max_frame = 1000}, {});
  Frame sent = request(pair.hello, 1, "");
  Frame second = request(pair.hello, 2, "");
  for (Frame* frame : {&sent, &second}) ASSERT_TRUE(pair.client.session.send(*frame).ok());
  ASSERT_FALSE(pair.to_server());
  const std::string more(1001, 'x');
  Frame reply = response(1, more);
  EXPECT_EQ(pair.server.session.send(reply).error().code(), Errc::too_large);  // it knows
  // A server that does not care:
  ASSERT_FALSE(pair.client.feed(framed(bytes({2, 1}) + std::string(50'000, 'x')), 999));
  ASSERT_FALSE(pair.client.feed(framed(bytes({2, 2}) + "ok")));
  const auto got = pair.client.take();
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].kind, FrameKind::error);
  EXPECT_EQ(got[0].error.code(), Errc::too_large);
  EXPECT_EQ(got[0].error.delivery(), Delivery::ran);
  EXPECT_EQ(got[1].body, "ok");
}

TEST(Oversize, ErrorReplyBecomesATooLargeError) {
  Pair pair({.max_headers = 100}, {});
  Frame sent = request(pair.hello, 1, "");
  ASSERT_TRUE(pair.client.session.send(sent).ok());
  pair.client.drain();
  ASSERT_FALSE(pair.client.feed(framed(bytes({3, 1}) + std::string(50'000, 'x')), 999));
  const auto got = pair.client.take();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].error.code(), Errc::too_large);
}

TEST(Oversize, BodyUnderWayWhenTheServerCloses) {
  Pair pair;
  const std::string body = pattern(100'000);
  Frame sent = request(pair.hello, 1, body);
  ASSERT_TRUE(pair.client.session.send(sent).ok());
  const std::string all = pair.client.drain();
  ASSERT_FALSE(pair.server.feed(std::string_view(all).substr(0, 70'000)));
  pair.server.session.close(Error(Errc::unavailable, "bye"));
  ASSERT_FALSE(pair.server.feed(std::string_view(all).substr(70'000)));
  ASSERT_EQ(pair.server.sink.seen.size(), 1u);  // its head had been read: it counts as read
  ASSERT_FALSE(pair.to_client());
  ASSERT_EQ(pair.client.sink.seen.size(), 1u);  // the goaway alone
  Frame reply = response(1, "done");
  ASSERT_TRUE(pair.server.session.send(reply).ok());
  ASSERT_FALSE(pair.to_client());
  EXPECT_EQ(pair.client.take().at(1).body, "done");
}

}  // namespace
}  // namespace tenon::wire::test
