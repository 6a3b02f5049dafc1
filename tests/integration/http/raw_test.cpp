// What passes over the socket: order, keep-alive, limits, the end of connections.

#include "http_peer.hpp"
#include "services.hpp"

namespace tenon::test {
namespace {

using namespace std::chrono_literals;

class RawHttp : public ::testing::Test {
 protected:
  void SetUp() override {
    server_ = start_http();
    ASSERT_TRUE(server_);
  }
  std::unique_ptr<App> server_;
};

TEST_F(RawHttp, AnswersOnAConnectionThatStays) {
  HttpPeer peer(host(*server_));
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(peer.post("/test.Functions/hello", "[\"x\"]"));
    const HttpAnswer answer = peer.receive();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "\"hello x\"");
    EXPECT_TRUE(answer.says("Content-Type: application/json")) << answer.head;
    // What the session answers by itself leaves at once, too.
    ASSERT_TRUE(peer.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
    EXPECT_EQ(peer.receive().status, 405);
    ASSERT_TRUE(peer.send(
        "POST /test.Functions/ready HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"));
    EXPECT_EQ(peer.receive().head, "HTTP/1.1 100 Continue\r\n\r\n");
    ASSERT_TRUE(peer.send("[]"));
    EXPECT_EQ(peer.receive().body, "true");
  }
}

TEST_F(RawHttp, PipelinedAnswersKeepTheirOrder) {
  HttpPeer peer(host(*server_));
  ASSERT_TRUE(peer.post("/test.Functions/sleep", "[150]"));
  ASSERT_TRUE(peer.post("/test.Functions/hello", "[\"second\"]"));
  ASSERT_TRUE(peer.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  ASSERT_TRUE(peer.post("/test.Functions/sleep", "[1]"));
  EXPECT_EQ(peer.receive().body, "\"slept\"");
  EXPECT_EQ(peer.receive().body, "\"hello second\"");
  EXPECT_EQ(peer.receive().status, 405);
  EXPECT_EQ(peer.receive().body, "\"slept\"");
}

TEST_F(RawHttp, OneByteAtATime) {
  HttpPeer peer(host(*server_));
  const std::string request =
      "POST /demo.Greeter/SayHello HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nX-Tag: t\r\n\r\n"
      "7\r\n{\"name\"\r\n5\r\n:\"x\"}\r\n0\r\n\r\n";
  for (const char byte : request) ASSERT_TRUE(peer.send(std::string(1, byte)));
  EXPECT_EQ(peer.receive().body, "{\"message\":\"Hello, x of t\"}");
}

TEST_F(RawHttp, ErrorsOfCallsAreJsonAndTheConnectionStays) {
  HttpPeer peer(host(*server_));
  const auto status = [&](const std::string& path, const std::string& body, const std::string& part,
                          const std::string& fields = {}) {
    EXPECT_TRUE(peer.post(path, body, fields));
    const HttpAnswer answer = peer.receive();
    EXPECT_NE(answer.body.find(part), std::string::npos) << answer.body;
    return answer.status;
  };
  EXPECT_EQ(status("/no.Service/x", "[]", "\"code\":\"not_found\""), 404);
  EXPECT_EQ(status("/test.Functions/nothing", "[]", "has no method"), 404);
  EXPECT_EQ(status("/test.Functions/hello", "{\"wrong", "the request cannot be decoded"), 400);
  EXPECT_EQ(status("/test.Functions/boom", "[\"x\"]", "boom x"), 500);
  EXPECT_EQ(status("/test.Functions/refuse", "[\"because\"]",
                   "\"message\":\"because\",\"delivery\":\"ran\",\"domain\":\"acme\",\"foreign_code\":42"),
            403);
  EXPECT_EQ(status("/test.Functions/hello", "x", "not loaded", "Content-Type: application/msgpack\r\n"), 501);
  EXPECT_EQ(status("/test.Functions/hello", "x", "not in gzip format", "Content-Encoding: gzip\r\n"), 400);
  EXPECT_EQ(status("/demo.Greeter/SayHello", "{\"name\":\"x\"}", "in 250 ms", "X-Timeout-Ms: 250\r\n"), 200);
  EXPECT_EQ(status("/test.Functions/ready", "", "true"), 200);
}

TEST_F(RawHttp, TheConnectionIsClosedWhenAsked) {
  for (const char* request :
       {"POST /test.Functions/ready HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
        "POST /test.Functions/ready HTTP/1.0\r\n\r\n",
        "GET /test.Functions/ready HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"}) {
    HttpPeer peer(host(*server_));
    ASSERT_TRUE(peer.send(request));
    const HttpAnswer answer = peer.receive();
    EXPECT_EQ(answer.status, request[0] == 'P' ? 200 : 405);
    EXPECT_TRUE(answer.says("Connection: close"));
    EXPECT_TRUE(peer.closed());
  }
}

TEST_F(RawHttp, NonsenseIsAnsweredAndHurtsOnlyItsConnection) {
  HttpPeer good(host(*server_));
  ASSERT_TRUE(good.post("/test.Functions/sleep", "[100]"));
  const std::pair<const char*, int> rows[] = {
      {"POST /a/b HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"POST /a/b HTTP/1.1\r\n\r\n", 400},
      {"POST /a/b HTTP/1.1\nHost: h\n\n", 400},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
  };
  for (const auto& [request, status] : rows) {
    HttpPeer bad(host(*server_));
    ASSERT_TRUE(bad.send(request));
    EXPECT_EQ(bad.receive().status, status) << request;
    EXPECT_TRUE(bad.closed());
  }
  EXPECT_EQ(good.receive().body, "\"slept\"");
  ASSERT_TRUE(good.post("/test.Functions/hello", "[\"x\"]"));
  EXPECT_EQ(good.receive().status, 200);
  EXPECT_TRUE(eventually([&] { return idle(*server_); }));
}

// A peer that sends on while it is refused reads the answer nevertheless.
TEST_F(RawHttp, AnOversizeBodyIsAnswered) {
  HttpPeer peer(host(*server_));
  const std::size_t size = (4u << 20) + 1;
  ASSERT_TRUE(peer.post("/test.Functions/size", "[\"" + std::string(size, 'b') + "\"]"));
  const HttpAnswer answer = peer.receive();
  EXPECT_EQ(answer.status, 413);
  EXPECT_NE(answer.body.find("limits.max_frame"), std::string::npos) << answer.body;
  HttpPeer next(host(*server_));
  ASSERT_TRUE(next.post("/test.Functions/size", "[\"" + std::string(size - 100, 'b') + "\"]"));
  EXPECT_EQ(next.receive().body, std::to_string(size - 100));
}

// Nobody reads, so nobody is served on and on.
TEST_F(RawHttp, ASlowReaderGetsItsAnswersAndOthersDoNotWait) {
  HttpPeer slow(host(*server_));
  constexpr int requests = 300;
  for (int i = 0; i < requests; ++i) ASSERT_TRUE(slow.post("/test.Functions/fill", "[65536]"));
  HttpPeer other(host(*server_));
  ASSERT_TRUE(other.post("/test.Functions/hello", "[\"x\"]"));
  EXPECT_EQ(other.receive().status, 200);
  for (int i = 0; i < requests; ++i) {
    const HttpAnswer answer = slow.receive();
    ASSERT_EQ(answer.status, 200) << i;
    ASSERT_EQ(answer.body.size(), 65538u) << i;
  }
}

TEST(HttpServer, ClosesConnectionsThatSayNothingInTime) {
  const auto server = start_http(http_server_options({.header_timeout = 100ms, .idle_timeout = 200ms}));
  ASSERT_TRUE(server);
  HttpPeer begun(host(*server));
  ASSERT_TRUE(begun.send("POST /test.Functions/ready HTTP/1.1\r\n"));
  HttpPeer done(host(*server));
  ASSERT_TRUE(done.post("/test.Functions/sleep", "[500]"));
  const HttpAnswer late = begun.receive();
  EXPECT_EQ(late.status, 408);
  EXPECT_TRUE(begun.closed());
  EXPECT_EQ(done.receive().status, 200) << "a running call is not idle";
  EXPECT_TRUE(done.closed());
}

TEST(HttpServer, StopsAfterItsLastAnswer) {
  auto server = start_http();
  ASSERT_TRUE(server);
  HttpPeer peer(host(*server));
  ASSERT_TRUE(peer.post("/test.Functions/sleep", "[200]"));
  ASSERT_TRUE(eventually([&] { return server->counts().server_calls == 1; }));
  std::thread stopper([&] { EXPECT_TRUE(server->stop(5s)); });
  const HttpAnswer answer = peer.receive();
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(answer.says("Connection: close")) << answer.head;
  EXPECT_TRUE(peer.closed());
  stopper.join();
}

}  // namespace
}  // namespace tenon::test
