// Requests and what the sink gets, or what is answered in its place.
#include "peer.hpp"

namespace tenon::http::test {
namespace {

struct Row {
  std::string name, request, frame;
};

// A server that has too much to write takes one request at a time.
TEST(Request, IsTheLastOneForASinkThatHasEnough) {
  struct Full : Recorder {
    void on_frame(Frame& frame) override {
      Recorder::on_frame(frame);
      enough_ = true;
    }
    void go_on() { enough_ = false; }
  } sink;
  Peer peer;
  std::string bytes = post("[1]") + post("[2]") + post("[3]");
  for (std::size_t expected = 1; expected <= 3; ++expected) {
    sink.go_on();
    const auto taken = peer.session.received(bytes, sink);
    ASSERT_TRUE(taken.ok()) << taken.error().text();
    ASSERT_EQ(sink.seen.size(), expected);
    EXPECT_EQ(sink.seen.back().body, "[" + std::to_string(expected) + "]");
    bytes.erase(0, *taken);
  }
  EXPECT_TRUE(bytes.empty());
}

TEST(Request, BecomesAFrame) {
  const Row rows[] = {
      {"as curl sends it",
       post("{\"name\":\"x\"}",
            "User-Agent: curl/8\r\nAccept: */*\r\n"
            "Content-Type: application/x-www-form-urlencoded\r\n"),
       "demo.Greeter/SayHello json {\"name\":\"x\"}"},
      {"json", post("[1]", "Content-Type: application/json\r\n"), "demo.Greeter/SayHello json [1]"},
      {"json with a parameter", post("[1]", "content-type: Application/JSON; charset=utf-8\r\n"),
       "demo.Greeter/SayHello json [1]"},
      {"text/json", post("[1]", "Content-Type: text/json\r\n"), "demo.Greeter/SayHello json [1]"},
      {"text/plain", post("[1]", "Content-Type: text/plain\r\n"), "demo.Greeter/SayHello json [1]"},
      {"no type", post("[1]"), "demo.Greeter/SayHello json [1]"},
      {"protobuf", post("\n\x01x", "Content-Type: application/x-protobuf\r\n"),
       "demo.Greeter/SayHello protobuf \n\x01x"},
      {"protobuf's other name", post("b", "Content-Type: application/protobuf\r\n"),
       "demo.Greeter/SayHello protobuf b"},
      {"msgpack", post("b", "Content-Type: application/msgpack\r\n"), "demo.Greeter/SayHello msgpack b"},
      {"other parameters, whatever they are", post("1", "", "/a.B/c?group=g&x=%zz1&version=1.0"),
       "a.B/c json 1 ?g:1.0"},
      {"query", post("1", "", "/a.B/c?group=g%2F1&other=2&version=1.0&empty&=&"), "a.B/c json 1 ?g/1:1.0"},
      {"an empty query", post("1", "", "/a.B/c?"), "a.B/c json 1"},
      {"percent", post("1", "", "/a%2EB/c%2f%C3%a4"), "a.B/c/\xc3\xa4 json 1"},
      {"a plus is a plus", post("1", "", "/a.B/c?version=1+2"), "a.B/c json 1 ?:1+2"},
      {"absolute form", post("1", "", "http://h:80/a.B/c?group=g"), "a.B/c json 1 ?g:"},
      {"time limit", post("1", "X-Timeout-Ms: 250\r\n"), "demo.Greeter/SayHello json 1 250ms"},
      {"headers",
       post("1",
            "X-Request-Id: A b\r\ntraceparent: 00-1\r\nTraceState: s\r\nAuthorization: Bearer t\r\n"
            "baggage: k=v\r\nCookie: c\r\nOrigin: o\r\n"),
       "demo.Greeter/SayHello json 1 x-request-id=A b traceparent=00-1 tracestate=s authorization=Bearer t "
       "baggage=k=v"},
      {"a header in two lines", post("1", "X-A: 1\r\nx-a: 2\r\n"), "demo.Greeter/SayHello json 1 x-a=1, 2"},
      {"an empty header", post("1", "X-A:\r\nX-B: \t \r\n"), "demo.Greeter/SayHello json 1 x-a= x-b="},
      {"bytes above ASCII in a header", post("1", "X-A: \xff\xc3\xa4\r\n"),
       "demo.Greeter/SayHello json 1 x-a=\xff\xc3\xa4"},
      {"gzip", post("zipped", "Content-Encoding: gzip\r\n"), "demo.Greeter/SayHello json zipped +gzip"},
      {"x-gzip, identity", post("z", "Content-Encoding: identity, X-GZIP\r\n"), "demo.Greeter/SayHello json z +gzip"},
      {"no body", head("POST /a.B/c HTTP/1.1"), "a.B/c json {}"},
      {"a body of no bytes", post("", "", "/a.B/c"), "a.B/c json {}"},
      {"no bytes of protobuf", post("", "Content-Type: application/protobuf\r\n", "/a.B/c"), "a.B/c protobuf "},
      {"chunks",
       head("POST /a.B/c HTTP/1.1", "Transfer-Encoding: Chunked\r\n") +
           "3\r\nabc\r\nA;x=\"y\"\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n",
       "a.B/c json abc0123456789"},
      {"no chunk", head("POST /a.B/c HTTP/1.1", "Transfer-Encoding: chunked\r\n") + "0\r\n\r\n", "a.B/c json {}"},
      {"the length twice", post("ab", "Content-Length: 2\r\n", "/a.B/c"), "a.B/c json ab"},
      {"HTTP/1.0 without Host", "POST /a.B/c HTTP/1.0\r\nContent-Length: 1\r\nConnection: Keep-Alive\r\n\r\n1",
       "a.B/c json 1"},
      {"an empty line in front", "\r\n" + post("1", "", "/a.B/c"), "a.B/c json 1"},
  };
  for (const Row& row : rows) {
    for (const std::size_t chunk : {std::string::npos, std::size_t{1}, std::size_t{7}}) {
      SCOPED_TRACE(row.name + " in pieces of " + std::to_string(chunk));
      Peer peer;
      const Error error = peer.feed(row.request + row.request, chunk);
      ASSERT_FALSE(error) << error.text();
      ASSERT_EQ(peer.sink.seen.size(), 2u);
      EXPECT_TRUE(peer.sink.seen[0].loose_names);
      EXPECT_NE(peer.sink.seen[0].call, peer.sink.seen[1].call);
      EXPECT_EQ(peer.texts(), (std::vector<std::string>{row.frame, row.frame}));
      EXPECT_EQ(peer.session.unwritten(), 0u);
      EXPECT_TRUE(peer.rest.empty());
    }
  }
}

struct Refused {
  std::string name, request;
  int status;
  std::string code, field, value;
};

// The connection goes on: a proper request follows each.
TEST(Request, ThatIsRefusedIsReadToItsEnd) {
  const std::string allow = "POST, OPTIONS";
  const Refused rows[] = {
      {"GET", head("GET /demo.Greeter/SayHello HTTP/1.1"), 405, "invalid_argument", "Allow", allow},
      {"GET of the root", head("GET / HTTP/1.1"), 405, "invalid_argument", "Allow", allow},
      {"GET of the root, HTTP/1.0", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 405, "invalid_argument",
       "Connection", "keep-alive"},
      {"PUT with a body", "PUT" + post("{}").substr(4), 405, "invalid_argument", "Allow", allow},
      {"DELETE", head("DELETE /a/b HTTP/1.1"), 405, "invalid_argument", "Allow", allow},
      {"PATCH with chunks", head("PATCH /a/b HTTP/1.1", "Transfer-Encoding: chunked\r\n") + "1\r\nx\r\n0\r\n\r\n", 405,
       "invalid_argument", "Allow", allow},
      {"an unknown method", head("BREW /a/b HTTP/1.1"), 501, "unimplemented", "Content-Type", "application/json"},
      {"a method in lower case", head("post /a/b HTTP/1.1"), 501, "unimplemented", "Content-Type", "application/json"},
      {"OPTIONS", head("OPTIONS /a/b HTTP/1.1"), 204, "", "Allow", allow},
      {"OPTIONS of the server", head("OPTIONS * HTTP/1.1"), 204, "", "Allow", allow},
      {"the root", post("{}", "", "/"), 404, "not_found", "Content-Type", "application/json"},
      {"no method", post("{}", "", "/a"), 404, "not_found", "Content-Type", "application/json"},
      {"an empty method", post("{}", "", "/a/"), 404, "not_found", "Content-Type", "application/json"},
      {"an empty interface", post("{}", "", "//a"), 404, "not_found", "Content-Type", "application/json"},
      {"three parts", post("{}", "", "/a/b/c"), 404, "not_found", "Content-Type", "application/json"},
      {"no path", post("{}", "", "http://h"), 404, "not_found", "Content-Type", "application/json"},
      {"no absolute path", post("{}", "", "a/b"), 404, "not_found", "Content-Type", "application/json"},
      {"percent at the end", post("{}", "", "/a/b%"), 400, "malformed", "Content-Type", "application/json"},
      {"percent and one digit", post("{}", "", "/a/b%4"), 400, "malformed", "Content-Type", "application/json"},
      {"percent and no digits", post("{}", "", "/a/b%zz"), 400, "malformed", "Content-Type", "application/json"},
      {"NUL", post("{}", "", "/a/b%00"), 400, "malformed", "Content-Type", "application/json"},
      {"a newline", post("{}", "", "/a/b%0a"), 400, "malformed", "Content-Type", "application/json"},
      {"not UTF-8", post("{}", "", "/a/b%ff"), 400, "malformed", "Content-Type", "application/json"},
      {"raw UTF-8", post("{}", "", "/a/\xc3\xa4"), 400, "malformed", "Content-Type", "application/json"},
      {"a fragment", post("{}", "", "/a/b#c"), 400, "malformed", "Content-Type", "application/json"},
      {"the group twice", post("{}", "", "/a/b?group=1&group=1"), 400, "malformed", "Content-Type", "application/json"},
      {"a bad group", post("{}", "", "/a/b?group=%f"), 400, "malformed", "Content-Type", "application/json"},
      {"multipart", post("{}", "Content-Type: multipart/form-data; boundary=x\r\n"), 415, "unimplemented",
       "Accept-Post", settings()->types.text()},
      {"xml", post("{}", "Content-Type: application/xml\r\n"), 415, "unimplemented", "Accept-Post",
       settings()->types.text()},
      {"two types", post("{}", "Content-Type: text/json\r\nContent-Type: text/json\r\n"), 400, "malformed",
       "Content-Type", "application/json"},
      {"brotli", post("{}", "Content-Encoding: br\r\n"), 415, "unimplemented", "Accept-Encoding", "gzip"},
      {"gzip twice", post("{}", "Content-Encoding: gzip, gzip\r\n"), 415, "unimplemented", "Accept-Encoding", "gzip"},
      {"no time", post("{}", "x-timeout-ms: 0\r\n"), 400, "invalid_argument", "Content-Type", "application/json"},
      {"a negative time", post("{}", "x-timeout-ms: -1\r\n"), 400, "invalid_argument", "Content-Type",
       "application/json"},
      {"time and more", post("{}", "x-timeout-ms: 1s\r\n"), 400, "invalid_argument", "Content-Type",
       "application/json"},
      {"too much time", post("{}", "x-timeout-ms: 4294967296\r\n"), 400, "invalid_argument", "Content-Type",
       "application/json"},
  };
  for (const Refused& row : rows) {
    for (const std::size_t chunk : {std::string::npos, std::size_t{1}, std::size_t{9}}) {
      SCOPED_TRACE(row.name + " in pieces of " + std::to_string(chunk));
      Peer peer;
      const Error error = peer.feed(row.request + post("after"), chunk);
      ASSERT_FALSE(error) << error.text();
      EXPECT_EQ(peer.texts(), std::vector<std::string>{"demo.Greeter/SayHello json after"});
      const Answer answer = peer.answer();
      EXPECT_EQ(answer.status, row.status);
      EXPECT_EQ(answer.code(), row.code) << answer.body;
      EXPECT_EQ(answer.field(row.field), row.value);
      if (row.status != 204) {
        EXPECT_NE(answer.body.find("\"delivery\":\"not_run\""), std::string::npos) << answer.body;
      }
    }
  }
}

TEST(Request, HeadIsAnsweredWithoutABody) {
  Peer peer;
  ASSERT_FALSE(peer.feed(head("HEAD /a/b HTTP/1.1") + head("GET /a/b HTTP/1.1")));
  const auto sent = peer.answers({0});
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].status, 405);
  EXPECT_NE(sent[0].field("content-length"), "0");
  EXPECT_EQ(sent[1].status, 405);
}

