// tenon call without the server's help: types from the command line or from the JSON alone.
#include <gtest/gtest.h>

#include <memory>

#include "motan_peer.hpp"
#include "process.hpp"

namespace cli_test {
namespace {

using Words = std::vector<std::string>;

/// A Tenon server that speaks both protocols on one port.
class Typed : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = new ServerProcess({"--listen", "tcp:127.0.0.1:0", "--protocol", "tenon,motan2", "--load",
                                 "serialize-simple", "--load", "compress-gzip", "--load", "bench-echo", "--load",
                                 USERS_PLUGIN, "--plugin-dir", PLUGIN_DIR});
  }
  static void TearDownTestSuite() {
    const Outcome ended = server_->stop();
    EXPECT_EQ(ended.code, 0) << ended.err;
    delete server_;
    server_ = nullptr;
  }
  void SetUp() override { ASSERT_FALSE(server_->address().empty()) << server_->ready_line() << server_->stop().err; }

  static Outcome call(Words words, const Words& how) {
    words.insert(words.begin(), "call");
    words.insert(words.end(), {"--address", server_->address(), "--timeout", "10s"});
    words.insert(words.end(), how.begin(), how.end());
    return tenon(words);
  }
  static const std::vector<Words>& ways() {
    static const std::vector<Words> all{{"--serializer", "json"},
                                        {"--serializer", "simple"},
                                        {"--serializer", "json", "--compress", "gzip"},
                                        {"--protocol", "motan2", "--serializer", "simple"},
                                        {"--protocol", "motan2", "--serializer", "simple", "--compress", "gzip"}};
    return all;
  }
  static void expect_answer(const Words& words, const std::string& answer) {
    for (const Words& way : ways()) {
      const Outcome outcome = call(words, way);
      EXPECT_EQ(outcome.code, 0) << way[1] << ": " << outcome.err;
      EXPECT_EQ(outcome.out, answer + "\n") << way[1];
      EXPECT_EQ(outcome.err, "") << way[1];
    }
  }
  static void expect_usage(const Words& words, const std::string& error) {
    const Outcome outcome = call(words, {"--serializer", "json"});
    EXPECT_EQ(outcome.code, 2) << outcome.out;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, error + "\n");
  }

  static ServerProcess* server_;
};
ServerProcess* Typed::server_ = nullptr;

TEST_F(Typed, IntegersAreExact) {
  expect_answer({"user.UserService/addInts", "[2147483647,-7]", "--types", "i32,int"}, "2147483640");
  expect_answer({"user.UserService/add", "[9007199254740993,1]", "--types", "long, i64"}, "9007199254740994");
}

TEST_F(Typed, ContainersBytesAndOptionals) {
  const std::string types = "int,map<string,list<i32>>,bytes,string?";
  expect_answer({"user.UserService/told", R"([5,{"a":[1,-2],"b":[]},"AAEC","x"])", "--types", types},
                R"("5 {a: 1 -2;b:;} 3 bytes x")");
  expect_answer({"user.UserService/told", R"([5,{},"",null])", "--types", types}, "\"5 {} 0 bytes (none)\"");
}

TEST_F(Typed, NoParameters) {
  expect_answer({"user.UserService/nothing", "[]", "--types", ""}, R"("nothing came")");
  expect_answer({"user.UserService/nothing", "--types", ""}, R"("nothing came")");
}

TEST_F(Typed, AnswersOfKindsThatJsonDoesNotHave) {
  expect_answer({"user.UserService/oddKinds", "--types", ""},
                R"({"bytes":"AP8=","f32":0.1,"by number":{"-7":"minus seven","true":null}})");
}

TEST_F(Typed, DynamicArgumentsHaveTheSmallerIntegers) {
  const Outcome outcome =
      call({"user.UserService/kinds", R"([[1,2147483648,{"a":[1.5,null,"s"]}]])", "--types", "value"},
           {"--protocol", "motan2", "--serializer", "simple"});
  EXPECT_EQ(outcome.out, "\"list(i32,i64,map(list(f64,null,string)))\"\n") << outcome.err;
}

TEST_F(Typed, WrongArgumentsAreUsage) {
  const std::string method = "user.UserService/addInts";
  expect_usage({method, "[1]", "--types", "int,int"},
               "tenon call: the JSON must be a list of 2 arguments because --types has 2 types; it has 1");
  expect_usage({method, R"({"a":1})", "--types", "int,int"},
               "tenon call: the JSON must be a list of 2 arguments because --types has 2 types; it is an object");
  expect_usage({method, "[1,null]", "--types", "int,int"},
               "tenon call: argument 2 is null, but its type is i32 (i32? would allow it)");
  expect_usage({method, "[1,2147483648]", "--types", "int,int"},
               "tenon call: the JSON is no (i32, i32): (i32, i32): JSON: $[1]: 2147483648 is out of range for i32");
  expect_usage({method, R"([1,"x"])", "--types", "int,int"},
               "tenon call: the JSON is no (i32, i32): (i32, i32): JSON: $[1]: \"x\" is no i32");
  expect_usage({method, "[1,2]", "--types", "int,imt"},
               "tenon call: --types 'int,imt': column 5: no type \"imt\", did you mean \"int\"?");
}

