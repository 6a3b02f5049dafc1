// tenon route explain and tenon rule: why a call reaches an instance or not, with real registries and servers.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "process.hpp"

namespace cli_test {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string plain(const std::string& address) { return address.substr(std::string("tcp:").size()); }

class Routes : public testing::Test {
 protected:
  Routes() { std::filesystem::create_directories(folder_); }
  ~Routes() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path) << text;
    return path;
  }
  static std::string plugins(const std::string& more) {
    return "plugins: { search: [\"" PLUGIN_DIR
           "\"], load: [transport-tcp, protocol-tenon, serialize-pb, serialize-json, cluster, " +
           more + "] }\n";
  }
  /// Of a client whose registry is static: a replica that listens, one nobody listens at, a primary of weight 0.
  std::string static_client(const std::string& listens, const std::string& router) const {
    return file("client.yaml", plugins("registry-static") +
                                   "registries:\n"
                                   "  main:\n"
                                   "    use: static\n"
                                   "    instances:\n"
                                   "      - { service: bench.Echo, group: north, id: up, address: \"" +
                                   listens +
                                   "\", metadata: { role: replica } }\n"
                                   "      - { service: bench.Echo, group: north, id: down, address: \"127.0.0.1:1\", "
                                   "metadata: { role: replica } }\n"
                                   "      - { service: bench.Echo, group: north, id: idle, address: \"127.0.0.1:2\", "
                                   "weight: 0, metadata: { role: primary } }\n"
                                   "client:\n"
                                   "  references:\n"
                                   "    echo: { service: bench.Echo, group: north, registry: main, router: " +
                                   router + " }\n");
  }
  static Outcome explain(const std::string& manifest, std::vector<std::string> words) {
    words.insert(words.begin(), {"route", "explain", "-c", manifest, "--reference", "echo"});
    return tenon(words);
  }
  /// The line that begins with `id`, and those behind it up to the next instance.
  static std::string row(const std::string& text, const std::string& id) {
    const std::size_t begin = text.find("\n  " + id + " ");
    if (begin == std::string::npos) return "no " + id + " in\n" + text;
    std::size_t end = text.find('\n', begin + 1);
    while (end != std::string::npos && text.compare(end + 1, 4, "    ") == 0) end = text.find('\n', end + 1);
    return text.substr(begin + 1, end - begin - 1);
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("tenon-route-" + std::to_string(::getpid()));
};

constexpr const char* reads =
    "{ use: rules, rules: [ { name: reads, when: [ { attribute: method, prefix: Ec } ], "
    "to: [ { attribute: metadata.role, equals: replica } ] } ] }";

TEST_F(Routes, RulesOfAManifest) {
  ServerProcess server({"--listen", "tcp:127.0.0.1:0", "--load", "bench-echo", "--plugin-dir", PLUGIN_DIR});
  ASSERT_NE(server.address(), "");
  const std::string client = static_client(plain(server.address()), reads);
  const Outcome read = explain(client, {"--method", "Echo"});
  EXPECT_EQ(read.code, 0) << read.err;
  EXPECT_EQ(read.err, "");
  EXPECT_TRUE(read.out.starts_with("north/bench.Echo.Echo, 3 instances\n  INSTANCE  ADDRESS")) << read.out;
  EXPECT_TRUE(has(row(read.out, "up"), " yes ") &&
              has(row(read.out, "up"), " rule 1 (reads) sends such calls here\n") &&
              row(read.out, "up").ends_with("   weight 100"))
      << read.out;
  EXPECT_TRUE(has(row(read.out, "down"), " no ") && has(row(read.out, "down"), "it is not connected")) << read.out;
  EXPECT_TRUE(has(row(read.out, "idle"), " no ") &&
              has(row(read.out, "idle"), "sends such calls to 2 other instances") &&
              has(row(read.out, "idle"), "its weight is 0"))
      << read.out;

  const Outcome write = explain(client, {"--method", "Add", "--json"});
  EXPECT_EQ(write.code, 0) << write.err;
  EXPECT_TRUE(write.out.starts_with(
      R"({"reference":"echo","service":"north/bench.Echo","method":"Add","ready":true,"instances":[)"
      R"({"instance":"up","address":")" +
      plain(server.address()) + R"(","group":"north","called":true,"why":"no rule is about such calls; weight 100"},)"))
      << write.out;

  const Outcome one = explain(client, {"--method", "Echo", "--instance", "down"});
  EXPECT_EQ(one.code, 1) << "nobody would be called";
  EXPECT_TRUE(has(row(one.out, "up"), " no ") && has(row(one.out, "up"), "the call names another instance")) << one.out;
}

