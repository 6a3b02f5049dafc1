// What is decided before there is a connection.
#include "protocol.hpp"

#include <algorithm>

#include "peer.hpp"
#include "support/recording_log.hpp"
#include "support/test_executor.hpp"

namespace tenon::http::test {
namespace {

HttpProtocol protocol() { return HttpProtocol(settings()); }

TEST(Protocol, Sniffs) {
  const HttpProtocol http = protocol();
  for (const std::string_view yes : {"GET / HTTP/1.1\r\n", "POST /a/b", "PUT /", "HEAD /", "OPTIONS *", "DELETE /",
                                     "PATCH /", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"}) {
    EXPECT_EQ(http.sniff(yes), Protocol::Match::yes) << yes;
    bool decided = false;
    for (std::size_t size = 0; size <= yes.size(); ++size) {
      const Protocol::Match match = http.sniff(yes.substr(0, size));
      EXPECT_NE(match, Protocol::Match::no) << yes << " " << size;
      EXPECT_FALSE(decided && match != Protocol::Match::yes);
      decided = match == Protocol::Match::yes;
      if (size >= 13) {
        EXPECT_TRUE(decided);
      }
    }
  }
  for (const std::string_view no : {"get / HTTP/1.1", "GETS /", "POST\t/", "\r\nGET /", "\xf1\xf1", "TENO",
                                    "\x16\x03\x01", "PRI * HTTP/1", "X", "TRACE /", "CONNECT h:80"})
    EXPECT_EQ(http.sniff(no), Protocol::Match::no) << no;
}

TEST(Protocol, IsForServersOnly) {
  const HttpProtocol http = protocol();
  EXPECT_TRUE(http.check({}).ok());
  EXPECT_TRUE(http.check({.serializer = "", .compressor = "gzip"}).ok());
  const Result<void> reference = http.check({.serializer = "json"});
  ASSERT_FALSE(reference.ok());
  EXPECT_EQ(reference.error().code(), Errc::config);
  EXPECT_NE(reference.error().text().find("no client side"), std::string::npos) << reference.error().text();
  EXPECT_EQ(http.check({.serializer = "", .compressor = "a b"}).error().code(), Errc::config);
  EXPECT_EQ(http.check({.serializer = "", .compressor = "", .streams = true}).error().code(), Errc::config);
}

TEST(Protocol, AClientsSessionRefusesRequests) {
  const std::unique_ptr<Session> client = protocol().open(Side::client, {}, {});
  Frame frame;
  const Result<void> sent = client->send(frame);
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.error().code(), Errc::invalid_argument);
  EXPECT_EQ(sent.error().delivery(), Delivery::not_run);
  Recorder sink;
  EXPECT_FALSE(client->received("HTTP/1.1 200 OK\r\n\r\n", sink).ok());
  EXPECT_EQ(client->unwritten(), 0u);
  EXPECT_EQ(client->next_deadline(), never);
}

TEST(Protocol, RefusesOptionsThatMeanNothing) {
  tenon::test::TestExecutor executor;
  tenon::test::RecordingLog log;
  const auto refusal = [&](HttpOptions options) {
    auto made = HttpProtocol::create(std::move(options), Environment{executor, log, executor.clock()});
    return made.ok() ? Error() : std::move(made).error();
  };
  EXPECT_FALSE(refusal({}));
  EXPECT_EQ(refusal({.header_timeout = -1ms}).code(), Errc::config);
  EXPECT_EQ(refusal({.idle_timeout = -1ms}).code(), Errc::config);
  EXPECT_EQ(refusal({.content_types = {{"json", "json"}}}).code(), Errc::config);
  EXPECT_EQ(MediaTypes::create({{"a/b; c=d", "json"}}).error().code(), Errc::config);
  EXPECT_EQ(MediaTypes::create({{"application/cbor", ""}}).error().code(), Errc::config);
  EXPECT_TRUE(MediaTypes::create({{"application/cbor", "cbor"}}).ok());
}

}  // namespace
}  // namespace tenon::http::test