TEST_F(Typed, ProtobufDoesNotShowOfWhichKindAnAnswerIs) {
  const Outcome outcome = call({"user.UserService/add", "[1,2]", "--types", "i64,i64"}, {});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err.find("tenon call: --types needs a serializer that shows"), 0u) << outcome.err;
}

TEST_F(Typed, TheServersOwnTypesOverTheForeignProtocol) {
  const Words way{"--protocol", "motan2", "--serializer", "simple"};
  EXPECT_EQ(call({"bench.Echo/Add", R"({"value":"41"})"}, way).out, "{\"value\":\"42\"}\n");
  EXPECT_EQ(call({"user.UserService/add", "[40,2]"}, way).out, "42\n");
}

TEST_F(Typed, UnknownInterfaceOfATenonServerIsNoFallback) {
  for (const Words& way : ways()) {
    const Outcome outcome = call({"user.Userservice/add", "[1,2]"}, way);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.err,
              "tenon call: not_found: tenon.Descriptors: no service \"user.Userservice\" is offered here; there are: "
              "bench.Echo, tenon.Descriptors, user.UserService\n");
  }
}

/// A server that is no Tenon server.
class Foreign : public testing::Test {
 protected:
  void SetUp() override { ASSERT_FALSE(peer_.address().empty()); }

  static constexpr const char* service = "com.weibo.motan.demo.service.MotanDemoService";
  Outcome call(const std::string& what, const std::string& json, const Words& more = {}) {
    Words words{"call", what, json, "--address", peer_.address(), "--protocol", "motan2", "--serializer", "simple"};
    words.insert(words.end(), more.begin(), more.end());
    return tenon(words);
  }
  /// The last request, which must be to `method`.
  MotanRequest last(const std::string& method) const {
    const std::vector<MotanRequest> requests = peer_.requests();
    if (requests.empty()) return {};
    MotanRequest request = requests.back();
    EXPECT_EQ(request.head, from_hex("f1f1 00 08 30"));
    EXPECT_EQ(request.metadata["M_p"], service);
    EXPECT_EQ(request.metadata["M_m"], method);
    EXPECT_EQ(request.metadata["M_pp"], "motan2");
    return request;
  }

  MotanPeer peer_;
};

