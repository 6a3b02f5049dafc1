// As an agent 1.8.7 said it, and as none says it.
#include "answers.hpp"

#include <gtest/gtest.h>

namespace tenon::consul {
namespace {

std::string entry(const std::string& checks) {
  return R"([{"Node":{"ID":"95ea5d6c-4382-9861-b7d9-304f55e1dd84","Node":"vm","Address":"10.0.0.9","Datacenter":"dc1"},
    "Service":{"ID":"10.0.0.1:80-demo.G","Service":"motanrpc_blue","Tags":["protocol_motan2","URL_x"],
    "Address":"10.0.0.1","Meta":{"a":"b"},"Port":80,"Weights":{"Passing":1,"Warning":1},"EnableTagOverride":false,
    "Proxy":{"MeshGateway":{},"Expose":{}},"Connect":{},"CreateIndex":13,"ModifyIndex":13},"Checks":)" +
         checks + "}]";
}

Health health_of(const std::string& checks) {
  const auto found = read_health(entry(checks));
  EXPECT_TRUE(found.ok()) << found.error().text();
  return found.ok() && found->size() == 1 ? found->front().health : Health::critical;
}

TEST(ConsulAnswers, Health) {
  const auto found = read_health(entry(R"([{"CheckID":"serfHealth","Status":"passing"}])"));
  ASSERT_TRUE(found.ok()) << found.error().text();
  ASSERT_EQ(found->size(), 1u);
  const Registered& one = found->front();
  EXPECT_EQ(one.id, "10.0.0.1:80-demo.G");
  EXPECT_EQ(one.service, "motanrpc_blue");
  EXPECT_EQ(one.address, "10.0.0.1");
  EXPECT_EQ(one.node_address, "10.0.0.9");
  EXPECT_EQ(one.port, 80);
  EXPECT_EQ(one.tags, (std::vector<std::string>{"protocol_motan2", "URL_x"}));
  EXPECT_EQ(one.meta, (std::map<std::string, std::string>{{"a", "b"}}));
  EXPECT_TRUE(read_health("[]")->empty());
}

TEST(ConsulAnswers, TheWorstCheckCounts) {
  EXPECT_EQ(health_of("[]"), Health::passing);
  EXPECT_EQ(health_of("null"), Health::passing);
  EXPECT_EQ(health_of(R"([{"Status":"passing"},{"Status":"warning"}])"), Health::warning);
  EXPECT_EQ(health_of(R"([{"Status":"critical"},{"Status":"warning"}])"), Health::critical);
  EXPECT_EQ(health_of(R"([{"Status":"warning"},{"Status":"critical"}])"), Health::critical);
  EXPECT_EQ(health_of(R"([{"Status":"maintenance"}])"), Health::critical);
}

TEST(ConsulAnswers, Keys) {
  const auto found = read_key_values(
      R"([{"LockIndex":0,"Key":"motan/command/x","Flags":0,"Value":"YWJj","CreateIndex":15,"ModifyIndex":17},
          {"Key":"empty","Value":null,"ModifyIndex":18446744073709551615}])");
  ASSERT_TRUE(found.ok()) << found.error().text();
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].value, "abc");
  EXPECT_EQ((*found)[0].version, 17u);
  EXPECT_EQ((*found)[1].value, "");
  EXPECT_EQ((*found)[1].version, 18446744073709551615u);
  EXPECT_EQ(*read_keys(R"(["a","b/c"])"), (std::vector<std::string>{"a", "b/c"}));
  EXPECT_EQ(*read_service_names(R"({"consul":[],"motanrpc_blue":["x"]})"),
            (std::vector<std::string>{"consul", "motanrpc_blue"}));
  EXPECT_EQ(*read_session(R"({"ID":"42f3"})"), "42f3");
  EXPECT_TRUE(*read_done("true\n"));
  EXPECT_FALSE(*read_done("false"));
}

TEST(ConsulAnswers, WhatNoAgentSaysIsMalformed) {
  const std::string deep(100, '[');
  const auto malformed = [](const auto& read) {
    return !read.ok() && read.error().code() == Errc::malformed &&
           read.error().text().starts_with("the answer is not what a Consul agent says: ");
  };
  for (const std::string& bad :
       {std::string(), std::string("<html>"), std::string("{"), std::string("[1]"), std::string("null"),
        std::string(R"([{"Service":{}}])"), std::string(R"([{"Service":{"ID":"a","Service":"b"},"Checks":7}])"),
        std::string(R"([{"Service":{"ID":"a","Service":"b","Port":65536},"Checks":[]}])"),
        std::string(R"([{"Service":{"ID":"a","Service":"b"},"Checks":[1]}])"), deep, std::string("[] []"),
        std::string("[\"\xFF\"]")}) {
    EXPECT_TRUE(malformed(read_health(bad))) << bad;
    EXPECT_TRUE(malformed(read_key_values(bad))) << bad;
    EXPECT_TRUE(malformed(read_agent_service(bad))) << bad;
    EXPECT_TRUE(malformed(read_session(bad))) << bad;
    EXPECT_TRUE(malformed(read_done(bad))) << bad;
    EXPECT_TRUE(malformed(read_word(bad))) << bad;
    EXPECT_TRUE(malformed(read_keys(bad))) << bad;
  }
  EXPECT_TRUE(malformed(read_key_values(R"([{"Key":"a","Value":"%","ModifyIndex":1}])")));
  EXPECT_TRUE(malformed(read_key_values(R"([{"Key":"a","Value":"YWJj","ModifyIndex":0}])")));
  EXPECT_TRUE(malformed(read_key_values(R"([{"Key":"a","Value":"YWJj","ModifyIndex":-1}])")));
  EXPECT_TRUE(malformed(read_key_values(R"([{"Value":"YWJj","ModifyIndex":1}])")));
}

TEST(ConsulAnswers, Base64) {
  EXPECT_EQ(*decode_base64(""), "");
  EXPECT_EQ(*decode_base64("AA=="), std::string(1, '\0'));
  EXPECT_EQ(*decode_base64("//8="), "\xFF\xFF");
  EXPECT_EQ(*decode_base64("Zm9v"), "foo");
  for (const char* bad : {"A", "AA", "AAA", "A===", "====", "AA=A", "AAA\n"})
    EXPECT_FALSE(decode_base64(bad).ok()) << bad;
}

TEST(ConsulAnswers, WordsOfOurOwn) {
  Word word;
  word.id = "\xFF\x01\"/%";
  word.stamp = "a.1";
  word.has_weight = true;
  word.weight = 4294967295u;
  EXPECT_EQ(*read_word(write_word(word)), word);
  word.has_weight = false;
  word.weight = 0;
  word.has_serving = true;
  word.serving = false;
  EXPECT_EQ(*read_word(write_word(word)), word);
  EXPECT_FALSE(read_word(R"({"id":"a","weight":4294967296})")->has_weight);
}

}  // namespace
}  // namespace tenon::consul
