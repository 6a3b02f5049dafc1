// Our nodes as Motan's clients read them. First, that the readers read Motan's own.
#include "foreign_readers.hpp"

#include <gtest/gtest.h>

#include "node_text.hpp"
#include "provider_node.hpp"
#include "samples.hpp"

namespace tenon::zk {
namespace {

using foreign::go_can_be_served;
using foreign::has_gos_shape;
using foreign::java_can_be_served;
using foreign::read_as_go;
using foreign::read_as_java;

const std::string path = "com.weibo.motan.demo.service.MotanDemoService";
const ServiceName service{path, "motan-demo-rpc", "1.0"};

Instance instance(const std::string& address = "10.0.0.7:4080") {
  Instance made;
  made.id = address + "/a1b2";
  made.transport = "tcp";
  made.address = address;
  made.protocols = {"tenon", "motan2"};
  made.metadata = {{"application", "shop"}, {"serialization", "simple"}};
  return made;
}

TEST(ForeignReaders, ReadMotansOwn) {
  const auto go = read_as_go(sample::go_server);
  ASSERT_TRUE(go);
  EXPECT_EQ(go->host, "127.0.0.1");
  EXPECT_EQ(go->port, 18110);
  EXPECT_EQ(go->parameter("filter"), "accessLog,metrics");
  EXPECT_TRUE(go_can_be_served(*go, path, ""));
  const auto java = read_as_java(sample::java_server);
  ASSERT_TRUE(java);
  EXPECT_EQ(java->port, 18210);
  EXPECT_EQ(java->parameter("export"), "demoMotan:18210");
  EXPECT_TRUE(java_can_be_served(*java, path, "1.0"));
  EXPECT_EQ(read_as_go(sample::java_server)->parameter("export"), "demoMotan%3A18210") << "not decoded";
  EXPECT_TRUE(has_gos_shape(sample::go_server));
  EXPECT_TRUE(has_gos_shape(sample::go_client));
  EXPECT_FALSE(has_gos_shape(sample::java_server));
  for (const char* none : {"", "x", "motan2://h:1/p", "h:1/p?k=v"}) EXPECT_FALSE(read_as_go(none)) << none;
  EXPECT_FALSE(read_as_java("h:1/p"));
  EXPECT_FALSE(read_as_java("motan2://h:x/p"));
}

TEST(ForeignReaders, ReadOurProviders) {
  Instance made = instance();
  made.weight = 50;
  const std::string text = write_provider(service, made);
  EXPECT_TRUE(has_gos_shape(text)) << text;
  EXPECT_EQ(read_node_text(text)->encoding, TextEncoding::plain) << "all of Motan's read plain service nodes";
  for (const auto& url : {read_as_go(text), read_as_java(text)}) {
    ASSERT_TRUE(url);
    EXPECT_EQ(url->protocol, "motan2");
    EXPECT_EQ(url->host, "10.0.0.7");
    EXPECT_EQ(url->port, 4080);
    EXPECT_EQ(url->path, path);
    EXPECT_EQ(url->parameter("group"), "motan-demo-rpc");
    EXPECT_EQ(url->parameter("nodeType"), "service");
    EXPECT_EQ(url->parameter("version"), "1.0");
    EXPECT_EQ(url->parameter("serialization"), "simple");
    EXPECT_EQ(url->parameter("application"), "shop");
    EXPECT_EQ(url->parameter("protocols"), "tenon,motan2");
    EXPECT_EQ(url->parameter("weight"), "50");
    EXPECT_TRUE(java_can_be_served(*url, path, ""));
    EXPECT_TRUE(java_can_be_served(*url, path, "1.0"));
    EXPECT_FALSE(java_can_be_served(*url, path, "2.0"));
    EXPECT_TRUE(go_can_be_served(*url, path, ""));
    EXPECT_TRUE(go_can_be_served(*url, path, "1.0"));
    EXPECT_FALSE(go_can_be_served(*url, path, "2.0"));
  }
}

TEST(ForeignReaders, PassByWhatDoesNotSpeakTheirProtocol) {
  Instance made = instance();
  made.protocols = {"tenon"};
  const std::string text = write_provider(service, made);
  EXPECT_TRUE(has_gos_shape(text)) << text;
  for (const auto& url : {read_as_go(text), read_as_java(text)}) {
    ASSERT_TRUE(url);
    EXPECT_FALSE(java_can_be_served(*url, path, ""));
    EXPECT_FALSE(go_can_be_served(*url, path, ""));
  }
}

TEST(ForeignReaders, AnAbsentVersionIsTheirDefault) {
  const std::string text = write_provider({path, "motan-demo-rpc", ""}, instance());
  for (const auto& url : {read_as_go(text), read_as_java(text)}) {
    ASSERT_TRUE(url);
    EXPECT_TRUE(java_can_be_served(*url, path, "1.0"));
    EXPECT_TRUE(go_can_be_served(*url, path, "1.0"));
    EXPECT_TRUE(go_can_be_served(*url, path, ""));
  }
}

// Whatever stands in metadata: the rest is read all the same; Java, which decodes, reads that, too.
TEST(ForeignReaders, OddMetadataHideNothing) {
  for (const std::string& odd :
       {std::string("a=b"), std::string("a&b"), std::string("a?b"), std::string("a://b/c"), std::string("a b+c"),
        std::string("100%"), std::string("%41"), std::string("\xE5\x90\x8D"), std::string("line\nbreak"),
        std::string("nul\0byte", 8), std::string("\"<x>#")}) {
    Instance made = instance();
    made.metadata["zone"] = odd;
    made.metadata[odd] = "value";
    const std::string text = write_provider(service, made);
    EXPECT_TRUE(has_gos_shape(text)) << text;
    const auto go = read_as_go(text);
    ASSERT_TRUE(go) << text;
    EXPECT_TRUE(go_can_be_served(*go, path, "1.0")) << text;
    EXPECT_EQ(go->host, "10.0.0.7");
    EXPECT_EQ(go->parameter("serialization"), "simple");
    EXPECT_EQ(go->parameters.size(), 10u) << "none is dropped: " << text;
    const auto java = read_as_java(text);
    ASSERT_TRUE(java) << text;
    EXPECT_TRUE(java_can_be_served(*java, path, "1.0")) << text;
    EXPECT_EQ(java->parameter("zone"), odd);
  }
}

// What an operator writes into a node leaves it readable for its own kind.
TEST(ForeignReaders, ReadNodesThatWereWeighed) {
  const auto go = with_weight(sample::go_server, "127.0.0.1:18110", 7);
  ASSERT_TRUE(go.ok());
  EXPECT_TRUE(has_gos_shape(go->substr(0, go->rfind('&')))) << *go;
  EXPECT_TRUE(go_can_be_served(*read_as_go(*go), path, ""));
  const auto java = with_weight(sample::java_node, "127.0.0.1:18210", 7);
  ASSERT_TRUE(java.ok());
  const auto text = read_node_text(*java);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text->encoding, TextEncoding::java);
  const auto url = read_as_java(text->text);
  ASSERT_TRUE(url);
  EXPECT_TRUE(java_can_be_served(*url, path, ""));
  EXPECT_EQ(url->parameter("export"), "demoMotan:18210");
  EXPECT_EQ(url->parameter("maxServerConnection"), "80000") << "a number it reads when it needs it";
}

TEST(ForeignReaders, ReadOurConsumers) {
  const std::string text = write_consumer({service, "shop"}, "10.0.0.9");
  EXPECT_TRUE(has_gos_shape(text)) << text;
  for (const auto& url : {read_as_go(text), read_as_java(text)}) {
    ASSERT_TRUE(url);
    EXPECT_EQ(url->host, "10.0.0.9");
    EXPECT_EQ(url->port, 0);
    EXPECT_EQ(url->path, path);
    EXPECT_EQ(url->parameter("application"), "shop");
    EXPECT_EQ(url->parameter("nodeType"), "referer");
  }
}

}  // namespace
}  // namespace tenon::zk
