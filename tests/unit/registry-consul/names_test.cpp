#include "names.hpp"

#include <gtest/gtest.h>

namespace tenon::consul {
namespace {

TEST(ConsulNames, AreMotans) {
  EXPECT_EQ(provider_service("motan-demo-rpc"), "motanrpc_motan-demo-rpc");
  EXPECT_EQ(provider_service(""), "motanrpc_default_rpc");
  EXPECT_EQ(registration_id("10.0.0.7:4080", "demo.Greeter", 1), "10.0.0.7:4080-demo.Greeter");
  EXPECT_EQ(registration_id("10.0.0.7:4080", "demo.Greeter", 2), "10.0.0.7:4080-demo.Greeter-2");
  EXPECT_EQ(document_key("command", "yf"), "motan/command/yf");
  EXPECT_EQ(document_key("rule", ""), "motan/rule/default_rpc");
}

TEST(ConsulNames, OursStandElsewhere) {
  EXPECT_EQ(consumer_service("yf"), "tenon_consumers_yf");
  EXPECT_EQ(word_key("yf"), "tenon/operator/yf/");
  EXPECT_EQ(word_key("yf", "10.0.0.7:4080-demo.Greeter"), "tenon/operator/yf/10.0.0.7%3A4080-demo.Greeter");
  EXPECT_EQ(tomb_key("yf", "a/b"), "tenon/left/yf/a%2Fb") << "an id is one part of a key";
}

TEST(ConsulNames, AreEscapedInTargets) {
  EXPECT_EQ(escape("a b/c%\xE5\x90\x8D~"), "a%20b%2Fc%25%E5%90%8D~");
  EXPECT_EQ(escape_key("motan/rule/a b"), "motan/rule/a%20b");
  EXPECT_EQ(escape_key("tenon/left/yf/10.0.0.7%3A80"), "tenon/left/yf/10.0.0.7%253A80");
}

TEST(ConsulNames, TagsAreEncodedAsJavaDoes) {
  EXPECT_EQ(java_url_encode("motan2://1.2.3.4:80/a.B?x=y z&u=%3A*"),
            "motan2%3A%2F%2F1.2.3.4%3A80%2Fa.B%3Fx%3Dy+z%26u%3D%253A*");
  const std::string any("\0\x7F\xFF +%&=", 8);
  EXPECT_EQ(java_url_decode(java_url_encode(any)), any);
  EXPECT_EQ(java_url_decode("a+b%2"), "a b%2") << "what is no triple stays";
}

TEST(ConsulNames, ThoseThatCannotBeOneArePartOfASentence) {
  EXPECT_TRUE(check_service({"demo.Greeter", "", ""}).ok());
  EXPECT_TRUE(check_service({"\xE5\x90\x8D", "a b:c?d#e", ""}).ok());
  for (const std::string& bad :
       {std::string(), std::string("."), std::string(".."), std::string("a/b"), std::string("line\nbreak"),
        std::string("nul\0byte", 8), std::string("\xFF"), std::string("\x7F"), std::string(256, 'n')}) {
    const Result<void> checked = check_service({bad, "g", ""});
    ASSERT_FALSE(checked.ok()) << bad;
    EXPECT_EQ(checked.error().code(), Errc::config);
    EXPECT_TRUE(checked.error().text().starts_with("the service's name")) << checked.error().text();
    if (!bad.empty()) {
      EXPECT_FALSE(check_service({"demo.Greeter", bad, ""}).ok()) << bad;
      EXPECT_FALSE(check_document("command", bad).ok()) << bad;
    }
    EXPECT_FALSE(check_document(bad, "g").ok()) << bad;
  }
}

}  // namespace
}  // namespace tenon::consul
