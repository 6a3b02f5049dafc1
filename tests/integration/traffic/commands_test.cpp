// Commands shift calls between real servers of several groups.
#include <fstream>

#include "fixture.hpp"
#include "support/fault_proxy.hpp"

namespace tenon::test {
namespace {

class Commands : public testing::Test {
 protected:
  const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
  const Store registry = memory(name);
  Provider yf{"yf", "yf", registry};
  Provider tc{"tc", "tc", registry};
  Consumer consumer{"yf", registry};
  Desk desk{registry};
};

TEST_F(Commands, GroupsShareTheCallsAsTheCommandSays) {
  EXPECT_EQ(consumer.calls(50), (std::map<std::string, int>{{"yf", 50}}));
  desk.merge("yf", R"("yf:1","tc:3")");
  ASSERT_TRUE(consumer.hears("tc"));
  std::map<std::string, int> answers = consumer.calls(400);
  EXPECT_NEAR(answers["yf"], 100, 8);
  EXPECT_NEAR(answers["tc"], 300, 8);
  desk.merge("yf", R"("yf:0","tc:1")");
  EXPECT_TRUE(consumer.hears_only("tc")) << "0 drains";
  desk.merge("yf", R"("yf","tc")");
  ASSERT_TRUE(consumer.hears("yf"));
  answers = consumer.calls(100);
  EXPECT_NEAR(answers["yf"], 50, 2) << "mixed: one pool of two";
  desk.write("yf", "");
  EXPECT_TRUE(consumer.hears_only("yf"));
}

TEST_F(Commands, RulesLeaveInstancesOut) {
  Provider second{"second", "yf", registry};
  ASSERT_TRUE(consumer.hears("second"));
  desk.merge("yf", "", "\"* to !" + second.address() + "\"");
  EXPECT_TRUE(consumer.hears_only("yf"));
  desk.merge("yf", "", "\"* to " + second.address() + "\"");
  EXPECT_TRUE(consumer.hears_only("second"));
  desk.merge("yf", "", "\"* to !127.0.0.0/8\"");
  EXPECT_EQ(errors_of(consumer.calls(50)), "") << "nobody would be left, so the rules before stay";
  desk.write("yf", "{}");
  EXPECT_TRUE(consumer.hears("yf"));
}

TEST_F(Commands, NoDocumentsAndBadOnes) {
  desk.merge("yf", R"("tc")");
  ASSERT_TRUE(consumer.hears_only("tc"));
  for (const char* corrupt : {"{", "[]", "null"}) {
    desk.write("yf", corrupt);
    EXPECT_EQ(consumer.calls(20), (std::map<std::string, int>{{"tc", 20}})) << corrupt;
  }
  for (const char* none : {"", "{}", R"({"clientCommandList":[]})"}) {
    desk.write("yf", none);
    EXPECT_TRUE(consumer.hears_only("yf")) << none;
    desk.merge("yf", R"("tc")");
    EXPECT_TRUE(consumer.hears_only("tc")) << none;
  }
}

TEST_F(Commands, GroupsNobodyKnowsLeaveCallsWhereTheyWere) {
  desk.merge("yf", R"("tc:1","nowhere:9")");
  ASSERT_TRUE(consumer.hears_only("tc")) << "the good group serves";
  desk.merge("yf", R"("nowhere:1")");
  EXPECT_EQ(consumer.calls(50), (std::map<std::string, int>{{"tc", 50}}));
  Provider late{"late", "nowhere", registry};
  EXPECT_TRUE(consumer.hears_only("late")) << "as soon as somebody is there";
}

TEST_F(Commands, GroupsThatPointAtEachOtherAreEachSubscribedOnce) {
  Consumer other{"tc", registry, "other"};
  desk.merge("yf", R"("tc:1")");
  desk.merge("tc", R"("yf:1")");
  EXPECT_TRUE(consumer.hears_only("tc"));
  EXPECT_TRUE(other.hears_only("yf"));
  const std::vector<std::string> both = {"consumer", "other"};
  EXPECT_EQ(desk.subscribers("yf"), both);
  EXPECT_EQ(desk.subscribers("tc"), both);
  for (const char* name : {"yf/tc", "tc/yf", "yfyf", "tctc", ""}) EXPECT_TRUE(desk.subscribers(name).empty()) << name;
  desk.write("yf", "");
  EXPECT_TRUE(consumer.hears_only("yf"));
  EXPECT_TRUE(eventually([&] { return desk.subscribers("tc") == std::vector<std::string>{"other"}; }))
      << "a group that is not needed is not subscribed";
  EXPECT_TRUE(other.hears_only("yf"));
}

TEST_F(Commands, OneReferenceEndsTheOtherGoesOn) {
  auto other = std::make_unique<Consumer>("tc", registry, "other");
  desk.merge("yf", R"("tc:1")");
  EXPECT_TRUE(consumer.hears_only("tc"));
  EXPECT_TRUE(other->hears_only("tc"));
  other.reset();
  desk.merge("yf", R"("yf:1")");
  EXPECT_TRUE(consumer.hears_only("yf"));
  desk.merge("yf", R"("tc:1")");
  EXPECT_TRUE(consumer.hears_only("tc"));
}

TEST_F(Commands, TwoHundredFlipsUnderLoadFailNoCall) {
  desk.merge("yf", R"("yf:1","tc:1")");
  ASSERT_TRUE(consumer.hears("tc"));
  Load load(consumer, 2);
  const char* const shapes[] = {R"("yf:1")", R"("tc:1")", R"("yf:1","tc:1")", R"("yf","tc")"};
  for (int i = 0; i < 200; ++i) {
    if (i % 7 == 6)
      desk.write("yf", i % 2 ? "" : "{");
    else
      desk.merge("yf", shapes[i % 4]);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  desk.merge("yf", R"("tc:1")");
  EXPECT_TRUE(consumer.hears_only("tc"));
  const std::map<std::string, int> answers = load.stop();
  EXPECT_EQ(errors_of(answers), "");
  EXPECT_GT(answers.at("yf"), 0);
  EXPECT_GT(answers.at("tc"), 0);
  EXPECT_EQ(yf.connections(), 1u) << "a command makes no connection anew";
  EXPECT_EQ(tc.connections(), 1u);
}

TEST_F(Commands, InstancesComeAndGoUnderLoadInEveryGroup) {
  desk.merge("yf", R"("yf:1","tc:1")");
  ASSERT_TRUE(consumer.hears("tc"));
  Load load(consumer, 2);
  for (const char* group : {"yf", "tc", "yf", "tc"}) {
    Provider guest{"guest", group, registry};
    const int before = load.so_far()["guest"];
    EXPECT_TRUE(eventually([&] { return load.so_far()["guest"] > before; })) << group;
    EXPECT_TRUE(guest.app->stop(std::chrono::seconds(5)));
  }
  // A whole group leaves on purpose.
  EXPECT_TRUE(tc.app->stop(std::chrono::seconds(5)));
  EXPECT_TRUE(consumer.hears_only("yf"));
  EXPECT_EQ(errors_of(load.stop()), "");
  EXPECT_EQ(yf.connections(), 1u);
}

TEST_F(Commands, AProviderThatDiesAndComesBackFailsNoIdempotentCall) {
  Provider mortal("mortal", "ali", registry, Provider::Announced::no);
  FaultProxy network(mortal.address());
  desk.announce("ali", network.address());
  desk.merge("yf", R"("yf:5","ali:1")");
  ASSERT_TRUE(consumer.hears("mortal"));
  Load load(consumer, 2);
  for (int round = 0; round < 3; ++round) {
    const auto more_from = [&](const std::string& who, int calls) {
      const int before = load.so_far()[who];
      return eventually([&] { return load.so_far()[who] >= before + calls; });
    };
    ASSERT_TRUE(more_from("mortal", 20));
    network.refuse(true);
    network.cut(Cut::reset);
    EXPECT_TRUE(more_from("yf", 200)) << "the others take its share";
    network.refuse(false);
  }
  EXPECT_EQ(errors_of(load.stop()), "");
}

TEST_F(Commands, AManifestAsksForTheRouter) {
  const std::string file = testing::TempDir() + "traffic-" + std::to_string(getpid()) + ".yaml";
  std::ofstream(file) << "application: shop\n"
                         "plugins:\n"
                         "  search: [\"" TENON_TEST_PLUGIN_DIR
                         "\"]\n"
                         "  load: [transport-tcp, protocol-tenon, serialize-pb, cluster, registry-memory]\n"
                         "  probe: false\n"
                         "log: { level: error }\n"
                         "registries:\n"
                         "  main: { use: memory, name: "
                      << name
                      << " }\n"
                         "client:\n"
                         "  references:\n"
                         "    r:\n"
                         "      service: test.Who\n"
                         "      group: yf\n"
                         "      registry: main\n"
                         "      router: { use: traffic, on_empty: fail, mix_groups: [tc] }\n";
  auto app = App::from_manifest(file);
  unlink(file.c_str());
  ASSERT_TRUE(app.ok()) << app.error().text();
  const auto started = (*app)->start();
  ASSERT_TRUE(started.ok()) << started.error().text();
  const ClientFunction<std::string(std::string)> who((*app)->reference("r"), "name");
  std::map<std::string, int> answers;
  const auto ask = [&] {
    const Result<std::string> answer = who("");
    return answer.ok() ? *answer : "error: " + answer.error().text();
  };
  EXPECT_TRUE(eventually([&] { return ask() == "tc"; })) << "mix_groups";
  EXPECT_TRUE(eventually([&] { return ask() == "yf"; }));
  desk.merge("yf", "", R"("* to !*")");
  EXPECT_TRUE(eventually([&] { return ask().find("routing rules allow none") != std::string::npos; })) << ask();
}

}  // namespace
}  // namespace tenon::test
