#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>
#include <regex>

#include "manifest/nearest.hpp"
#include "manifest/node.hpp"
#include "manifest/yaml.hpp"
#include "tenon/options.hpp"

namespace tenon {
namespace {

using namespace std::chrono_literals;

AppOptions good(std::string_view text, const std::string& file = "/etc/app/m.yaml") {
  Result<AppOptions> options = parse_manifest(file, text);
  if (options.ok()) return std::move(*options);
  ADD_FAILURE() << options.error().text();
  return {};
}
std::string bad(std::string_view text) {
  const Result<AppOptions> options = parse_manifest("m.yaml", text);
  return options.ok() ? "it was accepted" : options.error().text();
}

// The manifest that the documentation shows, word for word.
std::string read_documented() {
  std::ifstream in(std::string(MANIFEST_DIR) + "/../documented_manifest.yaml");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (text.empty()) std::abort();
  return text;
}
const std::string whole = read_documented();

TEST(Manifest, TheDocumentedOne) {
  const AppOptions options = good(whole);
  EXPECT_EQ(options.application, "greeter-server");
  EXPECT_EQ(options.plugins.search, (std::vector<std::string>{"/etc/app/plugins", "/usr/lib/tenon/plugins"}));
  EXPECT_EQ(options.plugins.load.size(), 9u);
  EXPECT_TRUE(options.plugins.probe);
  const Component& registry = options.registries.at("main");
  EXPECT_EQ(registry.use(), "zookeeper");
  EXPECT_FALSE(registry.bare());
  ASSERT_TRUE(registry.place());
  EXPECT_EQ(manifest::at(*registry.place()), "/etc/app/m.yaml:6:9");
  EXPECT_EQ(registry.place()->path, "registries.main");
  ASSERT_EQ(options.server.listen.size(), 1u);
  const ListenOptions& listen = options.server.listen[0];
  EXPECT_EQ(listen.address, "0.0.0.0:4080");
  EXPECT_EQ(listen.transport.use(), "tcp");
  ASSERT_EQ(listen.protocols.size(), 2u);
  EXPECT_EQ(listen.protocols[1].use(), "motan2");
  EXPECT_TRUE(listen.protocols[1].bare());
  ASSERT_EQ(options.server.services.size(), 1u);
  EXPECT_EQ(options.server.services[0].version, "1.0");
  EXPECT_EQ(options.server.services[0].filters.at(0).use(), "access-log");
  EXPECT_EQ(options.server.grace, 10s);
  const ReferenceOptions& greeter = options.client.references.at("greeter");
  EXPECT_EQ(greeter.compress.use(), "gzip");
  EXPECT_EQ(greeter.timeout, 1s);
  EXPECT_EQ(greeter.ha.use(), "failover");
  EXPECT_FALSE(greeter.cluster);
  EXPECT_EQ(greeter.max_unwritten.bytes, 4u << 20);
  EXPECT_EQ(greeter.registry, (std::vector<std::string>{"main", "backup"}));
  EXPECT_TRUE(greeter.check);
  EXPECT_EQ(options.server.services[0].registry, std::vector<std::string>{"main"});
  EXPECT_EQ(listen.announce, "greeter.example.com:4080");
  EXPECT_EQ(options.client.cache, "/etc/app/cache");
}

TEST(Manifest, DefaultsFillWhatIsEmptyOnly) {
  AppOptions options = good(whole);
  apply_defaults(options);
  const ReferenceOptions& greeter = options.client.references.at("greeter");
  EXPECT_EQ(greeter.transport.use(), "tcp");
  EXPECT_EQ(greeter.cluster.use(), "default");
  EXPECT_EQ(greeter.ha.use(), "failover");
  EXPECT_FALSE(greeter.ha.bare()) << "its options must survive";
  EXPECT_TRUE(greeter.router.empty());
}

TEST(Manifest, ByteOrderMarkAndCarriageReturns) {
  std::string text = "\xef\xbb\xbf";
  for (const char c : whole) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(good(text).application, "greeter-server");
  EXPECT_EQ(bad("\xef\xbb\xbf"
                "application: a\r\nlog: { level: info }\r\nlgo: x\r\n"),
            "m.yaml:3:1: unknown key \"lgo\", did you mean \"log\"?");
}

TEST(Manifest, EveryMistakeOfAFileIsReported) {
  EXPECT_EQ(bad("applicatoin: a\n"
                "runtime: { io_threads: many }\n"
                "server:\n"
                "  grace: 5\n"
                "client:\n"
                "  references:\n"
                "    greeter: { service: demo.Greeter, serialiser: json, address: \"h:1\" }\n"),
            "m.yaml:1:1: unknown key \"applicatoin\", did you mean \"application\"?\n"
            "m.yaml:2:24: runtime.io_threads: expected a whole number, found \"many\"\n"
            "m.yaml:4:10: server.grace: expected a duration with its unit, found \"5\": write 5s or 5ms\n"
            "m.yaml:7:39: unknown key \"serialiser\" in client.references.greeter, did you mean \"serializer\"?");
}

TEST(Manifest, InlineTransportKeepsForeignKeys) {
  const AppOptions options =
      good("server: { listen: [ { use: tcp, address: \":0\", protocols: [tenon], backlog: 5 } ] }");
  const InlineComponent& transport = options.server.listen.at(0).transport;
  EXPECT_EQ(transport.use(), "tcp");
  ASSERT_TRUE(transport.place());
  EXPECT_NE(transport.place()->node->find("backlog"), nullptr);
  const auto& own = transport.own_keys();
  for (const std::string_view key : {"address", "protocols", "use"})
    EXPECT_NE(std::find(own.begin(), own.end(), key), own.end()) << key;
  EXPECT_EQ(std::find(own.begin(), own.end(), "backlog"), own.end());
}

TEST(Manifest, ScalarsKeepTheirText) {
  const AppOptions options = good(
      "server: { listen: [ { use: tcp, address: a, protocols: [t] } ],\n"
      "          services: [ { name: a.B, version: 1.10, group: 010, metadata: { build: 1e3, empty: \"\" } } ] }");
  const ServiceOptions& service = options.server.services.at(0);
  EXPECT_EQ(service.version, "1.10");
  EXPECT_EQ(service.group, "010");
  EXPECT_EQ(service.metadata.at("build"), "1e3");
  EXPECT_EQ(service.metadata.at("empty"), "");
}

TEST(Manifest, OptionalMembers) {
  const AppOptions options = good(
      "client: { references: { g: { service: a.B, address: h, methods: "
      "{ Get: { idempotent: true, retries: 0 }, Put: { timeout: 5s, retries: ~ } } } } }");
  const auto& methods = options.client.references.at("g").methods;
  EXPECT_EQ(methods.at("Get").idempotent, true);
  EXPECT_EQ(methods.at("Get").retries, 0u);
  EXPECT_FALSE(methods.at("Get").timeout);
  EXPECT_EQ(methods.at("Put").timeout, Duration(5s));
  EXPECT_FALSE(methods.at("Put").retries);
}

TEST(Manifest, OneTextIsAListOfOne) {
  const AppOptions options = good(
      "registries: { main: static, backup: static }\n"
      "plugins: { load: cluster }\n"
      "client: { references: { one: { service: a.B, registry: main }, quoted: { service: a.B, registry: \"main\" },\n"
      "                        both: { service: a.B, registry: [main, backup] } } }\n");
  EXPECT_EQ(options.plugins.load, std::vector<std::string>{"cluster"});
  const auto& references = options.client.references;
  EXPECT_EQ(references.at("one").registry, std::vector<std::string>{"main"});
  EXPECT_EQ(references.at("quoted").registry, std::vector<std::string>{"main"});
  EXPECT_EQ(references.at("both").registry, (std::vector<std::string>{"main", "backup"}));
  EXPECT_FALSE(references.at("one").check);
  EXPECT_EQ(options.client.cache, "");
}

TEST(Manifest, RelativeFolders) {
  const AppOptions options = good("plugins: { search: [plugins, ../up/, ., /abs] }", "/etc/app/m.yaml");
  EXPECT_EQ(options.plugins.search, (std::vector<std::string>{"/etc/app/plugins", "/etc/up", "/etc/app", "/abs"}));
  EXPECT_EQ(good("client: { cache: known/ }").client.cache, "/etc/app/known");
  EXPECT_EQ(good("client: { cache: /var/cache/app }").client.cache, "/var/cache/app");
}

TEST(Manifest, OptionsFromCodeAreCheckedToo) {
  AppOptions options;
  options.client.references["greeter"] = {.service = "demo.Greeter", .registry = {"mian"}};
  options.registries["main"] = Component("zookeeper");
  options.runtime.io_threads = 0;
  const Result<void> checked = check(options);
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().text(),
            "runtime.io_threads: must be from 1 to 256, is 0\n"
            "client.references.greeter.registry: there is no registry \"mian\", did you mean \"main\"?");
  options.runtime.io_threads = 1;
  options.client.references["greeter"].registry = {"main"};
  EXPECT_TRUE(check(options).ok());
}

TEST(Manifest, FilesThatCannotBeRead) {
  const auto missing = load_manifest("/nowhere/m.yaml");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().text(), "/nowhere/m.yaml: cannot read the manifest: No such file or directory");
  const auto directory = load_manifest("/tmp");
  ASSERT_FALSE(directory.ok());
  EXPECT_EQ(directory.error().text(), "/tmp: cannot read the manifest: Is a directory");
  EXPECT_EQ(bad(std::string((1u << 20) + 1, '#')), "m.yaml:1:1: the manifest has 1048577 bytes; the limit is 1 MiB");
}

