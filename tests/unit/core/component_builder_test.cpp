#include <gtest/gtest.h>

#include "component/builder.hpp"
#include "fixtures/greeting.hpp"
#include "fixtures/hello.hpp"
#include "plugin_folder.hpp"
#include "stub_environment.hpp"
#include "tenon/options.hpp"

namespace tenon {
namespace {

using fixture::Greeting;

class BuilderTest : public testing::Test {
 protected:
  BuilderTest() : host_(folder_.copy("good").options()), builder_(host_, stub_.environment()) {
    const Result<void> loaded = host_.load("good");
    EXPECT_TRUE(loaded.ok()) << loaded.error().text();
  }
  // Names the components of kind "greeting" of a manifest.
  void read(const std::string& greetings) {
    Result<AppOptions> options = parse_manifest("m.yaml", "components:\n  greeting:\n" + greetings);
    ASSERT_TRUE(options.ok()) << options.error().text();
    for (const auto& [name, component] : options->components["greeting"])
      builder_.name("greeting", name, component, "components.greeting." + name);
  }
  std::string said(const std::string& name) {
    const auto made = builder_.named<Greeting>(name);
    return made.ok() ? (*made)->text() : "error: " + made.error().text();
  }
  std::string made(const Component& component) {
    const auto made = builder_.make<Greeting>(component, "here");
    return made.ok() ? (*made)->text() : "error: " + made.error().text();
  }

