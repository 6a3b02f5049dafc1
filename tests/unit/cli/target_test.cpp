#include "target.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace tenon::cli {
namespace {

TEST(SplitAddress, TransportIsAWordBeforeAnAddress) {
  const auto expect = [](const std::string& text, const std::string& transport, const std::string& address) {
    const Address split = split_address(text);
    EXPECT_EQ(split.transport, transport) << text;
    EXPECT_EQ(split.address, address) << text;
  };
  expect("tcp:127.0.0.1:4080", "tcp", "127.0.0.1:4080");
  expect("tcp:localhost:4080", "tcp", "localhost:4080");
  expect("tcp:[::1]:4080", "tcp", "[::1]:4080");
  expect("tcp:a:1,b:2", "tcp", "a:1,b:2");
  expect("memory:greeter", "memory", "greeter");
  expect("127.0.0.1:4080", "", "127.0.0.1:4080");
  expect("localhost:4080", "", "localhost:4080");
  expect("localhost:4080,otherhost:4081", "", "localhost:4080,otherhost:4081");
  expect("[::1]:4080", "", "[::1]:4080");
  expect("greeter", "", "greeter");
}

TEST(ClientOptions, OneCalleeIsNeeded) {
  const auto none = client_options(TargetOptions(), "demo.Greeter");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code(), Errc::config);
  TargetOptions both;
  both.address = "tcp:127.0.0.1:1";
  both.manifest = "x.yaml";
  EXPECT_FALSE(client_options(both, "demo.Greeter").ok());
}

TEST(ClientOptions, AddressMakesAReference) {
  TargetOptions target;
  target.address = "tcp:127.0.0.1:4080";
  target.serializer = "json";
  target.group = "g";
  target.version = "2";
  target.timeout = "250ms";
  const auto options = client_options(target, "demo.Greeter");
  ASSERT_TRUE(options.ok()) << options.error().text();
  const ReferenceOptions& reference = options->client.references.at(target_name);
  EXPECT_EQ(reference.service, "demo.Greeter");
  EXPECT_EQ(reference.address, "127.0.0.1:4080");
  EXPECT_EQ(reference.transport.use(), "tcp");
  EXPECT_EQ(reference.serializer.use(), "json");
  EXPECT_EQ(reference.group, "g");
  EXPECT_EQ(reference.version, "2");
  EXPECT_EQ(reference.timeout, std::chrono::milliseconds(250));
}

TEST(ClientOptions, BadTimeoutSaysWhatIsExpected) {
  TargetOptions target;
  target.address = "127.0.0.1:4080";
  target.timeout = "fast";
  const auto options = client_options(target, "demo.Greeter");
  ASSERT_FALSE(options.ok());
  EXPECT_EQ(options.error().text().find("--timeout fast: expected "), 0u) << options.error().text();
}

class Manifest : public testing::Test {
 protected:
  Manifest() : path_(std::filesystem::temp_directory_path() / ("cli-target-" + std::to_string(::getpid()) + ".yaml")) {
    std::ofstream(path_) << "application: test\n"
                            "plugins: { search: [.], load: [transport-tcp] }\n"
                            "client:\n"
                            "  references:\n"
                            "    greeter: { service: demo.Greeter, address: \"127.0.0.1:1\", timeout: 3s }\n"
                            "    other: { service: demo.Other, address: \"127.0.0.1:2\" }\n";
    target_.manifest = path_.string();
  }
  ~Manifest() override { std::filesystem::remove(path_); }

  const std::filesystem::path path_;
  TargetOptions target_;
};

TEST_F(Manifest, TheOnlyReferenceToAServiceIsFound) {
  const auto options = client_options(target_, "demo.Greeter");
  ASSERT_TRUE(options.ok()) << options.error().text();
  ASSERT_EQ(options->client.references.size(), 1u);
  EXPECT_EQ(options->client.references.at(target_name).address, "127.0.0.1:1");
  EXPECT_EQ(options->client.references.at(target_name).timeout, std::chrono::seconds(3));
}

TEST_F(Manifest, UnknownReferenceSuggestsTheNearest) {
  target_.reference = "greter";
  const auto options = client_options(target_, "demo.Greeter");
  ASSERT_FALSE(options.ok());
  EXPECT_EQ(options.error().text(), path_.string() + ": no reference \"greter\", did you mean \"greeter\"?");
}

TEST_F(Manifest, ReferenceToAnotherServiceIsRefused) {
  target_.reference = "other";
  const auto options = client_options(target_, "demo.Greeter");
  ASSERT_FALSE(options.ok());
  EXPECT_EQ(options.error().text(), path_.string() + ": reference \"other\" is to demo.Other, not to demo.Greeter");
}

TEST(LoadByName, WhatIsThereIsLoaded) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("cli-by-name-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  for (const char* plugin :
       {"transport-quick", "protocol-foreign", "serialize-terse", "serialize-pb", "compress-tight"})
    std::ofstream(folder / (std::string(plugin) + ".so")) << "x";
  AppOptions options;
  options.plugins.search = {"/nowhere", folder.string()};
  options.plugins.load = {"protocol-foreign"};
  TargetOptions target;
  target.address = "quick:1.2.3.4:5";
  target.protocol = "foreign";
  target.serializer = "terse";
  target.compress = "tight";
  load_by_name(options, target);
  EXPECT_EQ(options.plugins.load,
            (std::vector<std::string>{"protocol-foreign", "transport-quick", "serialize-terse", "compress-tight"}));
  target.serializer = "protobuf";
  target.compress = "missing";
  load_by_name(options, target);
  ASSERT_EQ(options.plugins.load.size(), 5u);
  EXPECT_EQ(options.plugins.load.back(), "serialize-pb");
  std::filesystem::remove_all(folder);
}

TEST_F(Manifest, OptionsOfTheCommandLineGoOverTheManifests) {
  target_.protocol = "foreign";
  target_.serializer = "terse";
  target_.compress = "tight";
  const auto options = client_options(target_, "demo.Greeter");
  ASSERT_TRUE(options.ok()) << options.error().text();
  const ReferenceOptions& reference = options->client.references.at(target_name);
  EXPECT_EQ(reference.protocol.use(), "foreign");
  EXPECT_EQ(reference.serializer.use(), "terse");
  EXPECT_EQ(reference.compress.use(), "tight");
}

TEST(LoadPlugin, PathsAddTheirFolder) {
  AppOptions options;
  load_plugin(options, "serialize-json");
  load_plugin(options, "/opt/x/greeter.so");
  load_plugin(options, "/opt/x/greeter.so");
  EXPECT_EQ(options.plugins.load, (std::vector<std::string>{"serialize-json", "greeter"}));
  EXPECT_EQ(options.plugins.search, std::vector<std::string>{"/opt/x"});
}

}  // namespace
}  // namespace tenon::cli