TEST_F(Routes, HeadersAndHashKeysCount) {
  ServerProcess server({"--listen", "tcp:127.0.0.1:0", "--load", "bench-echo", "--plugin-dir", PLUGIN_DIR});
  ASSERT_NE(server.address(), "");
  const std::string client = static_client(
      plain(server.address()),
      "{ use: rules, rules: [ { name: testers, when: [ { attribute: header.tester, equals: \"yes\" } ], to: [ { "
      "attribute: id, equals: up } ], otherwise: fail }, { name: some, when: [ { attribute: percent, below: 12.5 } ], "
      "to: [ { attribute: id, equals: up } ] } ] }");
  const Outcome tester = explain(client, {"--method", "Echo", "--header", "tester=yes"});
  EXPECT_TRUE(has(row(tester.out, "up"), "rule 1 (testers) sends such calls here")) << tester.out << tester.err;
  EXPECT_TRUE(has(row(tester.out, "down"), "to another instance and nowhere else")) << tester.out;
  const Outcome share = explain(client, {"--method", "Echo"});
  EXPECT_TRUE(has(row(share.out, "up"), "rule 2 (some) sends 12.5 % of such calls here")) << share.out;
  bool in = false;
  bool out = false;
  for (int key = 1; key < 200 && !(in && out); key += 7) {
    const Outcome one = explain(client, {"--method", "Echo", "--hash-key", std::to_string(key)});
    in = in || has(row(one.out, "up"), "rule 2 (some) sends such calls here");
    out = out || has(row(one.out, "up"), "no rule is about such calls");
  }
  EXPECT_TRUE(in && out);
}

