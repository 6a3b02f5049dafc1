#include "provider_node.hpp"

#include <gtest/gtest.h>

#include "samples.hpp"

namespace tenon::zk {
namespace {

const ServiceName service{"demo.Greeter", "yf-demo", "1.0"};

Instance instance() {
  Instance made;
  made.id = "10.0.0.7:4080/a1b2";
  made.transport = "tcp";
  made.address = "10.0.0.7:4080";
  made.protocols = {"tenon", "motan2"};
  return made;
}

TEST(ProviderNodeTest, WritesWhatMotanReads) {
  Instance made = instance();
  made.weight = 50;
  made.metadata = {{"application", "shop"}, {"serialization", "simple"}};
  EXPECT_EQ(write_provider(service, made),
            "motan2://10.0.0.7:4080/demo.Greeter?group=yf-demo&application=shop&instanceId=10.0.0.7:4080/a1b2&"
            "nodeType=service&protocols=tenon,motan2&serialization=simple&transport=tcp&version=1.0&weight=50");
  made = instance();
  made.protocols = {"tenon"};
  EXPECT_EQ(write_provider({"demo.Greeter", "", ""}, made),
            "tenon://10.0.0.7:4080/demo.Greeter?group=default_rpc&instanceId=10.0.0.7:4080/a1b2&nodeType=service&"
            "protocols=tenon&transport=tcp");
}

TEST(ProviderNodeTest, WhatIsWrittenIsReadAgain) {
  for (const std::string& odd : {std::string("plain"), std::string("a=b&c=\"d\"\n\xE2\x82\xAC"), std::string("100%41"),
                                 std::string("nul\0byte", 8), std::string("\xFF\xFE"), std::string("x,y")}) {
    Instance made = instance();
    made.id = odd;
    made.transport = odd;
    made.protocols = {odd, "tenon"};
    made.weight = 4'000'000'000;
    for (const std::string& name :
         {odd, std::string(), std::string("group"), std::string("version"), std::string("weight"),
          std::string("withdrawn"), std::string("serving"), std::string("meta.x"), std::string("meta.meta.group"),
          std::string("instanceId")})
      made.metadata[name] = odd + name;
    const auto read = read_provider(write_provider({"demo.Greeter", odd, odd}, made), "10.0.0.7:4080");
    ASSERT_TRUE(read.ok()) << read.error().text();
    EXPECT_EQ(read->instance, made);
    EXPECT_EQ(read->version, odd);
    EXPECT_FALSE(read->withdrawn);
  }
  Instance bare;
  bare.id = bare.address = "h:1";
  EXPECT_EQ(read_provider(write_provider(service, bare), "h:1")->instance, bare) << "speaks nothing";
  EXPECT_TRUE(read_provider(write_provider(service, bare, true), "h:1")->withdrawn);
}

TEST(ProviderNodeTest, ReadsMotanInGo) {
  const auto read = read_provider(sample::go_server, "127.0.0.1:18110");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->instance.id, "127.0.0.1:18110");
  EXPECT_EQ(read->instance.address, "127.0.0.1:18110");
  EXPECT_EQ(read->instance.protocols, std::vector<std::string>{"motan2"});
  EXPECT_EQ(read->instance.weight, 100u);
  EXPECT_EQ(read->version, "1.0");
  EXPECT_EQ(read->instance.metadata.at("serialization"), "simple");
  EXPECT_EQ(read->instance.metadata.at("filter"), "accessLog,metrics");
  EXPECT_FALSE(read->instance.metadata.contains("nodeType"));
}

TEST(ProviderNodeTest, ReadsMotanInJavaBothFactories) {
  for (const std::string& data : {sample::java_node, sample::java_server}) {
    const auto read = read_provider(data, "127.0.0.1:18210");
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->instance.id, "127.0.0.1:18210") << "id=demoMotan is the bean's name, the same in every process";
    EXPECT_EQ(read->instance.metadata.at("id"), "demoMotan");
    EXPECT_EQ(read->instance.metadata.at("export"), "demoMotan:18210");
    EXPECT_EQ(read->version, "");
    EXPECT_TRUE(same_version(read->version, "1.0"));
  }
}

TEST(ProviderNodeTest, TheNameFillsInWhatTheDataDoNotSay) {
  const auto empty = read_provider("", "10.0.0.1:8002");
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty->instance.address, "10.0.0.1:8002");
  EXPECT_EQ(empty->instance.id, "10.0.0.1:8002");
  EXPECT_EQ(empty->instance.protocols, std::vector<std::string>{"motan2"});
  EXPECT_EQ(read_provider("motan2://:0/x", "10.0.0.1:8002")->instance.address, "10.0.0.1:8002");
  EXPECT_EQ(read_provider("not a url", "h:1").error().code(), Errc::malformed);
  EXPECT_EQ(read_provider(sample::java_node.substr(0, 100), "h:1").error().code(), Errc::malformed);
}

