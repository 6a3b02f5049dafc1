// tenon command: writing, refusing and previewing traffic commands in a real ZooKeeper.

#include "registry_fixture.hpp"

namespace tenon::test {
namespace {

std::string merge(const std::string& groups, const std::string& rules = {}) {
  return R"({"clientCommandList":[{"index":1,"pattern":"demo.*","mergeGroups":[)" + groups + R"(],"routeRules":[)" +
         rules + R"(],"remark":"try"}]})";
}

/// Two providers in blue, one in green, as Motan's in Go write them, and a consumer of ours at 10.0.0.9.
class TrafficCommands : public RegistryTools {
 protected:
  void SetUp() override {
    for (const char* address : {"10.0.0.1:4080", "10.0.0.2:4080"}) add("blue", address);
    add("green", "10.1.0.1:4080");
    options.host = "10.0.0.9";
    hand.create(base + "/client/10.0.0.9:0-1-1", zk::write_consumer({service, "shop"}, "10.0.0.9"), ZOO_EPHEMERAL);
  }
  void add(const std::string& group, const std::string& address) {
    hand.create(options.root + "/" + group + "/demo.Greeter/server/" + address,
                "motan2://" + address + "/demo.Greeter?group=" + group + "&nodeType=service&version=1.0",
                ZOO_EPHEMERAL);
  }
  std::uint64_t version(const std::string& group) {
    return static_cast<std::uint64_t>(hand.stat(options.root + "/" + group + "/command").mzxid);
  }
};

TEST_F(TrafficCommands, AreWrittenAndRead) {
  const std::string text = merge(R"("blue:5","green:1")");
  EXPECT_EQ(tool({"command", "get", "blue"}).code, 1) << "there is none";
  const auto set = tool({"command", "set", "blue", text});
  EXPECT_EQ(set.code, 0) << set.err;
  EXPECT_EQ(set.err, "");
  EXPECT_EQ(command("blue"), text);
  const std::string first = std::to_string(version("blue"));
  EXPECT_EQ(set.out,
            "group blue: the first entry whose pattern matches a service applies to it:\n"
            "  ENTRY  INDEX  PATTERN  GROUPS           RULES  REMARK\n"
            "      1      1  demo.*   blue:5, green:1  -      try\n"
            "\n"
            "blue/demo.Greeter:1.0, client 10.0.0.9\n"
            "  GROUP  INSTANCE       STATE    WEIGHT     NOW    THEN\n"
            "  blue   10.0.0.1:4080  serving     100   50.0%   41.7%  ########............\n"
            "  blue   10.0.0.2:4080  serving     100   50.0%   41.6%  ########............\n"
            "  green  10.1.0.1:4080  serving     100    0.0%   16.7%  ###.................\n"
            "  all                                    100.0%  100.0%  ####################\n"
            "\n"
            "1 of 1 services change\n"
            "group blue: written, version none -> " +
                first + "\n");

  const auto got = tool({"command", "get", "blue"});
  EXPECT_EQ(got.code, 0);
  EXPECT_EQ(got.err, "group blue, version " + first + "\n");
  EXPECT_TRUE(has(got.out, "      \"mergeGroups\": [\"blue:5\", \"green:1\"],\n")) << got.out;
  const auto list = tool({"command", "get"});
  EXPECT_TRUE(has(list.out, "  blue   " + first) || has(list.out, first + "        1  demo.*")) << list.out;
  EXPECT_TRUE(has(tool({"command", "get", "--json"}).out, R"({"commands":[{"group":"blue","version":)" + first));

  // What was printed is a source, too; the same document again is not written.
  const auto back = tool({"command", "set", "blue", file("got.json", got.out)});
  EXPECT_EQ(back.code, 0) << back.err;
  EXPECT_TRUE(has(back.out, "0 of 1 services change\n")) << back.out;
  const std::uint64_t second = version("blue");
  const auto same = cli_test::tenon_reading(file("same.json", "\n" + command("blue") + "\n"),
                                            {"command", "set", "blue", "-", "--registry", url()});
  EXPECT_EQ(same.code, 0) << same.err;
  EXPECT_TRUE(has(same.out, "nothing is written")) << same.out;
  EXPECT_EQ(version("blue"), second);

  // Who decided on an older one does not overwrite a newer one.
  const auto conflict = tool({"command", "set", "blue", text, "--version", first});
  EXPECT_EQ(conflict.code, 1);
  EXPECT_TRUE(has(conflict.err, "somebody else has changed the command since it had version " + first)) << conflict.err;
  EXPECT_EQ(tool({"command", "delete", "blue", "--version", "0"}).code, 1);
  EXPECT_EQ(version("blue"), second);
  const auto dry = tool({"command", "set", "blue", text, "--dry-run"});
  EXPECT_EQ(dry.code, 0) << dry.err;
  EXPECT_TRUE(has(dry.out, "nothing is written (--dry-run)"));
  EXPECT_EQ(version("blue"), second);

  const auto gone = tool({"command", "delete", "blue"});
  EXPECT_EQ(gone.code, 0) << gone.err;
  EXPECT_TRUE(has(gone.out, "  green  10.1.0.1:4080  serving     100   16.7%    0.0%")) << gone.out;
  EXPECT_TRUE(has(gone.out, "group blue: deleted (it had version " + std::to_string(second) + ")\n")) << gone.out;
  EXPECT_EQ(command("blue"), "(none)");
  EXPECT_EQ(tool({"command", "delete", "blue"}).code, 1) << "there is none";
}

TEST_F(TrafficCommands, MalformedOnesAreRefused) {
  for (const char* text : {"{", "{\"clientCommandList\":5}"}) {
    const auto broken = tool({"command", "set", "blue", text, "--force"});
    EXPECT_EQ(broken.code, 2) << text;
    EXPECT_TRUE(has(broken.err, "the command document cannot be used")) << broken.err;
  }
  const std::string bad = merge(R"("blue:5","green:x","green:101")", R"("10.0.0.1to10.0.0.2")");
  const auto refused = tool({"command", "set", "blue", bad});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(has(refused.err, "malformed: entry 1: ") && has(refused.err, "green:x") &&
              has(refused.err, "green:101") && has(refused.err, "10.0.0.1to10.0.0.2") &&
              has(refused.err, "or say --force"))
      << refused.err;
  EXPECT_EQ(command("blue"), "(none)");
  EXPECT_EQ(tool({"command", "set", "blue", bad, "--force"}).code, 0);
  EXPECT_EQ(command("blue"), bad);
  EXPECT_EQ(tool({"command", "set", "blue", "no-such-file.json"}).code, 2);
  EXPECT_EQ(tool({"command", "preview", "blue", "{"}).code, 2);
  EXPECT_EQ(tool({"command", "preview", "blue", "--client", "nowhere"}).code, 2);
}

TEST_F(TrafficCommands, NobodyIsLeftAloneUnlessForced) {
  const auto refused = tool({"command", "set", "blue", merge(R"("nobody:1")")});
  EXPECT_EQ(refused.code, 1);
  EXPECT_TRUE(has(refused.err, "nobody would serve blue/demo.Greeter:1.0")) << refused.err;
  EXPECT_TRUE(has(refused.out, "50.0%  0.0%")) << refused.out;
  EXPECT_EQ(command("blue"), "(none)");
  EXPECT_EQ(tool({"command", "set", "blue", merge(R"("nobody:1")"), "--force"}).code, 0);
  // A rule that leaves one client alone is enough.
  hand.create(base + "/client/10.0.0.8:0-1-1", zk::write_consumer({service, "till"}, "10.0.0.8"), ZOO_EPHEMERAL);
  tool({"command", "delete", "blue"});
  const auto rule = tool({"command", "set", "blue", merge("", R"("10.0.0.8 to 10.9.*")")});
  EXPECT_EQ(rule.code, 1) << rule.out;
  EXPECT_TRUE(has(rule.out, "blue/demo.Greeter:1.0, client 10.0.0.8\n")) << rule.out;
  EXPECT_FALSE(has(rule.out, "client 10.0.0.9\n")) << "nothing changes there\n" << rule.out;
}

TEST_F(TrafficCommands, ForeignClientsAreThoughtOf) {
  follow_as_motan("blue");
  const auto drained = tool({"command", "set", "blue", merge(R"("blue:0","green:1")")});
  EXPECT_EQ(drained.code, 0) << drained.err;
  EXPECT_TRUE(has(drained.err, "client-test (192.0.2.2). Motan's take weight 0 for 1, so they go on calling blue"))
      << drained.err;
  EXPECT_EQ(zk::read_node_text(command("blue"))->encoding, TextEncoding::java) << "that client reads nothing else";
  const auto kept = tool({"command", "delete", "blue"});
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_TRUE(has(kept.err, "an empty list is written instead")) << kept.err;
  EXPECT_EQ(zk::read_node_text(command("blue"))->text, "{\"clientCommandList\":[]}");
  EXPECT_EQ(tool({"command", "delete", "blue", "--force"}).code, 0);
  EXPECT_EQ(command("blue"), "(none)");
}

TEST_F(TrafficCommands, PreviewsShowEachClientsShares) {
  hand.create(options.root + "/blue/command", merge(R"("blue","green")"));
  hand.create(base + "/client/10.75.0.8:0-1-1", zk::write_consumer({service, "till"}, "10.75.0.8"), ZOO_EPHEMERAL);
  hand.create(base + "/unavailableServer/10.0.0.3:4080", "", ZOO_EPHEMERAL);
  const auto now = tool({"command", "preview", "blue"});
  EXPECT_EQ(now.code, 0) << now.err;
  EXPECT_EQ(now.out,
            "blue/demo.Greeter:1.0, clients 10.0.0.9, 10.75.0.8\n"
            "  GROUP  INSTANCE       STATE    WEIGHT     NOW\n"
            "  blue   10.0.0.1:4080  serving     100   33.4%  #######.............\n"
            "  blue   10.0.0.2:4080  serving     100   33.3%  #######.............\n"
            "  blue   10.0.0.3:4080  offline     100    0.0%  ....................\n"
            "  green  10.1.0.1:4080  serving     100   33.3%  #######.............\n"
            "  all                                    100.0%  ####################\n");
  const std::string then = file("then.json", merge(R"("blue:3","green:1")", R"("10.75.* to !10.0.0.1")"));
  const auto both = tool({"command", "preview", "blue", then});
  EXPECT_EQ(both.code, 0) << both.err;
  EXPECT_EQ(both.out,
            "blue/demo.Greeter:1.0, client 10.0.0.9\n"
            "  GROUP  INSTANCE       STATE    WEIGHT     NOW    THEN\n"
            "  blue   10.0.0.1:4080  serving     100   33.4%   37.5%  ########............\n"
            "  blue   10.0.0.2:4080  serving     100   33.3%   37.5%  ########............\n"
            "  blue   10.0.0.3:4080  offline     100    0.0%    0.0%  ....................\n"
            "  green  10.1.0.1:4080  serving     100   33.3%   25.0%  #####...............\n"
            "  all                                    100.0%  100.0%  ####################\n"
            "\n"
            "blue/demo.Greeter:1.0, client 10.75.0.8\n"
            "  GROUP  INSTANCE       STATE    WEIGHT     NOW    THEN\n"
            "  blue   10.0.0.1:4080  serving     100   33.4%    0.0%  ....................\n"
            "  blue   10.0.0.2:4080  serving     100   33.3%   75.0%  ###############.....\n"
            "  blue   10.0.0.3:4080  offline     100    0.0%    0.0%  ....................\n"
            "  green  10.1.0.1:4080  serving     100   33.3%   25.0%  #####...............\n"
            "  all                                    100.0%  100.0%  ####################\n");
  const auto one =
      tool({"command", "preview", "blue", then, "--service", "demo.Greeter", "--client", "10.75.1.1", "--json"});
  EXPECT_TRUE(one.out.starts_with(
      R"({"previews":[{"service":"blue/demo.Greeter:1.0","clients":["10.75.1.1"],"instances":[{"group":"blue")"))
      << one.out;
  EXPECT_TRUE(has(one.out, R"("now_percent":33.4,"then_percent":0.0)")) << one.out;
  EXPECT_EQ(tool({"command", "preview", "blue", "--service", "demo.Nobody"}).code, 1);
  EXPECT_EQ(tool({"command", "preview", "nobody"}).code, 1);
  EXPECT_TRUE(has(command("blue"), R"("blue","green")")) << "nothing was written";
}

TEST_F(TrafficCommands, ABrokenDocumentIsShownAndCanBeReplaced) {
  hand.create(options.root + "/blue/command", "{broken");
  const auto got = tool({"command", "get", "blue"});
  EXPECT_EQ(got.code, 0);
  EXPECT_EQ(got.out, "{broken\n");
  EXPECT_TRUE(has(got.err, "it is no JSON")) << got.err;
  const auto preview = tool({"command", "preview", "blue"});
  EXPECT_EQ(preview.code, 0) << preview.err;
  EXPECT_TRUE(has(preview.out, "  now: the command document cannot be used")) << preview.out;
  EXPECT_TRUE(has(preview.out, "50.0%"));
  const auto set = tool({"command", "set", "blue", merge(R"("green")")});
  EXPECT_EQ(set.code, 0) << set.err;
  EXPECT_EQ(command("blue"), merge(R"("green")"));
}

}  // namespace
}  // namespace tenon::test
