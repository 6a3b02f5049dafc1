// Requests that two readers would read differently, and other nonsense: answered, and the connection ends.
#include "peer.hpp"

namespace tenon::http::test {
namespace {

using namespace std::string_literals;

struct Row {
  std::string name, request;
  int status;
};

std::string with(std::string_view fields) { return head("POST /a.B/c HTTP/1.1", fields); }

TEST(Hostile, RequestsEndTheConnection) {
  const Row rows[] = {
      {"length and chunks", with("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"), 400},
      {"chunks and length", with("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"), 400},
      {"chunks and length 0", with("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n"), 400},
      {"two lengths", with("Content-Length: 3\r\nContent-Length: 4\r\n"), 400},
      {"two lengths in one line", with("Content-Length: 3, 4\r\n"), 400},
      {"one length twice in one line", with("Content-Length: 3, 3\r\n"), 400},
      {"length with a sign", with("Content-Length: +3\r\n"), 400},
      {"negative length", with("Content-Length: -3\r\n"), 400},
      {"hexadecimal length", with("Content-Length: 0x3\r\n"), 400},
      {"length and more", with("Content-Length: 3 4\r\n"), 400},
      {"no length", with("Content-Length:\r\n"), 400},
      {"length beyond 64 bits", with("Content-Length: 99999999999999999999\r\n"), 400},
      {"chunks twice", with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400},
      {"chunks twice in one line", with("Transfer-Encoding: chunked, chunked\r\n"), 501},
      {"chunks and another encoding", with("Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n"), 400},
      {"gzip, chunked", with("Transfer-Encoding: gzip, chunked\r\n"), 501},
      {"another encoding", with("Transfer-Encoding: xchunked\r\n"), 501},
      {"identity", with("Transfer-Encoding: identity\r\n"), 501},
      {"an empty encoding", with("Transfer-Encoding:\r\n"), 501},
      {"vertical tab before chunked",
       with("Transfer-Encoding: \x0b"
            "chunked\r\n"),
       400},
      {"chunks in HTTP/1.0",
       "POST /a/b HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"space before the colon", with("Content-Length : 3\r\n"), 400},
      {"tab before the colon", with("Transfer-Encoding\t: chunked\r\n"), 400},
      {"folded line", with("X-A: 1\r\n 2\r\n"), 400},
      {"folded line with a tab", with("X-A: 1\r\n\tTransfer-Encoding: chunked\r\n"), 400},
      {"folded first line", "POST /a/b HTTP/1.1\r\n Host: h\r\n\r\n", 400},
      {"no colon", with("Nonsense\r\n"), 400},
      {"no name", with(": x\r\n"), 400},
      {"NUL in a value", with("X-A: 1"s + '\0' + "2\r\n"), 400},
      {"NUL in a name", with("X-"s + '\0' + "A: 2\r\n"), 400},
      {"CR in a value", with("X-A: 1\r2\r\n"), 400},
      {"CR CR LF", with("X-A: 1\r\r\n"), 400},
      {"DEL in a value", with("X-A: \x7f\r\n"), 400},
      {"escape in a value", with("X-A: \x1b[0m\r\n"), 400},
      {"LF alone in a value", with("X-A: 1\nX-B: 2\r\n"), 400},
      {"LF alone at the first line", "POST /a/b HTTP/1.1\nHost: h\r\n\r\n", 400},
      {"LF alone at the end", "POST /a/b HTTP/1.1\r\nHost: h\r\n\n", 400},
      {"umlaut in a name", with("X-\xc3\xa4: 1\r\n"), 400},
      {"no Host", "POST /a/b HTTP/1.1\r\n\r\n", 400},
      {"two Hosts", with("Host: other\r\n"), 400},
      {"bad Connection", with("Connection: a b\r\n"), 400},
      {"two spaces", "POST  /a/b HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"space in the path", "POST /a b HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"no version", "POST /a/b\r\nHost: h\r\n\r\n", 400},
      {"space behind the version", "POST /a/b HTTP/1.1 \r\nHost: h\r\n\r\n", 400},
      {"version in lower case", "POST /a/b http/1.1\r\nHost: h\r\n\r\n", 400},
      {"HTTP/2.0", "POST /a/b HTTP/2.0\r\nHost: h\r\n\r\n", 505},
      {"HTTP/1.2", "POST /a/b HTTP/1.2\r\nHost: h\r\n\r\n", 505},
      {"HTTP/0.9", "GET / HTTP/0.9\r\nHost: h\r\n\r\n", 505},
      {"HTTP/2's preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"two empty lines in front", "\r\n\r\n" + post(), 400},
      {"binary", "\x16\x03\x01\x02\r\n\r\n", 400},
      {"a chunk without a size", with("Transfer-Encoding: chunked\r\n") + "\r\nabcdef", 400},
      {"a chunk with a sign", with("Transfer-Encoding: chunked\r\n") + "+3\r\nabc\r\n0\r\n\r\n", 400},
      {"a chunk in hexadecimal notation", with("Transfer-Encoding: chunked\r\n") + "0x3\r\nabc\r\n0\r\n\r\n", 400},
      {"a negative chunk", with("Transfer-Encoding: chunked\r\n") + "-1\r\nabc\r\n0\r\n\r\n", 400},
      {"a chunk beyond 64 bits", with("Transfer-Encoding: chunked\r\n") + "10000000000000003\r\nabc\r\n0\r\n\r\n", 400},
      {"a chunk longer than it says", with("Transfer-Encoding: chunked\r\n") + "3\r\nabcd\r\n0\r\n\r\n", 400},
      {"a chunk shorter than it says", with("Transfer-Encoding: chunked\r\n") + "5\r\nabc\r\n0\r\n\r\n", 400},
      {"a chunk's line with LF", with("Transfer-Encoding: chunked\r\n") + "3\nabc\r\n0\r\n\r\n", 400},
      {"a chunk's line with CR", with("Transfer-Encoding: chunked\r\n") + "3\rX\r\nabc\r\n0\r\n\r\n", 400},
      {"a bad extension", with("Transfer-Encoding: chunked\r\n") + "3 x\r\nabc\r\n0\r\n\r\n", 400},
      {"a bad trailer", with("Transfer-Encoding: chunked\r\n") + "0\r\nbad trailer\r\n\r\n", 400},
      {"an endless chunk line", with("Transfer-Encoding: chunked\r\n") + "3;" + std::string(20'000, 'x'), 400},
      {"endless trailers", with("Transfer-Encoding: chunked\r\n") + "0\r\na: " + std::string(20'000, 'x'), 400},
  };
  for (const Row& row : rows) {
    for (const std::size_t chunk : {std::string::npos, std::size_t{1}}) {
      SCOPED_TRACE(row.name + " in pieces of " + std::to_string(chunk));
      Peer peer;
      const Error error = peer.feed(row.request + "GET /smuggled/x HTTP/1.1\r\nHost: h\r\n\r\n", chunk);
      ASSERT_TRUE(error);
      EXPECT_TRUE(error.text().starts_with("protocol http: ")) << error.text();
      EXPECT_TRUE(peer.texts().empty());
      const Answer answer = peer.answer();
      EXPECT_EQ(answer.status, row.status) << answer.body;
      EXPECT_EQ(answer.field("connection"), "close");
      EXPECT_FALSE(answer.code().empty()) << answer.body;
      EXPECT_TRUE(peer.feed(post())) << "after a fatal error";
      EXPECT_EQ(peer.session.unwritten(), 0u);
      EXPECT_EQ(peer.session.next_deadline(), never);
      EXPECT_LT(peer.most_kept, 9000u);
    }
  }
}

// A request that cannot be read does not take the answers of those before it.
TEST(Hostile, EarlierRequestsAreStillAnswered) {
  Peer peer;
  ASSERT_FALSE(peer.feed(post("1") + post("2") + "nonsense\r\n\r\n" + post("3")));
  const auto seen = peer.take();
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[2].kind, FrameKind::goaway) << "the connection is to be closed when all is answered";
  EXPECT_TRUE(peer.drain().empty());
  ASSERT_TRUE(peer.reply(seen[1].call, "b").ok());
  EXPECT_TRUE(peer.drain().empty());
  ASSERT_FALSE(peer.feed(post("4"))) << "dropped";
  ASSERT_TRUE(peer.reply(seen[0].call, "a").ok());
  const auto sent = peer.answers();
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[0].body, "a");
  EXPECT_EQ(sent[0].field("connection"), "(none)");
  EXPECT_EQ(sent[1].body, "b");
  EXPECT_EQ(sent[2].status, 400);
  EXPECT_EQ(sent[2].field("connection"), "close");
  EXPECT_TRUE(peer.take().empty());
}

TEST(Hostile, AnyByteOfARequestMayBeAnother) {
  const std::string good = head("POST /a.B/c HTTP/1.1", "Transfer-Encoding: chunked\r\nX-A: 1\r\n") +
                           "3\r\nabc\r\n0\r\n\r\n" + post("x", "Content-Type: text/json\r\n");
  for (std::size_t at = 0; at < good.size(); ++at)
    for (const char byte : "\0\t\n\r 019aA:;,%/?#\"{+-.=\x7f\x80\xff"s) {
      std::string bytes = good;
      bytes[at] = byte;
      Peer whole;
      const Error first = whole.feed(bytes);
      Peer bytewise;
      const Error second = bytewise.feed(bytes, 1);
      ASSERT_EQ(static_cast<bool>(first), static_cast<bool>(second)) << at << " " << int(byte);
      ASSERT_EQ(whole.texts(), bytewise.texts()) << at << " " << int(byte);
      ASSERT_EQ(whole.drain(), bytewise.drain()) << at << " " << int(byte);
    }
}

}  // namespace
}  // namespace tenon::http::test
