// What is too large, too much or too late.
#include "peer.hpp"

namespace tenon::http::test {
namespace {

constexpr TimePoint start{1h};

/// Lets time pass for a session as a connection does; stops at the first error.
Error pass(Peer& peer, TimePoint& now, Duration time) {
  const TimePoint until = now + time;
  while (peer.session.next_deadline() <= until) {
    now = std::max(now, peer.session.next_deadline());
    if (auto ticked = peer.session.tick(now); !ticked.ok()) return ticked.error();
  }
  now = until;
  return {};
}
Error begin(Peer& peer, TimePoint& now) {
  now = start;
  return peer.session.tick(now).error();
}

TEST(Limits, ALargeHeadIsAnsweredAndHeardOut) {
  for (const std::size_t chunk : {std::string::npos, std::size_t{1}}) {
    Peer peer({.max_headers = 100});
    TimePoint now;
    ASSERT_FALSE(begin(peer, now));
    ASSERT_FALSE(peer.feed(post("1", "X-A: " + std::string(200, 'v') + "\r\n"), chunk));
    const Answer answer = peer.answer();
    EXPECT_EQ(answer.status, 431);
    EXPECT_EQ(answer.code(), "too_large");
    EXPECT_EQ(answer.field("connection"), "close");
    EXPECT_TRUE(peer.take().empty());
    ASSERT_FALSE(peer.feed(post("2")));
    EXPECT_TRUE(peer.take().empty());
    const Error error = pass(peer, now, 10s);
    ASSERT_TRUE(error) << "the peer is cut off";
    EXPECT_EQ(error.code(), Errc::too_large);
    EXPECT_LT(now - start, 8s);
  }
}

TEST(Limits, AHeadOfExactlyTheLimitIsRead) {
  const std::string bytes = post("");
  for (const std::size_t chunk : {std::string::npos, std::size_t{1}}) {
    Peer peer({.max_headers = bytes.size()});
    ASSERT_FALSE(peer.feed(bytes, chunk));
    EXPECT_EQ(peer.take().size(), 1u);
    Peer smaller({.max_headers = bytes.size() - 1});
    ASSERT_FALSE(smaller.feed(bytes, chunk));
    EXPECT_EQ(smaller.answer().status, 431);
  }
}

TEST(Limits, Fields) {
  Peer peer({.max_header_count = 3});
  ASSERT_FALSE(peer.feed(post("1", "X-A: 1\r\n")));  // and Host and Content-Length
  EXPECT_EQ(peer.take().size(), 1u);
  Peer other({.max_header_count = 3});
  ASSERT_FALSE(other.feed(post("1", "X-A: 1\r\nX-B: 1\r\n")));
  EXPECT_EQ(other.answer().status, 431);
}

TEST(Limits, ALargeBodyIsAnsweredBeforeItComes) {
  Peer peer({.max_frame = 1000});
  TimePoint now;
  ASSERT_FALSE(begin(peer, now));
  ASSERT_FALSE(peer.feed(head("POST /a/b HTTP/1.1", "Content-Length: 1001\r\nExpect: 100-continue\r\n")));
  const Answer answer = peer.answer();
  EXPECT_EQ(answer.status, 413);
  EXPECT_NE(answer.body.find("limits.max_frame"), std::string::npos) << answer.body;
  ASSERT_FALSE(peer.feed(std::string(1001, 'b') + post("2")));
  EXPECT_TRUE(peer.take().empty());
  EXPECT_EQ(pass(peer, now, 10s).code(), Errc::too_large);

  Peer endless({.max_frame = 1000});
  ASSERT_FALSE(endless.feed(head("POST /a/b HTTP/1.1", "Content-Length: 18446744073709551615\r\n")));
  EXPECT_EQ(endless.answer().status, 413);
  Error error;
  const std::string much(1u << 20, 'b');
  for (int i = 0; i < 100 && !error; ++i) error = endless.feed(much);
  EXPECT_EQ(error.code(), Errc::too_large) << "nobody is heard out for ever";

  Peer exact({.max_frame = 1000});
  ASSERT_FALSE(exact.feed(post(std::string(1000, 'b'))));
  EXPECT_EQ(exact.take().size(), 1u);
}

TEST(Limits, ChunksAreCountedTogether) {
  const std::string start_chunks = head("POST /a/b HTTP/1.1", "Transfer-Encoding: chunked\r\n");
  for (const std::size_t chunk : {std::string::npos, std::size_t{1}}) {
    std::string body;
    for (int i = 0; i < 10; ++i) body += "64\r\n" + std::string(100, 'c') + "\r\n";
    Peer exact({.max_frame = 1000});
    ASSERT_FALSE(exact.feed(start_chunks + body + "0\r\n\r\n", chunk));
    EXPECT_EQ(exact.take().at(0).body, std::string(1000, 'c'));
    Peer peer({.max_frame = 1000});
    ASSERT_FALSE(peer.feed(start_chunks + body + "1\r\n", chunk));
    EXPECT_EQ(peer.answer().status, 413) << "before the byte that is too much";
    Peer refused({.max_frame = 1000});
    ASSERT_FALSE(refused.feed("PUT" + start_chunks.substr(4) + body + "1\r\n", chunk));
    EXPECT_EQ(refused.answer().status, 413) << "also of what is not kept";
    EXPECT_TRUE(peer.take().empty());
  }
}

TEST(Limits, AnAnnouncedLengthCostsNothing) {
  Peer peer({.max_frame = std::size_t{1} << 40});
  ASSERT_FALSE(peer.feed(head("POST /a/b HTTP/1.1", "Content-Length: 1099511627776\r\n") + "abc"));
  EXPECT_LE(peer.session.want().size, IncomingBody::believed);
  Peer chunks({.max_frame = std::size_t{1} << 40});
  ASSERT_FALSE(chunks.feed(head("POST /a/b HTTP/1.1", "Transfer-Encoding: chunked\r\n") + "10000000000\r\nabc"));
  EXPECT_TRUE(chunks.take().empty());
}

TEST(Limits, RequestsInFlight) {
  Peer peer({.max_concurrent = 2});
  ASSERT_FALSE(peer.feed(post("1") + post("2") + post("3")));
  const auto seen = peer.take();
  ASSERT_EQ(seen.size(), 2u);
  ASSERT_TRUE(peer.reply(seen[1].call, "b").ok());
  ASSERT_FALSE(peer.feed(post("4")));
  ASSERT_EQ(peer.take().size(), 1u) << "one of the two has been answered, though not on the wire";
  ASSERT_TRUE(peer.reply(seen[0].call, "a").ok());
  const auto sent = peer.answers();
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[2].status, 503);
  EXPECT_EQ(sent[2].code(), "overloaded");
  EXPECT_EQ(sent[2].field("connection"), "(none)");
}

TEST(Limits, AReplyTooLargeIsRefused) {
  Peer peer({.max_frame = 1000});
  ASSERT_FALSE(peer.feed(post("1")));
  const std::uint32_t call = peer.take().at(0).call;
  EXPECT_EQ(peer.reply(call, std::string(1001, 'r')).error().code(), Errc::too_large);
  EXPECT_TRUE(peer.reply(call, std::string(1000, 'r')).ok());
}

TEST(Clock, AHeadMustBeCompleteInTime) {
  for (const std::string_view bytes : {"P", "POST /a/b HTTP/1.1\r\nHost: h\r\n"}) {
    Peer peer({}, {.header_timeout = 10s, .idle_timeout = 60s});
    TimePoint now;
    ASSERT_FALSE(begin(peer, now));
    ASSERT_FALSE(peer.feed(bytes));
    ASSERT_FALSE(pass(peer, now, 5s));
    if (bytes.size() > 1) {
      ASSERT_FALSE(peer.feed("X-Slow: 1\r\n")) << "a byte now and then does not help";
    }
    ASSERT_FALSE(pass(peer, now, 4900ms));
    EXPECT_EQ(peer.session.unwritten(), 0u);
    const Error error = pass(peer, now, 6s);
    ASSERT_TRUE(error);
    EXPECT_EQ(error.code(), Errc::deadline_exceeded);
    EXPECT_NE(error.text().find("header_timeout"), std::string::npos) << error.text();
    const Answer answer = peer.answer();
    EXPECT_EQ(answer.status, 408);
    EXPECT_EQ(answer.field("connection"), "close");
    EXPECT_LE(now - start, 16s);
    EXPECT_EQ(peer.session.next_deadline(), never);
  }
}

TEST(Clock, APeerThatSaysNothing) {
  Peer peer({}, {.header_timeout = 1s, .idle_timeout = 60s});
  TimePoint now;
  ASSERT_FALSE(begin(peer, now));
  ASSERT_FALSE(pass(peer, now, 900ms));
  EXPECT_EQ(pass(peer, now, 1s).code(), Errc::deadline_exceeded);
  EXPECT_EQ(peer.session.unwritten(), 0u) << "there is nothing to answer";
}

TEST(Clock, AnIdleConnectionIsClosed) {
  Peer peer({}, {.header_timeout = 10s, .idle_timeout = 4s});
  TimePoint now;
  ASSERT_FALSE(begin(peer, now));
  ASSERT_FALSE(peer.feed(post("1")));
  ASSERT_FALSE(pass(peer, now, 100s)) << "a call is running";
  ASSERT_TRUE(peer.reply(peer.take().at(0).call, "r").ok());
  ASSERT_FALSE(pass(peer, now, 100s)) << "its answer is not written";
  (void)peer.drain();
  for (int round = 0; round < 5; ++round) {
    ASSERT_FALSE(pass(peer, now, 3900ms));
    ASSERT_FALSE(peer.feed(head("GET / HTTP/1.1")));
    (void)peer.drain();
  }
  const Error error = pass(peer, now, 6100ms);
  EXPECT_EQ(error.code(), Errc::unavailable);
  EXPECT_NE(error.text().find("idle_timeout"), std::string::npos) << error.text();
  EXPECT_EQ(peer.session.unwritten(), 0u);
}

TEST(Clock, ABodyMayTakeLongButNotStop) {
  for (const std::string& start_body : {head("POST /a/b HTTP/1.1", "Content-Length: 100\r\n"),
                                        head("POST /a/b HTTP/1.1", "Content-Length: 100000\r\n") + "b",
                                        head("POST /a/b HTTP/1.1", "Transfer-Encoding: chunked\r\n") + "64\r\nb"}) {
    Peer peer({}, {.header_timeout = 10s, .idle_timeout = 4s});
    TimePoint now;
    ASSERT_FALSE(begin(peer, now));
    ASSERT_FALSE(peer.feed(start_body));
    for (int round = 0; round < 10; ++round) {
      ASSERT_FALSE(pass(peer, now, 3900ms));
      ASSERT_FALSE(peer.feed("bbbbb"));
    }
    EXPECT_EQ(pass(peer, now, 6100ms).code(), Errc::deadline_exceeded);
    EXPECT_EQ(peer.answer().status, 408);
  }
}

TEST(Clock, MayBeSwitchedOff) {
  Peer peer({}, {.header_timeout = 0s, .idle_timeout = 0s});
  TimePoint now;
  ASSERT_FALSE(begin(peer, now));
  ASSERT_FALSE(pass(peer, now, 1000s));
  ASSERT_FALSE(peer.feed("POST /a"));
  ASSERT_FALSE(pass(peer, now, 1000s));
  ASSERT_FALSE(peer.feed("/b HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n"));
  ASSERT_FALSE(pass(peer, now, 1000s));
  ASSERT_FALSE(peer.feed("abc"));
  EXPECT_EQ(peer.take().size(), 1u);
}

}  // namespace
}  // namespace tenon::http::test