TEST_F(Routes, CommandsAndRulesOfARegistry) {
  ServerProcess center({"--listen", "127.0.0.1:0"}, "center");
  ASSERT_NE(center.address(), "");
  const std::string registry = "registries: { main: { use: center, server: \"" + plain(center.address()) + "\" } }\n";
  const auto provider = [&](const std::string& group) {
    return file(group + ".yaml", "application: " + group + "\n" + plugins("registry-center, bench-echo") + registry +
                                     "server:\n"
                                     "  listen: [ { use: tcp, address: \"127.0.0.1:0\", protocols: [tenon] } ]\n"
                                     "  services: [ { name: bench.Echo, group: " +
                                     group + ", registry: main, metadata: { in: " + group + " } } ]\n");
  };
  ServerProcess north({"--manifest", provider("north")});
  ServerProcess south({"--manifest", provider("south")});
  ServerProcess sandbox({"--manifest", provider("sandbox")});
  for (const ServerProcess* each : {&north, &south, &sandbox}) ASSERT_NE(each->address(), "") << each->ready_line();
  const std::string client =
      file("client.yaml", plugins("registry-center") + registry +
                              "client: { references: { echo: { service: bench.Echo, group: north, registry: main, "
                              "router: [ traffic, rules ] } } }\n");
  const std::string at = "center://" + plain(center.address());
  const auto line = [](const Outcome& outcome, const ServerProcess& server) {
    const std::size_t found = outcome.out.find(plain(server.address()));
    if (found == std::string::npos) return "no " + server.address() + " in\n" + outcome.out + outcome.err;
    const std::size_t begin = outcome.out.rfind('\n', found);
    std::size_t end = outcome.out.find('\n', found);
    while (end != std::string::npos && outcome.out.compare(end + 1, 8, "        ") == 0)
      end = outcome.out.find('\n', end + 1);
    return outcome.out.substr(begin + 1, end - begin);
  };
  const Outcome alone = explain(client, {"--method", "Echo"});
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_TRUE(has(line(alone, north), "no command is in force, so its group serves")) << line(alone, north);

  const Outcome command =
      tenon({"command", "set", "north",
             R"({"clientCommandList":[{"index":1,"pattern":"*","mergeGroups":["north:3","south:1"],)"
             R"("remark":"shift"}]})",
             "--registry", at});
  ASSERT_EQ(command.code, 0) << command.err;
  const std::string rules =
      R"({"groups":["sandbox"],"rules":[{"name":"try","when":[{"attribute":"header.sandbox","exists":true}],)"
      R"("to":[{"attribute":"group","equals":"sandbox"}],"otherwise":"fail"}]})";
  const Outcome dry = tenon({"rule", "set", "north", rules, "--dry-run", "--registry", at});
  EXPECT_EQ(dry.code, 0) << dry.err;
  EXPECT_EQ(tenon({"rule", "get", "north", "--registry", at}).code, 1) << "there are none yet";
  const Outcome set = tenon({"rule", "set", "north", file("rules.json", rules + "\n"), "--registry", at});
  ASSERT_EQ(set.code, 0) << set.err;
  EXPECT_TRUE(has(set.out, "group north: written, version 0 -> ")) << set.out;

  const Outcome both = explain(client, {"--method", "Echo"});
  EXPECT_EQ(both.code, 0) << both.err;
  EXPECT_TRUE(has(line(both, north), "command 1 (shift) lists group north, which gets 3 of 4 calls") &&
              has(line(both, north), "no rule is about such calls") && has(line(both, north), " yes "))
      << line(both, north);
  EXPECT_TRUE(has(line(both, south), "command 1 (shift) lists group south, which gets 1 of 4 calls")) << both.out;
  EXPECT_TRUE(has(line(both, sandbox), "no rule sends such calls to group sandbox")) << both.out;
  const Outcome tried = explain(client, {"--method", "Echo", "--header", "sandbox=1"});
  EXPECT_TRUE(has(line(tried, sandbox), " yes ") &&
              has(line(tried, sandbox), "rule 1 of the document (try) sends such calls here"))
      << tried.out << tried.err;
  EXPECT_TRUE(has(line(tried, north), "to another instance and nowhere else")) << tried.out;
}

TEST_F(Routes, RulesAreCheckedBeforeTheyAreWritten) {
  ServerProcess center({"--listen", "127.0.0.1:0"}, "center");
  ASSERT_NE(center.address(), "");
  const std::string at = "center://" + plain(center.address());
  const auto rule = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "rule");
    words.insert(words.end(), {"--registry", at});
    return tenon(words);
  };
  for (const auto& [text, said] :
       {std::pair("{", "is no JSON"), std::pair(R"({"rulez":[]})", "there is no field \"rulez\""),
        std::pair(R"({"rules":[{"name":"x","when":[{"attribute":"metod","equals":"a"}]}]})",
                  "rule 1 of the document (x): when[0]: attribute: a call has no \"metod\"")}) {
    const Outcome refused = rule({"set", "north", text});
    EXPECT_EQ(refused.code, 2) << text;
    EXPECT_TRUE(has(refused.err, said)) << refused.err;
  }
  EXPECT_EQ(rule({"delete", "north"}).code, 1);
  ASSERT_EQ(rule({"set", "north", R"({"rules":[]})"}).code, 0);
  const Outcome got = rule({"get", "north"});
  EXPECT_EQ(got.out, "{\n  \"rules\": []\n}\n");
  EXPECT_TRUE(has(got.err, "group north, version ")) << got.err;
  EXPECT_TRUE(has(rule({"get"}).out, "north"));
  EXPECT_TRUE(has(rule({"get", "--json"}).out, R"({"rules":[{"group":"north","version":)"));
  EXPECT_TRUE(has(rule({"set", "north", R"({"rules":[]})"}).out, "nothing is written"));
  const Outcome conflict = rule({"set", "north", R"({"rules":[{}]})", "--version", "999"});
  EXPECT_EQ(conflict.code, 1);
  EXPECT_TRUE(has(conflict.err, "somebody else has changed the rules since they had version 999")) << conflict.err;
  const Outcome gone = rule({"delete", "north"});
  EXPECT_EQ(gone.code, 0) << gone.err;
  EXPECT_EQ(rule({"get", "north"}).code, 1);
}

