// Real processes, loopback, ports chosen by the kernel; what is edited in the manifests is what a reader would edit.
#include <gtest/gtest.h>

#include "edited_manifest.hpp"
#include "program.hpp"

namespace examples_test {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

class Examples : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(With, Examples, testing::Values("protobuf", "json"),
                         [](const auto& info) { return std::string(info.param); });

Outcome run_greeter_client(const std::string& address, const std::string& serializer) {
  EditedManifest manifest("greeter/client.yaml");
  manifest.replace("127.0.0.1:4080", address).replace("serializer: protobuf", "serializer: " + serializer);
  Program client("greeter-client", {"--manifest", manifest.write(), "3"});
  return client.wait();
}

TEST_P(Examples, GreeterServer) {
  EditedManifest manifest("greeter/server.yaml");
  Program server("greeter-server", {"--manifest", manifest.replace("127.0.0.1:4080", "127.0.0.1:0").write()});
  const std::string signature = ", from process " + std::to_string(server.pid()) + "\n";
  const std::string address = server.listening_address();
  ASSERT_FALSE(address.empty()) << server.stop().err;

  const Outcome called = run_greeter_client(address, GetParam());
  EXPECT_EQ(called.code, 0) << called.err;
  EXPECT_EQ(count(called.out, "\n"), 21u) << called.out;
  EXPECT_EQ(count(called.out, signature), 21u) << called.out;
  for (const char* line :
       {"sync: Hello, sync", "coroutine: Hello, coroutine", "coroutine, reply object used again: Hello, coroutine",
        "callback: Hello, callback", "future: Hello, future"})
    EXPECT_EQ(count(called.out, line + signature), 3u) << line << '\n' << called.out;
  EXPECT_EQ(count(called.out, "stream: Hello, stream" + signature), 6u) << called.out;

  const Outcome stopped = server.stop();
  EXPECT_EQ(stopped.code, 0) << stopped.err;
}

TEST_P(Examples, GreeterPluginInTheStockHostWithItsOption) {
  EditedManifest manifest("greeter/host.yaml");
  Program host("tenon", {"serve", "--manifest", manifest.replace("127.0.0.1:4080", "127.0.0.1:0").write()});
  const std::string signature = ", from process " + std::to_string(host.pid()) + "\n";
  const std::string address = host.listening_address();
  ASSERT_FALSE(address.empty()) << host.stop().err;
  const Outcome called = run_greeter_client(address, GetParam());
  EXPECT_EQ(called.code, 0) << called.err;
  EXPECT_EQ(count(called.out, ": Good day, "), 21u) << called.out;
  EXPECT_EQ(count(called.out, signature), 21u) << called.out;
  EXPECT_EQ(host.stop().code, 0);
}

TEST_P(Examples, User) {
  EditedManifest server_manifest("user/server.yaml");
  server_manifest.replace("127.0.0.1:4081", "127.0.0.1:0");
  Program server("tenon", {"serve", "--manifest", server_manifest.write()});
  const std::string address = server.listening_address();
  ASSERT_FALSE(address.empty()) << server.stop().err;
  EditedManifest manifest("user/client.yaml");
  manifest.replace("127.0.0.1:4081", address).replace("serializer: protobuf", std::string("serializer: ") + GetParam());
  Program client("user-client", {"--manifest", manifest.write()});
  const Outcome called = client.wait();
  EXPECT_EQ(called.code, 0) << called.err;
  EXPECT_EQ(called.out,
            "addUser: true\n"
            "addUser again: false\n"
            "updateUser: true\n"
            "getUser: Ada, 37, 2 mails, updated 1 times\n"
            "deleteUser: true\n"
            "getUser of a deleted user: application: there is no user 7\n");
  EXPECT_EQ(server.stop().code, 0);
}

TEST(Example, Embed) {
  Program embed("embed", {});
  const Outcome ended = embed.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, "40 + 2 = 42\n");
}

TEST(Example, ClientWithoutServerSaysWhereItTried) {
  EditedManifest manifest("greeter/client.yaml");
  // Port 1 is privileged, and nothing listens there.
  manifest.replace("127.0.0.1:4080", "127.0.0.1:1");
  Program client("greeter-client", {"--manifest", manifest.write()});
  const Outcome ended = client.wait();
  EXPECT_EQ(ended.code, 1) << ended.out;
  EXPECT_NE(ended.err.find("127.0.0.1:1"), std::string::npos) << ended.err;
}

TEST(Example, WrongCommandLineOrManifestIsTwo) {
  EXPECT_EQ(Program("greeter-client", {"--no-such-option"}).wait().code, 2);
  EXPECT_EQ(Program("user-client", {"7"}).wait().code, 2);
  EditedManifest manifest("greeter/host.yaml");
  manifest.replace("greeting: Good day", "greting: Good day");
  const Outcome ended = Program("tenon", {"serve", "--manifest", manifest.write()}).wait();
  EXPECT_EQ(ended.code, 2) << ended.out;
  EXPECT_NE(ended.err.find("greting"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("greeting"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace examples_test
