// Every value in force, and where it comes from.

#include "component/effective_config.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <vector>

#include "component/leaves.hpp"
#include "fixtures/greeting.hpp"
#include "manifest/node.hpp"
#include "plugin_folder.hpp"
#include "plugin_host/plugin_host.hpp"
#include "tenon/value.hpp"

namespace tenon {
namespace {

/// "value <- origin" by path.
using Shown = std::map<std::string, std::string>;

class EffectiveConfigTest : public testing::Test {
 protected:
  EffectiveConfigTest() : host_(folder_.copy("good").options()) {
    const Result<void> loaded = host_.load("good");
    EXPECT_TRUE(loaded.ok()) << loaded.error().text();
  }
  Shown of(const AppOptions& options) {
    Shown shown;
    for (const admin::ConfigValue& value : effective_config(options, host_.catalog())) {
      const bool fresh = shown.emplace(value.path, value.value + " <- " + value.origin).second;
      EXPECT_TRUE(fresh) << value.path << " is shown twice";
      EXPECT_FALSE(value.origin.empty()) << value.path;
    }
    return shown;
  }
  static AppOptions read(const std::string& text) {
    Result<AppOptions> options = parse_manifest("m.yaml", text);
    EXPECT_TRUE(options.ok()) << options.error().text();
    return options.ok() ? std::move(*options) : AppOptions();
  }

