// Consumers that start while registries are away, or nobody is there.
#include <filesystem>
#include <fstream>

#include "fixture.hpp"

namespace tenon::test {
namespace {

std::string refusal(AppOptions options) {
  auto app = App::create(std::move(options));
  if (!app.ok()) return "not created: " + app.error().text();
  const auto started = (*app)->start();
  if (started.ok()) return "it started";
  EXPECT_EQ(started.error().code(), Errc::unavailable);
  return started.error().text();
}

std::function<void(AppOptions&)> checked(ConnectWhen when = ConnectWhen::eager) {
  return [when](AppOptions& options) {
    ReferenceOptions& who = options.client.references["who"];
    who.check = true;
    who.connect = when;
    who.connect_timeout = 300ms;
  };
}

AppOptions checking(const Registries& registries, ConnectWhen when = ConnectWhen::eager) {
  AppOptions options = consumer_options(registries);
  checked(when)(options);
  return options;
}

class Check : public Discovery {};
INSTANTIATE_TEST_SUITE_P(, Check, testing::ValuesIn(quick_places()), place_name);
INSTANTIATE_TEST_SUITE_P(SlowPlaces, Check, testing::ValuesIn(slow_places()), place_name);

TEST_P(Check, FailsTheStartWhenNobodyIsKnown) {
  const std::string nobody =
      "client.references.who: registry here named no instance within 300 ms, and without one this application must "
      "not start (check: true): test.Who: not ready: no instance is known: registry here names none; is there a server "
      "that announces this service, group and version?";
  EXPECT_EQ(refusal(checking({{"here", registry("check-nobody")}})), nobody);
  EXPECT_EQ(refusal(checking({{"here", registry("check-nobody")}}, ConnectWhen::lazy)), nobody);
}

TEST_P(Check, FailsTheStartWhenTheRegistriesDoNotAnswer) {
  const std::string text = refusal(checking({{"a", dead()}, {"b", registry("check-away")}}));
  EXPECT_TRUE(text.starts_with("client.references.who: registry a, b named no instance within 300 ms")) << text;
  EXPECT_NE(text.find("registry a has not answered yet, registry b names none"), std::string::npos) << text;
}

TEST_P(Check, FailsTheStartWhenNobodyCanBeConnected) {
  const Registries registries{{"here", registry("check-unconnected")}};
  Provider provider("a", registries);
  ASSERT_TRUE(provider.started());
  provider.die();
  const std::string text = refusal(checking(registries));
  EXPECT_TRUE(
      text.starts_with("client.references.who: registry here named instances, but none could be connected "
                       "within 300 ms"))
      << text;
  EXPECT_NE(text.find("none of the 1 known instances is connected"), std::string::npos) << text;
  EXPECT_EQ(refusal(checking(registries, ConnectWhen::lazy)), "it started") << "lazy ones connect later";
  AppOptions fixed = checking({});
  fixed.client.references["who"].address = provider.address();
  EXPECT_TRUE(refusal(fixed).starts_with("client.references.who: address " + provider.address()));
}

TEST_P(Check, IsSatisfiedByOneThatIsConnected) {
  const Registries registries{{"here", registry("check-good")}};
  Provider provider("a", registries);
  ASSERT_TRUE(provider.started());
  const Consumer consumer(registries, checked());
  EXPECT_EQ(consumer.call(), "a");
  const Consumer lazy(registries, checked(ConnectWhen::lazy));
  EXPECT_EQ(lazy.call(), "a");
}

TEST_P(Check, WaitsForOneThatComesInTime) {
  const Registries registries{{"here", registry("check-late")}};
  std::unique_ptr<Provider> provider;
  std::thread late([&] {
    std::this_thread::sleep_for(100ms);
    provider = std::make_unique<Provider>("a", registries);
  });
  const Consumer consumer(registries, [](AppOptions& options) {
    options.client.references["who"].check = true;
    options.client.references["who"].connect_timeout = 20s;
  });
  late.join();
  EXPECT_EQ(consumer.call(), "a");
}

TEST_P(Check, WithoutItCallsFailSoonUntilSomebodyComes) {
  const Registries registries{{"a", dead()}, {"b", registry("unchecked")}};
  const Consumer consumer(registries, [](AppOptions& options) {
    options.client.references["who"].connect_timeout = 200ms;
    options.client.references["who"].timeout = 60s;
  });
  const auto begun = std::chrono::steady_clock::now();
  const std::string answer = consumer.call();
  EXPECT_TRUE(answer.starts_with("error: test.Who: no instance can be called: no instance is known: ")) << answer;
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 30s) << "long before its deadline";
  Provider provider("a", {{"b", registry("unchecked")}});
  ASSERT_TRUE(provider.started());
  EXPECT_TRUE(consumer.hears({"a"}));
}

/// A consumer with a cache. "main" is what the test says; its file is the same all the time.
class Cached {
 protected:
  std::unique_ptr<Consumer> consumer(const Registries& registries, bool check = false) {
    return std::make_unique<Consumer>(registries, [&](AppOptions& options) {
      options.client.cache = folder.path() + "/kept";
      options.client.references["who"].check = check;
      options.client.references["who"].connect_timeout = 5s;
    });
  }
  void lived(const Registries& registries, const std::set<std::string>& wanted) {
    const auto before = consumer(registries);
    ASSERT_TRUE(before->hears(wanted));
  }
  std::string only_file() const {
    std::string found;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path() + "/kept")) {
      EXPECT_TRUE(found.empty()) << entry.path();
      found = entry.path();
    }
    return found;
  }
  TemporaryFolder folder;
};