TEST(ProviderNodeTest, BadWeightsCountAsNone) {
  for (const std::string weight : {"", "-1", "x", "1e3", "99999999999", "5 "})
    EXPECT_EQ(read_provider("motan2://h:1/s?weight=" + weight, "h:1")->instance.weight, 100u) << weight;
  EXPECT_EQ(read_provider("motan2://h:1/s?weight=0", "h:1")->instance.weight, 0u);
}

TEST(ProviderNodeTest, AWeightChangesNothingElse) {
  const auto plain = with_weight(sample::go_server, "127.0.0.1:18110", 7);
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(*plain, sample::go_server + "&weight=7");
  EXPECT_EQ(*with_weight(*plain, "127.0.0.1:18110", 8), sample::go_server + "&weight=8");
  const auto java = with_weight(sample::java_node, "127.0.0.1:18210", 7);
  ASSERT_TRUE(java.ok());
  EXPECT_EQ(read_node_text(*java)->encoding, TextEncoding::java);
  const auto read = read_provider(*java, "127.0.0.1:18210");
  EXPECT_EQ(read->instance.weight, 7u);
  EXPECT_EQ(read->instance.metadata, read_provider(sample::java_node, "x:1")->instance.metadata);
  EXPECT_EQ(read_provider(*with_weight("", "h:1", 3), "h:1")->instance.weight, 3u);
  EXPECT_FALSE(with_weight("not a url", "h:1", 3).ok());
}

TEST(ProviderNodeTest, AnOperatorsWordIsHeeded) {
  const auto marked = with_serving(sample::go_server, "127.0.0.1:18110", false);
  ASSERT_TRUE(marked.ok());
  EXPECT_EQ(*marked, sample::go_server + "&serving=false");
  const auto read = read_provider(*marked, "127.0.0.1:18110");
  EXPECT_FALSE(read->serves(true));
  EXPECT_FALSE(read->instance.metadata.contains("serving"));
  EXPECT_EQ(*with_serving(*marked, "127.0.0.1:18110", std::nullopt), sample::go_server);
  EXPECT_EQ(*with_serving(sample::java_node, "127.0.0.1:18210", std::nullopt), sample::java_node) << "nothing to do";
  EXPECT_EQ(*with_serving("", "h:1", std::nullopt), "");
  EXPECT_TRUE(read_provider(*with_serving("", "h:1", true), "h:1")->serves(false));
  for (const std::string text : {"", "?serving=", "?serving=yes", "?serving=TRUE"}) {
    const auto folder = read_provider("motan2://h:1/s" + text, "h:1");
    EXPECT_TRUE(folder->serves(true)) << text;
    EXPECT_FALSE(folder->serves(false)) << text;
  }
}

TEST(ProviderNodeTest, ConsumersAsMotanInGoWritesThem) {
  const std::string text = write_consumer({{"demo.Greeter", "yf-demo", "1.0"}, "shop"}, "10.0.0.9");
  EXPECT_EQ(text,
            "motan2://10.0.0.9:0/demo.Greeter?group=yf-demo&application=shop&framework=tenon&nodeType=referer&"
            "version=1.0");
  EXPECT_EQ(read_consumer(text, "10.0.0.9:0-1a-2"), (Subscriber{"shop", "10.0.0.9", false}));
  EXPECT_EQ(read_consumer(sample::go_client, "127.0.0.1:0"), (Subscriber{"client-test", "127.0.0.1", true}));
  EXPECT_EQ(read_consumer(sample::java_client, "192.0.2.2"), (Subscriber{"client-test", "192.0.2.2", true}));
  EXPECT_EQ(read_consumer("", "192.0.2.2"), (Subscriber{"192.0.2.2", "192.0.2.2", true}));
  EXPECT_EQ(read_consumer("?", "10.0.0.3:0"), (Subscriber{"10.0.0.3:0", "10.0.0.3", true}));
  const std::string v6 = write_consumer({{"demo.Greeter", "", ""}, "shop"}, "[2001:db8::1]");
  EXPECT_EQ(read_consumer(v6, "[2001:db8::1]:0-1a-2"), (Subscriber{"shop", "2001:db8::1", false}));
  EXPECT_EQ(read_consumer("", "[::1]:0").address, "::1");
  EXPECT_EQ(read_consumer("", "::1").address, "::1");
  EXPECT_EQ(read_consumer("", "[").address, "");
}

TEST(ProviderNodeTest, AnAbsentVersionIsMotansDefault) {
  EXPECT_TRUE(same_version("", ""));
  EXPECT_TRUE(same_version("", "1.0"));
  EXPECT_TRUE(same_version("1.0", ""));
  EXPECT_FALSE(same_version("", "2.0"));
  EXPECT_FALSE(same_version("1.0", "1"));
}

}  // namespace
}  // namespace tenon::zk
