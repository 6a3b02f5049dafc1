#include "options.hpp"

#include <gtest/gtest.h>

namespace tenon::consul {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

void expect_refused(const ConsulOptions& options, const std::string& text) {
  const auto checked = check_options(options);
  ASSERT_FALSE(checked.ok()) << text;
  EXPECT_EQ(checked.error().code(), Errc::config);
  EXPECT_NE(checked.error().text().find(text), std::string::npos) << checked.error().text();
}

TEST(ConsulOptions, DefaultsAreMotans) {
  const auto checked = check_options({});
  ASSERT_TRUE(checked.ok()) << checked.error().text();
  EXPECT_EQ(checked->address, "127.0.0.1:8500");
  EXPECT_EQ(checked->ttl, seconds(30));
  EXPECT_EQ(checked->heartbeat, seconds(10));
  EXPECT_EQ(checked->wait, std::chrono::minutes(9));
}

TEST(ConsulOptions, HeartbeatFollowsTheTtl) {
  ConsulOptions options;
  options.ttl = seconds(3);
  EXPECT_EQ(check_options(options)->heartbeat, seconds(1));
  options.heartbeat = milliseconds(500);
  EXPECT_EQ(check_options(options)->heartbeat, milliseconds(500));
  options.heartbeat = milliseconds(2001);
  expect_refused(options, "heartbeat is 2001 ms; it must be between 20 ms and two thirds of ttl, which are 2000 ms");
}

TEST(ConsulOptions, Addresses) {
  const auto read = [](const std::string& text) {
    const auto address = parse_agent_address(text);
    return address.ok() ? address->host + " " + address->port : address.error().text();
  };
  EXPECT_EQ(read("consul1"), "consul1 8500");
  EXPECT_EQ(read("consul1:8501"), "consul1 8501");
  EXPECT_EQ(read("[::1]"), "::1 8500");
  EXPECT_EQ(read("[::1]:80"), "::1 80");
  for (const std::string bad : {"", ":80", "a:", "a:0", "a:65536", "a:x", "::1", "[::1", "[]:1", "[::1]x",
                                "[::1]:", "http://a:80", "a/b", "user@a", "a b", "a:8 0", "a\n"}) {
    ConsulOptions options;
    options.address = bad;
    expect_refused(options, "address '" + bad + "'");
  }
}

TEST(ConsulOptions, BadValuesAreNamed) {
  const auto with = [](auto change) {
    ConsulOptions options;
    change(options);
    return options;
  };
  expect_refused(with([](auto& o) { o.ttl = milliseconds(99); }), "ttl is 99 ms");
  expect_refused(with([](auto& o) { o.wait = std::chrono::minutes(11); }), "wait is 660000 ms");
  expect_refused(with([](auto& o) { o.connect_timeout = milliseconds(0); }), "connect_timeout is 0 ms");
  expect_refused(with([](auto& o) { o.request_timeout = milliseconds(-1); }), "request_timeout is -1 ms");
  expect_refused(with([](auto& o) { o.deregister_after = seconds(59); }), "deregister_after is 59000 ms");
  expect_refused(with([](auto& o) { o.max_answer = 1; }), "max_answer is 1;");
  expect_refused(with([](auto& o) { o.datacenter = "dc&x"; }), "datacenter 'dc&x'");
  expect_refused(with([](auto& o) { o.host = "a b"; }), "host 'a b'");
  expect_refused(with([](auto& o) { o.token = "line\r\nbreak"; }), "token has characters");
  EXPECT_EQ(check_options(with([](auto& o) { o.token = "s3cret\n"; })).error().text().find("s3cret"), std::string::npos)
      << "a secret is not repeated";
}

}  // namespace
}  // namespace tenon::consul
