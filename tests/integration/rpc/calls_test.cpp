#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <optional>

#include "support/test_apps.hpp"
#include "tenon/scope.hpp"

namespace tenon {

struct Person {
  std::string name;
  std::int32_t age = 0;
  std::optional<std::string> mail;
  std::vector<std::int64_t> scores;
  bool operator==(const Person&) const = default;
};
BOOST_DESCRIBE_STRUCT(Person, (), (name, age, mail, scores))

namespace {

std::shared_ptr<Functions> people() {
  auto service = std::make_shared<Functions>("test.People");
  service->add("older", [](const Person& person, std::int32_t years) {
    Person older = person;
    older.age += years;
    return older;
  });
  service->add("add", [](std::int64_t a, std::int64_t b) { return a + b; });
  service->add("nothing", [] {});
  service->add("fails", [](const std::string& why) -> Result<bool> {
    return Error(Errc::application, why).foreign("people", 42);
  });
  service->add("throws", [](const std::string& why) -> bool { throw std::runtime_error(why); });
  service->add("throws_an_int", []() -> bool { throw 5; });
  service->add("slow_echo", [](const std::string& text) -> Task<Result<std::string>> { co_return text; });
  return service;
}

struct Variant {
  const char* transport;
  const char* serializer;
};
class Calls : public testing::TestWithParam<Variant> {
 protected:
  void SetUp() override {
    const std::string transport = GetParam().transport;
    static int counter = 0;
    server = test::start(
        test::server_options(transport, transport == "memory" ? "calls-" + std::to_string(counter++) : "127.0.0.1:0"),
        {people()});
    ASSERT_TRUE(server);
    AppOptions options = test::client_options("test.People", server->addresses()[0], transport);
    options.client.references["r"].serializer = Component(GetParam().serializer);
    client = test::start(std::move(options));
    ASSERT_TRUE(client);
    reference = client->reference("r");
  }
  void TearDown() override {
    reference.reset();
    if (client) {
      EXPECT_TRUE(test::eventually([&] { return test::idle(*client); }));
    }
    if (server) {
      EXPECT_TRUE(test::eventually([&] { return test::idle(*server); }));
    }
  }
  boost::asio::io_context own;  // outlives the threads that post to it
  std::unique_ptr<App> server;
  std::unique_ptr<App> client;
  std::shared_ptr<Reference> reference;
};

INSTANTIATE_TEST_SUITE_P(Everywhere, Calls,
                         testing::Values(Variant{"tcp", "protobuf"}, Variant{"tcp", "json"},
                                         Variant{"memory", "protobuf"}, Variant{"memory", "json"}),
                         [](const auto& info) {
                           return std::string(info.param.transport) + "_" + info.param.serializer;
                         });

TEST_P(Calls, SyncWithSeveralArgumentsAndABareResult) {
  const ClientFunction<Person(Person, std::int32_t)> older(reference, "older");
  const Person person{"Ada", 36, "ada@example.org", {1, -2, std::int64_t{1} << 60}};
  Result<Person> answer = older(person, 4);
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  Person expected = person;
  expected.age = 40;
  EXPECT_EQ(*answer, expected);
  const ClientFunction<std::int64_t(std::int64_t, std::int64_t)> add(reference, "add");
  for (std::int64_t i = 0; i < 200; ++i) {
    Result<std::int64_t> sum = add(i, std::int64_t{1} << 55);
    ASSERT_TRUE(sum.ok()) << sum.error().text();
    EXPECT_EQ(*sum, i + (std::int64_t{1} << 55));
  }
  const ClientFunction<void()> nothing(reference, "nothing");
  EXPECT_TRUE(nothing().ok());
}

TEST_P(Calls, CallbackFutureAndAwaitable) {
  const ClientFunction<std::int64_t(std::int64_t, std::int64_t)> add(reference, "add");
  std::promise<std::int64_t> called;
  add(20, 22, [&](Result<std::int64_t> sum) { called.set_value(sum.ok() ? *sum : -1); });
  EXPECT_EQ(called.get_future().get(), 42);

  std::future<Result<std::int64_t>> future = add(1, 2, boost::asio::use_future);
  EXPECT_EQ(*future.get(), 3);

  // An awaitable resumes on its own executor, not on ours.
  const auto here = std::this_thread::get_id();
  std::int64_t awaited = 0;
  std::thread::id resumed;
  auto body = [&]() -> boost::asio::awaitable<void> {
    Result<std::int64_t> sum = co_await add(3, 4, boost::asio::use_awaitable);
    awaited = sum.ok() ? *sum : -1;
    resumed = std::this_thread::get_id();
  };
  boost::asio::co_spawn(own, body, boost::asio::detached);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (awaited == 0 && std::chrono::steady_clock::now() < until) {
    own.run_for(std::chrono::milliseconds(10));
    own.restart();
  }
  EXPECT_EQ(awaited, 7);
  EXPECT_EQ(resumed, here);
}

Task<void> chain(const ClientFunction<std::int64_t(std::int64_t, std::int64_t)>& add, std::promise<std::int64_t>& out) {
  std::int64_t sum = 0;
  for (int i = 0; i < 100; ++i) {
    Result<std::int64_t> next = co_await add(sum, 1, use_task);
    if (!next.ok()) break;
    sum = *next;
  }
  out.set_value(sum);
}

TEST_P(Calls, CoroutineFromAForeignThreadAndFromTheIoThread) {
  const ClientFunction<std::int64_t(std::int64_t, std::int64_t)> add(reference, "add");
  std::promise<std::int64_t> foreign;
  Task<void> task = chain(add, foreign);
  std::atomic<bool> ended = false;
  if (task.start([](void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); }, &ended)) ended = true;
  EXPECT_EQ(foreign.get_future().get(), 100);
  EXPECT_TRUE(test::eventually([&] { return ended.load(); }));
}

TEST_P(Calls, ErrorsArriveWhole) {
  const ClientFunction<bool(std::string)> fails(reference, "fails");
  Result<bool> answer = fails("not \n today");
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code(), Errc::application);
  EXPECT_EQ(answer.error().text(), "not \n today");
  EXPECT_EQ(answer.error().domain(), "people");
  EXPECT_EQ(answer.error().foreign_code(), 42);
  EXPECT_EQ(answer.error().delivery(), Delivery::ran);
}

