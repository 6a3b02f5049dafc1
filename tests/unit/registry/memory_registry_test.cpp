#include "memory_registry.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "support/cluster_fakes.hpp"
#include "support/manual_executor.hpp"

namespace tenon::inprocess {
namespace {

class MemoryRegistryTest : public testing::Test {
 protected:
  ~MemoryRegistryTest() override { executor.run(); }  // what is still on its way
  std::unique_ptr<MemoryRegistry> open(std::string name = "test") {
    auto made = MemoryRegistry::create({std::move(name)}, Environment{executor, log, executor.clock()});
    EXPECT_TRUE(made.ok()) << made.error().text();
    return std::move(*made);
  }
  std::unique_ptr<Lease> announce(Registry& registry, const std::string& id) {
    auto lease = executor.finish(registry.announce(service, fake::instance(id)));
    EXPECT_TRUE(lease.ok()) << lease.error().text();
    return lease.ok() ? std::move(*lease) : nullptr;
  }
  std::unique_ptr<Watch> watch(Registry& registry) {
    auto made = registry.watch({service, "test"}, [this](const Result<Snapshot>& news) { heard.push_back(*news); });
    EXPECT_TRUE(made.ok());
    return std::move(*made);
  }
  test::ManualExecutor executor;
  fake::ListLog log;
  const ServiceName service{"demo.Greeter", "", ""};
  std::vector<Snapshot> heard;
};

TEST_F(MemoryRegistryTest, NamesAreStoresOfTheirOwn) {
  const auto one = open("one");
  const auto two = open("two");
  const auto lease = announce(*one, "a");
  const auto watching = watch(*two);
  executor.run();
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_TRUE(heard[0].instances.empty());
  const auto same = open("one");
  const auto watching_one = watch(*same);
  executor.run();
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_EQ(heard[1].instances.size(), 1u);
  EXPECT_FALSE(MemoryRegistry::create({""}, Environment{executor, log, executor.clock()}).ok());
}

TEST_F(MemoryRegistryTest, WhatIsSharedEndsWithItsLastUser) {
  auto registry = open();
  auto lease = announce(*registry, "a");
  std::weak_ptr<Directory> shared = Directory::named("test");
  registry.reset();
  EXPECT_FALSE(shared.expired()) << "the lease needs it";
  EXPECT_EQ(Directory::named("test"), shared.lock());
  auto watching = watch(*open());
  lease.reset();
  EXPECT_FALSE(shared.expired()) << "the watch needs it";
  watching.reset();
  executor.run();  // what was on its way
  EXPECT_TRUE(shared.expired());
  EXPECT_TRUE(heard.empty());
  EXPECT_TRUE(Directory::named("test")->services().empty());
}

TEST_F(MemoryRegistryTest, FastChangesAreToldAsOne) {
  const auto registry = open();
  const auto watching = watch(*registry);
  auto a = announce(*registry, "a");
  auto b = announce(*registry, "b");
  auto c = announce(*registry, "c");
  a.reset();
  executor.run();
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].instances.size(), 2u);
  EXPECT_EQ(heard[0].withdrawn, std::vector<std::string>{"a"});
  b.reset();
  b = announce(*registry, "b");
  executor.run();
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_TRUE(heard[1].withdrawn.empty()) << "it is back";
  EXPECT_GT(heard[1].revision, heard[0].revision);
}

TEST_F(MemoryRegistryTest, NothingIsToldWhenNothingChanges) {
  const auto registry = open();
  const auto watching = watch(*registry);
  const auto lease = announce(*registry, "a");
  executor.run();
  ASSERT_EQ(heard.size(), 1u);
  lease->update(fake::instance("a"));
  EXPECT_TRUE(executor.finish(registry->admin()->set_weight(service, "a", 100)).ok());
  executor.run();
  EXPECT_EQ(heard.size(), 1u);
}

TEST_F(MemoryRegistryTest, ALeaseKeepsItsId) {
  const auto registry = open();
  const auto lease = announce(*registry, "a");
  Instance other = fake::instance("b");
  lease->update(other);
  const auto instances = executor.finish(registry->admin()->instances(service));
  ASSERT_EQ(instances->size(), 1u);
  EXPECT_EQ((*instances)[0].id, "a");
  EXPECT_EQ((*instances)[0].address, other.address);
}

TEST_F(MemoryRegistryTest, AnIdIsAnnouncedOnce) {
  const auto registry = open();
  auto first = announce(*registry, "a");
  const auto second = executor.finish(registry->announce(service, fake::instance("a")));
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code(), Errc::config);
  EXPECT_NE(second.error().text().find("demo.Greeter has an instance a already"), std::string::npos);
  EXPECT_TRUE(executor.finish(first->withdraw(never)).ok());
  const auto third = announce(*registry, "a");
  first.reset();  // no longer its instance
  EXPECT_EQ(executor.finish(registry->admin()->instances(service))->size(), 1u);
}

TEST_F(MemoryRegistryTest, WhatHasNoNameIsRefused) {
  const auto registry = open();
  Instance nameless = fake::instance("a");
  nameless.id.clear();
  EXPECT_EQ(executor.finish(registry->announce(service, nameless)).error().code(), Errc::config);
  Instance nowhere = fake::instance("a");
  nowhere.address.clear();
  EXPECT_EQ(executor.finish(registry->announce(service, nowhere)).error().code(), Errc::config);
  EXPECT_EQ(executor.finish(registry->announce({}, fake::instance("a"))).error().code(), Errc::config);
  EXPECT_FALSE(registry->watch({}, [](const Result<Snapshot>&) {}).ok());
  EXPECT_FALSE(registry->watch_document("", "g", [](const Result<Document>&) {}).ok());
  EXPECT_FALSE(executor.finish(registry->admin()->write({})).ok());
}

TEST_F(MemoryRegistryTest, AnUnwrittenDocumentHasVersionZero) {
  const auto registry = open();
  const auto none = executor.finish(registry->admin()->read("rule", "g"));
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->version, 0u);
  EXPECT_EQ(none->text, "");
  EXPECT_EQ(executor.finish(registry->admin()->write({"rule", "g", "x", 1})).error().code(), Errc::already_exists);
  EXPECT_TRUE(executor.finish(registry->admin()->write({"rule", "g", "x", 0})).ok());
  EXPECT_EQ(executor.finish(registry->admin()->read("rule", "g"))->version, 1u);
}

}  // namespace
}  // namespace tenon::inprocess
