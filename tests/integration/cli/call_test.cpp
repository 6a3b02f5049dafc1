// tenon call against tenon serve: JSON in, JSON out.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "process.hpp"

namespace cli_test {
namespace {

class Calls : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = new ServerProcess(
        {"--listen", "tcp:127.0.0.1:0", "--load", "bench-echo", "--load", USERS_PLUGIN, "--plugin-dir", PLUGIN_DIR});
  }
  static void TearDownTestSuite() {
    const Outcome ended = server_->stop();
    EXPECT_EQ(ended.code, 0) << ended.err;
    delete server_;
    server_ = nullptr;
  }
  void SetUp() override { ASSERT_FALSE(server_->address().empty()) << server_->ready_line() << server_->stop().err; }

  static Outcome call(std::vector<std::string> words) {
    words.insert(words.begin(), "call");
    words.insert(words.end(), {"--address", server_->address(), "--timeout", "10s"});
    return tenon(words);
  }
  static void expect_answer(const std::vector<std::string>& words, const std::string& answer) {
    const Outcome outcome = call(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, answer + "\n");
    EXPECT_EQ(outcome.err, "");
  }

  static ServerProcess* server_;
};
ServerProcess* Calls::server_ = nullptr;

TEST_F(Calls, ProtobufServiceByItsDescriptors) {
  expect_answer({"bench.Echo/Echo", R"({"payload":"aGVsbG8="})"}, R"({"payload":"aGVsbG8="})");
  expect_answer({"bench.Echo/Add", R"({"value":"9007199254740993"})"}, R"({"value":"9007199254740994"})");
}

TEST_F(Calls, EverySerializerCarriesIt) {
  for (const char* serializer : {"protobuf", "json"}) {
    expect_answer({"bench.Echo/Add", R"({"value":"41"})", "--serializer", serializer}, R"({"value":"42"})");
    expect_answer({"user.UserService/add", "[40,2]", "--serializer", serializer}, "42");
  }
}

TEST_F(Calls, ProtobufServiceByAProtoFile) {
  expect_answer({"bench.Echo/Add", R"({"value":1})", "--proto", PROTO_DIR "/echo.proto"}, R"({"value":"2"})");
}

TEST_F(Calls, PlainFunctionsTakeAListAndAnswerBareValues) {
  expect_answer({"user.UserService/addUser", R"([{"name":"Ada","uid":7,"mails":["a@x","b@x"]}])"}, "true");
  expect_answer({"user.UserService/addUser", R"([{"name":"Ada","uid":7}])"}, "false");
  expect_answer({"user.UserService/getUser", "[7]"}, R"({"name":"Ada","uid":7,"mails":["a@x","b@x"]})");
}

TEST_F(Calls, NothingMeansTheEmptyRequest) {
  expect_answer({"bench.Echo/Add"}, R"({"value":"1"})");
  expect_answer({"tenon.Descriptors/services"}, R"(["bench.Echo","tenon.Descriptors","user.UserService"])");
}

TEST_F(Calls, RequestFromAFile) {
  const auto file = std::filesystem::temp_directory_path() / ("cli-call-" + std::to_string(::getpid()) + ".json");
  std::ofstream(file) << R"({"value":"99"})";
  expect_answer({"bench.Echo/Add", "@" + file.string()}, R"({"value":"100"})");
  std::filesystem::remove(file);
}

TEST_F(Calls, ApplicationErrorIsAFailedCall) {
  const Outcome outcome = call({"user.UserService/getUser", "[404]"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("tenon call: application: "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("there is no user 404"), std::string::npos) << outcome.err;
}

TEST_F(Calls, WrongMethodSuggestsTheNearest) {
  const Outcome outcome = call({"bench.Echo/Ehco", "{}"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "tenon call: not_found: bench.Echo has no method \"Ehco\", did you mean \"Echo\"?\n");
}

TEST_F(Calls, WrongServiceNamesWhatThereIs) {
  const Outcome outcome = call({"bench.Nothing/Echo", "{}"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("tenon call: not_found: "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("no service \"bench.Nothing\" is offered here; there are: bench.Echo, "),
            std::string::npos)
      << outcome.err;
}

TEST_F(Calls, WrongJsonIsUsage) {
  for (const char* json : {"{\"payload\":1}", "{", "{\"paylod\":\"\"}"}) {
    const Outcome outcome = call({"bench.Echo/Echo", json});
    EXPECT_EQ(outcome.code, 2) << json;
    EXPECT_EQ(outcome.err.find("tenon call: the JSON is no bench.EchoRequest: "), 0u) << outcome.err;
  }
}

TEST_F(Calls, EachCallsEveryInstance) {
  ServerProcess other({"--listen", "tcp:127.0.0.1:0", "--load", "bench-echo", "--plugin-dir", PLUGIN_DIR});
  ASSERT_FALSE(other.address().empty());
  const std::string first = server_->address().substr(4);
  const std::string second = other.address().substr(4);
  const Outcome outcome = tenon(
      {"call", "bench.Echo/Add", R"({"value":"4"})", "--each", "--address", first + "," + second, "--timeout", "10s"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, first + "\t{\"value\":\"5\"}\n" + second + "\t{\"value\":\"5\"}\n");
  const Outcome one = tenon({"call", "bench.Echo/Add", "{}", "--instance", second, "--address", first + "," + second});
  EXPECT_EQ(one.out, "{\"value\":\"1\"}\n") << one.err;
  EXPECT_EQ(other.stop().code, 0);
}

TEST(Call, NobodyThere) {
  const Outcome outcome = tenon({"call", "bench.Echo/Echo", "{}", "--address", "tcp:127.0.0.1:1", "--timeout", "1s"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("127.0.0.1:1"), std::string::npos) << outcome.err;
}

TEST(Serve, PortInUseIsSaidAndEndsWithOne) {
  ServerProcess first({"--listen", "tcp:127.0.0.1:0", "--load", "bench-echo", "--plugin-dir", PLUGIN_DIR});
  ASSERT_FALSE(first.address().empty());
  const Outcome second =
      tenon({"serve", "--listen", first.address(), "--load", "bench-echo", "--plugin-dir", PLUGIN_DIR});
  EXPECT_EQ(second.code, 1);
  EXPECT_EQ(second.out, "");
  EXPECT_NE(second.err.find(first.address().substr(4)), std::string::npos) << second.err;
  EXPECT_NE(second.err.find("in use"), std::string::npos) << second.err;
  EXPECT_EQ(first.stop().code, 0);
}

}  // namespace
}  // namespace cli_test
