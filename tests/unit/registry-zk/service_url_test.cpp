#include "service_url.hpp"

#include <gtest/gtest.h>

#include "samples.hpp"

namespace tenon::zk {
namespace {

ServiceUrl parse(const std::string& text) {
  const auto url = parse_service_url(text);
  EXPECT_TRUE(url.ok()) << url.error().text();
  return url.ok() ? *url : ServiceUrl();
}
std::string value(const ServiceUrl& url, std::string_view key) {
  const std::string* found = url.find(key);
  return found ? *found : "(none)";
}

// Motan in Go writes what we write, byte for byte.
TEST(ServiceUrlTest, GoldenBothWays) {
  EXPECT_EQ(to_string(parse(sample::go_server)), sample::go_server);
  EXPECT_EQ(to_string(parse(sample::go_client)), sample::go_client);
}

TEST(ServiceUrlTest, ReadsMotanInGo) {
  const ServiceUrl url = parse(sample::go_server);
  EXPECT_EQ(url.scheme, "motan2");
  EXPECT_EQ(url.host, "127.0.0.1");
  EXPECT_EQ(url.port, 18110);
  EXPECT_EQ(url.path, "com.weibo.motan.demo.service.MotanDemoService");
  EXPECT_EQ(url.parameters.size(), 11u);
  EXPECT_EQ(url.parameters.front().first, "group");
  EXPECT_EQ(value(url, "filter"), "accessLog,metrics");
  EXPECT_EQ(parse(sample::go_client).port, 0);
}

TEST(ServiceUrlTest, ReadsMotanInJava) {
  const ServiceUrl url = parse(sample::java_server);
  EXPECT_EQ(value(url, "export"), "demoMotan:18210");
  EXPECT_EQ(value(url, "group"), "motan-demo-rpc");
  EXPECT_EQ(url.parameters.size(), 14u) << "nothing behind the last &";
  EXPECT_EQ(parse(to_string(url)), url);
  EXPECT_EQ(value(parse(sample::java_client), "application"), "client-test");
}

TEST(ServiceUrlTest, AllTextsSurvive) {
  ServiceUrl url{"tenon", "[::1]", 65535, "a/b c?d", {}};
  for (int c = 0; c < 256; ++c)
    url.parameters.emplace_back(std::string(1, static_cast<char>(c)), std::string(2, static_cast<char>(c)));
  url.parameters.emplace_back("%41", "100%");
  url.parameters.emplace_back("", "");
  const std::string text = to_string(url);
  EXPECT_EQ(parse(text), url);
  for (const char c : text) EXPECT_TRUE(c > ' ' && c < 127);
}

TEST(ServiceUrlTest, OddOnesAreReadAsFarAsTheyGo) {
  EXPECT_EQ(value(parse("a://h:1/p?x=1=2&y&&=z&bad=%zz%4"), "x"), "1=2");
  EXPECT_EQ(value(parse("a://h:1/p?y"), "y"), "");
  EXPECT_EQ(value(parse("a://h:1/p?bad=%zz%4"), "bad"), "%zz%4");
  EXPECT_EQ(parse("a://h").host, "h");
  EXPECT_EQ(parse("a://h?k=v").host, "h");
  EXPECT_EQ(parse("a://[::1]/x").host, "[::1]");
  EXPECT_EQ(parse("a://[::1]:7/x").port, 7);
  EXPECT_EQ(parse("motan2://192.0.2.2:0/s?u=a://b/c").path, "s");
}

TEST(ServiceUrlTest, WhatIsNoneIsRefused) {
  for (const std::string text : {"", "x", "://h:1/", "h:1/p", "a://h:99999/p", "a://h:x/p", "a://h:/p", "a://h:-1/p"})
    EXPECT_FALSE(parse_service_url(text).ok()) << text;
  std::string many = "a://h:1/p?";
  for (int i = 0; i < 1025; ++i) many += "k=v&";
  EXPECT_EQ(parse_service_url(many).error().code(), Errc::too_large);
}

TEST(ServiceUrlTest, SetReplacesOrAppends) {
  ServiceUrl url = parse("a://h:1/p?x=1&y=2");
  url.set("x", "3");
  url.set("z", "4");
  EXPECT_EQ(to_string(url), "a://h:1/p?x=3&y=2&z=4");
}

TEST(ServiceUrlTest, HostAndPort) {
  std::string host;
  std::uint16_t port = 0;
  EXPECT_TRUE(split_host_port("10.0.0.1:4080", host, port));
  EXPECT_EQ(host, "10.0.0.1");
  EXPECT_EQ(port, 4080);
  EXPECT_TRUE(split_host_port("[fe80::1]:65535", host, port));
  EXPECT_EQ(host, "[fe80::1]");
  EXPECT_TRUE(split_host_port("h:0", host, port, true));
  for (const std::string text :
       {"h", "h:", ":1", "h:0", "h:65536", "h:1x", "::1:80", "[]:80", "h: 80", "h:+80", "/tmp/x"})
    EXPECT_FALSE(split_host_port(text, host, port)) << text;
}

}  // namespace
}  // namespace tenon::zk