TEST_F(Routes, WhoIsNotReadyIsSaid) {
  const std::string client = static_client("127.0.0.1:3", reads);
  const Outcome nobody = explain(client, {"--method", "Echo", "--patience", "200ms"});
  EXPECT_EQ(nobody.code, 1);
  EXPECT_TRUE(has(nobody.err, "none of the 3 known instances is connected")) << nobody.err;
  EXPECT_TRUE(has(row(nobody.out, "up"), " no ") && has(row(nobody.out, "up"), "it is not connected")) << nobody.out;
}

TEST_F(Routes, MistakesEndWithTwoAndSayWhat) {
  const std::string client = static_client("127.0.0.1:3", reads);
  const auto said = [&](std::vector<std::string> words, const std::string& what) {
    const Outcome outcome = tenon(words);
    EXPECT_EQ(outcome.code, 2) << what;
    EXPECT_TRUE(has(outcome.err, what)) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  };
  said({"route", "explain", "--reference", "echo", "--method", "Echo"}, "--manifest is required");
  said({"route", "explain", "-c", client, "--method", "Echo"}, "--reference is required");
  said({"route", "explain", "-c", client, "--reference", "echo"}, "--method is required");
  said({"route", "explain", "-c", client, "--reference", "ehco", "--method", "Echo"},
       "no reference \"ehco\", did you mean \"echo\"?");
  said({"route", "explain", "-c", client, "--reference", "echo", "--method", "Echo", "--header", "tag"},
       "--header tag: expected NAME=VALUE");
  said({"route", "explain", "-c", client, "--reference", "echo", "--method", "Echo", "--patience", "soon"},
       "--patience soon: expected");
  said({"route", "explain", "-c", "nowhere.yaml", "--reference", "echo", "--method", "Echo"}, "nowhere.yaml");
  const std::string typo =
      static_client("127.0.0.1:3", "{ use: rules, rules: [ { when: [ { atribute: method, prefix: get } ] } ] }");
  said({"route", "explain", "-c", typo, "--reference", "echo", "--method", "Echo"}, "atribute");
  const std::string unknown =
      static_client("127.0.0.1:3", "{ use: rules, rules: [ { when: [ { attribute: metod, prefix: get } ] } ] }");
  said({"route", "explain", "-c", unknown, "--reference", "echo", "--method", "Echo"},
       "rule 1: when[0]: attribute: a call has no \"metod\"");
}

TEST_F(Routes, HelpExplainsThem) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"route", "--help"},
                                                {"route", "explain", "--help"},
                                                {"rule", "--help"},
                                                {"rule", "set", "--help"},
                                                {"rule", "get", "--help"},
                                                {"rule", "delete", "--help"}}) {
    const Outcome outcome = tenon(words);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_TRUE(has(outcome.out, "Examples:\n  tenon " + words[0])) << outcome.out;
    EXPECT_TRUE(has(outcome.out, "Exit codes: 0 ")) << outcome.out;
  }
}

}  // namespace
}  // namespace cli_test
