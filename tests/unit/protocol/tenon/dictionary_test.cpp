// Names and header lists travel once; a peer that forgot them says so.
#include <gtest/gtest.h>

#include <deque>

#include "pair.hpp"

namespace tenon::wire::test {
namespace {

std::size_t send_size(Pair& pair, Frame frame) {
  const std::size_t before = pair.client.session.unwritten();
  EXPECT_TRUE(pair.client.session.send(frame).ok());
  return pair.client.session.unwritten() - before;
}
// Sends, delivers and answers; returns the bytes the request took.
std::size_t call_size(Pair& pair, Frame frame) {
  const std::uint32_t call = frame.call;
  const std::size_t size = send_size(pair, std::move(frame));
  EXPECT_FALSE(pair.to_server());
  Frame reply = response(call, "");
  EXPECT_TRUE(pair.server.session.send(reply).ok());
  EXPECT_FALSE(pair.to_client());
  return size;
}

TEST(NamesDictionary, EachMethodAndEncodingIsNamedOnce) {
  Pair pair;
  std::uint32_t call = 0;
  std::vector<std::uint32_t> tokens;
  for (int round = 0; round < 3; ++round) {
    for (const Target* target : {&pair.hello, &pair.goodbye}) {
      for (const char* compressor : {"", "gzip"}) {
        Frame frame = request(*target, call++, "123456");
        frame.compressor = compressor;
        const std::size_t size = send_size(pair, std::move(frame));
        if (round == 0) {
          EXPECT_GT(size, 40u);
        } else {
          EXPECT_EQ(size, 12u);
        }
      }
    }
    ASSERT_FALSE(pair.to_server());
    for (const Seen& seen : pair.server.take()) tokens.push_back(seen.token);
  }
  EXPECT_EQ(tokens, (std::vector<std::uint32_t>{1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}));
}

TEST(NamesDictionary, EntryCarriesTheSameNamesAsTheDefinition) {
  Pair pair;
  for (std::uint32_t call : {0u, 1u}) send_size(pair, request(pair.goodbye, call, ""));
  ASSERT_FALSE(pair.to_server());
  auto seen = pair.server.take();
  ASSERT_EQ(seen.size(), 2u);
  seen[1].call = 0;
  EXPECT_EQ(seen[0].text(), seen[1].text());
  EXPECT_EQ(seen[1].method, "SayBye");
}

TEST(NamesDictionary, UnknownEntryIsSaidForgottenAndResent) {
  Pair pair;
  // The first request teaches a server that is then replaced by one without memory.
  send_size(pair, request(pair.hello, 1, "one"));
  pair.client.drain();
  Peer fresh(Side::server);
  Peer other(Side::client);
  ASSERT_FALSE(fresh.feed(other.drain()));
  fresh.drain();
  for (std::uint32_t call : {2u, 3u}) EXPECT_LT(send_size(pair, request(pair.hello, call, "two")), 15u);
  ASSERT_FALSE(fresh.feed(pair.client.drain()));
  EXPECT_TRUE(fresh.sink.seen.empty());  // it did not run
  ASSERT_FALSE(pair.client.feed(fresh.drain()));
  auto got = pair.client.take();
  ASSERT_EQ(got.size(), 2u);
  for (const Seen& frame : got) {
    EXPECT_EQ(frame.kind, FrameKind::error);
    EXPECT_TRUE(frame.resend);
    EXPECT_EQ(frame.error.delivery(), Delivery::not_run);
  }
  // Sent again, names and all, under the next number. This server expects number 0, so a session of its own is asked
  // to continue the count: entry 1 after entry 0.
  EXPECT_GT(send_size(pair, request(pair.hello, 2, "two")), 40u);
  const std::string resent = pair.client.drain();
  ASSERT_FALSE(pair.server.feed(framed(bytes({1, 99, 1}) + std::string(6, '\0') + std::string(1, '\0'))));  // entry 0
  pair.server.take();
  ASSERT_FALSE(pair.server.feed(resent));
  EXPECT_EQ(pair.server.take().at(0).token, 2u);
  EXPECT_LT(send_size(pair, request(pair.hello, 3, "two")), 15u);
  ASSERT_FALSE(pair.to_server());
  EXPECT_EQ(pair.server.take().at(0).method, "SayHello");
}

TEST(NamesDictionary, UnknownEntryOfAOneWayRequestIsDropped) {
  Pair pair;
  ASSERT_FALSE(pair.server.feed(framed(bytes({0x11, 1, 20, 0}))));
  EXPECT_TRUE(pair.server.sink.seen.empty());
  EXPECT_EQ(pair.server.session.unwritten(), 0u);
}

TEST(NamesDictionary, FullTableSendsNamesEachTime) {
  Pair pair;
  std::deque<Target> targets(max_names + 10, pair.hello);
  std::uint32_t call = 0;
  std::size_t defined = 0;
  std::size_t first_inline = 0;
  for (const Target& target : targets) {
    call_size(pair, request(target, call++, ""));
    const Seen seen = pair.server.take().at(0);
    EXPECT_EQ(seen.method, "SayHello");
    if (seen.token)
      ++defined;
    else if (!first_inline)
      first_inline = call;
  }
  // 4096 entries of 37 bytes of text and 64 of overhead do not fit into 256 KiB: the bytes are the bound here.
  const std::size_t text = std::string("yf-demodemo.Greeter1.0SayHelloprotobuf").size();
  EXPECT_EQ(defined, max_names_bytes / (text + names_overhead));
  EXPECT_EQ(first_inline, defined + 1);
  EXPECT_EQ(call_size(pair, request(targets[0], 1, "")), 6u);  // still known
  EXPECT_GT(call_size(pair, request(targets.back(), 1, "")), 40u);
  EXPECT_EQ(pair.server.take().back().token, 0u);
}

TEST(NamesDictionary, ReceiverBoundsEntriesAndStaysInStep) {
  Peer server(Side::server);
  Peer client(Side::client);
  ASSERT_FALSE(server.feed(client.drain()));
  // One-way requests without text define more entries than are kept.
  for (std::uint64_t id = 0; id < max_names + 3; ++id) {
    const std::string fields = bytes({0x11, 0}) + varint(2 * id + 1) + std::string(6, '\0') + bytes({0});
    ASSERT_FALSE(server.feed(framed(fields)));
  }
  ASSERT_EQ(server.sink.seen.size(), max_names + 3);
  EXPECT_EQ(server.sink.seen[max_names - 1].token, max_names);
  EXPECT_EQ(server.sink.seen[max_names].token, 0u);
  server.take();
  ASSERT_FALSE(server.feed(framed(bytes({1, 5}) + varint(2 * max_names + 2) + bytes({0}))));  // one not kept
  EXPECT_TRUE(server.sink.seen.empty());
  EXPECT_GT(server.session.unwritten(), 0u);
}

TEST(NamesDictionary, RedefinitionAndGapsEndTheConnection) {
  for (const int define : {1, 5}) {  // entry 0 again, entry 2 before 1
    Pair pair;
    call_size(pair, request(pair.hello, 1, ""));
    const Error error = pair.server.feed(framed(bytes({1, 7, define}) + std::string(6, '\0') + bytes({0})));
    ASSERT_TRUE(error);
    EXPECT_EQ(error.code(), Errc::malformed);
  }
}

TEST(NamesDictionary, AddressOfAnotherMethodIsNotMistaken) {
  Pair pair;
  Target moving = pair.hello;
  call_size(pair, request(moving, 1, ""));
  moving = pair.goodbye;
  call_size(pair, request(moving, 1, ""));
  const auto seen = pair.server.take();
  EXPECT_EQ(seen.at(0).method, "SayHello");
  EXPECT_EQ(seen.at(1).method, "SayBye");
}

TEST(HeaderLists, RepeatedListsBecomeASmallInteger) {
  Pair pair;
  call_size(pair, request(pair.hello, 1, ""));
  const auto with = [&](const char* token) {
    Frame frame = request(pair.hello, 1, "");
    frame.headers = Headers{{"authorization", token}, {"caller", "greeter-client"}};
    return frame;
  };
  EXPECT_GT(call_size(pair, with("one")), 40u);
  EXPECT_EQ(call_size(pair, with("one")), 7u);
  EXPECT_GT(call_size(pair, with("two")), 40u);
  EXPECT_EQ(call_size(pair, with("one")), 7u);
  EXPECT_EQ(call_size(pair, with("two")), 7u);
  EXPECT_EQ(call_size(pair, request(pair.hello, 1, "")), 6u);
  const auto seen = pair.server.take();
  EXPECT_EQ(*seen.at(5).headers.find("authorization"), "two");
  EXPECT_EQ(seen[5].headers, with("two").headers);
  EXPECT_TRUE(seen[6].headers.empty());
}

TEST(HeaderLists, ListsThatNeverRepeatDoNotFillTheTable) {
  Pair pair;
  const auto with = [&](int n) {
    Frame frame = request(pair.hello, 1, "");
    frame.headers = Headers{{"trace", std::to_string(n)}};
    return frame;
  };
  for (int n = 0; n < 5000; ++n) call_size(pair, with(n));
  EXPECT_GT(call_size(pair, with(-1)), 15u);
  EXPECT_GT(call_size(pair, with(-1)), 15u);  // seen twice: defined
  EXPECT_LE(call_size(pair, with(-1)), 8u);
  EXPECT_EQ(*pair.server.take().back().headers.find("trace"), "-1");
}

TEST(HeaderLists, FullTableGoesOnInFull) {
  Pair pair;
  const std::string large(1000, 'h');
  for (int round = 0; round < 3; ++round) {
    for (int n = 0; n < 100; ++n) {
      Frame frame = request(pair.hello, 1, "");
      frame.headers = Headers{{"n", std::to_string(n)}, {"large", large}};
      call_size(pair, std::move(frame));
      const Seen seen = pair.server.take().at(0);
      ASSERT_EQ(*seen.headers.find("n"), std::to_string(n));
      ASSERT_EQ(seen.headers.find("large")->size(), 1000u);
    }
  }
}

TEST(HeaderLists, UnknownListIsResentByClientAndFatalFromServer) {
  Pair pair;
  Frame frame = request(pair.hello, 1, "");
  frame.headers = Headers{{"k", "v"}};
  send_size(pair, std::move(frame));
  Frame again = request(pair.hello, 2, "");
  again.headers = Headers{{"k", "v"}};
  send_size(pair, std::move(again));
  const std::string sent = pair.client.drain();
  ASSERT_FALSE(pair.client.feed(framed(bytes({0x13, 2, 3, 0, 0, 0, 0, 0}))));  // "unknown entry" for call 2
  const Seen refused = pair.client.take().at(0);
  EXPECT_TRUE(refused.resend);
  EXPECT_EQ(refused.call, 2u);
  Frame third = request(pair.hello, 2, "");
  third.headers = Headers{{"k", "v"}};
  EXPECT_GT(send_size(pair, std::move(third)), 40u);
  const Error error = pair.client.feed(framed(bytes({0x22, 1, 2})));  // a response with header list 0
  ASSERT_TRUE(error);
  EXPECT_EQ(error.code(), Errc::malformed);
}

TEST(HeaderLists, ServerSeesUnknownList) {
  Pair pair;
  ASSERT_FALSE(pair.server.feed(framed(bytes({0x21, 4, 0}) + std::string(6, '\0') + bytes({0, 2}))));
  EXPECT_TRUE(pair.server.sink.seen.empty());
  Frame open = request(pair.hello, 4, "");
  ASSERT_TRUE(pair.client.session.send(open).ok());
  pair.client.drain();
  ASSERT_FALSE(pair.to_client());
  EXPECT_TRUE(pair.client.take().at(0).resend);
}

TEST(Dictionary, PeerThatForgetsAlwaysGetsNamesInFull) {
  Pair pair;
  for (int round = 0; round < 40; ++round) {
    const std::size_t size = send_size(pair, request(pair.hello, 1, ""));
    pair.client.drain();
    ASSERT_FALSE(pair.client.feed(framed(bytes({0x13, 1, 3, 0, 0, 0, 0, 0}))));
    if (round >= 34) {
      EXPECT_GT(size, 30u);
    }
  }
}

}  // namespace
}  // namespace tenon::wire::test