  PluginFolder folder_;
  plugin_host::PluginHost host_;
};

TEST_F(EffectiveConfigTest, WrittenAndDefaultValues) {
  const Shown shown =
      of(read("application: shop\n"
              "log: { level: warn }\n"
              "client:\n"
              "  references:\n"
              "    cart.v2:\n"
              "      service: demo.Cart\n"
              "      address: h:1\n"
              "      timeout: 1s\n"
              "      methods: { Add: { timeout: 50ms } }\n"));
  EXPECT_EQ(shown.at("application"), "shop <- m.yaml:1:14");
  EXPECT_EQ(shown.at("log.level"), "warn <- m.yaml:2:15");
  EXPECT_EQ(shown.at("log.file"), "\"\" <- default");
  EXPECT_EQ(shown.at("runtime.io_threads"), "1 <- default");
  EXPECT_EQ(shown.at("registries"), "{} <- default");
  EXPECT_EQ(shown.at("server.listen"), "[] <- default");
  EXPECT_EQ(shown.at("server.limits.max_frame"), "4MiB <- default");
  const std::string cart = "client.references.cart.v2.";
  EXPECT_EQ(shown.at(cart + "service"), "demo.Cart <- m.yaml:6:16");
  EXPECT_EQ(shown.at(cart + "timeout"), "1s <- m.yaml:8:16") << "written, although it is the default";
  EXPECT_EQ(shown.at(cart + "connect_timeout"), "1s <- default");
  EXPECT_EQ(shown.at(cart + "connect"), "eager <- default");
  EXPECT_EQ(shown.at(cart + "protocol"), "tenon <- default") << "filled in by core";
  EXPECT_EQ(shown.at(cart + "compress"), " <- default") << "none";
  EXPECT_EQ(shown.at(cart + "methods.Add.timeout"), "50ms <- m.yaml:9:34");
  EXPECT_EQ(shown.at(cart + "methods.Add.retries"), " <- default");
  EXPECT_EQ(shown.at("admin"), " <- default") << "nobody may ask";
}

TEST_F(EffectiveConfigTest, OptionsOfComponents) {
  const Shown shown =
      of(read("components:\n"
              "  greeting:\n"
              "    bare: hello\n"
              "    own: { use: hello, word: ho, before: { use: hello, times: 3, before: bare } }\n"));
  const std::string bare = "components.greeting.bare";
  EXPECT_EQ(shown.at(bare), "hello <- m.yaml:3:11");
  EXPECT_EQ(shown.at(bare + ".word"), "hello <- default");
  EXPECT_EQ(shown.at(bare + ".before"), " <- default");
  const std::string own = "components.greeting.own";
  EXPECT_EQ(shown.at(own), "hello <- m.yaml:4:17");
  EXPECT_EQ(shown.at(own + ".word"), "ho <- m.yaml:4:30");
  EXPECT_EQ(shown.at(own + ".times"), "1 <- default");
  EXPECT_EQ(shown.at(own + ".before"), "hello <- m.yaml:4:49") << "a component that an option asks for";
  EXPECT_EQ(shown.at(own + ".before.times"), "3 <- m.yaml:4:63");
  EXPECT_EQ(shown.at(own + ".before.word"), "hello <- default");
  EXPECT_EQ(shown.at(own + ".before.before"), "bare <- m.yaml:4:74") << "another's name";
  EXPECT_FALSE(shown.contains(own + ".before.before.word")) << "whose options stand where it does";
}

TEST_F(EffectiveConfigTest, InlineComponents) {
  const Shown shown = of(read("server: { listen: [ { use: hello, address: \"a:1\", protocols: [tenon] } ] }\n"));
  EXPECT_EQ(shown.at("server.listen[0].address"), "a:1 <- m.yaml:1:44");
  EXPECT_EQ(shown.at("server.listen[0].use"), "hello <- m.yaml:1:28");
  EXPECT_EQ(shown.at("server.listen[0].protocols[0]"), "tenon <- m.yaml:1:63");
}

/// Where every scalar of a manifest stands.
void places(const manifest::Node& node, std::vector<std::string>& found) {
  if (node.kind == manifest::Node::Kind::scalar)
    found.push_back("m.yaml:" + std::to_string(node.at.line) + ':' + std::to_string(node.at.column));
  for (const manifest::Node& element : node.elements) places(element, found);
  for (const manifest::Entry& entry : node.entries) places(entry.value, found);
}

TEST_F(EffectiveConfigTest, NothingThatIsWrittenIsMissing) {
  const AppOptions options = read(
      "application: shop\n"
      "plugins: { search: [/a, /b], load: [x, y], probe: false, probe_timeout: 3s }\n"
      "log: { level: debug, file: /tmp/log, per_second: 0 }\n"
      "runtime: { io_threads: 4 }\n"
      "registries: { main: static, other: { use: static } }\n"
      "components: { greeting: { a: { use: hello, times: 2, names: [x, y], before: { use: hello, pause: 1s } } } }\n"
      "server:\n"
      "  listen: [ { use: tcp, address: \"a:1\", protocols: [tenon, { use: http }] }, { address: \"b:1\", announce: "
      "none, protocols: [x] } ]\n"
      "  services:\n"
      "    - { name: A, group: g, version: v, registry: main, filters: [f, { use: g }], weight: 3, metadata: { a: b "
      "},\n"
      "        pool: p, methods: { M: { pool: inline } } }\n"
      "    - name: B\n"
      "  pools: { p: { threads: 2, queue: 3 } }\n"
      "  grace: 1m\n"
      "  max_unwritten: 1MiB\n"
      "  limits: { max_frame: 8MiB }\n"
      "  compress: gzip\n"
      "client:\n"
      "  cache: kept\n"
      "  references:\n"
      "    r: { service: S, registry: [main, other], transport: { use: t }, protocol: p, serializer: s, timeout: 2s, "
      "connect: lazy, check: true,\n"
      "         router: r, attempt_filters: [f], limits: { max_concurrent: 5 }, methods: { M: { idempotent: true } } "
      "}\n"
      "admin: { listen: \"unix:/x\", protocols: [tenon] }\n");
  std::vector<std::string> wanted;
  places(options.source->root, wanted);
  std::multiset<std::string> origins;
  for (const admin::ConfigValue& value : effective_config(options, host_.catalog())) origins.insert(value.origin);
  EXPECT_GT(wanted.size(), 50u);
  for (const std::string& place : wanted) EXPECT_EQ(origins.count(place), 1u) << place;
  EXPECT_EQ(origins.count("program"), 0u);
  EXPECT_EQ(origins.size(), wanted.size() + origins.count("default"));
}

// The manifests that the fuzzer starts from, with every seventh byte of them changed in turn.
TEST_F(EffectiveConfigTest, OddManifests) {
  std::size_t accepted = 0;
  for (const auto& entry : std::filesystem::directory_iterator(MANIFEST_CORPUS)) {
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    for (std::size_t at = 0; at <= whole.size() && at < 2000; at += 7) {
      std::string text = whole;
      if (at < text.size()) text[at] = static_cast<char>("x0.[{'\n -:"[at % 10]);
      const Result<AppOptions> options = parse_manifest("m.yaml", text);
      if (!options.ok()) continue;
      ++accepted;
      of(*options);
      ASSERT_FALSE(testing::Test::HasFailure()) << entry.path() << ": " << text;
    }
  }
  EXPECT_GT(accepted, 50u);
}

TEST_F(EffectiveConfigTest, WhatAProgramSets) {
  AppOptions options = read("application: shop\nlog: { level: warn, per_second: 5 }\n");
  options.log.level = LogLevel::debug;
  options.runtime.io_threads = 3;
  options.components["greeting"]["made"] = Component::of("hello", fixture::HelloOptions{.word = "hi"});
  ListenOptions listen;
  listen.address = "127.0.0.1:0";
  options.server.listen = {listen};
  const Shown shown = of(options);
  EXPECT_EQ(shown.at("log.level"), "debug <- program") << "no longer what the manifest says";
  EXPECT_EQ(shown.at("log.per_second"), "5 <- m.yaml:2:33");
  EXPECT_EQ(shown.at("runtime.io_threads"), "3 <- program");
  EXPECT_EQ(shown.at("components.greeting.made"), "hello <- program");
  EXPECT_EQ(shown.at("components.greeting.made.word"), "hi <- program");
  EXPECT_EQ(shown.at("components.greeting.made.times"), "1 <- default");
  EXPECT_EQ(shown.at("server.listen[0].address"), "127.0.0.1:0 <- program");
  EXPECT_EQ(shown.at("server.listen[0].use"), "tcp <- default");
  EXPECT_EQ(shown.at("server.listen[0].protocols"), "[] <- default");
}

TEST_F(EffectiveConfigTest, SecretsAreHidden) {
  const Shown shown =
      of(read("server:\n"
              "  services:\n"
              "    - name: demo.Token\n"
              "      metadata: { API-Key: k3y, zone: eu, pass: \"\", url: \"http://me:pa@ss@host:1/x?to=a@b\" }\n"
              "  listen: [ { address: \"x:1\", protocols: [tenon] } ]\n"
              "registries: { token: { use: static } }\n"));
  const std::string metadata = "server.services[0].metadata.";
  EXPECT_EQ(shown.at(metadata + "API-Key"), "*** <- m.yaml:4:28");
  EXPECT_EQ(shown.at(metadata + "zone"), "eu <- m.yaml:4:39");
  EXPECT_EQ(shown.at(metadata + "url"), "http://me:***@host:1/x?to=a@b <- m.yaml:4:58");
  EXPECT_EQ(shown.at("server.services[0].name"), "demo.Token <- m.yaml:3:13") << "no name of an option";
  EXPECT_EQ(shown.at("registries.token"), "static <- m.yaml:6:29") << "a component's own name tells nothing";
  for (const auto& [path, text] : shown) {
    EXPECT_EQ(text.find("k3y"), std::string::npos) << path;
    EXPECT_EQ(text.find("pa@ss"), std::string::npos) << path;
  }
}

TEST(SecretNames, SayPasswordTokenKeyAndTheLike) {
  for (const char* name :
       {"password", "dbPassword", "db_passwd", "PASSPHRASE", "client.secret", "accesstoken", "tokens", "credentials",
        "Key", "api-key", "apiKey", "apikey", "key_2", "keyFile", "AUTH", "zk.auth", "x1key"})
    EXPECT_TRUE(is_secret_name(name)) << name;
  for (const char* name : {"", "k", "keyboard", "KEYBOARD", "author", "passing", "monkey", "monKeys", "name", "___"})
    EXPECT_FALSE(is_secret_name(name)) << name;
}

// ---------------------------------------------------------------------------------------------------------------------

struct Inner {
  std::string user = "me";
  std::vector<std::string> list;
  std::uint32_t size = 7;
};
BOOST_DESCRIBE_STRUCT(Inner, (), (user, list, size))
struct Outer {
  std::uint32_t key_count = 3;
  std::string key = "abc";
  std::string token;
  Bytes secret{"\x01\x02"};
  std::map<std::string, std::string> passwords_of;
  Inner auth{"you", {"a", "b"}, 8};
  std::map<std::string, std::vector<std::int64_t>> lists;
  Value value;
  std::optional<std::string> none;
  std::vector<Inner> inner;
};
BOOST_DESCRIBE_STRUCT(Outer, (), (key_count, key, token, secret, passwords_of, auth, lists, value, none, inner))

/// "path=shown" lines.
class Lines final : public LeafVisitor {
 public:
  void leaf(Leaf leaf) override { text += leaf.path + '=' + shown_text(leaf) + '\n'; }
  void component(const std::string& path, const std::string& holder, std::string_view kind,
                 const Component& component) override {
    text += path + '=' + component.use() + " (" + std::string(kind) + ", options in \"" + holder + "\")\n";
  }
  void message(const std::string& path, const MessageType& type) override {
    messages += path + ':' + std::string(type.name()) + ' ';
  }
  std::string text;
  std::string messages;
};

TEST(Leaves, EveryShape) {
  Outer outer;
  outer.lists = {{"x", {1, 2}}, {"y", {}}};
  outer.value = Value::of_map({{"password", "p"}, {"n", std::int64_t{5}}, {"deep", Value::of_map({{"token", "t"}})}});
  outer.inner = {Inner{"line\nbreak", {}, 1}};
  Lines lines;
  LeafWriter writer("o", lines);
  message_type<Outer>().write(&outer, writer);
  EXPECT_EQ(lines.text,
            "o.key_count=3\n"
            "o.key=***\n"
            "o.token=\"\"\n"
            "o.secret=***\n"
            "o.passwords_of={}\n"
            "o.auth.user=***\n"
            "o.auth.list[0]=***\n"
            "o.auth.list[1]=***\n"
            "o.auth.size=8\n"
            "o.lists.x[0]=1\n"
            "o.lists.x[1]=2\n"
            "o.lists.y=[]\n"
            "o.value.password=***\n"
            "o.value.n=5\n"
            "o.value.deep.token=***\n"
            "o.none=\n"
            "o.inner[0].user=line\\nbreak\n"
            "o.inner[0].list=[]\n"
            "o.inner[0].size=1\n");
  EXPECT_EQ(lines.messages.substr(0, 2), "o:");
  EXPECT_NE(lines.messages.find("o.inner[0]:"), std::string::npos) << "an element has defaults of its own";
  EXPECT_EQ(lines.messages.find("o.auth:"), std::string::npos) << "a member has those of what holds it";
}

// A component added to core's options must get its line in the table of places.
TEST(Leaves, EveryComponentOfCoreHasAKind) {
  AppOptions options;
  options.registries["r"] = "a";
  options.components["limiter"]["c"] = "a";
  ListenOptions listen;
  listen.transport = InlineComponent("a");
  listen.protocols = {"a"};
  options.server.listen = {listen};
  options.server.compress = "a";
  ServiceOptions service;
  service.filters = {"a"};
  options.server.services = {service};
  ReferenceOptions reference;
  for (Component* chosen : {&reference.transport, &reference.protocol, &reference.serializer, &reference.compress,
                            &reference.cluster, &reference.balancer, &reference.ha})
    *chosen = "a";
  reference.router = reference.filters = reference.attempt_filters = {"a"};
  options.client.references["g"] = reference;
  options.admin = AdminOptions{"unix:/x", {"a"}};
  Lines lines;
  LeafWriter writer("", lines);
  message_type<AppOptions>().write(&options, writer);
  std::size_t components = 0;
  for (std::size_t at = lines.text.find("=a ("); at != std::string::npos; at = lines.text.find("=a (", at + 1)) {
    ++components;
    EXPECT_NE(lines.text.substr(at, 6), "=a (, ") << lines.text.substr(at - 40, 60);
  }
  EXPECT_EQ(components, 17u) << lines.text;
  EXPECT_NE(lines.text.find("server.listen[0].use=a (transport, options in \"server.listen[0]\")"), std::string::npos);
  EXPECT_NE(lines.text.find("components.limiter.c=a (limiter, options in \"components.limiter.c\")"),
            std::string::npos);
  EXPECT_NE(lines.text.find("admin.protocols[0]=a (protocol, "), std::string::npos);
}

}  // namespace
}  // namespace tenon