TEST(Request, ContentTypesOfOnesOwn) {
  Peer peer({}, {.content_types = {{"Application/CBOR", "cbor"}, {"text/plain", "text"}}});
  ASSERT_FALSE(peer.feed(post("1", "Content-Type: application/cbor\r\n") + post("2", "Content-Type: text/plain\r\n")));
  const auto seen = peer.take();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].serializer, "cbor");
  EXPECT_EQ(seen[1].serializer, "text");
  ASSERT_TRUE(peer.reply(seen[0].call, "c").ok());
  EXPECT_EQ(peer.answer().field("content-type"), "application/cbor");
}

TEST(Request, ALargeBodyIsReadToWhereItStays) {
  const std::string body(300'000, 'b');
  const std::string bytes = post(body) + post("after");
  for (const std::size_t chunk : {std::string::npos, std::size_t{100}, std::size_t{65536}}) {
    Peer peer;
    ASSERT_FALSE(peer.feed(bytes, chunk));
    const auto seen = peer.take();
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[0].body, body);
    EXPECT_EQ(seen[1].body, "after");
    if (chunk != std::string::npos) {
      EXPECT_GT(peer.direct, body.size() / 2);
    }
  }
}

// Every way to cut a stream in two, and one byte at a time: the frames and the answers are the same.
TEST(Request, WhereverItIsCut) {
  const std::string stream = post("first", "X-A: 1\r\n") + head("GET / HTTP/1.1") + "\r\n" +
                             head("POST /a.B/c HTTP/1.1", "Transfer-Encoding: chunked\r\n") +
                             "5;ext=1\r\nhello\r\n1\r\n!\r\n0\r\nTrail: er\r\n\r\n" + head("OPTIONS * HTTP/1.1") +
                             post("last");
  Peer whole;
  ASSERT_FALSE(whole.feed(stream));
  const std::vector<std::string> frames = whole.texts();
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[1], "a.B/c json hello!");
  const auto answer_all = [](Peer& peer) {
    for (std::uint32_t call = 5; call > 0; --call) (void)peer.reply(call, "r" + std::to_string(call));
    return peer.drain(7);
  };
  const std::string answers = answer_all(whole);
  EXPECT_EQ(test::answers(answers).size(), 5u);
  for (std::size_t cut = 1; cut < stream.size(); ++cut) {
    Peer peer;
    ASSERT_FALSE(peer.feed(stream.substr(0, cut)));
    ASSERT_FALSE(peer.feed(stream.substr(cut)));
    ASSERT_EQ(peer.texts(), frames) << cut;
    ASSERT_EQ(answer_all(peer), answers) << cut;
  }
  Peer bytewise;
  ASSERT_FALSE(bytewise.feed(stream, 1));
  EXPECT_EQ(bytewise.texts(), frames);
  EXPECT_EQ(answer_all(bytewise), answers);
  EXPECT_LT(bytewise.most_kept, 30u) << "only lines of chunks are left with the caller";
}

}  // namespace
}  // namespace tenon::http::test
