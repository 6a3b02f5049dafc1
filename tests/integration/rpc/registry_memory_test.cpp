// Apps that find each other through registry "memory".
#include <atomic>

#include "support/test_apps.hpp"

namespace tenon {
namespace {

std::shared_ptr<Functions> echo(const std::string& who) {
  auto service = std::make_shared<Functions>("test.Echo");
  service->add("echo", [who](const std::string& text) { return who + ":" + text; });
  return service;
}

AppOptions with_registry(AppOptions options) {
  options.plugins.load.push_back("registry-memory");
  options.registries["here"] = Component("memory");
  return options;
}

std::unique_ptr<App> provider(const std::string& who) {
  AppOptions options = with_registry(test::server_options());
  ServiceOptions offered;
  offered.name = "test.Echo";
  offered.registry = {"here"};
  options.server.services = {offered};
  return test::start(std::move(options), {echo(who)});
}

std::unique_ptr<App> consumer() {
  AppOptions options = with_registry(test::options("client"));
  ReferenceOptions reference;
  reference.service = "test.Echo";
  reference.registry = {"here"};
  reference.timeout = std::chrono::seconds(10);
  options.client.references["r"] = reference;
  return test::start(std::move(options));
}

TEST(RegistryMemory, CallsMoveFromOneProviderToTheNextWithoutAnError) {
  auto first = provider("first");
  auto client = consumer();
  ASSERT_TRUE(first && client);
  const ClientFunction<std::string(std::string)> call(client->reference("r"), "echo");
  Result<std::string> answer = call("x");
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(*answer, "first:x");

  std::atomic<bool> stop = false;
  std::atomic<int> from_first = 0;
  std::atomic<int> from_second = 0;
  std::vector<std::string> errors;
  std::thread caller([&] {
    while (!stop) {
      Result<std::string> reply = call("x");
      if (!reply.ok()) {
        errors.push_back(reply.error().text());
        return;
      }
      ++(*reply == "first:x" ? from_first : from_second);
    }
  });
  auto second = provider("second");
  EXPECT_TRUE(second);
  EXPECT_TRUE(test::eventually([&] { return from_second > 0; })) << "the second has joined";
  EXPECT_TRUE(first->stop(std::chrono::seconds(5)));
  first.reset();
  // What was answered by then has been counted when the caller's next call is answered.
  const auto calls_more = [&, then = from_second.load()](int calls) { return from_second >= then + calls; };
  EXPECT_TRUE(test::eventually([&] { return calls_more(2); }));
  const int before = from_first;
  EXPECT_TRUE(test::eventually([&] { return calls_more(100); }));
  stop = true;
  caller.join();
  EXPECT_TRUE(errors.empty()) << errors.front();
  EXPECT_EQ(from_first, before) << "who has stopped is not called any more";
}

TEST(RegistryMemory, WithoutAProviderCallsFailUntilOneComes) {
  auto client = consumer();
  ASSERT_TRUE(client);
  const ClientFunction<std::string(std::string)> call(client->reference("r"), "echo");
  Result<std::string> answer = call("x");
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code(), Errc::unavailable) << answer.error().text();
  auto only = provider("only");
  ASSERT_TRUE(only);
  EXPECT_TRUE(test::eventually([&] { return call("x").ok(); }));
  only.reset();
  answer = call("x");
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code(), Errc::unavailable) << answer.error().text();
}

}  // namespace
}  // namespace tenon
