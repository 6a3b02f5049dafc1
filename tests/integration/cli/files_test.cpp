// tenon check, tenon plugins, tenon serve --manifest: what is said about files.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "process.hpp"

namespace cli_test {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  Files() : folder_(fs::temp_directory_path() / ("cli-files-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~Files() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  /// Six lines of a good start; what follows begins at line 7.
  static std::string with_plugins(const std::string& rest) {
    return "application: test\n"
           "plugins:\n"
           "  search: [\"" PLUGIN_DIR
           "\"]\n"
           "  load: [transport-tcp, protocol-tenon, serialize-pb, serialize-json, cluster, bench-echo]\n"
           "server:\n"
           "  listen: [ { use: tcp, address: \"127.0.0.1:0\", protocols: [tenon] } ]\n" +
           rest;
  }
  const fs::path folder_;
};

TEST_F(Files, GoodManifestIsOk) {
  const std::string file = write("good.yaml", with_plugins("  services: [ { name: bench.Echo } ]\n"));
  const Outcome outcome = tenon({"check", file});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, file + ": ok (6 plugins, 1 ports, 1 services, 0 references)\n");
}

TEST_F(Files, UnknownKeyHasItsPlaceAndASuggestion) {
  const std::string file = write("typo.yaml", with_plugins("  servces: [ { name: bench.Echo } ]\n"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"check", file}, std::vector<std::string>{"serve", "--manifest", file}}) {
    const Outcome outcome = tenon(words);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.err.find(file + ":7:3: "), 0u) << outcome.err;
    EXPECT_NE(outcome.err.find("did you mean \"services\"?"), std::string::npos) << outcome.err;
  }
}

TEST_F(Files, EveryMistakeIsSaid) {
  const std::string file =
      write("many.yaml", with_plugins("client:\n"
                                      "  references:\n"
                                      "    one: { service: a.B, address: \"127.0.0.1:1\",\n"
                                      "           serializer: jsn }\n"
                                      "    two: { service: a.B, address: \"127.0.0.1:1\",\n"
                                      "           transport: { use: tcp, no_such_option: 1 } }\n"));
  const Outcome outcome = tenon({"check", file});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find(file + ":10:24: "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("\"jsn\""), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find(file + ":12:35: "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("no_such_option"), std::string::npos) << outcome.err;
}

TEST_F(Files, ServiceThatNoPluginHasIsNoted) {
  const std::string file = write("own.yaml", with_plugins("  services: [ { name: demo.Greeter } ]\n"));
  const Outcome outcome = tenon({"check", file});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find("note: no loaded plugin has service demo.Greeter"), 0u) << outcome.out;
  const Outcome served = tenon({"serve", "--manifest", file});
  EXPECT_EQ(served.code, 2) << served.out;
  EXPECT_NE(served.err.find("demo.Greeter"), std::string::npos) << served.err;
}

TEST_F(Files, MissingManifest) {
  const Outcome outcome = tenon({"check", (folder_ / "none.yaml").string()});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("none.yaml"), std::string::npos) << outcome.err;
}

TEST_F(Files, ServeAndCallByManifest) {
  ServerProcess server(
      {"--manifest", write("server.yaml", with_plugins("  services: [ { name: bench.Echo, group: g } ]\n"))});
  ASSERT_FALSE(server.address().empty()) << server.ready_line() << server.stop().err;
  const std::string client = write("client.yaml",
                                   "plugins:\n"
                                   "  search: [\"" PLUGIN_DIR
                                   "\"]\n"
                                   "  load: [transport-tcp, protocol-tenon, serialize-pb, cluster]\n"
                                   "client:\n"
                                   "  references:\n"
                                   "    echo: { service: bench.Echo, group: g, address: \"" +
                                       server.address().substr(4) + "\" }\n");
  const Outcome outcome =
      tenon({"call", "bench.Echo/Add", R"({"value":"1"})", "--manifest", client, "--reference", "echo"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "{\"value\":\"2\"}\n");
  EXPECT_EQ(server.stop().code, 0);
}

TEST_F(Files, PluginsAreListedWithTheirOptions) {
  const Outcome outcome = tenon({"plugins", PLUGIN_DIR});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("    transport \"tcp\"\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("    serializer \"json\"\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("    service \"bench.Echo\"\n"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("REFUSED"), std::string::npos) << outcome.out;
}

TEST_F(Files, RefusedPluginsSayWhy) {
  write("no-elf.so", "this is no library");
  fs::copy_file(USERS_PLUGIN, folder_ / "test-users.so");
  const Outcome text = tenon({"plugins", folder_.string()});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("no-elf.so\n  REFUSED: "), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("test-users.so\n  test-users 1.0.0\n    service \"user.UserService\"\n"), std::string::npos)
      << text.out;
  const Outcome json = tenon({"plugins", folder_.string(), "--json"});
  EXPECT_EQ(json.code, 0) << json.err;
  EXPECT_EQ(json.out.find("{\"plugins\":[\n{\"path\":"), 0u) << json.out;
  EXPECT_NE(json.out.find("no-elf.so\",\"refused\":\""), std::string::npos) << json.out;
  EXPECT_NE(json.out.find("{\"kind\":\"service\",\"name\":\"user.UserService\",\"options\":[]}"), std::string::npos)
      << json.out;
}

TEST_F(Files, UnreadablePluginDirectory) {
  const Outcome outcome = tenon({"plugins", (folder_ / "none").string()});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("none"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace cli_test
