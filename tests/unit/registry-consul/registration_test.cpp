#include "registration.hpp"

#include <gtest/gtest.h>

#include "names.hpp"

namespace tenon::consul {
namespace {

// As a provider in Java registers itself: the URL of Motan's own form, encoded once more for the tag.
constexpr const char* java_tag =
    "URL_motan2%3A%2F%2F127.0.0.1%3A18211%2Fcom.weibo.motan.demo.service.MotanDemoService%3F"
    "maxContentLength%3D1048576%26module%3Dmotan-demo-rpc%26nodeType%3Dservice%26accessLog%3Dfalse%26"
    "minWorkerThread%3D2%26protocol%3Dmotan2%26application%3DmyMotanDemo%26maxWorkerThread%3D20%26shareChannel%3Dtrue"
    "%26id%3DdemoMotan%26export%3DdemoMotan%253A18211%26maxServerConnection%3D80000%26group%3Dmotan-demo-rpc%26";

Registered java_provider() {
  Registered registered;
  registered.service = "motanrpc_motan-demo-rpc";
  registered.id = "127.0.0.1:18211-com.weibo.motan.demo.service.MotanDemoService";
  registered.address = "127.0.0.1";
  registered.port = 18211;
  registered.tags = {"protocol_motan2", java_tag};
  return registered;
}

Registered as_listed(const Registration& registration) {
  Registered registered;
  registered.service = registration.service;
  registered.id = registration.id;
  registered.address = registration.host;
  registered.port = registration.port;
  registered.tags = registration.tags;
  registered.meta["tenon-stamp"] = registration.stamp;
  registered.health = registration.serving ? Health::passing : Health::warning;
  return registered;
}

TEST(ConsulRegistration, OfMotanInJava) {
  const auto provider = read_provider(java_provider());
  ASSERT_TRUE(provider.ok()) << provider.error().text();
  EXPECT_EQ(provider->interface, "com.weibo.motan.demo.service.MotanDemoService");
  EXPECT_EQ(provider->version, "");
  EXPECT_EQ(provider->stamp, "");
  EXPECT_EQ(provider->instance.address, "127.0.0.1:18211");
  EXPECT_EQ(provider->instance.id, "127.0.0.1:18211");
  EXPECT_EQ(provider->instance.protocols, std::vector<std::string>{"motan2"});
  EXPECT_EQ(provider->instance.metadata.at("export"), "demoMotan:18211");
  EXPECT_TRUE(provider->instance.serving);
  EXPECT_FALSE(provider->dead);
}

TEST(ConsulRegistration, WithoutAUrlItsIdTells) {
  Registered registered = java_provider();
  registered.tags = {"protocol_motan"};
  registered.id = "my-host:18211-com.weibo.Foo";
  const auto provider = read_provider(registered);
  ASSERT_TRUE(provider.ok()) << provider.error().text();
  EXPECT_EQ(provider->interface, "com.weibo.Foo");
  EXPECT_EQ(provider->instance.address, "127.0.0.1:18211");
  EXPECT_EQ(provider->instance.protocols, std::vector<std::string>{"motan"});
  registered.address = "";
  registered.node_address = "::1";
  EXPECT_EQ(read_provider(registered)->instance.address, "[::1]:18211");
  for (const std::string id : {"", "x", "my-host:18211", "my-host:18211-"}) {
    registered.id = id;
    EXPECT_FALSE(read_provider(registered).ok()) << id;
  }
}

TEST(ConsulRegistration, OursIsReadAsItWas) {
  const ServiceName service{"demo.Greeter", "blue", "2.0"};
  Instance instance;
  instance.id = "\xFF any";
  instance.transport = "tls";
  instance.address = "[::1]:80";
  instance.protocols = {"tenon", "motan2"};
  instance.weight = 0;
  instance.serving = false;
  instance.metadata = {{"text", "a=b&c \xE2\x82\xAC+"}, {"group", "mine"}};
  Registration made = provider_registration(service, instance, "[::1]:80-demo.Greeter");
  made.stamp = "owner-1.7";
  EXPECT_EQ(made.service, "motanrpc_blue");
  EXPECT_EQ(made.host, "::1") << "as Consul has addresses";
  EXPECT_EQ(made.tags.at(0), "protocol_motan2");
  const auto provider = read_provider(as_listed(made));
  ASSERT_TRUE(provider.ok()) << provider.error().text();
  EXPECT_EQ(provider->instance, instance);
  EXPECT_EQ(provider->interface, "demo.Greeter");
  EXPECT_EQ(provider->version, "2.0");
  EXPECT_EQ(owner_of(provider->stamp), "owner-1");
}

TEST(ConsulRegistration, WhatIsSentToTheAgent) {
  Instance instance;
  instance.id = "10.0.0.7:4080";
  instance.address = "10.0.0.7:4080";
  instance.protocols = {"motan2"};
  Registration made = provider_registration({"demo.G", "g", ""}, instance, "10.0.0.7:4080-demo.G");
  made.stamp = "o.1";
  made.ttl = std::chrono::seconds(30);
  made.deregister_after = std::chrono::minutes(10);
  EXPECT_EQ(write_registration(made),
            R"({"ID":"10.0.0.7:4080-demo.G","Name":"motanrpc_g","Tags":["protocol_motan2",)"
            R"("URL_motan2%3A%2F%2F10.0.0.7%3A4080%2Fdemo.G%3Fgroup%3Dg%26nodeType%3Dservice%26protocols%3Dmotan2"],)"
            R"("Address":"10.0.0.7","Port":4080,"Meta":{"tenon-stamp":"o.1"},)"
            R"("Check":{"TTL":"30000ms","Status":"passing","DeregisterCriticalServiceAfter":"600000ms"}})");
}

TEST(ConsulRegistration, BadOnesAreLeftOutBySentence) {
  for (const std::string tag : {"URL_", "URL_x", "URL_motan2%3A%2F%2F", "URL_motan2%3A%2F%2Fa%3Ax%2Fb",
                                "URL_motan2%3A%2F%2Fa%2Fb", "URL_motan2%3A%2F%2Fa%3A1%2Fb%3FnodeType%3Dreferer"}) {
    Registered registered = java_provider();
    registered.id = "broken";
    registered.tags = {tag};
    const auto provider = read_provider(registered);
    ASSERT_FALSE(provider.ok()) << tag;
    EXPECT_NE(provider.error().text().find("registration 'broken'"), std::string::npos) << provider.error().text();
  }
}

TEST(ConsulRegistration, Consumers) {
  Registered registered =
      as_listed(consumer_registration({{"demo.Greeter", "blue", "1.0"}, "shop"}, "10.0.0.3", "consumer-1"));
  EXPECT_EQ(registered.service, "tenon_consumers_blue");
  registered.node_address = "10.9.9.9";
  auto consumer = read_consumer(registered);
  ASSERT_TRUE(consumer.ok()) << consumer.error().text();
  EXPECT_EQ(consumer->interface, "demo.Greeter");
  EXPECT_EQ(consumer->version, "1.0");
  EXPECT_EQ(consumer->subscriber, (Subscriber{"shop", "10.0.0.3", false}));
  registered = as_listed(consumer_registration({{"demo.Greeter", "blue", ""}, "shop"}, "", "consumer-1"));
  registered.node_address = "10.9.9.9";
  EXPECT_EQ(read_consumer(registered)->subscriber, (Subscriber{"shop", "10.9.9.9", false}));
}

// REG-12, REG-19: said elsewhere, and void once the provider has said something else.
TEST(ConsulRegistration, AnOperatorsWordLiesOverIt) {
  Provider provider = *read_provider(java_provider());
  Word word;
  word.id = provider.instance.id;
  word.has_weight = true;
  word.weight = 3;
  EXPECT_TRUE(apply(word, provider));
  EXPECT_EQ(provider.instance.weight, 3u);
  EXPECT_TRUE(provider.instance.serving);
  word.stamp = "o.1";
  word.weight = 4;
  EXPECT_FALSE(apply(word, provider)) << "about another word of its provider's";
  provider.stamp = "o.1";
  word.id = "somebody";
  EXPECT_FALSE(apply(word, provider));
  EXPECT_EQ(provider.instance.weight, 3u);
}

}  // namespace
}  // namespace tenon::consul