TEST_P(Calls, AHandlersExceptionIsAnErrorReplyWithoutAStack) {
  const ClientFunction<bool(std::string)> throws(reference, "throws");
  Result<bool> answer = throws("kaput");
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code(), Errc::internal);
  EXPECT_EQ(answer.error().text(), "test.People.throws failed: kaput");
  EXPECT_EQ(answer.error().delivery(), Delivery::ran);
  const ClientFunction<bool()> throws_an_int(reference, "throws_an_int");
  Result<bool> other = throws_an_int();
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().text(), "test.People.throws_an_int failed");
  const ClientFunction<std::int64_t(std::int64_t, std::int64_t)> add(reference, "add");
  EXPECT_EQ(*add(1, 1), 2);
}

TEST_P(Calls, UnknownMethodAndWrongArgumentsAnswerAtOnce) {
  const auto begun = std::chrono::steady_clock::now();
  const ClientFunction<bool(std::string)> missing(reference, "missing");
  Result<bool> answer = missing("x");
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code(), Errc::not_found);
  EXPECT_EQ(answer.error().text(), "service test.People has no method \"missing\"");
  EXPECT_EQ(answer.error().delivery(), Delivery::not_run);
  if (std::string(GetParam().serializer) == "json") {  // protobuf skips fields of another wire type, as it must
    const ClientFunction<std::int64_t(std::string)> wrong(reference, "add");
    Result<std::int64_t> refused = wrong("one");
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code(), Errc::invalid_argument);
    EXPECT_EQ(refused.error().delivery(), Delivery::not_run);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(2));
}

TEST_P(Calls, HeadersTravelBothWays) {
  const ClientFunction<std::string(std::string)> echo(reference, "slow_echo");
  CallOptions options;
  options.headers.set("trace", "abc");
  EXPECT_EQ(*echo.call(options, "x"), "x");
  EXPECT_EQ(*echo.call(options, "y"), "y");
}

TEST_P(Calls, ASynchronousCallOnAnIoThreadIsRefused) {
  const ClientFunction<std::int64_t(std::int64_t, std::int64_t)> add(reference, "add");
  std::promise<Errc> inner;
  add(1, 1, [&](Result<std::int64_t>) {
    Result<std::int64_t> nested = add(1, 1);
    inner.set_value(nested.ok() ? Errc::ok : nested.error().code());
  });
  EXPECT_EQ(inner.get_future().get(), Errc::would_deadlock);
}

TEST(Reference, UnknownNamesSayWhatThereIs) {
  auto client = test::start(test::client_options("test.People", "127.0.0.1:1"));
  ASSERT_TRUE(client);
  const ClientFunction<bool(std::string)> f(client->reference("typo"), "x");
  Result<bool> answer = f("x");
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().text(), "there is no reference \"typo\" in client.references (there is: r)");
}

}  // namespace
}  // namespace tenon
