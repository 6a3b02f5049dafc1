// Every way a stream may end, and what both sides hear of it.
#include <thread>

#include "streams_fixture.hpp"

namespace tenon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Item;

class StreamsEnd : public test::StreamsFixture {};
INSTANTIATE_TEST_SUITE_P(Over, StreamsEnd, testing::Values("tcp", "memory"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(StreamsEnd, AnErrorBeforeTheFirstMessageIsAnOrdinaryOne) {
  const auto fail = stream<std::int64_t>("fail_after");
  Stream<Item> none = fail(0);
  Item item;
  Result<bool> more = none.next(item);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code(), Errc::not_found);
  EXPECT_EQ(more.error().delivery(), Delivery::ran);
  Result<bool> again = none.next(item);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code(), Errc::not_found);
  expect_idle();
}

TEST_P(StreamsEnd, AnErrorLaterEndsTheStreamAfterWhatCameBefore) {
  Stream<Item> three = stream<std::int64_t>("fail_after")(3);
  Item item;
  for (std::int64_t i = 0; i < 3; ++i) {
    Result<bool> more = three.next(item);
    ASSERT_TRUE(more.ok()) << more.error().text();
    ASSERT_TRUE(*more);
  }
  Result<bool> more = three.next(item);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code(), Errc::not_found);
  EXPECT_EQ(more.error().delivery(), Delivery::ran);
  EXPECT_NE(more.error().text().find("no more than 3"), std::string::npos) << more.error().text();
  expect_idle();
}

TEST_P(StreamsEnd, AnExceptionEndsTheStreamWithoutItsStack) {
  for (const std::int64_t n : {0, 2}) {
    Stream<Item> items = stream<std::int64_t>("throw_after")(n);
    Item item;
    for (std::int64_t i = 0; i < n; ++i) ASSERT_TRUE(items.next(item).ok());
    Result<bool> more = items.next(item);
    ASSERT_FALSE(more.ok());
    EXPECT_EQ(more.error().code(), Errc::internal);
    EXPECT_NE(more.error().text().find("dropped it"), std::string::npos) << more.error().text();
  }
  expect_idle();
}

TEST_P(StreamsEnd, AReaderThatGoesEndsTheHandler) {
  for (const char* name : {"count", "count_in_pool"}) {
    {
      Stream<Item> numbers = stream<std::int64_t, std::int64_t>(name)(1'000'000'000, 1000);
      Item item;
      for (int i = 0; i < 10; ++i) {
        Result<bool> more = numbers.next(item);
        ASSERT_TRUE(more.ok() && *more);
      }
      ASSERT_EQ(items->running, 1);
    }
    expect_idle();
  }
  { Stream<Item> never_read = stream<std::int64_t, std::int64_t>("count")(1'000'000'000, 1000); }
  expect_idle();
  for (const char* name : {"slow", "slow_in_pool"}) {
    {
      Stream<Item> waits = stream<std::int64_t>(name)(60'000);
      ASSERT_TRUE(test::eventually([&] { return items->running == 1; })) << name;
    }
    expect_idle();  // the handler was told although it wrote nothing
  }
}

TEST_P(StreamsEnd, ADeadlineCoversTheWholeStream) {
  CallOptions options;
  options.timeout = milliseconds(100);
  const auto began = std::chrono::steady_clock::now();
  Stream<Item> numbers = stream<std::int64_t>("slow").call(options, std::int64_t{20});
  Item item;
  int came = 0;
  while (true) {
    Result<bool> more = numbers.next(item);
    if (more.ok() && *more) {
      ++came;
      continue;
    }
    ASSERT_FALSE(more.ok());
    EXPECT_EQ(more.error().code(), Errc::deadline_exceeded) << more.error().text();
    break;
  }
  EXPECT_GE(came, 1);
  EXPECT_LT(std::chrono::steady_clock::now() - began, seconds(5));
  expect_idle();
}

TEST_P(StreamsEnd, TheReferencesTimeoutIsForSingleAnswersOnly) {
  AppOptions chosen = test::client_options("test.Items", server->addresses()[0], GetParam());
  chosen.client.references["r"].timeout = milliseconds(100);
  chosen.client.references["r"].methods["limited"].timeout = milliseconds(100);
  client = test::start(std::move(chosen));
  ASSERT_TRUE(client);
  Stream<Item> numbers = stream<std::int64_t>("slow")(200);
  Item item;
  Result<bool> more = numbers.next(item);
  ASSERT_TRUE(more.ok()) << more.error().text();
  Stream<Item> limited = stream<std::int64_t>("limited")(60'000);
  more = limited.next(item);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code(), Errc::deadline_exceeded);
}

TEST_P(StreamsEnd, ACancelSourceEndsThem) {
  CancelSource source;
  CallOptions options;
  options.cancel = &source;
  Stream<Item> numbers = stream<std::int64_t, std::int64_t>("count").call(options, 1'000'000'000, 10);
  Item item;
  ASSERT_TRUE(numbers.next(item).ok());
  source.cancel();
  while (true) {
    Result<bool> more = numbers.next(item);
    if (more.ok()) {
      ASSERT_TRUE(*more);
      continue;
    }
    EXPECT_EQ(more.error().code(), Errc::cancelled) << more.error().text();
    break;
  }
  expect_idle();
}

TEST_P(StreamsEnd, AServerThatStopsEndsThem) {
  Stream<Item> numbers = stream<std::int64_t>("slow")(5);
  Item item;
  ASSERT_TRUE(numbers.next(item).ok());
  std::thread stopper([&] { (void)server->stop(milliseconds(50)); });
  Result<bool> more = true;
  while (more.ok() && *more) more = numbers.next(item);
  stopper.join();
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code(), Errc::unavailable) << more.error().text();
  EXPECT_EQ(items->running, 0);
}

TEST_P(StreamsEnd, TheConnectionsEndTellsReaderAndHandler) {
  Stream<Item> numbers = stream<std::int64_t>("slow")(5);
  Item item;
  ASSERT_TRUE(numbers.next(item).ok());
  server.reset();
  Result<bool> more = true;
  while (more.ok() && *more) more = numbers.next(item);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code(), Errc::unavailable) << more.error().text();
  EXPECT_EQ(items->running, 0);
}

TEST_P(StreamsEnd, AClientThatEndsTakesItsStreamsAlong) {
  std::optional<Stream<Item>> numbers = stream<std::int64_t>("slow")(5);
  Item item;
  ASSERT_TRUE(numbers->next(item).ok());
  client.reset();
  Result<bool> more = true;
  while (more.ok() && *more) more = numbers->next(item);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code(), Errc::unavailable) << more.error().text();
  numbers.reset();
  EXPECT_TRUE(test::eventually([&] { return test::idle(*server) && items->running == 0; }));
}

}  // namespace
}  // namespace tenon