class CachedStart : public Discovery, protected Cached {};
class StartFromCache : public CachedStart {};
INSTANTIATE_TEST_SUITE_P(, StartFromCache, testing::ValuesIn(quick_places()), place_name);
INSTANTIATE_TEST_SUITE_P(SlowPlaces, StartFromCache, testing::ValuesIn(slow_places()), place_name);

TEST_P(StartFromCache, CallsSucceedWithoutTheRegistry) {
  const Registries alive{{"main", registry("cached")}};
  Provider a("a", alive);
  Provider b("b", alive);
  ASSERT_TRUE(a.started() && b.started());
  lived(alive, {"a", "b"});
  const auto later = consumer({{"main", dead()}}, true);
  EXPECT_EQ(later->calls(20), (std::map<std::string, int>{{"a", 10}, {"b", 10}}));
  const Consumer hasty({{"main", dead()}}, [&](AppOptions& options) {
    options.client.cache = folder.path() + "/kept";
    options.client.references["who"].check = true;
    options.client.references["who"].connect_timeout = 200ms;
  });
  EXPECT_TRUE(hasty.hears({"a", "b"})) << "it did not wait so long for the registry";
  const auto told_so = consumer({{"main", dead(100ms)}}, true);
  EXPECT_TRUE(told_so->hears({"a", "b"}));
  b.die();
  EXPECT_TRUE(later->hears({"a"})) << "its connections tell";
}

class SlowStartFromCache : public CachedStart {};
INSTANTIATE_TEST_SUITE_P(, SlowStartFromCache, testing::ValuesIn(places()), place_name);

TEST_P(SlowStartFromCache, WhatTheRegistrySaysWhenItIsBackHolds) {
  Place& server = place("main");
  const Registries registries{{"main", registry("main")}};
  auto a = std::make_unique<Provider>("a", registries);
  Provider b("b", registries);
  ASSERT_TRUE(a->started() && b.started());
  lived(registries, {"a", "b"});
  server.kill();
  const auto later = consumer(registries);
  ASSERT_TRUE(later->hears({"a", "b"}));
  Load load(*later);
  server.start();
  Provider c("c", registries);
  EXPECT_TRUE(later->hears({"a", "b", "c"}, 30s));
  a->stop();
  EXPECT_TRUE(later->hears({"b", "c"}, 30s));
  EXPECT_EQ(load.failures(), "");
}

TEST_P(StartFromCache, OneOfTwoRegistriesIsEnough) {
  const Registries both{{"main", registry("cached-1")}, {"other", registry("cached-2")}};
  Provider a("a", {{"main", registry("cached-1")}});
  Provider b("b", {{"other", registry("cached-2")}});
  ASSERT_TRUE(a.started() && b.started());
  lived(both, {"a", "b"});
  const Registries one_away{{"main", dead()}, {"other", registry("cached-2")}};
  EXPECT_TRUE(consumer(one_away)->hears({"a", "b"}));
  std::filesystem::remove_all(folder.path() + "/kept");
  EXPECT_TRUE(consumer(one_away)->hears({"b"})) << "without what was kept";
}

struct Damage {
  std::string name;
  std::function<void(const std::string& file)> do_it;
};

class DamagedCache : public testing::TestWithParam<Damage>, protected Cached {};

TEST_P(DamagedCache, IsIgnoredAndWrittenAnew) {
  const Registries alive{{"main", memory("damaged")}};
  Provider a("a", alive);
  ASSERT_TRUE(a.started());
  lived(alive, {"a"});
  const std::string file = only_file();
  GetParam().do_it(file);
  {
    const Consumer later({{"main", nobody()}}, [&](AppOptions& options) {
      options.client.cache = folder.path() + "/kept";
      options.client.references["who"].connect_timeout = 600ms;
    });
    const std::string answer = later.call();
    EXPECT_TRUE(answer.starts_with("error: test.Who: no instance can be called: no instance is known")) << answer;
  }
  std::filesystem::remove_all(file);
  lived(alive, {"a"});
  EXPECT_EQ(consumer({{"main", nobody()}})->call(), "a");
}

void overwrite(const std::string& file, const std::string& text) { std::ofstream(file, std::ios::trunc) << text; }
std::string whole(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

const Damage damages[] = {
    {"Truncated", [](const std::string& file) { std::filesystem::resize_file(file, 200); }},
    {"Empty", [](const std::string& file) { std::filesystem::resize_file(file, 0); }},
    {"Zeroes", [](const std::string& file) { overwrite(file, std::string(4096, '\0')); }},
    {"Foreign", [](const std::string& file) { overwrite(file, "{\"hello\": [1, 2, 3]}"); }},
    {"OfAnotherService",
     [](const std::string& file) {
       std::string text = whole(file);
       overwrite(file, text.replace(text.find("test.Who"), 8, "test.Why"));
     }},
    {"Newer",
     [](const std::string& file) {
       std::string text = whole(file);
       overwrite(file, text.replace(text.find("\"version\": 1"), 12, "\"version\": 9"));
     }},
    {"Oversized", [](const std::string& file) { std::filesystem::resize_file(file, 100u << 20); }},
    {"AFolder",
     [](const std::string& file) {
       std::filesystem::remove(file);
       std::filesystem::create_directory(file);
     }},
    {"ALink",
     [](const std::string& file) {
       std::filesystem::rename(file, file + ".moved");
       std::filesystem::create_symlink(file + ".moved", file);
     }},
    {"Gone", [](const std::string& file) { std::filesystem::remove(file); }},
};

INSTANTIATE_TEST_SUITE_P(SlowFiles, DamagedCache, testing::ValuesIn(damages),
                         [](const testing::TestParamInfo<Damage>& info) { return info.param.name; });

}  // namespace
}  // namespace tenon::test
