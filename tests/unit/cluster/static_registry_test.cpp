#include "static_registry.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "support/manual_executor.hpp"
#include "support/cluster_fakes.hpp"

namespace tenon::fixed {
namespace {

class StaticRegistryTest : public testing::Test {
 protected:
  StaticInstance entry(std::string service, std::string address) {
    StaticInstance made;
    made.service = std::move(service);
    made.address = std::move(address);
    return made;
  }
  Result<std::unique_ptr<StaticRegistry>> create() {
    return StaticRegistry::create(options, Environment{executor, log, executor.clock()});
  }
  std::vector<Instance> seen(const ServiceName& service) {
    auto registry = create();
    EXPECT_TRUE(registry.ok());
    std::optional<Snapshot> snapshot;
    auto watch = (*registry)->watch({service, "test"}, [&](const Result<Snapshot>& news) { snapshot = *news; });
    EXPECT_TRUE(watch.ok());
    EXPECT_FALSE(snapshot) << "never inline";
    executor.run();
    EXPECT_TRUE(snapshot);
    return snapshot ? snapshot->instances : std::vector<Instance>();
  }
  test::ManualExecutor executor;
  fake::ListLog log;
  StaticOptions options;
};

TEST_F(StaticRegistryTest, WatchersHearTheInstancesOfTheirService) {
  StaticInstance full = entry("demo.Greeter", "10.0.0.1:4080");
  full.id = "one";
  full.transport = "tcp";
  full.protocols = {"tenon"};
  full.weight = 7;
  full.metadata = {{"zone", "a"}};
  options.instances = {full, entry("demo.Greeter", "10.0.0.2:4080"), entry("demo.Other", "10.0.0.3:4080")};
  const auto instances = seen({"demo.Greeter", "g", "1.0"});
  ASSERT_EQ(instances.size(), 2u);
  EXPECT_EQ(instances[0].id, "one");
  EXPECT_EQ(instances[0].transport, "tcp");
  EXPECT_EQ(instances[0].protocols, std::vector<std::string>{"tenon"});
  EXPECT_EQ(instances[0].weight, 7u);
  EXPECT_EQ(instances[0].metadata.at("zone"), "a");
  EXPECT_EQ(instances[1].id, "10.0.0.2:4080") << "the address stands in for the id";
  EXPECT_EQ(instances[1].weight, 100u);
}

TEST_F(StaticRegistryTest, AGroupOrVersionThatIsGivenMustMatch) {
  StaticInstance grouped = entry("demo.Greeter", "10.0.0.1:4080");
  grouped.group = "g1";
  grouped.version = "2";
  options.instances = {grouped};
  EXPECT_EQ(seen({"demo.Greeter", "g1", "2"}).size(), 1u);
  EXPECT_EQ(seen({"demo.Greeter", "g2", "2"}).size(), 0u);
  EXPECT_EQ(seen({"demo.Greeter", "g1", "1"}).size(), 0u);
  EXPECT_EQ(seen({"demo.Greeter", "", ""}).size(), 0u);
}

TEST_F(StaticRegistryTest, AWatchThatEndedIsNotCalled) {
  options.instances = {entry("demo.Greeter", "10.0.0.1:4080")};
  auto registry = create();
  int calls = 0;
  auto watch = (*registry)->watch({{"demo.Greeter", "", ""}, "test"}, [&](const Result<Snapshot>&) { ++calls; });
  watch->reset();
  executor.run();
  EXPECT_EQ(calls, 0);
}

TEST_F(StaticRegistryTest, BadListsAreRefused) {
  options.instances = {entry("", "10.0.0.1:4080")};
  EXPECT_EQ(create().error().code(), Errc::config);
  options.instances = {entry("demo.Greeter", "")};
  EXPECT_EQ(create().error().code(), Errc::config);
  options.instances = {entry("demo.Greeter", "10.0.0.1:1"), entry("demo.Greeter", "10.0.0.1:1")};
  EXPECT_EQ(create().error().code(), Errc::config);
}

TEST_F(StaticRegistryTest, AnnouncingChangesNothingButIsLogged) {
  auto registry = create();
  auto lease = executor.finish((*registry)->announce({"demo.Greeter", "", ""}, fake::instance("a")));
  ASSERT_TRUE(lease.ok());
  EXPECT_EQ(log.lines.size(), 1u);
  EXPECT_TRUE(executor.finish((*lease)->withdraw(never)).ok());
  EXPECT_EQ(log.lines.size(), 2u);
  EXPECT_TRUE(seen({"demo.Greeter", "", ""}).empty());
}

TEST_F(StaticRegistryTest, ThereAreNoDocuments) {
  auto registry = create();
  EXPECT_EQ((*registry)->watch_document("command", "g", [](const Result<Document>&) {}).error().code(),
            Errc::unimplemented);
  EXPECT_EQ((*registry)->admin(), nullptr);
}

}  // namespace
}  // namespace tenon::fixed