TEST_F(Foreign, StringArgumentAsItWasRecorded) {
  const Outcome outcome =
      call(std::string(service) + "/hello", R"(["Ray"])", {"--group", "motan-demo-rpc", "--header", "trace=7"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "\"hello Ray\"\n");
  MotanRequest request = last("hello");
  EXPECT_EQ(request.body, from_hex("01 00000003 526179"));
  EXPECT_EQ(request.metadata["M_g"], "motan-demo-rpc");
  EXPECT_EQ(request.metadata["trace"], "7");
}

TEST_F(Foreign, KindsAreWhatTypesSayOrTheSmallestThatFit) {
  const std::string add = std::string(service) + "/add";
  EXPECT_EQ(call(add, "[-3,300]", {"--types", "int,long"}).out, "297\n");
  EXPECT_EQ(last("add").body, from_hex("08 05 09 d804"));
  EXPECT_EQ(call(add, "[-3,300]").out, "297\n");
  EXPECT_EQ(last("add").body, from_hex("08 05 08 d804"));
  EXPECT_EQ(call(add, "[-3,3000000000]").out, "297\n");
  EXPECT_EQ(last("add").body, from_hex("08 05 09 80f882ad16"));
}

TEST_F(Foreign, AnObjectIsOneArgumentAndNothingIsNone) {
  const std::string hello = std::string(service) + "/hello";
  EXPECT_EQ(call(hello, R"({"name":"ray"})").code, 0);
  // A map of mixed values, or one of texts only: both are what Motan calls a map.
  const std::string mixed = from_hex("14 00000012 01 00000004 6e616d65 01 00000003 726179");
  const std::string texts = from_hex("02 0000000f 00000004 6e616d65 00000003 726179");
  const std::string body = last("hello").body;
  EXPECT_TRUE(body == mixed || body == texts) << body.size();
  EXPECT_EQ(call(hello, "").code, 0);
  EXPECT_EQ(last("hello").body, "");
  EXPECT_EQ(call(hello, "[]").code, 0);
  EXPECT_EQ(last("hello").body, "");
}

TEST_F(Foreign, AnswersOfEveryKind) {
  const Outcome outcome = call(std::string(service) + "/map", "[]");
  EXPECT_EQ(outcome.out, "{\"1\":true,\"f\":0.5,\"b\":\"AP8=\"}\n") << outcome.err;
}

TEST_F(Foreign, WithTypesTheServerIsNotAsked) {
  EXPECT_EQ(call(std::string(service) + "/hello", R"(["Ray"])", {"--types", "string"}).out, "\"hello Ray\"\n");
  EXPECT_EQ(peer_.requests().size(), 1u);
}

TEST_F(Foreign, ErrorsNameTheForeignCode) {
  const Outcome missing = call("com.weibo.NoSuchService/hello", R"(["x"])");
  EXPECT_EQ(missing.code, 1);
  EXPECT_EQ(missing.err, "tenon call: not_found (motan 404): provider not exist serviceKey=com.weibo.NoSuchService\n");
  const Outcome thrown = call(std::string(service) + "/boom", R"(["x"])");
  EXPECT_EQ(thrown.code, 1);
  EXPECT_EQ(thrown.err, "tenon call: application (motan 30001): provider call process error, org err:boom x\n");
}

TEST_F(Foreign, EachAndInstance) {
  const std::string hello = std::string(service) + "/hello";
  const Outcome each = call(hello, R"(["Ray"])", {"--each"});
  EXPECT_EQ(each.code, 0) << each.err;
  EXPECT_EQ(each.out, peer_.address() + "\t\"hello Ray\"\n");
  EXPECT_EQ(call(hello, R"(["Ray"])", {"--instance", peer_.address()}).out, "\"hello Ray\"\n");
}

TEST_F(Foreign, SeveralInstancesThatDescribeNothing) {
  MotanPeer other;
  ASSERT_FALSE(other.address().empty());
  const std::string both = peer_.address() + "," + other.address();
  const Outcome each = tenon({"call", std::string(service) + "/hello", R"(["Ray"])", "--address", both, "--protocol",
                              "motan2", "--serializer", "simple", "--each"});
  EXPECT_EQ(each.code, 0) << each.err;
  EXPECT_EQ(each.out, peer_.address() + "\t\"hello Ray\"\n" + other.address() + "\t\"hello Ray\"\n");
}

TEST_F(Foreign, ProtobufCannotFallBack) {
  const Outcome outcome = tenon({"call", std::string(service) + "/hello", R"(["Ray"])", "--address", peer_.address(),
                                 "--protocol", "motan2", "--serializer", "protobuf"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err.find("tenon call: not_found (motan 404): "), 0u) << outcome.err;
  EXPECT_NE(outcome.err.find("; the server does not describe itself: give --proto, "), std::string::npos)
      << outcome.err;
}

TEST_F(Foreign, SilenceEndsWithTheTimeout) {
  const auto started = std::chrono::steady_clock::now();
  const Outcome outcome = call(std::string(service) + "/silence", "[]", {"--types", "", "--timeout", "300ms"});
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(5));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err.find("tenon call: deadline_exceeded: "), 0u) << outcome.err;
}

TEST_F(Foreign, AnotherProtocolIsSaidClearly) {
  ServerProcess tenon_only({"--listen", "tcp:127.0.0.1:0", "--load", "bench-echo", "--plugin-dir", PLUGIN_DIR});
  ASSERT_FALSE(tenon_only.address().empty());
  for (const Words& types : {Words{}, Words{"--types", ""}}) {
    Words words{"call",       "bench.Echo/Add", "[]",           "--address", tenon_only.address(),
                "--protocol", "motan2",         "--serializer", "simple"};
    words.insert(words.end(), types.begin(), types.end());
    const Outcome outcome = tenon(words);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.err.find("tenon call: unavailable: "), 0u) << outcome.err;
    EXPECT_NE(outcome.err.find("; does the server speak protocol motan2?\n"), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(tenon_only.stop().code, 0);
  const Outcome reverse = tenon({"call", "bench.Echo/Add", "{}", "--address", peer_.address()});
  EXPECT_EQ(reverse.code, 1);
  EXPECT_EQ(reverse.err.find("tenon call: unavailable: "), 0u) << reverse.err;
  EXPECT_NE(reverse.err.find(peer_.address()), std::string::npos) << reverse.err;
  EXPECT_NE(reverse.err.find("closed by the peer"), std::string::npos) << reverse.err;
}

TEST(Names, PluginsThatAreNotThereAreNamed) {
  for (const char* option : {"--protocol", "--serializer", "--compress"}) {
    const Outcome outcome =
        tenon({"call", "a.B/c", "[]", "--address", "127.0.0.1:1", option, "nope", "--plugin-dir", PLUGIN_DIR});
    EXPECT_EQ(outcome.code, 2) << option;
    EXPECT_NE(outcome.err.find("\"nope\""), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace cli_test