  PluginFolder folder_;
  plugin_host::PluginHost host_;
  test::StubEnvironment stub_;
  ComponentBuilder builder_;
};

TEST_F(BuilderTest, NameOnlyOptionsInCodeAndManifest) {
  EXPECT_EQ(made("hello"), "hello");
  EXPECT_EQ(made(Component::of("hello", fixture::HelloOptions{.word = "hi", .times = 2})), "hihi");
  read("    a: { use: hello, word: ho, times: 3 }\n    b: hello\n");
  EXPECT_EQ(said("a"), "hohoho");
  EXPECT_EQ(said("b"), "hello");
}

TEST_F(BuilderTest, OptionsThatAreComponents) {
  read(
      "    first: { use: hello, word: one }\n"
      "    second: { use: hello, word: two, before: first }\n"
      "    third: { use: hello, word: three, before: { use: hello, word: zero, before: second } }\n");
  EXPECT_EQ(said("second"), "one two");
  EXPECT_EQ(said("third"), "one two zero three");
}

TEST_F(BuilderTest, ANamedComponentIsBuiltOnce) {
  read("    shared: { use: hello, word: one }\n");
  const auto a = builder_.named<Greeting>("shared");
  const auto b = builder_.make<Greeting>("shared", "elsewhere");
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->get(), b->get());
  const auto c = builder_.make<Greeting>("hello", "elsewhere");
  const auto d = builder_.make<Greeting>("hello", "elsewhere");
  ASSERT_TRUE(c.ok() && d.ok());
  EXPECT_NE(c->get(), d->get()) << "an implementation's name makes a new one each time";
}

TEST_F(BuilderTest, CyclesAreNamed) {
  read(
      "    a: { use: hello, before: b }\n"
      "    b: { use: hello, before: { use: hello, before: c } }\n"
      "    c: { use: hello, before: a }\n"
      "    self: { use: hello, before: self }\n");
  EXPECT_EQ(said("self"),
            "error: m.yaml:6:33: components.greeting.self.before: components need each other: greeting \"self\" -> "
            "greeting \"self\"");
  EXPECT_EQ(said("a"),
            "error: m.yaml:5:30: components.greeting.c.before: components need each other: greeting \"a\" -> "
            "greeting \"b\" -> greeting \"c\" -> greeting \"a\"");
  EXPECT_EQ(said("self").substr(0, 7), "error: ") << "the second time as well";
}

TEST_F(BuilderTest, WrongOptionsSayWhere) {
  read("    a: { use: hello, wrd: x, times: 70000, pause: 5, room: 64KB, tone: loudd, names: {}, before: ~ }\n");
  EXPECT_EQ(
      said("a"),
      "error: m.yaml:3:22: unknown key \"wrd\" in components.greeting.a, did you mean \"word\"?\n"
      "m.yaml:3:37: components.greeting.a.times: expected a number from 0 to 65535, found 70000\n"
      "m.yaml:3:51: components.greeting.a.pause: expected a duration with its unit, found \"5\": write 5s or 5ms\n"
      "m.yaml:3:60: components.greeting.a.room: expected a size in B, KiB, MiB, GiB or TiB, found \"64KB\"\n"
      "m.yaml:3:72: components.greeting.a.tone: expected one of plain, loud, very_loud, found \"loudd\", did you "
      "mean \"loud\"?\n"
      "m.yaml:3:86: components.greeting.a.names: expected a list, found a map\n"
      "m.yaml:3:90: components.greeting.a.before: has no value; give it one or remove it");
}

TEST_F(BuilderTest, UnknownImplementation) {
  read("    a: { use: helo }\n    b: zzz\n");
  EXPECT_EQ(said("a"),
            "error: m.yaml:3:8: components.greeting.a: there is no greeting \"helo\", did you mean "
            "\"hello\"?; no plugin in " +
                folder_.path() + " offers it");
  EXPECT_EQ(said("b"),
            "error: m.yaml:4:8: components.greeting.b: there is no greeting \"zzz\" (loaded: hello, "
            "refusing, throwing); no plugin in " +
                folder_.path() + " offers it");
}

TEST_F(BuilderTest, AFileThatIsNotLoadedHasIt) {
  folder_.copy("duplicate");
  EXPECT_EQ(made("only-in-duplicate"),
            "error: here: there is no greeting \"only-in-duplicate\" (loaded: hello, refusing, throwing); add "
            "duplicate to plugins.load");
  const Result<void> refused = host_.load("duplicate");
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(made("only-in-duplicate").find(refused.error().text()) != std::string::npos)
      << "why a file was refused belongs to the answer";
}

TEST_F(BuilderTest, FactoriesThatFail) {
  EXPECT_EQ(made("refusing"), "error: here: greeting \"refusing\": the word is not known here");
  EXPECT_EQ(made("throwing"), "error: here: greeting \"throwing\": exception while creating it: no memory of the word");
  EXPECT_EQ(made(Component()), "error: here: no greeting is chosen");
}

TEST_F(BuilderTest, OptionsOfAnotherClass) {
  EXPECT_EQ(made(Component::of("hello", fixture::OtherOptions{})),
            "error: here: its options are a fixture.OtherOptions, but greeting \"hello\" of " + folder_.file("good") +
                " takes a fixture.HelloOptions");
}

TEST_F(BuilderTest, ImplementationsWithoutOptionsRefuseAll) {
  read("    a: { use: refusing, word: x }\n");
  EXPECT_EQ(said("a"), "error: m.yaml:3:25: unknown key \"word\" in components.greeting.a; it has no options");
}

TEST_F(BuilderTest, ProvidersMakeWhatIsNamedButNoPlugins) {
  int made_count = 0;
  builder_.provide("greeting", [&](std::string_view name) -> Result<std::shared_ptr<void>> {
    if (name != "provided") return std::shared_ptr<void>();
    ++made_count;
    auto hello = std::make_shared<fixture::Hello>(fixture::HelloOptions{.word = "given"});
    return std::shared_ptr<void>(std::static_pointer_cast<Greeting>(hello));
  });
  read("    a: { use: hello, word: x, before: provided }\n    b: { use: hello, before: provded }\n");
  EXPECT_EQ(said("a"), "given x");
  EXPECT_EQ(said("provided"), "given");
  EXPECT_EQ(made_count, 1);
  EXPECT_EQ(said("b"),
            "error: m.yaml:4:30: components.greeting.b.before: there is no greeting called \"provded\", did "
            "you mean \"provided\"?");
}

TEST_F(BuilderTest, TwoHostsInOneProcessHaveTheirOwnComponents) {
  plugin_host::PluginHost other(folder_.options());
  ASSERT_TRUE(other.load("good").ok());
  ComponentBuilder second(other, stub_.environment());
  read("    a: { use: hello, word: here }\n");
  second.name("greeting", "a", Component::of("hello", fixture::HelloOptions{.word = "there"}), "a");
  EXPECT_EQ(said("a"), "here");
  const auto there = second.named<Greeting>("a");
  ASSERT_TRUE(there.ok());
  EXPECT_EQ((*there)->text(), "there");
}

}  // namespace
}  // namespace tenon
