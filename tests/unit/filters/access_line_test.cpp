#include "access_line.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "tenon/utf8.hpp"

namespace tenon::access {
namespace {

namespace bj = boost::json;

std::string as_json(std::string_view text, std::size_t limit = 256) {
  std::string out;
  append_text(text, limit, out);
  return out;
}

TEST(AccessLineText, WhatIsHarmlessStaysAsItIs) {
  EXPECT_EQ(as_json(""), "\"\"");
  EXPECT_EQ(as_json("curl/8.1 (x; y)"), "\"curl/8.1 (x; y)\"");
  EXPECT_EQ(as_json("\xE5\x90\x8D\xF0\x9F\x98\x80\xC3\xA4"), "\"\xE5\x90\x8D\xF0\x9F\x98\x80\xC3\xA4\"");
}

TEST(AccessLineText, NothingBreaksOrForgesALine) {
  EXPECT_EQ(as_json("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(as_json("a\r\n{\"time\":1}"), R"("a\r\n{\"time\":1}")");
  EXPECT_EQ(as_json("\t\x1B[31m\x7F"), R"("\t\u001b[31m\u007f")");
  EXPECT_EQ(as_json(std::string_view("\0x", 2)), R"("\u0000x")");
  EXPECT_EQ(as_json("\xC2\x85\xC2\x9B"), R"("\u0085\u009b")") << "C1: next line, control sequence";
  EXPECT_EQ(as_json("\xE2\x80\xA8\xE2\x80\xA9"), R"("\u2028\u2029")") << "line separators";
  EXPECT_EQ(as_json("\xE2\x80\xAE\xE2\x81\xA6"), R"("\u202e\u2066")") << "reversed text";
}

TEST(AccessLineText, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(as_json("a\xFFz"), R"("a\ufffdz")");
  EXPECT_EQ(as_json("\xC3"), R"("\ufffd")") << "cut";
  EXPECT_EQ(as_json("\xC0\xAF"), R"("\ufffd\ufffd")") << "overlong";
  EXPECT_EQ(as_json("\xED\xA0\x80"), R"("\ufffd\ufffd\ufffd")") << "a surrogate";
  EXPECT_EQ(as_json("\xF5\x80\x80\x80"), R"("\ufffd\ufffd\ufffd\ufffd")") << "beyond Unicode";
}

TEST(AccessLineText, LongTextsAreCutBetweenCharacters) {
  EXPECT_EQ(as_json("12345678", 8), "\"12345678\"");
  EXPECT_EQ(as_json("123456789", 8), "\"12345678... (1 more bytes)\"");
  EXPECT_EQ(as_json("1234567\xC3\xA4", 8), "\"1234567... (2 more bytes)\"");
  const std::string huge = as_json(std::string(10u << 20, '\n'), 256);
  EXPECT_LT(huge.size(), 600u);
}

TEST(AccessLineText, EveryByteAndPairIsValidJson) {
  for (int first = 0; first < 256; ++first)
    for (int second = 0; second < 256; ++second) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second)};
      const std::string out = as_json(text);
      ASSERT_TRUE(is_utf8(out));
      for (const char c : out)
        ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) << first << ' ' << second;
      boost::system::error_code error;
      const bj::value back = bj::parse(out, error);
      ASSERT_FALSE(error) << out;
      if (is_utf8(text)) {
        ASSERT_EQ(std::string_view(back.get_string()), text);
      }
    }
}

class AccessLineTest : public testing::Test {
 protected:
  AccessLineTest() {
    method_.name = "SayHello";
    target_.service = &service_;
    target_.method = &method_;
    peer_.peer = "127.0.0.1:5555";
    peer_.protocol = "tenon";
    info_.side = Side::server;
    info_.peer = &peer_;
    info_.headers = &request_.headers;
    info_.request_bytes = 17;
    request_.info = &info_;
    record_.request = &request_;
    record_.took = std::chrono::nanoseconds(1234567);
    record_.time = std::chrono::system_clock::time_point(std::chrono::microseconds(1767323045000006));
  }
  std::string line(const std::vector<std::string>& headers = {}, std::size_t max_value = 256) {
    return line_of(record_, headers, max_value);
  }
  ServiceName service_{"demo.Greeter", "g", "1.0"};
  Method method_;
  Target target_;
  Request request_{target_};
  PeerInfo peer_;
  CallInfo info_;
  CallRecord record_;
};

TEST_F(AccessLineTest, AGoodCallOnAServer) {
  EXPECT_EQ(line(), R"({"time":"2026-01-02T03:04:05.000006Z","side":"server","service":"g/demo.Greeter:1.0",)"
                    R"("method":"SayHello","peer":"127.0.0.1:5555","protocol":"tenon","code":"ok","took_us":1234,)"
                    R"("request_bytes":17})");
  record_.reply_bytes = 0;
  peer_.identity = "cn=\"x\"";
  EXPECT_NE(line().find(R"("identity":"cn=\"x\"")"), std::string::npos);
  EXPECT_NE(line().find(R"("reply_bytes":0})"), std::string::npos);
}

TEST_F(AccessLineTest, AFailedAttemptOfAClient) {
  info_ = CallInfo();
  info_.side = Side::client;
  info_.attempt = 2;
  const Error error(Errc::unavailable, "10.0.0.1:1: connection\nrefused", Delivery::not_run);
  record_.error = &error;
  EXPECT_EQ(line().substr(line().find(",\"method\"")),
            R"(,"method":"SayHello","attempt":2,"code":"unavailable","delivery":"not_run",)"
            R"("error":"10.0.0.1:1: connection\nrefused","took_us":1234})");
}

TEST_F(AccessLineTest, ChosenHeadersThatAreThere) {
  request_.headers = {{"user", "ray\"}\n"}, {"trace", "abc"}, {"secret", "s"}};
  EXPECT_NE(line({"trace", "missing", "user"}).find(R"("headers":{"trace":"abc","user":"ray\"}\n"}})"),
            std::string::npos)
      << line({"trace", "missing", "user"});
  EXPECT_EQ(line({"missing"}).find("headers"), std::string::npos);
  EXPECT_EQ(line({"trace"}).find("secret"), std::string::npos);
  EXPECT_TRUE(line({"trace", "user"}, 8).size() > 0);
}

TEST_F(AccessLineTest, WithoutAnythingKnown) {
  request_.info = nullptr;
  EXPECT_EQ(line(), R"({"time":"2026-01-02T03:04:05.000006Z","service":"g/demo.Greeter:1.0","method":"SayHello",)"
                    R"("code":"ok","took_us":1234})");
}

}  // namespace
}  // namespace tenon::access