TEST(Manifest, DepthIsBounded) {
  const auto nested = [](int depth) { return "a: " + std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(bad(nested(64)), "m.yaml:1:67: nested more than 64 levels deep");
  EXPECT_EQ(bad(nested(100000)), "m.yaml:1:67: nested more than 64 levels deep");
  EXPECT_TRUE(bad(nested(63)).starts_with("m.yaml:1:1: unknown key \"a\"; known here: admin, application"));
}

TEST(Manifest, NodesAreFoundByPath) {
  const auto document = manifest::parse_yaml("m.yaml", "a:\n  b.c:\n    - x\n    - { d: 1 }\n");
  ASSERT_TRUE(document.ok());
  const manifest::Node* node = (*document)->find("a.b.c[1].d");
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->text, "1");
  EXPECT_EQ(node->at.line, 4u);
  EXPECT_EQ((*document)->find("a.b.c[2]"), nullptr);
  EXPECT_EQ((*document)->find("a.b"), nullptr);
  EXPECT_EQ((*document)->find("a.b.c[99999999999999999999]"), nullptr);
}

// Whatever is done to a manifest: it is accepted, or every line of the refusal says where.
TEST(Manifest, EveryRefusalNamesAPosition) {
  const std::regex position("m\\.yaml:[1-9][0-9]*:[1-9][0-9]*: [^\\n]+");
  std::mt19937 random(42);
  int refused = 0;
  constexpr std::string_view tokens = "{}[]:,#&*!|>'\"%@`~<?- \n\t\r\\0a\x80\xff\x01";
  for (int round = 0; round < 5000; ++round) {
    std::string text(whole);
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0: text.erase(at, 1 + random() % 12); break;
        case 1: text.insert(at, 1, tokens[random() % tokens.size()]); break;
        case 2: text[at] = tokens[random() % tokens.size()]; break;
        default: text.resize(at + 1); break;
      }
      if (text.empty()) text = "a";
    }
    const Result<AppOptions> options = parse_manifest("m.yaml", text);
    if (options.ok()) continue;
    ++refused;
    std::string_view lines = options.error().text();
    ASSERT_FALSE(lines.empty());
    while (!lines.empty()) {
      const std::size_t end = std::min(lines.find('\n'), lines.size());
      const std::string line(lines.substr(0, end));
      ASSERT_TRUE(std::regex_match(line, position)) << line << "\nin\n" << text;
      lines.remove_prefix(std::min(end + 1, lines.size()));
    }
  }
  EXPECT_GT(refused, 1250);
}

TEST(Nearest, Misspellings) {
  const std::vector<std::string_view> names{"serializer", "service", "timeout", "round-robin", "ha"};
  EXPECT_EQ(nearest("serialiser", names), "serializer");
  EXPECT_EQ(nearest("tiemout", names), "timeout");
  EXPECT_EQ(nearest("round_robin", names), "round-robin");
  EXPECT_EQ(nearest("Timeout", names), "timeout");
  EXPECT_EQ(nearest("zzz", names), "");
  EXPECT_EQ(nearest("x", names), "");
  EXPECT_EQ(nearest(std::string(100000, 's'), names), "");
}

}  // namespace
}  // namespace tenon
