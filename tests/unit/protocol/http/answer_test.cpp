// Answers: their order, their heads, errors as JSON.
#include "peer.hpp"

namespace tenon::http::test {
namespace {

TEST(Answer, NamesTypeAndSize) {
  const std::pair<std::string, std::string> types[] = {
      {"", "application/json"},
      {"application/json; charset=utf-8", "application/json"},
      {"application/x-www-form-urlencoded", "application/json"},
      {"text/plain", "application/json"},
      {"application/x-protobuf", "application/x-protobuf"},
      {"application/protobuf", "application/protobuf"},
      {"application/msgpack", "application/msgpack"},
  };
  for (const auto& [asked, told] : types) {
    Peer peer;
    ASSERT_FALSE(peer.feed(post("1", asked.empty() ? "" : "Content-Type: " + asked + "\r\n")));
    ASSERT_TRUE(peer.reply(peer.take().at(0).call, "reply").ok());
    EXPECT_EQ(peer.drain(), "HTTP/1.1 200 OK\r\nContent-Type: " + told + "\r\nContent-Length: 5\r\n\r\nreply");
  }
}

TEST(Answer, OfAnotherSerializerIsNamedByIt) {
  Peer peer;
  ASSERT_FALSE(peer.feed(post("1")));
  Frame frame;
  frame.kind = FrameKind::response;
  frame.call = peer.take().at(0).call;
  frame.serializer = "simple";
  const Result<void> sent = peer.session.send(frame);
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.error().code(), Errc::invalid_argument);
  EXPECT_NE(sent.error().text().find("content_types"), std::string::npos) << sent.error().text();
  EXPECT_EQ(peer.session.unwritten(), 0u);
  frame.serializer = "protobuf";
  ASSERT_TRUE(peer.session.send(frame).ok());
  EXPECT_EQ(peer.answer().field("content-type"), "application/x-protobuf");
}

TEST(Answer, LeavesInTheOrderOfTheRequests) {
  std::vector<std::size_t> order{0, 1, 2, 3};
  do {
    Peer peer;
    ASSERT_FALSE(peer.feed(post("a") + post("b") + head("GET / HTTP/1.1") + post("c") + post("d")));
    const auto seen = peer.take();
    ASSERT_EQ(seen.size(), 4u);
    std::string got;
    std::size_t promised = 0;
    for (const std::size_t at : order) {
      const std::string large(at == 2 ? 100'000 : 3, static_cast<char>('a' + at));
      Frame frame;
      frame.kind = FrameKind::response;
      frame.call = seen[at].call;
      if (at == 2)
        frame.owned.append(large);
      else
        frame.body = large;
      ASSERT_TRUE(peer.session.send(frame).ok());
      ASSERT_FALSE(peer.session.send(frame).ok()) << "a second answer";
      const std::string more = peer.drain(1000);
      promised = peer.session.unwritten();
      got += more;
    }
    EXPECT_EQ(promised, 0u);
    const auto sent = answers(got);
    ASSERT_EQ(sent.size(), 5u);
    EXPECT_EQ(sent[0].body, "aaa");
    EXPECT_EQ(sent[1].body, "bbb");
    EXPECT_EQ(sent[2].status, 405);
    EXPECT_EQ(sent[3].body, std::string(100'000, 'c'));
    EXPECT_EQ(sent[4].body, "ddd");
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Answer, HeldBackCountsAsUnwritten) {
  Peer peer;
  ASSERT_FALSE(peer.feed(post("a") + post("b")));
  const auto seen = peer.take();
  ASSERT_TRUE(peer.reply(seen[1].call, std::string(50'000, 'x')).ok());
  EXPECT_GT(peer.session.unwritten(), 50'000u) << "a connection stops reading because of it";
  EXPECT_TRUE(peer.drain().empty());
  ASSERT_TRUE(peer.reply(seen[0].call, "").ok());
  EXPECT_EQ(peer.answers().size(), 2u);
  EXPECT_EQ(peer.session.unwritten(), 0u);
}

TEST(Answer, HeadersGoOutAsTheyAre) {
  Peer peer;
  ASSERT_FALSE(peer.feed(post("1")));
  const std::uint32_t call = peer.take().at(0).call;
  ASSERT_TRUE(peer.reply(call, "r", Headers{{"x-Trace", "a b"}, {"set-cookie", "k=v"}, {"empty", ""}}).ok());
  const Answer answer = peer.answer();
  EXPECT_EQ(answer.field("x-trace"), "a b");
  EXPECT_EQ(answer.field("set-cookie"), "k=v");
  EXPECT_EQ(answer.field("empty"), "");
}

TEST(Answer, HeadersThatWouldBeSomethingElseAreRefused) {
  const std::pair<std::string, std::string> bad[] = {
      {"", "v"},
      {"a b", "v"},
      {"a:b", "v"},
      {"a\r\nb", "v"},
      {"\xc3\xa4", "v"},
      {"a", "v\r\nContent-Length: 0"},
      {"a", "v\n"},
      {"a", std::string("v\0w", 3)},
      {"a", " v"},
      {"a", "v\t"},
      {"Content-Length", "1"},
      {"transfer-encoding", "chunked"},
      {"connection", "close"},
      {"content-type", "text/html"},
      {"Content-Encoding", "gzip"},
      {"Trailer", "x"},
  };
  for (const auto& [name, value] : bad) {
    Peer peer;
    ASSERT_FALSE(peer.feed(post("1")));
    const std::uint32_t call = peer.take().at(0).call;
    Headers headers;
    headers.set(name, value);
    const Result<void> sent = peer.reply(call, "r", headers);
    ASSERT_FALSE(sent.ok()) << name;
    EXPECT_EQ(sent.error().code(), Errc::invalid_argument);
    EXPECT_EQ(sent.error().delivery(), Delivery::not_run);
    EXPECT_EQ(peer.session.unwritten(), 0u);
    // With an error such a header is left out: the error itself must arrive.
    Error error(Errc::application, "no");
    headers.set("good", "1");
    error.attach(headers);
    ASSERT_TRUE(peer.fail(call, error).ok());
    const Answer answer = peer.answer();
    EXPECT_EQ(answer.status, 422);
    EXPECT_EQ(answer.field("good"), "1");
    EXPECT_EQ(answer.fields.size(), 3u) << name;
  }
}

TEST(Answer, TooManyHeadersAreRefused) {
  Peer peer({.max_headers = 100, .max_header_count = 2});
  ASSERT_FALSE(peer.feed(post("1")));
  const std::uint32_t call = peer.take().at(0).call;
  EXPECT_EQ(peer.reply(call, "r", Headers{{"a", "1"}, {"b", "2"}, {"c", "3"}}).error().code(), Errc::too_large);
  EXPECT_EQ(peer.reply(call, "r", Headers{{"a", std::string(100, 'v')}}).error().code(), Errc::too_large);
  EXPECT_TRUE(peer.reply(call, "r", Headers{{"a", "1"}, {"b", "2"}}).ok());
}

TEST(Answer, ErrorsHaveAStatusAndAreJson) {
  const std::pair<Errc, int> statuses[] = {
      {Errc::not_found, 404},       {Errc::invalid_argument, 400},
      {Errc::malformed, 400},       {Errc::too_large, 413},
      {Errc::unauthenticated, 401}, {Errc::permission_denied, 403},
      {Errc::unimplemented, 501},   {Errc::overloaded, 429},
      {Errc::unavailable, 503},     {Errc::deadline_exceeded, 504},
      {Errc::cancelled, 499},       {Errc::already_exists, 409},
      {Errc::application, 422},     {Errc::internal, 500},
      {Errc::would_deadlock, 500},  {Errc::config, 500},
  };
  for (const auto& [code, status] : statuses) {
    Peer peer;
    ASSERT_FALSE(peer.feed(post("b", "Content-Type: application/protobuf\r\n")));
    ASSERT_TRUE(peer.fail(peer.take().at(0).call, Error(code, "why \"this\"\n", Delivery::ran)).ok());
    const Answer answer = peer.answer();
    EXPECT_EQ(answer.status, status);
    EXPECT_EQ(answer.field("content-type"), "application/json");
    EXPECT_EQ(answer.field("connection"), "(none)");
    EXPECT_EQ(answer.field("www-authenticate"), status == 401 ? "Bearer" : "(none)");
    EXPECT_EQ(answer.body, "{\"error\":{\"code\":\"" + std::string(to_string(code)) +
                               "\",\"message\":\"why \\\"this\\\"\\n\",\"delivery\":\"ran\"}}");
  }
}

TEST(Answer, ErrorsKeepWhatOthersSaid) {
  Peer peer;
  ASSERT_FALSE(peer.feed(post("1")));
  Error error(Errc::overloaded, "busy", Delivery::not_run);
  error.foreign("acme", -42).advise(Advice::after, 1500ms);
  error.attach(Headers{{"x-why", "because"}});
  ASSERT_TRUE(peer.fail(peer.take().at(0).call, error).ok());
  const Answer answer = peer.answer();
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.field("retry-after"), "2");
  EXPECT_EQ(answer.field("x-why"), "because");
  EXPECT_EQ(answer.body,
            "{\"error\":{\"code\":\"overloaded\",\"message\":\"busy\",\"delivery\":\"not_run\",\"domain\":\"acme\","
            "\"foreign_code\":-42,\"retry_after_ms\":1500}}");
}

TEST(Answer, ErrorsAreReadableWhateverTheirText) {
  Peer peer;
  ASSERT_FALSE(peer.feed(post("1") + post("2")));
  const auto seen = peer.take();
  ASSERT_TRUE(peer.fail(seen[0].call, Error(Errc::internal, "a\xff\xc3\xa4")).ok());
  std::string umlauts;
  while (umlauts.size() < 40'000) umlauts += "\xc3\xa4";
  ASSERT_TRUE(peer.fail(seen[1].call, Error(Errc::internal, "x" + umlauts)).ok());
  const auto sent = peer.answers();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_NE(sent[0].body.find("\"a???\""), std::string::npos) << sent[0].body;
  EXPECT_EQ(sent[1].body.find('?'), std::string::npos) << "cut inside a character";
  EXPECT_LT(sent[1].body.size(), 17'000u);
}

TEST(Answer, IsCompressedOnlyForThoseWhoAskForIt) {
  const std::tuple<std::string, bool> rows[] = {
      {"", false},
      {"Accept-Encoding: gzip\r\n", true},
      {"Accept-Encoding: deflate, GZIP;q=0.5, br\r\n", true},
      {"Accept-Encoding: deflate\r\nAccept-Encoding: gzip\r\n", true},
      {"Accept-Encoding: *\r\n", true},
      {"Accept-Encoding: gzip;q=0\r\n", false},
      {"Accept-Encoding: gzip; q=0.000, *\r\n", false},
      {"Accept-Encoding: *;q=0\r\n", false},
      {"Accept-Encoding: br\r\n", false},
      {"Accept-Encoding:\r\n", false},
  };
  for (const auto& [fields, accepted] : rows) {
    Peer peer;
    EXPECT_FALSE(peer.session.accepts("gzip"));
    ASSERT_FALSE(peer.feed(post("1", fields)));
    EXPECT_EQ(peer.session.accepts("gzip"), accepted) << fields;
    EXPECT_FALSE(peer.session.accepts("zstd"));
    ASSERT_TRUE(peer.reply(peer.take().at(0).call, "zipped", {}, "gzip").ok());
    EXPECT_EQ(peer.answer().field("content-encoding"), "gzip");
    EXPECT_FALSE(peer.session.accepts("gzip")) << "nobody is asking";
  }
}

// Core asks for the connection, not for the call.
TEST(Answer, IsNotCompressedWhileAnyCallWouldNotReadIt) {
  Peer peer;
  ASSERT_FALSE(peer.feed(post("1", "Accept-Encoding: gzip\r\n") + post("2")));
  const auto seen = peer.take();
  EXPECT_FALSE(peer.session.accepts("gzip"));
  ASSERT_TRUE(peer.reply(seen[1].call, "").ok());
  EXPECT_TRUE(peer.session.accepts("gzip"));
}

TEST(Answer, SaysWhatBecomesOfTheConnection) {
  const std::tuple<std::string, std::string, std::string> rows[] = {
      {"1.1", "", "(none)"},
      {"1.1", "Connection: keep-alive\r\n", "(none)"},
      {"1.1", "Connection: close\r\n", "close"},
      {"1.1", "Connection: Foo, CLOSE\r\n", "close"},
      {"1.0", "", "close"},
      {"1.0", "Connection: keep-alive\r\n", "keep-alive"},
      {"1.0", "Connection: keep-alive, close\r\n", "close"},
  };
  for (const auto& [version, fields, told] : rows) {
    SCOPED_TRACE(version + " " + fields);
    Peer peer;
    ASSERT_FALSE(peer.feed(post("1", fields, "/a.B/c", version) + post("2")));
    const auto seen = peer.take();
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[1].kind, told == "close" ? FrameKind::goaway : FrameKind::request);
    ASSERT_TRUE(peer.reply(seen[0].call, "r").ok());
    EXPECT_EQ(peer.answer().field("connection"), told);
  }
}

TEST(Answer, ARefusedRequestMayBeTheLast) {
  Peer peer;
  ASSERT_FALSE(peer.feed(head("GET / HTTP/1.1", "Connection: close\r\n")));
  EXPECT_EQ(peer.texts(), std::vector<std::string>{"goaway"});
  EXPECT_EQ(peer.answer().field("connection"), "close");
}

TEST(Answer, TheLastOneOfAStoppingServerSaysSo) {
  Peer peer;
  ASSERT_FALSE(peer.feed(post("1") + post("2")));
  const auto seen = peer.take();
  peer.session.close(Error(Errc::unavailable, "stopping"));
  ASSERT_TRUE(peer.reply(seen[0].call, "a").ok());
  EXPECT_EQ(peer.answer().field("connection"), "(none)") << "another answer follows";
  ASSERT_TRUE(peer.reply(seen[1].call, "b").ok());
  EXPECT_EQ(peer.answer().field("connection"), "close");
  ASSERT_FALSE(peer.feed(post("3")));
  EXPECT_TRUE(peer.take().empty());
}

TEST(Answer, ToExpectContinue) {
  const std::string asks = head("POST /a.B/c HTTP/1.1", "Content-Length: 3\r\nExpect: 100-Continue\r\n");
  Peer peer;
  ASSERT_FALSE(peer.feed(asks));
  EXPECT_EQ(peer.drain(), "HTTP/1.1 100 Continue\r\n\r\n");
  ASSERT_FALSE(peer.feed("abc"));
  EXPECT_EQ(peer.texts(), std::vector<std::string>{"a.B/c json abc"});

  Peer eager;  // does not wait for it
  ASSERT_FALSE(eager.feed(asks + "abc"));
  EXPECT_EQ(eager.drain(), "");

  Peer pipelined;  // 100 for the second request would be taken for one of the first
  ASSERT_FALSE(pipelined.feed(post("1") + asks));
  EXPECT_EQ(pipelined.drain(), "");
  ASSERT_TRUE(pipelined.reply(pipelined.take().at(0).call, "r").ok());
  const auto sent = pipelined.answers();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].body, "r");
  EXPECT_EQ(sent[1].status, 100);

  Peer old;  // HTTP/1.0 does not know it
  ASSERT_FALSE(old.feed("POST /a.B/c HTTP/1.0\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"));
  EXPECT_EQ(old.drain(), "");

  Peer other;
  ASSERT_FALSE(other.feed(head("POST /a.B/c HTTP/1.1", "Content-Length: 3\r\nExpect: magic\r\n") + "abc"));
  EXPECT_EQ(other.answer().status, 417);
}

TEST(Answer, ToExpectContinueOfARefusedRequestIsTheLast) {
  Peer peer;
  ASSERT_FALSE(peer.feed(head("PUT /a.B/c HTTP/1.1", "Content-Length: 3\r\nExpect: 100-continue\r\n")));
  EXPECT_EQ(peer.texts(), std::vector<std::string>{"goaway"});
  const Answer answer = peer.answer();
  EXPECT_EQ(answer.status, 405);
  EXPECT_EQ(answer.field("connection"), "close");
}

TEST(Answer, WhatAServerDoesNotSend) {
  Peer peer;
  for (const FrameKind kind : {FrameKind::ping, FrameKind::request, FrameKind::cancel, FrameKind::message,
                               FrameKind::end, FrameKind::credit, FrameKind::response, FrameKind::error}) {
    Frame frame;
    frame.kind = kind;
    frame.call = 7;
    const Result<void> sent = peer.session.send(frame);
    ASSERT_FALSE(sent.ok());
    EXPECT_EQ(sent.error().code(), Errc::invalid_argument);
    EXPECT_EQ(sent.error().delivery(), Delivery::not_run);
  }
  EXPECT_EQ(peer.session.unwritten(), 0u);
  EXPECT_FALSE(peer.session.acknowledges_cancel());
}

}  // namespace
}  // namespace tenon::http::test
